// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <tautline/core/state.hpp>
#include <tautline/hooks/basic_evaluator.hpp>
#include <tautline/hooks/logging.hpp>

TAUTLINE_BEGIN
namespace detail {

struct on_heap {
  static constexpr bool is_live = true;
  template <class Backend, class Use>
  static bool with_copy(Backend const& backend, life&, step_number&, Use use) {
    auto const copy = std::make_unique<Backend>(backend);
    use(*copy);
    return true;
  }
};

}  // namespace detail

/// Second argument of an `evaluator` that evaluates what has been saved, not what is being trained: the variables of the
/// latest checkpoint of `store`, by the step of that checkpoint. One that it has evaluated is not evaluated again;
/// before the first there is nothing to evaluate. A saving of the same step comes behind the evaluation: it is for the
/// next one.
///
/// @param store a `background_checkpoints`, which is waited for, or a `checkpoint_store`; also one that only reads, of the
/// training of another process
/// **Errors** those of reading; `invalid_argument` if a variable of the graph is not in the checkpoint in that form.
template <class Store>
class latest_of {
 public:
  static constexpr bool is_live = false;
  explicit latest_of(Store& store) : store_(&store) {}

  void begin() { last_ = 0; }
  template <class Backend, class Use>
  bool with_copy(Backend const& backend, life& at, step_number& step, Use use) {
    auto const saved = store_->load();
    if (!saved.result.ok()) {
      at.fail(saved.result.kind, copied{saved.result.message.c_str()});
      return false;
    }
    if (!saved.found || saved.manifest.sequence == last_) return false;
    auto const copy = std::make_unique<Backend>(backend);
    bool well = true;
    copy->each_state([&](state_item const& item) {
      if (item.group != state_group::variable || !well) return;
      char name[256];
      item.write_name(name, sizeof name);
      well = put(saved.file.tensors(), name, item);
      if (!well) {
        at.fail(error_kind::invalid_argument, copied{("evaluator: not in the checkpoint as it is here: " + std::string(name)).c_str()});
      }
    });
    if (!well) return false;
    step = saved.manifest.step;
    use(*copy);
    last_ = saved.manifest.sequence;
    return true;
  }

 private:
  template <class Tensors>
  static bool put(Tensors const& all, std::string_view name, state_item const& item) {
    auto const found = std::find_if(all.begin(), all.end(), [&](auto const& each) { return each.name == name; });
    if (found == all.end()) return false;
    tensor_view view = item.view;
    if (!view.same_form(found->view) && (item.resize == nullptr || !item.resize(item.object, found->view.shape, view))) return false;
    if (!view.same_form(found->view)) return false;
    if (view.bytes() != 0) std::memcpy(view.data, found->view.data, view.bytes());
    return true;
  }

  Store* store_;
  std::int64_t last_ = 0;  // as the store counts savings, from 1
};

/// Reports an evaluation as a table, a line at a time, and to a summary writer by the tags "dataset/metric".
///
///     Step 500 evaluation:
///     ┌────────────┬──────────┬────────┐
///     │            │ accuracy │   loss │
///     ├────────────┼──────────┼────────┤
///     │ validation │   0.9123 │ 0.2871 │
///     │ training   │   0.9541 │ 0.1602 │
///     └────────────┴──────────┴────────┘
class evaluation_table {
 public:
  explicit evaluation_table(logging how = {}, int decimals = 4) : writer_(std::move(how)), decimals_(decimals) {}

  void begin(life& at) { writer_.begin(at); }

  void operator()(step_number step, evaluation const& found) const {
    std::size_t first = 0;
    for (std::size_t row = 0; row < found.dataset_count; ++row) {
      first = std::max(first, std::string_view(found.dataset_names[row]).size());
    }
    std::string top = "┌─" + bar(first) + "─";
    std::string middle = "├─" + bar(first) + "─";
    std::string bottom = "└─" + bar(first) + "─";
    std::string head = fmt::format("│ {:{}} ", "", first);
    for (std::size_t column = 0; column < found.metric_count; ++column) {
      std::size_t const width = width_of(found, column);
      top += "┬─" + bar(width) + "─";
      middle += "┼─" + bar(width) + "─";
      bottom += "┴─" + bar(width) + "─";
      head += fmt::format("│ {:>{}} ", found.metric_names[column], width);
    }
    writer_.say_line(fmt::format("Step {} evaluation:", step));
    writer_.say_line(top + "┐");
    writer_.say_line(head + "│");
    writer_.say_line(middle + "┤");
    for (std::size_t row = 0; row < found.dataset_count; ++row) {
      std::string line = fmt::format("│ {:{}} ", found.dataset_names[row], first);
      for (std::size_t column = 0; column < found.metric_count; ++column) {
        double const value = found.values[row * found.metric_count + column];
        line += fmt::format("│ {:>{}} ", number(value), width_of(found, column));
        writer_.scalar(fmt::format("{}/{}", found.dataset_names[row], found.metric_names[column]), value, step);
      }
      writer_.say_line(line + "│");
    }
    writer_.say_line(bottom + "┘");
  }

