// SPDX-License-Identifier: BSL-1.0
#include <cstdio>

#include <tautline/hooks/checkpoint_saver.hpp>
#include <tautline/io/tensorflow_checkpoints.hpp>

#include "training.hpp"

// What checkpoints.py starts: trains in a folder, and says where it begins.
//   checkpoints_made FOLDER STEPS [META_GRAPH]
// Of a graph of Python's the variable "w" is printed; of its own the values are checked.

using namespace tensorflow_test;

namespace {

template <class Graph>
int train(Graph graph, std::string const& folder, step_number last, bool is_own) {
  tensorflow_checkpoints saved{folder, {.keep = 3}};
  auto session = monitored(std::move(graph), options{restore_from{saved}}, counter{}, checkpoint_saver{saved, every_steps{1}});
  step_number const first = session.completed_steps();
  std::printf("from %d seen %d w", int(first), int(session.template hook<counter>().seen));
  auto const w = w_of(session);
  for (float const each : w) std::printf(" %.9g", double(each));
  std::printf("\n");
  std::fflush(stdout);
  if (is_own && w != w_after(first)) return std::puts("the values are not those of the step"), 1;
  while (session.completed_steps() < last) (void)session.run_steps(1, target<"train">);
  session.close();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  try {
    step_number const last = std::atoll(argv[2]);
    if (argc == 3) return train(approaching(), argv[1], last, true);
    return train(tensorflow_graph<>::from_meta_graph(argv[3]).value<"w", tensor<float, 1>>("w").step_target<"train">(), argv[1],
                 last, false);
  } catch (std::exception const& failed) {
    std::printf("failed: %s\n", failed.what());
    return 1;
  }
}
