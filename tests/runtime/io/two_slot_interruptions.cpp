// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "two_slot_training.hpp"

// The power goes, bits are not what they were, the flash refuses: the last checkpoint or the one before it is left.

using namespace io_test;
using namespace tautline;

namespace {

/// The power goes at each operation in each way: then a second life.
template <std::size_t Sector, std::size_t Program>
void cut_everywhere(std::size_t sectors, int& points, int& previous) {
  using region_type = flash<Sector, Program>;
  long whole = 0;
  {
    region_type region(sectors);
    two_slot_checkpoints store(region);
    CHECK(trained(store).difference(undisturbed().at(end_of_training)) == "");
    whole = region.operations;
  }
  for (cut const how : all_cuts) {
    for (long at = 0; at < whole; ++at) {
      CAPTURE(Program);
      CAPTURE(static_cast<int>(how));
      CAPTURE(at);
      region_type region(sectors);
      region.lose_power_at(at, how);
      step_number committed = 0, tried = 0;
      {
        two_slot_checkpoints store(region);
        with_session(store, [&](auto& session) {
          train_to(session, end_of_training);
          tried = session.completed_steps();
          committed = store.last_step() < 0 ? 0 : store.last_step();
        });
        if (store.last_step() >= 0) committed = store.last_step();
      }
      CHECK(region.dead);
      region.boot();
      two_slot_checkpoints store(region);
      step_number step = -1;
      // the head goes first and comes last: what is left of a saving, or of the one before it, does not pass for one
      bool const by_chance = how == cut::weak || how == cut::garbage;
      for (std::size_t i = 0; i < 2 && !by_chance; ++i) CHECK(store.slot(i).condition != slot_condition::damaged);
      std::string const problem = found(store, step);
      CHECK(problem == "");
      bool const is_one = step == committed || (step == tried && step > committed);
      CHECK(is_one);
      previous += step == committed ? 1 : 0;
      snapshot const end = trained(store);
      CHECK(end.difference(undisturbed().at(end_of_training)) == "");
      CHECK(region.violation == "");
      ++points;
    }
  }
}

}  // namespace

TEST_CASE("the power goes at each operation, in each way: the last checkpoint or the one before, and the same end") {
  int points = 0, previous = 0;
  cut_everywhere<64, 1>(16, points, previous);    // pieces of a byte, a slot of eight sectors
  cut_everywhere<128, 4>(8, points, previous);
  cut_everywhere<128, 8>(4, points, previous);
  cut_everywhere<256, 32>(2, points, previous);
  cut_everywhere<256, 128>(4, points, previous);  // pieces that are larger than a block
  MESSAGE(points, " points, of them from the checkpoint before: ", previous);
  CHECK(points > 5000);
  CHECK(previous > points / 2);
  CHECK(previous < points);
}

TEST_CASE("the power goes again and again: the training gets to its end, and to the same bits") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    flash<128, 8> region(4, static_cast<unsigned char>(seed % 2 == 0 ? 0xff : 0x5a));
    for (unsigned i = 0; i < seed; ++i) (void)region.chance();
    int lives = 0;
    step_number reached = 0;
    for (; reached < end_of_training && lives < 2000; ++lives) {
      region.boot();
      region.lose_power_at(region.chance() % 100, all_cuts[region.chance() % 5]);
      two_slot_checkpoints store(region);
      with_session(store, [&](auto& session) {
        CHECK(session.is_open());
        CHECK(session.completed_steps() >= reached);  // nothing that was restored once is lost
        reached = session.completed_steps();
        train_to(session, end_of_training);
      });
    }
    region.boot();
    two_slot_checkpoints store(region);
    CHECK(trained(store).difference(undisturbed().at(end_of_training)) == "");
    CHECK(region.violation == "");
    CHECK(lives > 2);
    CHECK(lives < 2000);
  }
}

TEST_CASE("forgetting is interrupted anywhere: never the older one of two") {
  for (cut const how : all_cuts) {
    for (long at = 0; at < 2; ++at) {
      for (int savings = 2; savings < 4; ++savings) {
        CAPTURE(static_cast<int>(how));
        CAPTURE(at);
        small_flash device(savings);
        auto& [region, store, training] = device;
        region.lose_power_at(at, how);
        CHECK_FALSE(store.clear().ok());
        region.boot();
        restored const back = store.restore(training.at(7));
        CHECK((!back.found || back.step == savings));
        CHECK((back.found || training.is_of(7)));
        CHECK(store.clear().ok());
        CHECK_FALSE(store.restore(training.at(7)).found);
      }
    }
  }
}