 private:
  static std::string bar(std::size_t width) {
    std::string drawn;
    for (std::size_t i = 0; i < width; ++i) drawn += "─";
    return drawn;
  }
  [[nodiscard]] std::string number(double value) const { return fmt::format("{:.{}f}", value, decimals_); }
  [[nodiscard]] std::size_t width_of(evaluation const& found, std::size_t column) const {
    std::size_t width = std::string_view(found.metric_names[column]).size();
    for (std::size_t row = 0; row < found.dataset_count; ++row) {
      width = std::max(width, number(found.values[row * found.metric_count + column]).size());
    }
    return width;
  }

  detail::log_writer writer_;
  int decimals_;
};

/// Evaluates the model, as it is in the middle of its training, over datasets of its own.
///
///     evaluator{every_steps{500} | at_end,
///               datasets{dataset<"validation">([&]() -> auto const& { return validation; })},
///               metrics<"accuracy", "loss">{},
///               [](batch const& part) { return run_args{feed<"x">(part.x), feed<"y">(part.y)}; },
///               [](batch const& part) { return part.count; }}
///
/// Each element of a dataset becomes one raw run: `feeds(element)` says what to feed, the metrics are fetched, and their
/// mean is weighted by `weight(element)`, so that a last batch that is not full counts for what it holds. A metric must
/// be a number that needs variables and what is fed, only: no source of the training.
///
/// The means are published as "dataset/metric": loggers and hooks of your own ask for them as for any value
/// (`fetch<"validation/accuracy">`), and get them in the runs in which there was an evaluation. At the end they are
/// reported only.
///
/// The training notices nothing: the runs are made on a copy of the backend, where it can be copied, so that its
/// input, its random state and the values of the run in progress stay as they are. (A callable of the graph that refers
/// to things outside of it reaches those from the copy, too.)
///
/// With `latest_of{saved}` behind the trigger it evaluates the latest checkpoint instead of the variables as they are.
///
/// @param trigger any trigger
/// @param sets `datasets{dataset<"name">(open)…}`
/// @param metrics names of values of the graph
/// @param feeds `feeds(element)` returns a request of feeds
/// @param weight `weight(element)`; equal weights by default
/// @param how where the table goes, and the summary writer: see `logging`
/// @param decimals of the numbers in the table
/// **Order** in `after_run` of the runs that are due, before those who ask for its values; with `at_end` in `end`.
/// **Stop** one that is asked for during an evaluation ends it between two elements: nothing is published.
/// **Errors** `invalid_argument` for a dataset without elements; `out_of_range` for a metric that needs the training's
/// input; what the run throws.
/// **Cost** a copy of the backend, on the heap, and one run for each element. `basic_evaluator` does without heap and text.
/// **Source** the evaluators of TensorFlow for Scala (which evaluates the latest checkpoint, but labels it with the current
/// step) and of tf.estimator (which copies variables into a second graph).
template <class Trigger, class Sets, class Metrics, class Feeds, class Weight = equal_weights, class Place = detail::on_heap>
class evaluator : public basic_evaluator<Trigger, Sets, Metrics, Feeds, Weight, evaluation_table, Place> {
  using base = basic_evaluator<Trigger, Sets, Metrics, Feeds, Weight, evaluation_table, Place>;

 public:
  evaluator(Trigger trigger, Sets sets, Metrics metrics, Feeds feeds, Weight weight = {}, logging how = {},
            int decimals = 4)
    requires(Place::is_live)
      : base(std::move(trigger), std::move(sets), metrics, std::move(feeds), std::move(weight),
             evaluation_table(std::move(how), decimals)) {}
  evaluator(Trigger trigger, std::type_identity_t<Place> from, Sets sets, Metrics metrics, Feeds feeds, Weight weight = {},
            logging how = {}, int decimals = 4)
    requires(!Place::is_live)
      : base(std::move(trigger), std::move(sets), metrics, std::move(feeds), std::move(weight),
             evaluation_table(std::move(how), decimals), std::move(from)) {}
};
template <class Trigger, class Store, class Sets, class Metrics, class Feeds, class Weight = equal_weights>
evaluator(Trigger, latest_of<Store>, Sets, Metrics, Feeds, Weight = {}, logging = {}, int = 4)
    -> evaluator<Trigger, Sets, Metrics, Feeds, Weight, latest_of<Store>>;

TAUTLINE_END
