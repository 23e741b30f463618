// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a training over a tensorflow_graph needs a header of its own\. Mend: include <tautline/training/tensorflow_training\.hpp>
#include <tautline/sessions/tensorflow.hpp>
#ifndef CONTROL
#include <tautline/training/monitored_training_session.hpp>
#else
#include <tautline/training/tensorflow_training.hpp>
#endif

using namespace tautline;

int main() {
  auto training = monitored_training_session(tensorflow_graph<>{}.step_target<"train">(), {.directory = "run"});
  (void)training;
}
