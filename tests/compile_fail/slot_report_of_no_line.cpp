// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the report on damaged slots is called with a line of text, and this one cannot be\. Mend: give
#include <tautline/hooks/checkpoint_saver.hpp>
#include <tautline/io/two_slot_checkpoints.hpp>

#include "common.hpp"

struct flash {
  static constexpr std::size_t sector_bytes = 256;
  static constexpr std::size_t program_bytes = 8;
  std::size_t size() { return 2 * sector_bytes; }
  status erase(std::size_t) { return {}; }
  status program(std::size_t, void const*, std::size_t) { return {}; }
  status read(std::size_t, void*, std::size_t) { return {}; }
};

int main() {
  flash region;
#ifndef CONTROL
  auto const report = [](int) {};
#else
  auto const report = [](char const*) {};
#endif
  two_slot_checkpoints saved(region, report);
  auto graph = static_graph{}.variable<"w">(0.0F).update<"train", "w">([](float& w) { return w += 1; });
  auto session = monitored(graph, options{restore_from{saved}}, checkpoint_saver{saved, every_steps{10}});
  session.run(target<"train">);
}
