// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <tautline/core/error.hpp>
#include <tautline/core/training_state.hpp>
#include <tautline/sessions/tensorflow/connected_graph.hpp>
#include <tautline/sessions/tensorflow/graph_description.hpp>
#include <tautline/sessions/tensorflow/graph_parts.hpp>
#include <tautline/sessions/tensorflow/slot_table.hpp>

TAUTLINE_BEGIN
namespace tensorflow {

/// A finalized graph and, while one is open, its session in TensorFlow's engine: everything about it that does not
/// depend on the types of the program. A checkpoint sink that knows TensorFlow gets it by
/// `training_state::as<tensorflow::engine>()`.
///
/// **Errors** are statuses; their messages stay until eight more have come.
class engine : public detail::connected_graph {
  using base = detail::connected_graph;

 public:
  explicit engine(std::unique_ptr<detail::graph_parts> parts)
      : base(std::move(parts)), names_(*parts_) {
    if (parts_->first.ok()) parts_->check_scaffold(parts_->finish_building != nullptr);
    if (parts_->finish_building != nullptr) parts_->finish_building(*parts_);
    if (!parts_->first.ok()) return;
    parts_->first = variables_.find(parts_->graph.get(), parts_->locals, parts_->failures);
    detail::add_try_operation(parts_->graph.get(), done_.get());
  }
  engine(engine&&) = default;
  engine& operator=(engine&&) = delete;
  ~engine() = default;

  // --- life -------------------------------------------------------------------------------------------------------

  /// Makes a session. A worker waits in it until somebody has initialised the variables.
  status open() {
    if (!parts_->first.ok()) return parts_->first;
    pending_ = {};
    close();
    if (status const made = connect(); !made.ok()) return made;
    return settings().role == role::worker ? wait_for_chief() : status{};
  }
  /// Initialises what has to be, after `open` and a restorer's try.
  status finish_open(bool restored) {
    forget_variables();  // memory for a restorer is no value
    // triggers that look at stored values did so before there were any, or before these were restored
    pending_ = {};
    names_.forget_values();
    bool const chief = settings().role == role::chief;
    if (chief && !restored) {
      std::string missing;
      if (status const looked = find_uninitialized(missing, false); !looked.ok()) return looked;
      if (!missing.empty()) {
        if (status const done = initialize(); !done.ok()) return done;
      }
    }
    if (TF_Operation* const local = parts_->find(settings().scaffold.local_init_op, "local_init"); local != nullptr) {
      if (status const done = run_alone(local, "the local init op"); !done.ok()) return done;
    }
    std::string missing;
    if (status const looked = find_uninitialized(missing, true); !looked.ok()) return looked;
    if (missing.empty()) return {};
    char const* const why = restored ? "the checkpoint does not have" : "no init op initialises";
    return failures().set(error_kind::invalid_argument, std::string(why) + " " + missing +
                                                            ". Mend: name the op in .scaffold = {.init_op = \"…\"}");
  }
  void close() {
    forget_variables();
    names_.forget_values();
    session_.reset();
  }
  [[nodiscard]] bool has_global_step() { return global_step_variable() != nullptr; }
  /// The global step of the graph, read now; 0 where it has none.
  status read_global_step(step_number& step) {
    step = 0;
    detail::variable const* const found = global_step_variable();
    if (found == nullptr) return {};
    tensor_handle value;
    if (status const read = read_alone(found->value, value, "the global step"); !read.ok()) return read;
    if (TF_TensorElementCount(value.get()) != 1) {
      return failures().set(error_kind::invalid_argument,
                            std::string("the global step \"") + found->name + "\" is not one number");
    }
    step = detail::widened<step_number>(found->type, TF_TensorData(value.get()));
    return {};
  }

  /// What the program's names stand for.
  [[nodiscard]] detail::slot_table& names() { return names_; }

  /// The target by which a run is a step, once it has been found.
  void set_step_target(TF_Operation* target) { step_target_ = target; }

  // --- runs -------------------------------------------------------------------------------------------------------

