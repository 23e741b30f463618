// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <tautline/testing/count_allocations.hpp>

#include "two_slot_training.hpp"

// What a slot holds, which one is written, and what is put back into a training.

using namespace io_test;
using namespace tautline;

TEST_CASE("the checksum is CRC-32C, the one with the large tables") {
  auto const of = [](void const* data, std::size_t size) {
    return ~detail::crc32c_by_nibble(~0U, static_cast<unsigned char const*>(data), size);
  };
  CHECK(of("123456789", 9) == 0xe3069283U);
  unsigned char bytes[100];
  for (std::size_t size = 0; size < sizeof bytes; ++size) {
    bytes[size] = static_cast<unsigned char>(size * 37 + 11);
    CHECK(of(bytes, size + 1) == crc32c(bytes, size + 1));
  }
}

TEST_CASE("the bytes of a slot are those that are written down") {
  small_flash device(0);
  auto& [region, store, training] = device;
  training.at(0x01020304);
  training.view.step = 0x1122334455;
  REQUIRE(store.save(training.view.state()).ok());
  unsigned char const* const slot = region.bytes.data();
  auto const word = [&](std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i) number += std::uint32_t{slot[at + i]} << 8 * i;
    return number;
  };
  CHECK(std::memcmp(slot, "tlc\1", 4) == 0);
  CHECK(word(4) == 1);
  CHECK(word(8) == 2);
  CHECK(word(12) == 2 * 8 + 12 + 4);
  CHECK(word(16) == 0x22334455U);
  CHECK(word(20) == 0x11);
  CHECK(word(24) == crc32c(slot + 64, 32));
  CHECK(word(28) == crc32c(slot, 28));
  unsigned char name[4 + 1 + 1 + 8 + 1]{0, static_cast<unsigned char>(element_type::F32), 1, 'w', 0, 0, 3};
  CHECK(word(64) == crc32c(name, 6 + 8));
  CHECK(word(68) == 12);
  CHECK(word(76) == 4);
  CHECK(std::memcmp(slot + 80, training.w.data(), 12) == 0);
  CHECK(std::memcmp(slot + 92, &training.n, 4) == 0);
  CHECK(slot[96] == 0xff);
  CHECK(store.size_of(training.view.state()) == 96);
  CHECK(store.slot_bytes() == 256);
  CHECK(store.slot(0).step == 0x1122334455);
}

TEST_CASE("numbers of savings go round") {
  for (std::uint32_t const first : {0xfffffffdU, 0x7ffffffdU, 0U}) {
    small_flash device(1);
    auto& [region, store, training] = device;
    checkpoint_slot head = store.slot(0);
    head.sequence = first;
    detail::store_head(region.bytes.data(), head);
    for (int i = 2; i < 9; ++i) {
      REQUIRE(store.save(training.at(i)).ok());
      CHECK(store.slot(i % 2 == 0 ? 1 : 0).sequence == first + static_cast<std::uint32_t>(i) - 1);
      restored const back = store.restore(training.at(0));
      CHECK(back.step == i);
      CHECK(training.is_of(i));
    }
  }
}

TEST_CASE("slots take turns, and only the sectors in use are erased") {
  flash<128, 8> region(8);
  two_slot_checkpoints store(region);
  pair training;
  CHECK(store.is_empty());
  CHECK(store.last_step() == -1);
  for (int i = 1; i <= 10; ++i) REQUIRE(store.save(training.at(i)).ok());
  CHECK(region.erased == std::vector<int>{5, 0, 0, 0, 5, 0, 0, 0});
  CHECK(store.erases() == 10);
  CHECK(store.slot(2).condition == slot_condition::empty);  // there is none
  CHECK(store.last_step() == 10);
  CHECK_FALSE(store.is_empty());
  two_slot_checkpoints next(region);  // the count over all lives
  CHECK(next.erases() == 0);
  CHECK(next.slot(1).sequence == 10);
  CHECK(region.violation == "");
}

TEST_CASE("what triggers remember may be missing, or new, or another's") {
  std::array<float, 2> w{1, 2};
  std::uint64_t first = 11, second = 12, third = 13;
  std::int32_t n = 3;
  using enum state_group;
  by_hand all;
  all.add(variable, "w", "", w).add(hook, "a", trigger_field, first).add(hook, "b", trigger_field, second);
  all.add(hook, "b", "n", n).add(hook, "c", trigger_field, third);
  by_hand none, new_one, last;
  none.add(variable, "w", "", w).add(hook, "b", "n", n);
  new_one.add(variable, "w", "", w).add(hook, "aa", trigger_field, first).add(hook, "b", trigger_field, second);
  new_one.add(hook, "b", "n", n).add(hook, "c", trigger_field, third);
  last.add(variable, "w", "", w).add(hook, "b", "n", n);
  last.add(hook, "c", trigger_field, third).add(hook, "d", trigger_field, first);
  by_hand* const forms[]{&all, &none, &new_one, &last};
  for (by_hand* from : forms) {
    for (by_hand* to : forms) {
      flash<256, 8> region(2);
      two_slot_checkpoints store(region);
      w = {1, 2}, first = 11, second = 12, third = 13, n = 3;
      REQUIRE(store.save(from->state()).ok());
      w = {}, first = second = third = 0, n = 0;
      CHECK(store.restore(to->state()).found);
      CHECK(w == std::array<float, 2>{1, 2});
      CHECK(n == 3);
      auto const both = [&](char const* owner) {
        auto const has = [&](by_hand const* form) {
          return std::any_of(form->items.begin(), form->items.end(), [&](state_item const& item) {
            return std::strcmp(item.owner, owner) == 0 && std::strcmp(item.field, trigger_field) == 0;
          });
        };
        return has(from) && has(to);
      };
      CHECK(first == (both("a") || both("aa") || both("d") ? 11U : 0U));
      CHECK(second == (both("b") ? 12U : 0U));
      CHECK(third == (both("c") ? 13U : 0U));
    }
  }
}

TEST_CASE("what is kept stays when a running training goes back, and is restored when it is resumed") {
  flash<256, 8> region(2);
  two_slot_checkpoints store(region);
  std::int32_t kept = 1, other = 1;
  by_hand training;
  training.add(state_group::hook, "h", "kept", kept, true).add(state_group::hook, "h", "other", other);
  REQUIRE(store.save(training.state()).ok());
  kept = other = 5;
  training.running = true;
  REQUIRE(store.restore(training.state()).found);
  CHECK(kept == 5);
  CHECK(other == 1);
  training.running = false;
  REQUIRE(store.restore(training.state()).found);
  CHECK(kept == 1);
}

TEST_CASE("no heap") {
  small_flash device(0);
  auto& [region, store, training] = device;
  training.at(1);
  REQUIRE(testing::counts_allocations());
  long const before = testing::allocations();
  bool good = store.save(training.view.state()).ok() && store.save(training.view.state()).ok();
  good = store.restore(training.view.state()).found && good && store.clear().ok();
  CHECK(testing::allocations() == before);
  CHECK(good);
}
