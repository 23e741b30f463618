// SPDX-License-Identifier: BSL-1.0
// One training of a graph that TensorFlow's Python made, under our hooks, and what it did, as lines: original.py runs it and
// holds it against the same training under tf.train.MonitoredTrainingSession.
//
// usage: original KIND FORM GRAPH FOLDER DATA LAST PERIOD [interrupt=STEP] [saver=safetensors] [log_at_end=1]
//   KIND    fed, dataset, saved_place
//   FORM    meta, graph_def, saved_model
//   GRAPH   path of the exported files, without what distinguishes the forms
//   FOLDER  of checkpoints, events and a trace
//   DATA    the digits
//   PERIOD  steps from one act of a hook to the next
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tautline/hooks.hpp>
#include <tautline/io/checkpoint_store.hpp>
#include <tautline/io/event_file.hpp>
#include <tautline/io/tensorflow_checkpoints.hpp>
#include <tautline/sessions/tensorflow.hpp>
#include <tautline/tautline.hpp>

using namespace tautline;
namespace tf = tautline::tensorflow;
using tf::tensor;

namespace {

constexpr int rows = 480;
constexpr int batch_size = 32;

struct arguments {
  std::string kind{}, form{}, graph{}, folder{}, data{}, saver{};
  step_number last = 0, period = 1, interrupt = 0;
  bool log_at_end = false;
};

void say(char const* what, char const* name, step_number step) {
  std::printf("%s %s %lld\n", what, name, static_cast<long long>(step));
}

// --- the graph -------------------------------------------------------------------------------------------------------

/// What a GraphDef does not tell: the collections would have.
tf::scaffold scaffold_of(std::string const& path) {
  std::ifstream file(path);
  std::map<std::string, std::string> names;
  for (std::string key, name; file >> key >> name;) names[key] = name;
  return {.init_op = names["init"],
          .local_init_op = names["local_init"],
          .ready_op = names["ready"],
          .saver_filename = names["filename"],
          .saver_save = names["save"],
          .saver_restore = names["restore"]};
}

tensorflow_graph<> loaded(arguments const& given) {
  if (given.form == "meta") return tensorflow_graph<>::from_meta_graph(given.graph + ".meta");
  if (given.form == "saved_model") return tensorflow_graph<>::from_saved_model(given.graph + "_saved", {"train"});
  return tensorflow_graph<>::from_graph_def(given.graph + ".pb");
}

auto graph_of(arguments const& given) {
  tf::session_settings settings;
  settings.config = {.intra_op_threads = 1, .inter_op_threads = 1};  // as original_graph.py says
  if (given.form == "graph_def") settings.scaffold = scaffold_of(given.graph + ".names");
  char const* const weights = given.kind == "fed" ? "hidden/weights/read:0" : "hidden/weights/Read/ReadVariableOp:0";
  return loaded(given)
      .settings(std::move(settings))
      .value<"loss", float>()
      .value<"weights", tensor<float, 2>>(weights)
      .value<"loss_curve", float>("loss:0")
      .value<"accuracy_curve", float>("accuracy:0")
      .value<"hidden_spread", tensor<float, 2>>("hidden_out:0")
      .step_target<"train">();
}

// --- what is fed -----------------------------------------------------------------------------------------------------

struct batch {
  std::array<std::array<float, 64>, batch_size> pictures;
  std::array<std::int64_t, batch_size> answers;
};

class digits {
 public:
  explicit digits(std::string const& path) {
    std::ifstream file(path);
    for (std::string line; pictures_.size() < rows && std::getline(file, line);) {
      std::istringstream numbers(line);
      std::array<float, 64> picture{};
      int number = 0;
      for (float& ink : picture) {
        numbers >> number;
        numbers.ignore();
        ink = static_cast<float>(number) / 16;
      }
      numbers >> number;
      pictures_.push_back(picture);
      answers_.push_back(number);
    }
  }
  void fill(batch& into, step_number step) const {
    for (std::size_t i = 0; i < batch_size; ++i) {
      std::size_t const row = (i + static_cast<std::size_t>(step - 1) * batch_size) % rows;
      into.pictures[i] = pictures_[row];
      into.answers[i] = answers_[row];
    }
  }

