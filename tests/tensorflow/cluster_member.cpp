// SPDX-License-Identifier: BSL-1.0
// One process of a training in a cluster, started by cluster.py:
//
//     cluster_member ps     0 PS WORKERS FOLDER STEPS         a parameter server, until every worker has said that it is done,
//                                                             and FOLDER/over is there: all workers have ended
//     cluster_member worker I PS WORKERS FOLDER STEPS         worker I; 0 is the chief. Trains until the global step is STEPS,
//                                                             and FOLDER/undisturbed is there: nobody is killed any more
//     cluster_member client I PS WORKERS FOLDER STEPS         the same without a server of its own: it uses worker I's
//
// PS is an address, WORKERS are addresses between commas. What happened stands in FOLDER/worker_I.log, a line each:
//
//     session NUMBER            one was made
//     restored STEP | saved STEP PATH
//     run OWN GLOBAL            a run succeeded: how many runs of this worker the variables know, and the global step
//     error KIND MESSAGE
//     done
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <tautline/adapt/chrono.hpp>
#include <tautline/core.hpp>
#include <tautline/hooks/checkpoint_saver.hpp>
#include <tautline/hooks/global_step_waiter.hpp>
#include <tautline/io/background_checkpoints.hpp>
#include <tautline/sessions/tensorflow.hpp>
#include <tautline/sessions/tensorflow/ops.hpp>
#include <tautline/sessions/tensorflow/server.hpp>

using namespace tautline;
using namespace std::chrono_literals;
namespace tf = tautline::tensorflow;

namespace {

/// Lines of which none is lost when the process is killed.
class log_file {
 public:
  explicit log_file(std::string const& path) : file_(std::fopen(path.c_str(), "a")) {}
  log_file(log_file const&) = delete;
  log_file& operator=(log_file const&) = delete;
  ~log_file() { std::fclose(file_); }
  [[gnu::format(printf, 2, 3)]] void line(char const* format, ...) {
    std::va_list values;
    va_start(values, format);
    std::vfprintf(file_, format, values);
    va_end(values);
    std::fputc('\n', file_);
    std::fflush(file_);
  }

 private:
  std::FILE* file_;
};

/// Writes down what happens, and ends the training by the global step.
struct witness {
  static constexpr bool stateless = true;
  log_file* log;
  std::int64_t last_step;
  std::string undisturbed;  ///< a file
  int sessions = 0;

  template <class Session>
  void after_create_session(Session&) {
    log->line("session %d", ++sessions);
  }
  void after_restore(life& at) { log->line("restored %lld", static_cast<long long>(at.step())); }
  template <class Context>
  auto before_run(Context&) {
    return run_args{fetch<"runs_after">, fetch<"global_step_after">};
  }
  template <class Context, class Values>
  void after_run(Context& ctx, Values& values) {
    std::int64_t const global = values[fetch<"global_step_after">];
    log->line("run %lld %lld", static_cast<long long>(values[fetch<"runs_after">]), static_cast<long long>(global));
    if (global >= last_step && std::filesystem::exists(undisturbed)) ctx.request_stop("the global step is reached");
    std::this_thread::sleep_for(2ms);  // the test is to last for some seconds, and to leave the machine to others
  }
  void on_error(error const& happened) {
    char words[400];
    happened.write_to(words, sizeof words);
    for (char& each : words) each = each == '\n' ? ' ' : each;
    log->line("error %s %s", to_string(happened.kind), words);
  }
};

/// Is told by the saver.
struct saved_lines {
  log_file* log;
  void after_save(life&, step_number step, std::string_view path) {
    log->line("saved %lld %.*s", static_cast<long long>(step), static_cast<int>(path.size()), path.data());
  }
};

/// A line through four points, of which the parameter server has the slopes.
auto training_graph(std::size_t worker, std::size_t workers, tf::session_settings settings) {
  tensorflow_graph<> graph;
  auto const all = graph.ops();
  auto const ps = all.with_device("/job:ps/task:0");
  auto const here = all.with_device("/job:worker/task:" + std::to_string(worker));
  auto const w = ps.variable<float>("w", {4, 1}, 0);
  auto const global_step = ps.variable<std::int64_t>("global_step", {}, 0, {.trainable = false});
  std::vector<tf::variable> runs;  // of each worker: it alone adds to it
  for (std::size_t i = 0; i < workers; ++i) {
    runs.push_back(ps.variable<std::int64_t>("runs_" + std::to_string(i), {}, 0, {.trainable = false}));
  }
  auto const x = here.random_uniform<float>({8, 4});
  auto const wanted = here.matmul(x, here.constant<float>({1, -2, 3, -4}, {4, 1}));
  auto const loss = here.reduce_mean(here.square(here.matmul(x, w) - wanted), "loss");
  auto const stepped = here.minimize(loss, tf::sgd{0.1}, global_step);
  auto const counted = ps.control_dependencies({stepped}).assign_add(runs[worker], ps.constant(std::int64_t{1}));
  auto const train = all.group({stepped, counted}, "train");
  auto const after = ps.control_dependencies({train});
  (void)after.read(global_step, "global_step_after");
  (void)after.read(runs[worker], "runs_after");
  return std::move(graph)
      .value<"loss", float>()
      .value<"global_step", std::int64_t>()
      .value<"global_step_after", std::int64_t>()
      .value<"runs_after", std::int64_t>()
      .step_target<"train">()
      .settings(std::move(settings));
}

/// A queue on the parameter server, by which workers say that they are done.
auto farewell_graph(tf::session_settings settings) {
  tensorflow_graph<> graph;
  auto const ops = graph.ops().with_device("/job:ps/task:0");
  auto const queue = ops.op("FIFOQueueV2", "farewell", {},
                            {{"component_types", std::vector<TF_DataType>{TF_INT64}}, {"shared_name", "farewell"}})[0];
  (void)ops.op("QueueEnqueueV2", "say", {queue, std::vector<tf::output>{ops.constant(std::int64_t{1})}});
  (void)ops.op("QueueDequeueV2", "hear", {queue}, {{"component_types", std::vector<TF_DataType>{TF_INT64}}});
  return std::move(graph).settings(std::move(settings));
}

struct member {
  std::string kind;
  std::size_t index = 0;
  tf::cluster all;
  std::string target;
  std::chrono::milliseconds connect_wait{120s};  ///< for servers that are not there
  std::chrono::milliseconds max_wait{120s};      ///< for the chief