  /// @param with_step whether the run is to have the step target
  void begin_run(bool with_step) {
    with_step_ = with_step;
    arrays_.clear();
    wrong_feed_ = {};
  }
  void add_fetch(std::size_t slot) {
    if (!names_[slot].always) arrays_.fetch(names_[slot].output, slot);
  }
  /// A number that would be another one in the graph.
  void refuse_feed(std::size_t slot) {
    wrong_feed_ = failures().set(error_kind::invalid_argument, std::string("feed \"") + names_[slot].name +
                                                                   "\": the number does not fit " +
                                                                   name_of_type(names_[slot].type));
  }
  void add_target(std::size_t slot) { arrays_.run_target(names_[slot].target); }
  void add_feed(std::size_t slot, tensor_handle value) {
    if (status const fits = names_.check_feed(slot, value.get()); !fits.ok()) wrong_feed_ = fits;
    arrays_.feed(names_[slot].output, std::move(value));
  }
  /// Runs what was added since `begin_run`, in one `TF_SessionRun`.
  /// @param options of all parties; what is recorded on them is in `metadata()` afterwards
  status execute(run_options options) {
    if (is_remote() && options.timeout_in_ms <= 0) options.timeout_in_ms = unlimited_ms;
    std::string const given = options.bytes();
    buffer_handle const taken(TF_NewBufferFromString(given.data(), given.size()));
    recorded_.reset(options.wants_metadata() ? TF_NewBuffer() : nullptr);
    return execute(taken.get(), recorded_.get());
  }
  status execute() {
    if (recorded_ != nullptr) recorded_.reset();
    return execute(no_options(), nullptr);
  }
  /// What TensorFlow recorded of the last run; empty where nobody wanted it. A view, good until the next run.
  [[nodiscard]] run_metadata metadata() const {
    return recorded_ == nullptr ? run_metadata() : run_metadata(recorded_->data, recorded_->length);
  }
  /// For what fails where nothing can be returned: the next run returns it, and may be recovered.
  void fail_next_run(status failed) {
    if (pending_.ok()) pending_ = failed;
  }
  /// Reads what nobody fetched, as it is now: by a run of its own, and from then on with every run. If that fails, the
  /// session's next run does, with this error. Precondition: the name has been found.
  void read_stored(std::size_t slot) {
    detail::named_slot& found = names_[slot];
    if (found.value != nullptr || session_ == nullptr) return;
    if (status const read = read_alone(found.output, found.value, found.name); !read.ok()) fail_next_run(read);
    names_.fetch_always(slot, step_target_);
  }

  /// One target in a run of its own, beside the steps: a saver's, say.
  /// @param feed_into where `text` is fed, null for nowhere
  status run_alone(TF_Operation* target, std::string const& what, TF_Operation* feed_into = nullptr,
                   std::string_view text = {}) {
    forget_variables();
    return base::run_alone(target, what, feed_into, text);
  }

  // --- variables --------------------------------------------------------------------------------------------------

  /// Brings the values of all variables here, by one run; nothing is copied if the engine is in this process. They are
  /// good until the next run.
  status read_state() {
    if (values_are_current_) return {};
    if (status const all = leaves_out_ ? status{} : check_variables(); !all.ok()) return all;
    if (session_ == nullptr) return {error_kind::cancelled, "the TensorFlow session is closed"};
    detail::run_arrays arrays;
    for (detail::variable const& each : variables_.all()) {
      if (each.can_be_shown()) arrays.fetch(each.value, 0);
    }
    if (status const read = run_beside(arrays, "reading the variables"); !read.ok()) return read;
    std::size_t place = 0;
    for (detail::variable& each : variables_.all()) {
      if (each.can_be_shown()) each.current.reset(arrays.values()[place++]);
    }
    // of an open shape: only now it is known
    if (status const all = leaves_out_ ? status{} : check_variables(); !all.ok()) return all;
    values_are_current_ = true;
    return {};
  }
  /// Memory for all variables, in which a restorer puts values for `write_state`.
  status prepare_restore() {
    for (detail::variable& each : variables_.all()) {
      if (each.can_be_shown() && !each.reserve()) return {error_kind::error, "there is no memory for the variables"};
    }
    values_are_current_ = true;
    written_ = false;
    return {};
  }
  /// Stores what a restorer has put there, by one run.
  status write_state() {
    if (std::exchange(written_, false)) return {};
    if (status const all = check_variables(); !all.ok()) return all;
    detail::run_arrays arrays;
    for (detail::variable& each : variables_.all()) {
      if (each.is_local) continue;
      arrays.feed(each.assigned, std::move(each.current));
      arrays.run_target(each.assign);
    }
    values_are_current_ = false;
    return run_beside(arrays, "restoring the variables");
  }
  /// Says that a restorer has written the variables itself, by the graph's own operations.
  void variables_are_written() { written_ = true; }
  /// Variables that only the graph's own saver can save are not shown; else nothing can be read with one of them.
  void leave_out_unsaved() { leaves_out_ = true; }
  /// The values are those of the last `read_state`, or the memory of `prepare_restore`.
  template <class Visit>
  void each_variable(Visit const& visit) {
    variables_.each_item(visit);
  }

  template <class Visit>
  void each_node(Visit const& visit) {
    if (description_.empty()) description_.read(graph());
    description_.each(visit);
  }
  [[nodiscard]] TF_Operation* find_operation(std::string const& named, char const* by_default) const {
    return parts_->find(named, by_default);
  }

