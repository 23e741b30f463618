// SPDX-License-Identifier: BSL-1.0
#include <csignal>

#include <sys/wait.h>

#include <doctest/doctest.h>

#include <tautline/core.hpp>
#include <tautline/hooks/checkpoint_saver.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/io/checkpoint_store.hpp>
#include <tautline/io/csv_file.hpp>
#include <tautline/io/jsonl_file.hpp>
#include <tautline/io/prometheus_file.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "file_support.hpp"

// Rows and metrics of a whole training with checkpoints: killed at any step and resumed, the files have the same bytes.

namespace {

using namespace file_support;
using namespace tautline;

struct files_hook {
  explicit files_hook(folder const& in, row_options how)
      : csv(in / "a.csv", how), json(in / "a.jsonl", how), metrics(in / "a.prom") {}
  auto state() { return fields{field<"csv">(csv), field<"json">(json), field<"metrics">(metrics)}; }
  void after_restore() { csv.after_restore(), json.after_restore(); }
  auto before_run(auto&) { return fetch<"loss">; }
  void after_run(auto& ctx, auto const& values) {
    float const loss = values[fetch<"loss">];
    csv.write(ctx.step(), loss);
    json.write(ctx.step(), loss, loss > 1 ? std::optional<double>(loss) : std::nullopt);
    metrics.template add<"steps_total">();
    metrics.template observe<"loss">(static_cast<double>(loss));
    metrics.write();
  }

  csv_file<"loss"> csv;
  jsonl_file<"loss", "large"> json;
  prometheus_file<prometheus_counter<"steps_total", "Steps done.">, prometheus_histogram<"loss", "The loss.", 0.1, 1, 10>> metrics;
};

/// A store as the sink of a saver, in the step itself: after it a kill finds the checkpoint.
struct saved_at_once {
  status save(training_state const& state) {
    auto const done = store->save(state);
    return done.ok() ? status{} : status{error_kind::internal, "not saved"};
  }
  restored restore(training_state const& state) { return store->restore(state); }
  checkpoint_store* store;
};

struct kill_at {
  static constexpr bool stateless = true;
  void after_run(auto& ctx) {
    if (ctx.step() == step) (void)::raise(SIGKILL);
  }
  step_number step;
};

void train(folder const& in, row_options how, step_number killed) {
  auto graph = static_graph{}
                   .variable<"w">(0.0F)
                   .op<"loss", "w">([](float w) { return (w - 3) * (w - 3); })
                   .update<"train", "w">([](float& w) { w += 0.21F * (3 - w); });
  checkpoint_store store(in / "checkpoints", keep_latest{2});
  saved_at_once saved{&store};
  auto session = monitored(graph, options{restore_from{saved}}, stop_at_step{20}, files_hook(in, how),
                           checkpoint_saver{saved, every_steps{5}}, kill_at{killed});
  (void)session.run_to_completion(target<"train">);
}

void train_and_be_killed(folder const& in, row_options how, step_number killed) {
  pid_t const child = ::fork();
  if (child == 0) {
    train(in, how, killed);
    ::_exit(0);
  }
  int ended = 0;
  REQUIRE(::waitpid(child, &ended, 0) == child);
  REQUIRE(WIFSIGNALED(ended));
}

}  // namespace

TEST_CASE("a training that was killed twice leaves the files of one that was not") {
  for (std::uint32_t const group : {1U, 3U, 100U}) {
    row_options const how{.existing = existing_file::start_over, .flush_every = group, .sync = group == 3};
    folder const whole;
    train(whole, how, 0);
    for (step_number const step : {2, 5, 6, 13}) {
      CAPTURE(group);
      CAPTURE(step);
      folder const in;
      train_and_be_killed(in, how, step);
      train_and_be_killed(in, how, 16);
      train(in, how, 0);
      for (char const* name : {"a.csv", "a.jsonl", "a.prom"}) CHECK(contents(in / name) == contents(whole / name));
      CHECK(contents(in / "a.csv").size() > 100);
    }
  }
}