TEST_CASE("each bit of the newest slot that is another: the checkpoint before is used, and said so") {
  flash<256, 8> region(2);
  two_slot_checkpoints store(region);
  (void)trained(store);  // 3 6 9 12 14
  REQUIRE(store.slot(0).step == 14);
  REQUIRE(store.slot(1).step == 12);
  std::size_t const used = 64 + store.slot(0).bytes;
  std::vector<unsigned char> const whole = region.bytes;
  std::string lines;
  auto const report = [&](char const* line) { lines += line; };
  int used_before = 0;
  for (std::size_t bit = 0; bit < 8 * used; ++bit) {
    CAPTURE(bit);
    region.bytes = whole;
    region.bytes[bit / 8] ^= static_cast<unsigned char>(1U << bit % 8);
    lines.clear();
    two_slot_checkpoints next(region, report);
    step_number step = -1;
    CHECK(found(next, step) == "");
    bool const counts = bit < 8 * 32 || bit >= 8 * 64;  // between head and values there is nothing
    CHECK(step == (counts ? 12 : 14));
    CHECK(next.damaged() == (counts ? 1 : 0));
    if (bit < 8 * 32) CHECK(lines == "flash: slot 0 holds no whole checkpoint; the other one is used");
    if (bit >= 8 * 64) CHECK(lines == "flash: slot 0 holds a checkpoint that is damaged; the other one is used");
    if (!counts) CHECK(lines == "");
    used_before += counts ? 1 : 0;
  }
  CHECK(used_before > 800);

  // and it is the damaged one that is written next
  region.bytes = whole;
  region.bytes[100] ^= 4;
  two_slot_checkpoints next(region);
  (void)trained(next);
  CHECK(next.slot(0).condition == slot_condition::good);
  CHECK(next.slot(1).step == 12);
}

TEST_CASE("both damaged: an error, until they are forgotten") {
  small_flash device(2);
  auto& [region, store, training] = device;
  region.bytes[70] ^= 1, region.bytes[256 + 70] ^= 1;
  restored const back = store.restore(training.at(7));
  CHECK(said(back.result) == "error: flash: the checkpoint is damaged and there is no other (clear() begins anew)");
  CHECK(training.is_of(7));
  CHECK(store.damaged() == 2);
  CHECK(store.is_empty());
  REQUIRE(store.clear().ok());
  restored const anew = store.restore(training.view.state());
  CHECK(anew.result.ok());
  CHECK_FALSE(anew.found);
  CHECK(store.damaged() == 0);
}

TEST_CASE("flash that does not hold what is written is an error, and the checkpoint before stays") {
  small_flash device(1);
  auto& [region, store, training] = device;
  region.silent = true;
  CHECK(said(store.save(training.at(2))) == "internal: flash: it does not hold what was written");
  CHECK(store.last_step() == 1);
  CHECK(store.restore(training.view.state()).step == 1);
  CHECK(store.save(training.at(3)).ok());
  CHECK(store.slot(1).step == 3);
}

TEST_CASE("a region that refuses to erase or to program: its error comes out, and the checkpoint before stays") {
  for (long at = 0; at < 1 + 4 + 4; ++at) {  // the sector, the values, the head
    CAPTURE(at);
    small_flash device(1);
    auto& [region, store, training] = device;
    region.boot();
    region.refuses_at = at;
    CHECK(said(store.save(training.at(2))) == "internal: the sector is worn out");
    CHECK(store.restore(training.at(7)).step == 1);
    CHECK(store.save(training.at(3)).ok());
    CHECK(region.violation == "");
  }
}

TEST_CASE("a region that does not answer: its error comes out, and nothing begins anew") {
  small_flash device(2);
  auto& [region, store, training] = device;
  region.boot();
  REQUIRE(store.restore(training.at(7)).found);
  long const reads = region.reads;
  CHECK(reads == 2 + 2 * 1 + 2 * 2 + 2);  // heads, values, records twice, values
  for (long at = 0; at < reads; ++at) {
    CAPTURE(at);
    region.boot();
    region.fails_at_read = at;
    restored const back = store.restore(training.at(7));
    CHECK(said(back.result) == "internal: the power is gone");
    CHECK_FALSE(back.found);
    if (at < 2 + 2 + 2 + 2) CHECK(training.is_of(7));  // before the first value is put
  }
  for (long at = 0; at < 4; ++at) {
    region.boot();
    region.fails_at_read = at;
    CHECK(store.save(training.at(9)).kind == error_kind::internal);
  }
  CHECK(region.violation == "");
}