 private:
  /// Values that somebody holds would be copied by the operation that changes them.
  void forget_variables() {
    values_are_current_ = false;
    for (detail::variable& each : variables_.all()) each.current.reset();
  }
  status check_variables() {
    detail::variable const* const unsaved = variables_.find_unsaved();
    if (unsaved == nullptr) return {};
    return failures().set(error_kind::invalid_argument,
                          std::string("variable \"") + unsaved->name + "\" is of " + name_of_type(unsaved->type) +
                              ", which this kind of checkpoint cannot hold. Mend: save with the graph's own saver, "
                              "tensorflow_checkpoints");
  }
  status execute(TF_Buffer const* options, TF_Buffer* metadata) {
    if (!pending_.ok()) return std::exchange(pending_, {});
    if (!wrong_feed_.ok()) return wrong_feed_;
    if (session_ == nullptr) return {error_kind::cancelled, "the TensorFlow session is closed"};
    if (step_target_ != nullptr) {
      for (std::size_t const slot : names_.always()) arrays_.fetch(names_.always_output(slot, with_step_), slot);
    }
    names_.forget_values();
    if (values_are_current_) [[unlikely]] forget_variables();
    arrays_.run(session_.get(), options, metadata, done_.get());
    if (TF_GetCode(done_.get()) != TF_OK) [[unlikely]] return failures().take(done_.get());
    names_.keep_values(arrays_);
    arrays_.each_echo([&](std::size_t slot, tensor_handle fed) { names_[slot].value = std::move(fed); });
    if (step_target_ == nullptr) read_always();
    return {};
  }
  /// Without a step target nothing says what of a run the values that triggers look at come behind: they are read after it.
  void read_always() {
    if (names_.always().empty()) return;
    detail::run_arrays arrays;
    for (std::size_t const slot : names_.always()) arrays.fetch(names_[slot].output, slot);
    if (status const read = run_beside(arrays, {}); read.ok()) {
      names_.keep_values(arrays);
    } else {
      fail_next_run(read);  // the run itself succeeded: it is not to be repeated
    }
  }
  /// From the checkpoint within a SavedModel, or by the init op.
  status initialize() {
    auto const& names = settings().scaffold;
    TF_Operation* const filename = parts_->find(names.saver_filename, "");
    TF_Operation* const restore = parts_->find(names.saver_restore, "");
    if (!parts_->saved_variables.empty() && filename != nullptr && restore != nullptr) {
      return run_alone(restore, "the variables of the SavedModel", filename, parts_->saved_variables);
    }
    TF_Operation* const init = parts_->find(names.init_op, "init");
    return init == nullptr ? status{} : run_alone(init, "the init op");
  }
  status wait_for_chief() {
    auto const deadline = std::chrono::steady_clock::now() + settings().max_wait;
    for (;;) {
      std::string missing;
      status const looked = session_ == nullptr ? connect() : find_uninitialized(missing, false);
      if (looked.ok() && session_ != nullptr && missing.empty()) return {};
      bool const lost = looked.kind == error_kind::unavailable || looked.kind == error_kind::aborted;
      if (!looked.ok() && !lost) return looked;
      if (std::chrono::steady_clock::now() >= deadline) {
        std::string words = "DEADLINE_EXCEEDED: nobody has initialised the variables within " +
                            std::to_string(settings().max_wait.count()) + " ms; ";
        return failures().set(error_kind::error, words + (lost ? looked.message : "still without a value: " + missing));
      }
      if (lost) close();
      std::this_thread::sleep_for(
          std::min<std::chrono::steady_clock::duration>(settings().recovery_wait, settings().max_wait));
    }
  }
  /// The names of variables without a value, at most five. @param locals too
  status find_uninitialized(std::string& missing, bool locals) {
    auto const& names = settings().scaffold;
    std::string const& given = locals ? names.ready_op : names.ready_for_local_init_op;
    if (TF_Output const ready = parts_->find_output(given); ready.oper != nullptr) return ask_ready_op(ready, missing);
    detail::run_arrays arrays;
    std::vector<char const*> asked;
    for (detail::variable const& each : variables_.all()) {
      if (each.is_local && !locals) continue;
      arrays.fetch(each.is_initialized, 0);
      asked.push_back(each.name);
    }
    if (asked.empty()) return {};
    if (status const answered = run_beside(arrays, "asking for the variables"); !answered.ok()) return answered;
    std::vector<std::string> without;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      tensor_handle const answer(arrays.values()[i]);
      if (!*static_cast<bool const*>(TF_TensorData(answer.get()))) without.emplace_back(asked[i]);
    }
    missing = detail::listed(without);
    return {};
  }
  status ask_ready_op(TF_Output ready, std::string& missing) {
    tensor_handle answer;
    if (status const read = read_alone(ready, answer, "the ready op"); !read.ok()) return read;
    std::vector<std::string> without;
    for (std::size_t i = 0; i < static_cast<std::size_t>(TF_TensorElementCount(answer.get())); ++i) {
      without.emplace_back(tensor<std::string_view, 1>(answer.get())[i]);
    }
    missing = detail::listed(without);
    return {};
  }
  detail::variable const* global_step_variable() {
    std::string const& given = settings().scaffold.global_step;
    detail::variable const* const found =
        variables_.named(given.empty() ? "global_step" : detail::split_name(given).first);
    bool const is_number = found != nullptr && (found->type == TF_INT64 || found->type == TF_INT32);
    return is_number ? found : nullptr;
  }

  detail::slot_table names_;
  detail::variable_table variables_;
  detail::run_arrays arrays_;
  detail::graph_description description_;
  status pending_{};
  status wrong_feed_{};
  buffer_handle recorded_{};
  bool values_are_current_ = false;
  bool written_ = false;
  bool leaves_out_ = false;
  bool with_step_ = false;
  TF_Operation* step_target_ = nullptr;
};

}  // namespace tensorflow
TAUTLINE_END