  [[nodiscard]] tf::session_settings settings() const {
    std::vector<std::string> filters{"/job:ps"};
    if (kind != "ps") filters.push_back("/job:worker/task:" + std::to_string(index));
    return {.target = target,
            .role = index == 0 ? role::chief : role::worker,
            .max_wait = max_wait,
            .recovery_wait = 100ms,
            .connect_wait = connect_wait,
            .config = {.device_filters = filters}};
  }
};

template <class... Options, class... Hooks>
void train(member const& me, std::size_t workers, log_file& log, options<Options...> given, witness seen, Hooks... hooks) {
  // a later worker begins when the earlier ones have made some steps: a tenth of what estimators wait
  auto const begin_at = static_cast<step_number>(50 * std::log(static_cast<double>(me.index) + 1));
  auto session = monitored(training_graph(me.index, workers, me.settings()), std::move(given),
                           global_step_waiter{begin_at, [](std::uint32_t) { std::this_thread::sleep_for(20ms); }},
                           std::move(seen), std::move(hooks)...);
  session.run_to_completion(target<"train">);
  session.close();
  log.line("done");
}

int work(member const& me, std::size_t workers, std::string const& folder, std::int64_t steps) {
  log_file log(folder + "/worker_" + std::to_string(me.index) + ".log");
  witness const seen{&log, steps, folder + "/undisturbed"};
  if (me.index == 0) {
    background_checkpoints saved(folder + "/checkpoints", keep_all{}, {}, {.wait = 120s});  // none is left out
    train(me, workers, log, options{restore_from{saved}, with_sleep{thread_sleeper{}}}, seen,
          checkpoint_saver{saved, step_from<"global_step">(every_steps{100} | at_end), saved_lines{&log}});
  } else {
    train(me, workers, log, options{with_sleep{thread_sleeper{}}}, seen);
  }
  auto farewell = monitored(farewell_graph(me.settings()), options{with_sleep{thread_sleeper{}}});
  farewell.run(target<"say">);
  farewell.close();
  return 0;
}

int serve(member const& me, std::size_t workers, std::string const& folder) {
  auto session = monitored(farewell_graph(me.settings()));
  for (std::size_t i = 0; i < workers; ++i) session.run(target<"hear">);
  session.close();
  // TensorFlow's closing of a session waits for ever if this process ends meanwhile
  while (!std::filesystem::exists(folder + "/over")) std::this_thread::sleep_for(20ms);
  return 0;
}

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  for (std::size_t end = 0; end != std::string_view::npos; list.remove_prefix(end == list.npos ? 0 : end + 1)) {
    end = list.find(',');
    parts.emplace_back(list.substr(0, end));
  }
  return parts;
}

int act(std::vector<std::string> const& words) {
  auto const workers = parts_of(words.at(4));
  member me;
  me.kind = words.at(1);
  me.index = static_cast<std::size_t>(std::atoi(words.at(2).c_str()));
  me.all = {{"ps", {words.at(3)}}, {"worker", workers}};
  if (char const* given = std::getenv("CLUSTER_CONNECT_WAIT_MS")) me.connect_wait = std::chrono::milliseconds(std::atoi(given));
  if (char const* given = std::getenv("CLUSTER_MAX_WAIT_MS")) me.max_wait = std::chrono::milliseconds(std::atoi(given));
  tf::server server;
  if (me.kind == "client") {
    me.target = "grpc://" + me.all.address("worker", me.index);
  } else {
    server = tf::server(me.all, me.kind, me.index);
    if (!server.status().ok()) {
      std::printf("%s\n", server.status().message);
      return 1;
    }
    me.target = server.target();
  }
  std::printf("up\n");
  std::fflush(stdout);
  if (me.kind == "ps") return serve(me, workers.size(), words.at(5));
  return work(me, workers.size(), words.at(5), std::atoll(words.at(6).c_str()));
}

}  // namespace

int main(int count, char** words) {
  alarm(300);  // as DEADLINE in cluster.py: whatever happens, this process ends
  try {
    return act({words, words + count});
  } catch (std::exception const& failed) {
    std::printf("%s\n", failed.what());
    return 1;
  }
}
