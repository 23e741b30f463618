// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "two_slot_training.hpp"

// What is not saved, and what is not restored: nothing is touched.

using namespace io_test;
using namespace tautline;

TEST_CASE("a checkpoint of another training is refused by the value that differs, and nothing is touched") {
  flash<512, 8> region(2);
  two_slot_checkpoints store(region);
  pair saved;
  REQUIRE(store.save(saved.at(5)).ok());
  REQUIRE(store.save(saved.at(6)).ok());
  std::array<float, 3> w{};
  std::array<float, 4> longer{};
  std::array<std::int32_t, 3> whole{};
  std::int32_t n = 0, m = 0;
  using enum state_group;
  by_hand renamed, reshaped, retyped, more, fewer, moved, input_now;
  renamed.add(variable, "v", "", w).add(hook, "counter", "n", n);
  reshaped.add(variable, "w", "", longer).add(hook, "counter", "n", n);
  retyped.add(variable, "w", "", whole).add(hook, "counter", "n", n);
  more.add(variable, "w", "", w).add(hook, "counter", "n", n).add(hook, "counter", "m", m);
  fewer.add(variable, "w", "", w);
  moved.add(hook, "counter", "n", n).add(variable, "w", "", w);
  input_now.add(variable, "w", "", w).add(input, "counter", "n", n);
  std::string const other = "invalid_argument: flash: checkpoint of another training (clear() forgets it): value ";
  for (auto const& [training, words] : {std::pair{&renamed, "0 differs in name, type or shape from variable/v"},
                                        {&reshaped, "0 has 12 bytes, not 16 as variable/w"},
                                        {&retyped, "0 differs in name, type or shape from variable/w"},
                                        {&more, "2 is missing: hook/counter/m"},
                                        {&fewer, "1 is not in this training"},
                                        {&moved, "0 has 12 bytes, not 4 as hook/counter/n"},
                                        {&input_now, "1 differs in name, type or shape from input/counter/n"}}) {
    restored const back = store.restore(training->state());
    CHECK(said(back.result) == other + words);
    CHECK_FALSE(back.found);
  }
  CHECK(w == std::array<float, 3>{});
  CHECK(longer == std::array<float, 4>{});
  CHECK(whole == std::array<std::int32_t, 3>{});
  CHECK(n == 0);
  CHECK(store.restore(saved.at(1)).found);
  CHECK(saved.is_of(6));

  // in a session: it does not open, and goes on once the old one is forgotten
  with_session(store, [&](auto& session) {
    CHECK_FALSE(session.is_open());
    CHECK(session.status().kind == error_kind::invalid_argument);
  });
  REQUIRE(store.clear().ok());
  CHECK(trained(store).difference(undisturbed().at(end_of_training)) == "");
}

TEST_CASE("a training that does not fit is refused with both sizes, when it is made and when it has grown") {
  flash<64, 8> region(4);
  two_slot_checkpoints store(region);
  with_session(store, [&](auto& session) {
    CHECK_FALSE(session.is_open());
    CHECK(std::string(session.status().message.words()) == "flash: the training needs 176 bytes, a slot has 128");
  });
  CHECK(region.operations == 0);

  std::vector<float> grows(4);
  by_hand training;
  auto const now = [&] {
    training.items.clear();
    return training.add(state_group::variable, "grows", "", grows).state();
  };
  CHECK(store.size_of(now()) == 64 + 8 + 16);
  REQUIRE(store.prepare(now()).ok());
  REQUIRE(store.save(now()).ok());
  long const before = region.operations;
  grows.assign(14, 2);
  CHECK(store.size_of(now()) == 128);
  CHECK(store.prepare(now()).ok());
  grows.assign(15, 2);
  CHECK(said(store.save(now())) == "invalid_argument: flash: the training needs 136 bytes, a slot has 128");
  CHECK(region.operations == before);
  CHECK(store.restore(now()).result.kind == error_kind::invalid_argument);  // shapes do not change
  CHECK(grows == std::vector<float>(15, 2));
  grows.assign(4, 2);
  CHECK(store.restore(now()).found);
  CHECK(grows == std::vector<float>(4, 0));

  flash<64, 8> one_sector(1);
  two_slot_checkpoints nothing(one_sector);
  CHECK(said(nothing.restore(now()).result) == "invalid_argument: flash: the region has less than two sectors");
  CHECK(nothing.save(now()).kind == error_kind::invalid_argument);
  CHECK(nothing.clear().kind == error_kind::invalid_argument);
  CHECK(nothing.slot(1).condition == slot_condition::empty);
  CHECK(one_sector.violation == "");
}

TEST_CASE("a region in which anything may stand: the training begins anew") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    flash<256, 8> region(2, 0x11);
    for (unsigned i = 0; i < seed; ++i) (void)region.chance();
    if (seed > 2) {
      for (unsigned char& byte : region.bytes) byte = static_cast<unsigned char>(region.chance());
    }
    if (seed == 1) std::fill(region.bytes.begin(), region.bytes.end(), static_cast<unsigned char>(0));
    if (seed == 2) std::memcpy(region.bytes.data(), "tlc\1", 4);
    two_slot_checkpoints store(region);
    step_number step = -1;
    CHECK(found(store, step) == "");
    CHECK(step == 0);
    CHECK(store.damaged() == (seed == 1 ? 0 : 2));
    CHECK(trained(store).difference(undisturbed().at(end_of_training)) == "");
    two_slot_checkpoints next(region);
    CHECK(found(next, step) == "");
    CHECK(step == end_of_training);
    CHECK(region.violation == "");
  }
}