 private:
  std::vector<std::array<float, 64>> pictures_;
  std::vector<std::int64_t> answers_;
};

// --- hooks that write down -------------------------------------------------------------------------------------------

struct clock_hook {
  static constexpr bool stateless = true;
  template <class Session>
  void after_create_session(Session& session) const {
    say("start", "session", session.step());
  }
  template <class Context>
  auto before_run(Context&) const {
    return fetch<"loss">;
  }
  template <class Context, class Values>
  void after_run(Context& ctx, Values& values) const {
    std::printf("loss %lld %08x\n", static_cast<long long>(ctx.step()), std::bit_cast<unsigned>(values[fetch<"loss">]));
  }
};

/// Ends the program as a crash would: the last of the hooks, when all others have done their part of that step.
struct interrupter {
  static constexpr bool stateless = true;
  step_number at;
  template <class Context>
  void after_run(Context& ctx) const {
    if (ctx.step() != at) return;
    std::fflush(stdout);
    std::_Exit(3);
  }
};

struct listener {
  void after_save(life&, step_number step, char const*) const { say("act", "saver", step); }
};

logging quiet(char const* name) {
  logging how;
  how.log = [](std::string_view) {};
  how.format = [name](log_moment const& now) {
    say("act", name, now.step);
    return std::string();
  };
  return how;
}

void show_weights(tensor<float, 2> weights) {
  std::printf("final ");
  for (float const number : weights) std::printf("%08x", std::bit_cast<unsigned>(number));
  std::printf("\n");
}

// --- checkpoints -----------------------------------------------------------------------------------------------------

/// As safetensors.
class stored_checkpoints {
 public:
  explicit stored_checkpoints(std::string const& folder) : store_(folder, keep_all{}) {}
  status save(training_state const& state) {
    last_ = store_.save(state);
    return {last_.kind, last_.message.c_str()};
  }
  restored restore(training_state const& state) { return store_.restore(state); }

 private:
  checkpoint_store store_;
  saved_checkpoint last_;
};

// --- the training ----------------------------------------------------------------------------------------------------

template <class Graph, class Store, class... More>
void train(Graph&& graph, arguments const& given, Store& store, More... more) {
  event_file events(given.folder);
  logging rate = quiet("rate");
  rate.writer = events;
  bool have_weights = false;
  any_trigger log_trigger = every_steps{given.period};
  if (given.log_at_end) log_trigger = every_steps{given.period} | at_end;
  auto session = monitored(std::forward<Graph>(graph), options{restore_from{store}},
                           checkpoint_saver{store, every_steps{given.period} | at_end, listener{}},
                           step_rate_logger{every_steps{given.period}, rate, "global_step/sec"},
                           summary_saver<"loss_curve", "accuracy_curve", "hidden_spread">{events, every_steps{given.period}},
                           clock_hook{}, stop_at_step{given.last}, nan_checker<"loss">{},
                           tensor_logger<"loss">{log_trigger, quiet("logger")},
                           final_ops<"weights">::then([&](auto const& result) {
                             show_weights(result[fetch<"weights">]);
                             have_weights = true;
                           }),
                           std::move(more)..., timeline{given.folder + "/trace.json", every_steps{given.period}},
                           interrupter{given.interrupt});
  completion const done = session.run_to_completion(target<"train">);
  if (done.stop) say("act", "stop", done.stop.step);
  session.close();
  if (have_weights) say("act", "final_ops", done.steps);
}

template <class Store>
void train_kind(arguments const& given, Store& store) {
  if (given.kind != "fed") return train(graph_of(given), given, store);
  digits const data(given.data);
  batch now{};
  train(graph_of(given), given, store, feed_fn([&](step_number step) {
          say("act", "feed", step);
          data.fill(now, step);
          return run_args{feed<"pictures">(now.pictures), feed<"answers">(now.answers)};
        }));
}

}  // namespace

int main(int count, char** words) {
  if (count < 8) return 2;
  arguments given{.kind = words[1], .form = words[2], .graph = words[3], .folder = words[4], .data = words[5]};
  given.last = std::atoll(words[6]);
  given.period = std::atoll(words[7]);
  for (int i = 8; i < count; ++i) {
    std::string_view const word = words[i];
    if (word.starts_with("interrupt=")) given.interrupt = std::atoll(words[i] + 10);
    if (word.starts_with("saver=")) given.saver = word.substr(6);
    if (word == "log_at_end=1") given.log_at_end = true;
  }
  std::filesystem::create_directories(given.folder);
  try {
    if (given.saver == "safetensors") {
      stored_checkpoints store(given.folder + "/safetensors");
      train_kind(given, store);
    } else {
      tensorflow_checkpoints store(given.folder, {.keep = 0});
      train_kind(given, store);
    }
  } catch (exception const& thrown) {
    std::printf("error %s %s\n", to_string(thrown.kind()), thrown.what());
  }
  std::fflush(stdout);  // what looks for leaks ends the program before that is done
}
