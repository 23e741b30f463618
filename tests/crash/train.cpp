// SPDX-License-Identifier: BSL-1.0
// A training for run.py to kill.
//
//   train FOLDER STEPS    goes on where the folder's latest checkpoint is; at the end writes FOLDER/final.bin
//   train FOLDER check    prints the step of the latest checkpoint that can be loaded, or "none"; "damaged: …" and 1 if
//                         there is one that cannot
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>

#include <tautline/core.hpp>
#include <tautline/hooks/checkpoint_saver.hpp>
#include <tautline/hooks/early_stopping.hpp>
#include <tautline/hooks/nan_checker.hpp>
#include <tautline/hooks/row_logger.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/io/background_checkpoints.hpp>
#include <tautline/sessions/static_graph.hpp>

using namespace tautline;

namespace {

constexpr std::size_t width = 512;
using weights = std::array<float, width>;

/// Random rows without an end; where it stands is a part of the checkpoint.
struct noise {
  std::uint64_t random = 1;
  bool operator()(weights& out) {
    for (float& value : out) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      value = static_cast<float>(random >> 40) * 0x1p-24F;
    }
    return true;
  }
  auto state() { return fields{field<"random">(random)}; }
};

auto make_graph() {
  return static_graph{}
      .variable<"w">(weights{})
      .variable<"momentum">(weights{})
      .source<"x">(weights{}, noise{})
      .op<"loss", "w", "x">([](weights const& w, weights const& x) {
        float sum = 0;
        for (std::size_t i = 0; i < width; ++i) sum += (w[i] - x[i]) * (w[i] - x[i]);
        return sum / width;
      })
      .update<"train", "w", "momentum", "x">([](weights& w, weights& momentum, weights const& x) {
        for (std::size_t i = 0; i < width; ++i) {
          momentum[i] = 0.9F * momentum[i] + (w[i] - x[i]);
          w[i] -= 0.01F * momentum[i];
        }
      });
}

int show_latest(std::string const& folder) {
  checkpoint_store store(folder, keep_latest{3}, {.report = false, .read_only = true});
  loaded_checkpoint const latest = store.load();
  if (!latest.result.ok()) {
    std::printf("damaged: %s\n", latest.result.message.c_str());
    return 1;
  }
  if (latest.found) {
    std::printf("%lld\n", static_cast<long long>(latest.manifest.step));
  } else {
    std::puts("none");
  }
  return 0;
}

int train(std::string const& folder, step_number steps) {
  background_checkpoints saved(folder + "/checkpoints", keep_latest{3});
  auto session = monitored(make_graph(), options{restore_from{saved}}, nan_checker<"loss">{}, stop_at_step{steps},
                           named<"stop">(stop_if_no_decrease<"loss">{{.patience = 1'000'000}}),
                           jsonl_logger<"loss">{folder + "/loss.jsonl", every_steps{7}, {.existing = existing_file::start_over}},
                           checkpoint_saver{saved, every_steps{25} | at_end});
  session.run_to_completion(target<"train">);
  session.close();
  std::FILE* const out = std::fopen((folder + "/final.bin").c_str(), "wb");
  if (out == nullptr) return 1;
  session.raw().state().each([&](state_item const& item) {
    if (item.view.bytes() > 0) (void)std::fwrite(item.view.data, item.view.bytes(), 1, out);
  });
  return std::fclose(out) == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  std::string const folder = arguments[1];
  try {
    if (std::strcmp(arguments[2], "check") == 0) return show_latest(folder + "/checkpoints");
    return train(folder, std::atoll(arguments[2]));
  } catch (std::exception const& failed) {
    std::fprintf(stderr, "%s\n", failed.what());
    return 1;
  }
}
