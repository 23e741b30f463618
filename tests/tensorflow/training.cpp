// SPDX-License-Identifier: BSL-1.0
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/training/tensorflow_training.hpp>

#include "training.hpp"

using namespace tensorflow_test;

namespace {

using net = model<loss<"loss">, metrics<>>;

}  // namespace

TEST_CASE("a training is restored, trains, says why it stopped, and leaves checkpoints as Python has them") {
  scratch folder;
  training_settings const settings{.directory = folder.path, .save_checkpoint_steps = 10, .save_summaries_steps = 5, .log_step_count_steps = 10, .log = false};
  for (step_number const last : {25, 40}) {
    auto training = monitored_training_session<net>(approaching(), settings, stop_at_step{last});
    CHECK(training->completed_steps() == (last == 25 ? 0 : 25));
    auto const done = training->run_to_completion(target<"train">);
    CHECK(done.stop.step == last);
    CHECK(w_of(*training) == w_after(last));
    CHECK(training.checkpoints() != nullptr);
  }
  MESSAGE(names_in(folder.path));
}
