// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "disk.hpp"
#include "training.hpp"

using namespace tautline;
using namespace io_test;

namespace {

std::vector<step_number> kept(auto const& policy, std::vector<checkpoint_entry> const& entries) {
  std::vector<std::uint8_t> keep(entries.size());
  policy.mark(entries, keep);
  std::vector<step_number> made;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (keep[i] != 0) made.push_back(entries[i].step);
  }
  return made;
}

checkpoint_entry entry(step_number step, double accuracy = 0, std::int64_t time = -1) {
  checkpoint_entry made{step, step, time >= 0, time};
  made.metadata.set("accuracy", accuracy);
  return made;
}

using steps = std::vector<step_number>;
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("each policy keeps what it says") {
  std::vector<checkpoint_entry> const all{entry(50, .5, 10),  entry(100, .9, 15), entry(150, no_number, 25),
                                          entry(199, .7, 30), entry(210, .9, 31), entry(320, .1, 90)};
  CHECK(kept(keep_latest{2}, all) == steps{210, 320});
  CHECK(kept(keep_latest{0}, all).empty());
  CHECK(kept(keep_latest{99}, all).size() == 6);
  CHECK(kept(keep_all{}, all).size() == 6);
  CHECK(kept(keep_every_steps{100}, all) == steps{100, 210, 320});
  CHECK(kept(keep_every_steps{0}, all).empty());
  CHECK(kept(keep_every_seconds{15}, all) == steps{50, 150, 320});
  CHECK(kept(keep_best<"accuracy">{1}, all) == steps{100});  // of two equal ones the older
  CHECK(kept(keep_best<"accuracy">{2}, all) == steps{100, 210});
  CHECK(kept(keep_best<"accuracy", better::smaller>{2}, all) == steps{50, 320});
  CHECK(kept(keep_best<"accuracy">{9}, all) == steps{50, 100, 199, 210, 320});  // never NaN
  CHECK(kept(keep_best<"loss">{9}, all).empty());
  CHECK(kept(keep_latest{1} | keep_every_steps{200} | keep_best<"accuracy">{1}, all) == steps{100, 210, 320});
  static_assert(keep_policy<decltype(keep_latest{1} | keep_all{})>);
  static_assert(!keep_policy<int>);
}

TEST_CASE("over any history: the newest stays, the best of all stay, files may vanish") {
  std::mt19937 random(1);
  for (int round = 0; round < 25; ++round) {
    disk where;
    lines said;
    auto const latest = 1 + random() % 3, best = 1 + random() % 3;
    checkpoint_store store("run", keep_latest{latest} | keep_best<"accuracy">{best} | keep_every_steps{40}, said.options(),
                           disk_files(where));
    float w = 0;
    fake training;
    training.add(state_group::variable, "w", "", w);
    std::vector<checkpoint_entry> history;
    bool const vanish = round % 2 == 1;
    for (int i = 0; i < 14; ++i) {
      training.step += 1 + static_cast<step_number>(random() % 12);
      double const accuracy = random() % 5 == 0 ? no_number : static_cast<double>(random() % 8);
      store.metadata().set("accuracy", accuracy);
      REQUIRE(store.save(training.state()).ok());
      history.push_back(entry(training.step, accuracy));
      steps have;
      for (checkpoint_entry const& each : store.entries()) have.push_back(each.step);
      REQUIRE_FALSE(have.empty());
      CHECK(have.back() == training.step);
      for (step_number const step : have) {
        CHECK(where.now.contains(detail::step_name(step) + ".json"));
        CHECK(where.now.contains(detail::step_name(step) + ".safetensors"));
      }
      if (vanish) {
        if (random() % 3 == 0) where.now.erase(std::next(where.now.begin(), static_cast<int>(random() % where.now.size())));
        continue;
      }
      // removed bit by bit is the same as chosen from all at once
      steps expected = kept(keep_latest{latest} | keep_best<"accuracy">{best} | keep_every_steps{40}, history);
      CHECK(have == expected);
      CHECK(where.now.size() == 1 + 2 * have.size());
    }
    CHECK(said.all.empty());
  }
}

TEST_CASE("incomplete ones are not counted: the only complete one is never removed") {
  disk where;
  lines said;
  float w = 0;
  fake training;
  training.add(state_group::variable, "w", "", w);
  auto const save = [&](checkpoint_store& store, step_number step) {
    training.step = step;
    REQUIRE(store.save(training.state()).ok());
  };
  {
    checkpoint_store store("run", keep_latest{3}, said.options(), disk_files(where));
    for (step_number const step : {1, 2, 3}) save(store, step);
  }
  where.now["step-000000000002.safetensors"]->content.pop_back();
  where.now.erase("step-000000000003.safetensors");
  checkpoint_store store("run", keep_latest{2}, said.options(), disk_files(where));
  save(store, 4);
  REQUIRE(store.entries().size() == 2);
  CHECK(store.entries()[0].step == 1);
  CHECK(store.entries()[1].step == 4);
}

TEST_CASE("a policy that keeps nothing leaves the newest") {
  disk where;
  lines said;
  float w = 0;
  fake training;
  training.add(state_group::variable, "w", "", w);
  checkpoint_store store("run", keep_latest{0}, said.options(), disk_files(where));
  for (training.step = 1; training.step < 4; ++training.step) {
    REQUIRE(store.save(training.state()).ok());
    REQUIRE(store.entries().size() == 1);
    CHECK(store.entries()[0].step == training.step);
  }
}

TEST_CASE("a file that cannot be removed is reported, and the saving is good") {
  disk where;
  lines said;
  float w = 0;
  fake training;
  training.add(state_group::variable, "w", "", w);
  checkpoint_store store("run", keep_latest{1}, said.options(), disk_files(where));
  training.step = 1;
  REQUIRE(store.save(training.state()).ok());
  int const before = where.operations;
  training.step = 2;
  REQUIRE(store.save(training.state()).ok());
  int const each = where.operations - before;
  // the last operations of a saving: scan, remove, remove, scan
  where.mode = fault::fail, where.code = EPERM, where.fault_at = where.operations + each - 3;
  training.step = 3;
  CHECK(store.save(training.state()).ok());
  REQUIRE(said.all.size() == 1);
  CHECK(said.all[0] == "run/step-000000000002.json cannot be removed: Operation not permitted");
  CHECK(where.now.contains("step-000000000002.safetensors"));
}
