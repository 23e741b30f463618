// SPDX-License-Identifier: BSL-1.0
// What saving a checkpoint costs, each figure beside its measure, taken in turn in the same run, the least time of all
// rounds for each:
//   snapshot_of_memcpy   taking a snapshot, of one memcpy of the same bytes: time, smaller is better
//   save_of_write        saving, of write and fsync of the same bytes and removing the file before: throughput, larger
//                        is better
// usage: checkpoint_store FOLDER [MIB [ROUNDS]]        prints `name value` lines
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <tautline/io/checkpoint_store.hpp>

using namespace tautline;

namespace {

/// Variables of several sizes that have so many bytes together.
struct training {
  std::vector<std::vector<float>> variables;
  std::vector<std::string> names;

  explicit training(std::size_t bytes) {
    std::size_t left = bytes / sizeof(float);
    for (std::size_t size = left / 4 + 1; left > 0; size = std::max<std::size_t>(size * 3 / 4, 1000)) {
      std::size_t const count = std::min(size, left);
      variables.emplace_back(count);
      for (std::size_t i = 0; i < count; ++i) variables.back()[i] = static_cast<float>(i % 1000) / 7;
      names.push_back("layer" + std::to_string(names.size()) + "/kernel");
      left -= count;
    }
  }
  training_state state(step_number step) {
    static constexpr training_state::functions how{
        [](void* core, void* visitor, training_state::item_visit visit) {
          auto& self = *static_cast<training*>(core);
          for (std::size_t i = 0; i < self.names.size(); ++i) {
            state_item item;
            item.owner = self.names[i].c_str();
            item.view = view_tensor(self.variables[i]);
            visit(visitor, item);
          }
        },
        [](void*, void*, training_state::node_visit) {}};
    return {this, how, step};
  }
};

template <class Act>
double seconds(Act act) {
  auto const start = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// What else the machine does makes times longer, never shorter.
double least(std::vector<double> const& values) { return *std::min_element(values.begin(), values.end()); }

void need(bool good, char const* what) {
  if (good) return;
  std::fprintf(stderr, "%s failed\n", what);
  std::exit(1);
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return std::fputs("usage: checkpoint_store FOLDER [MIB [ROUNDS]]\n", stderr), 2;
  std::string const folder = words[1];
  std::size_t const bytes = std::size_t{count > 2 ? std::strtoul(words[2], nullptr, 10) : 64} << 20;
  int const rounds = count > 3 ? std::atoi(words[3]) : 15;
  training trained(bytes);
  checkpoint_store store(folder + "/store", keep_latest{1});
  need(store.status().ok(), store.status().message.c_str());
  checkpoint_snapshot snapshot;
  need(snapshot.reserve(trained.state(0)), "reserving");

  aligned_bytes to;
  need(to.resize(bytes), "memory");
  to.touch();
  posix_files files;
  // like the store, a plain writer keeps what it had until the new file is there
  auto const plain = [&](int round) { return folder + "/plain" + std::to_string(round % 2); };
  std::vector<double> copies, snapshots, writes, saves, restores;
  for (int round = 0; round < rounds; ++round) {
    copies.push_back(seconds([&] {
      std::size_t at = 0;
      for (auto const& each : trained.variables) {
        std::memcpy(to.data() + at, each.data(), each.size() * sizeof(float));
        at += each.size() * sizeof(float);
      }
    }));
    snapshots.push_back(seconds([&] { need(snapshot.take(trained.state(round + 1)), "taking"); }));
    std::string const name = plain(round);
    writes.push_back(seconds([&] {
      int file = -1;
      need(files.create(name.c_str(), file) == 0, "creating");
      for (std::size_t at = 0; at < bytes; at += std::size_t{1} << 20) {
        std::size_t const length = std::min(std::size_t{1} << 20, bytes - at);
        need(::write(file, to.data() + at, length) == static_cast<ssize_t>(length), "writing");
      }
      need(files.sync(file) == 0 && files.close(file) == 0, "fsync");
      files.remove(plain(round + 1).c_str());
    }));
    saves.push_back(seconds([&] { need(store.save(std::move(snapshot)).ok(), "saving"); }));
    restores.push_back(seconds([&] { need(store.restore(trained.state(0)).found, "restoring"); }));
  }
  files.remove(plain(rounds - 1).c_str());
  double const mib = static_cast<double>(bytes) / (1 << 20);
  std::printf("memcpy_mib_per_second %.0f\n", mib / least(copies));
  std::printf("snapshot_of_memcpy %.3f\n", least(snapshots) / least(copies));
  std::printf("write_fsync_mib_per_second %.0f\n", mib / least(writes));
  std::printf("save_mib_per_second %.0f\n", mib / least(saves));
  std::printf("save_of_write %.3f\n", least(writes) / least(saves));
  std::printf("restore_mib_per_second %.0f\n", mib / least(restores));
  return 0;
}