TEST_CASE("what is not finite is not saved") {
  small_flash device(1);
  auto& [region, store, training] = device;
  long const before = region.operations;
  for (float const bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    training.at(2);
    training.w[2] = bad;
    CHECK(said(store.save(training.view.state())) == "nan: flash: a variable is not finite");
  }
  CHECK(region.operations == before);
  CHECK(store.restore(training.view.state()).step == 1);

  auto graph = static_graph{}.variable<"v">(1.0F).update<"train", "v">([](float& v) { return v *= 1e20F; });
  flash<256, 8> other(2);
  two_slot_checkpoints saved(other);
  auto session = try_monitored(graph, checkpoint_saver{saved, every_steps{1}});
  for (int i = 0; i < 4; ++i) CHECK(session.try_run(target<"train">));
  CHECK(saved.last_step() == 1);
  using saver_type = checkpoint_saver<two_slot_checkpoints<flash<256, 8>>, every_steps>;
  CHECK(session.hook<saver_type>().skipped() == 3);
  CHECK(session.hook<saver_type>().saved() == 1);
}

TEST_CASE("a later format is neither read nor overwritten") {
  small_flash device(2);
  auto& [region, store, training] = device;
  region.bytes[256 + 3] = 2;
  detail::store_word(region.bytes.data() + 256 + 28, crc32c(region.bytes.data() + 256, 28));
  CHECK(store.slot(1).condition == slot_condition::newer);
  restored const back = store.restore(training.at(7));
  CHECK(said(back.result) == "invalid_argument: flash: a checkpoint of a later format (clear() forgets it)");
  CHECK(training.is_of(7));
  CHECK(store.save(training.view.state()).kind == error_kind::invalid_argument);
  REQUIRE(store.clear().ok());
  CHECK(store.save(training.view.state()).ok());
}

TEST_CASE("a head that is whole and says what cannot be, or is of another kind: nothing outside is read") {
  small_flash device(2);
  auto& [region, store, training] = device;
  checkpoint_slot const whole = store.slot(1);
  region.bytes[256] = 'T';  // and one of another kind, whole in its way
  detail::store_word(region.bytes.data() + 256 + 28, crc32c(region.bytes.data() + 256, 28));
  CHECK(store.slot(1).condition == slot_condition::unknown);
  for (int i = 0; i < 3; ++i) {
    checkpoint_slot head = whole;
    (i == 0 ? head.bytes : head.items) = i == 0 ? 193U : i == 1 ? 5U : 0xffffffffU;
    detail::store_head(region.bytes.data() + 256, head);
    CHECK(store.slot(1).condition == slot_condition::damaged);
    CHECK(store.restore(training.at(7)).step == 1);
    CHECK(region.violation == "");
  }
}

TEST_CASE("records that are whole and say that values reach beyond the end: nothing is read there, nothing touched") {
  std::array<float, 3> w{1, 1, 1};
  std::uint64_t first = 2, second = 3;
  std::array<std::int32_t, 4> n{4, 4, 4, 4};
  using enum state_group;
  by_hand training, without;
  training.add(variable, "w", "", w).add(hook, "a", trigger_field, first).add(hook, "b", trigger_field, second);
  training.add(hook, "c", "n", n);
  without.add(variable, "w", "", w).add(hook, "c", "n", n);
  constexpr std::size_t records = 64, values = records + 4 * 8;
  auto const size_at = [](auto& region, std::size_t record) { return region.bytes.data() + records + 8 * record + 4; };
  auto const seal = [](auto& region, std::uint32_t bytes) {
    checkpoint_slot head = detail::load_head(region.bytes.data());
    head.bytes = bytes, head.checksum = crc32c(region.bytes.data() + 64, bytes);
    detail::store_head(region.bytes.data(), head);
  };
  // the values of the checkpoint are cut off, one byte after the other
  for (std::uint32_t bytes = 4 * 8; bytes < 4 * 8 + 12 + 8 + 8 + 16; ++bytes) {
    CAPTURE(bytes);
    flash<256, 8> region(2);
    two_slot_checkpoints store(region);
    w = {1, 1, 1}, n = {4, 4, 4, 4};
    REQUIRE(store.save(training.state()).ok());
    seal(region, bytes);
    REQUIRE(store.slot(0).condition == slot_condition::good);
    w = {7, 7, 7}, n = {7, 7, 7, 7};
    CHECK(store.restore(training.state()).result.kind == error_kind::invalid_argument);
    CHECK(w == std::array<float, 3>{7, 7, 7});
    CHECK(n == std::array<std::int32_t, 4>{7, 7, 7, 7});
    CHECK(region.violation == "");
  }
  // what is left out, since it is of a trigger, is so long that the sum goes round in 32 bits: to before the region
  flash<256, 8> region(2);
  two_slot_checkpoints store(region);
  REQUIRE(store.save(training.state()).ok());
  std::uint32_t const back = static_cast<std::uint32_t>(values + 12 + 8);
  detail::store_word(size_at(region, 1), 0xffffffffU);
  detail::store_word(size_at(region, 2), detail::slot_record::trigger_bit | (0U - back - 0x7fffffffU));
  seal(region, 4 * 8 + 12 + 8 + 8 + 16);
  w = {7, 7, 7}, n = {7, 7, 7, 7};
  CHECK(store.restore(without.state()).result.kind == error_kind::invalid_argument);
  CHECK(n == std::array<std::int32_t, 4>{7, 7, 7, 7});
  CHECK(region.violation == "");
}
