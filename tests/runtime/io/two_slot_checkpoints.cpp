// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <tautline/core.hpp>
#include <tautline/hooks/checkpoint_saver.hpp>
#include <tautline/io/two_slot_checkpoints.hpp>
#include <tautline/sessions/static_graph.hpp>
#include <tautline/testing/count_allocations.hpp>
#include <tautline/testing/memory_store.hpp>

#include "flash.hpp"

using namespace tautline;
using io_test::cut;
using io_test::flash;
using testing::snapshot;

namespace {

/// Numbers that no other step has.
struct numbers {
  std::uint32_t position = 0;
  bool operator()(float& x) {
    position = position * 1664525U + 1013904223U;
    x = static_cast<float>(position >> 8) / 16777216.0F;
    return true;
  }
  auto state() { return fields{field<"position">(position)}; }
};

/// A hook with a state, one field of which stays when a training goes back.
struct mean_of {
  double mean = 0;
  bool seen = false;
  int times = 0;
  auto state() { return fields{field<"mean">(mean), field<"seen">(seen), kept_field<"times">(times)}; }
  void begin(auto&) { mean = 0, seen = false, times = 0; }
  auto before_run(auto&) { return fetch<"loss">; }
  void after_run(auto&, auto& values) { mean = 0.9 * mean + 0.1 * static_cast<double>(values[fetch<"loss">]), seen = true; }
};

using weights = std::array<float, 5>;
constexpr step_number end_of_training = 14;

auto model() {
  return static_graph{}
      .variable<"w">(weights{})
      .variable<"count">(std::int64_t{0})
      .source<"x">(0.0F, numbers{})
      .op<"loss", "w", "x">([](weights const& w, float x) { return (w[0] - x) * (w[0] - x); })
      .update<"train", "w", "x">([](weights& w, float x) {
        for (std::size_t i = 0; i < w.size(); ++i) w[i] += (x - w[i]) / static_cast<float>(i + 3);
      });
}

/// One life of a device: a session that is restored, given to `act`, and closed.
template <class Store, class Act>
void with_session(Store& store, Act act) {
  auto graph = model();
  auto session = try_monitored(graph, options{restore_from{store}}, mean_of{}, checkpoint_saver{store, every_steps{3} | at_end});
  act(session);
  (void)session.try_close();
}
template <class Session>
void train_to(Session& session, step_number last) {
  while (session.is_open() && session.completed_steps() < last && session.try_run(target<"train">)) continue;
}
/// Trains up to a step; what is there when it has got there.
template <class Store>
snapshot trained(Store& store, step_number last = end_of_training) {
  snapshot made;
  with_session(store, [&](auto& session) {
    train_to(session, last);
    CHECK(session.completed_steps() == last);
    made = snapshot(session.raw().state());
  });
  return made;
}

/// The state of an undisturbed training behind each of its steps.
std::map<step_number, snapshot> const& undisturbed() {
  static std::map<step_number, snapshot> const made = [] {
    std::map<step_number, snapshot> steps;
    testing::memory_store nowhere;
    auto graph = model();
    flash<4096, 4> region(2);
    two_slot_checkpoints store(region);
    auto session = try_monitored(graph, options{restore_from{nowhere}}, mean_of{}, checkpoint_saver{store, every_steps{3} | at_end});
    for (step_number step = 0; step <= end_of_training; ++step) {
      train_to(session, step);
      steps[step] = snapshot(session.raw().state());
    }
    return steps;
  }();
  return made;
}

/// What a restore puts into a new session, "" if it is what the training was at that step.
template <class Store>
std::string found(Store& store, step_number& step) {
  std::string problem;
  auto graph = model();
  auto session = try_monitored(graph, options{restore_from{store}}, mean_of{}, checkpoint_saver{store, never});
  if (!session.is_open()) return session.status().message.words();
  step = session.completed_steps();
  snapshot const now(session.raw().state());
  for (auto const& item : undisturbed().at(step).items()) {
    auto const* const here = now.find(item.name);
    bool const triggers = item.name.find(trigger_field) != std::string::npos;
    if (!triggers && (here == nullptr || here->bytes != item.bytes)) problem += item.name + ' ';
  }
  return problem;
}

/// A training's state by hand.
struct by_hand {
  std::vector<state_item> items;
  step_number step = 1;
  bool running = false;

  template <class Value>
  by_hand& add(state_group group, char const* owner, char const* name, Value& value, bool kept = false) {
    state_item item;
    item.group = group, item.owner = owner, item.field = name, item.kept = kept;
    item.view = view_tensor(value);
    item.object = &value;
    items.push_back(item);
    return *this;
  }
  [[nodiscard]] training_state state() {
    static constexpr training_state::functions how{
        [](void* core, void* visitor, training_state::item_visit visit) {
          for (state_item const& item : static_cast<by_hand*>(core)->items) visit(visitor, item);
        },
        [](void*, void*, training_state::node_visit) {}};
    return {this, how, step, running};
  }
};

/// Two values that say which saving they are of.
struct pair {
  std::array<float, 3> w{};
  std::int32_t n = 0;
  by_hand view{};
  pair() {
    view.add(state_group::variable, "w", "", w).add(state_group::hook, "counter", "n", n);
  }
  pair(pair const&) = delete;
  pair& operator=(pair const&) = delete;
  training_state at(int number) {
    w.fill(static_cast<float>(number));
    n = number;
    view.step = number;
    return view.state();
  }
  [[nodiscard]] bool is_of(int number) const {
    return n == number && std::all_of(w.begin(), w.end(), [&](float each) { return each == static_cast<float>(number); });
  }
};

constexpr cut all_cuts[]{cut::before, cut::after, cut::half, cut::weak, cut::garbage};

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
      // the head goes first and comes last: what is left of a saving, or of what stood there before, does not pass for one
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
  flash<256, 8> region(2);
  two_slot_checkpoints store(region);
  pair training;
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

TEST_CASE("each bit of the newest slot that is another: the checkpoint before is used, and said so") {
  flash<256, 8> region(2);
  two_slot_checkpoints store(region);
  (void)trained(store);  // 3 6 9 12 14
  REQUIRE(store.slot(0).step == 14);
  REQUIRE(store.slot(1).step == 12);
  std::size_t const used = 64 + store.slot(0).bytes;
  std::vector<unsigned char> const whole = region.bytes;
  std::string said;
  auto const report = [&](char const* line) { said += line; };
  int used_before = 0;
  for (std::size_t bit = 0; bit < 8 * used; ++bit) {
    CAPTURE(bit);
    region.bytes = whole;
    region.bytes[bit / 8] ^= static_cast<unsigned char>(1U << bit % 8);
    said.clear();
    two_slot_checkpoints next(region, report);
    step_number step = -1;
    CHECK(found(next, step) == "");
    bool const counts = bit < 8 * 32 || bit >= 8 * 64;  // between head and values there is nothing
    CHECK(step == (counts ? 12 : 14));
    CHECK(next.damaged() == (counts ? 1 : 0));
    if (bit < 8 * 32) CHECK(said == "flash: slot 0 holds no whole checkpoint; the other one is used");
    if (bit >= 8 * 64) CHECK(said == "flash: slot 0 holds a checkpoint that is damaged; the other one is used");
    if (!counts) CHECK(said == "");
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
  flash<256, 8> region(2);
  two_slot_checkpoints store(region);
  pair training;
  REQUIRE(store.save(training.at(1)).ok());
  REQUIRE(store.save(training.at(2)).ok());
  region.bytes[70] ^= 1, region.bytes[256 + 70] ^= 1;
  training.at(7);
  restored const back = store.restore(training.view.state());
  CHECK(back.result.kind == error_kind::error);
  CHECK(back.result.message == std::string("flash: the checkpoint is damaged and there is no other (clear() begins anew)"));
  CHECK(training.is_of(7));
  CHECK(store.damaged() == 2);
  CHECK(store.is_empty());
  REQUIRE(store.clear().ok());
  restored const anew = store.restore(training.view.state());
  CHECK(anew.result.ok());
  CHECK_FALSE(anew.found);
  CHECK(store.damaged() == 0);
}

TEST_CASE("numbers of savings go round") {
  for (std::uint32_t const first : {0xfffffffdU, 0x7ffffffdU, 0U}) {
    flash<256, 8> region(2);
    two_slot_checkpoints store(region);
    pair training;
    REQUIRE(store.save(training.at(1)).ok());
    checkpoint_slot head = store.slot(0);
    head.sequence = first;
    detail::store_head(region.bytes.data(), head);
    for (int i = 2; i < 9; ++i) {
      REQUIRE(store.save(training.at(i)).ok());
      CHECK(store.slot(i % 2 == 0 ? 1 : 0).sequence == first + static_cast<std::uint32_t>(i) - 1);
      training.at(0);
      restored const back = store.restore(training.view.state());
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
  CHECK(store.last_step() == 10);
  CHECK_FALSE(store.is_empty());
  two_slot_checkpoints next(region);  // the count over all lives
  CHECK(next.erases() == 0);
  CHECK(next.slot(1).sequence == 10);
  CHECK(region.violation == "");
}

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
  std::string const other = "flash: checkpoint of another training (clear() forgets it): value ";
  for (auto const& [training, words] : {std::pair{&renamed, "0 differs in name, type or shape from variable/v"},
                                        {&reshaped, "0 has 12 bytes, not 16 as variable/w"},
                                        {&retyped, "0 differs in name, type or shape from variable/w"},
                                        {&more, "2 is missing: hook/counter/m"},
                                        {&fewer, "1 is not in this training"},
                                        {&moved, "0 has 12 bytes, not 4 as hook/counter/n"},
                                        {&input_now, "1 differs in name, type or shape from input/counter/n"}}) {
    restored const back = store.restore(training->state());
    CHECK(back.result.kind == error_kind::invalid_argument);
    CHECK(back.result.message == other + words);
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
  last.add(variable, "w", "", w).add(hook, "b", "n", n).add(hook, "c", trigger_field, third).add(hook, "d", trigger_field, first);
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
  status const done = store.save(now());
  CHECK(done.kind == error_kind::invalid_argument);
  CHECK(done.message == std::string("flash: the training needs 136 bytes, a slot has 128"));
  CHECK(region.operations == before);
  CHECK(store.restore(now()).result.kind == error_kind::invalid_argument);  // shapes do not change
  CHECK(grows == std::vector<float>(15, 2));
  grows.assign(4, 2);
  CHECK(store.restore(now()).found);
  CHECK(grows == std::vector<float>(4, 0));

  flash<64, 8> one_sector(1);
  two_slot_checkpoints nothing(one_sector);
  CHECK(nothing.restore(now()).result.message == std::string("flash: the region has less than two sectors"));
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
  flash<256, 8> region(2);
  two_slot_checkpoints store(region);
  pair training;
  REQUIRE(store.save(training.at(1)).ok());
  long const before = region.operations;
  for (float const bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    training.at(2);
    training.w[2] = bad;
    CHECK(store.save(training.view.state()).kind == error_kind::nan);
    CHECK(store.save(training.view.state()).message == std::string("flash: a variable is not finite"));
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
  flash<256, 8> region(2);
  two_slot_checkpoints store(region);
  pair training;
  REQUIRE(store.save(training.at(1)).ok());
  REQUIRE(store.save(training.at(2)).ok());
  region.bytes[256 + 3] = 2;
  detail::store_word(region.bytes.data() + 256 + 28, crc32c(region.bytes.data() + 256, 28));
  CHECK(store.slot(1).condition == slot_condition::newer);
  training.at(7);
  restored const back = store.restore(training.view.state());
  CHECK(back.result.kind == error_kind::invalid_argument);
  CHECK(back.result.message == std::string("flash: a checkpoint of a later format (clear() forgets it)"));
  CHECK(training.is_of(7));
  CHECK(store.save(training.view.state()).kind == error_kind::invalid_argument);
  REQUIRE(store.clear().ok());
  CHECK(store.save(training.view.state()).ok());
}

TEST_CASE("a head that is whole and says what cannot be, or is of another kind: nothing outside is read") {
  flash<256, 8> region(2);
  two_slot_checkpoints store(region);
  pair training;
  REQUIRE(store.save(training.at(1)).ok());
  REQUIRE(store.save(training.at(2)).ok());
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

TEST_CASE("records that are whole and say that values reach beyond the end: nothing outside is read, nothing is touched") {
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

TEST_CASE("flash that does not hold what is written is an error, and the checkpoint before stays") {
  flash<256, 8> region(2);
  two_slot_checkpoints store(region);
  pair training;
  REQUIRE(store.save(training.at(1)).ok());
  region.silent = true;
  status const done = store.save(training.at(2));
  CHECK(done.kind == error_kind::internal);
  CHECK(done.message == std::string("flash: it does not hold what was written"));
  CHECK(store.last_step() == 1);
  CHECK(store.restore(training.view.state()).step == 1);
  CHECK(store.save(training.at(3)).ok());
  CHECK(store.slot(1).step == 3);
}

TEST_CASE("a region that refuses to erase or to program: its error comes out, and the checkpoint before stays") {
  for (long at = 0; at < 1 + 4 + 4; ++at) {  // the sector, the values, the head
    CAPTURE(at);
    flash<256, 8> region(2);
    two_slot_checkpoints store(region);
    pair training;
    REQUIRE(store.save(training.at(1)).ok());
    region.boot();
    region.refuses_at = at;
    status const done = store.save(training.at(2));
    CHECK(done.kind == error_kind::internal);
    CHECK(done.message == std::string("the sector is worn out"));
    CHECK(store.restore(training.at(7)).step == 1);
    CHECK(store.save(training.at(3)).ok());
    CHECK(region.violation == "");
  }
}

TEST_CASE("a region that does not answer: its error comes out, and nothing begins anew") {
  flash<256, 8> region(2);
  two_slot_checkpoints store(region);
  pair training;
  REQUIRE(store.save(training.at(1)).ok());
  REQUIRE(store.save(training.at(2)).ok());
  region.boot();
  REQUIRE(store.restore(training.at(7)).found);
  long const reads = region.reads;
  CHECK(reads == 2 + 2 * 1 + 2 * 2 + 2);  // heads, values, records twice, values
  for (long at = 0; at < reads; ++at) {
    CAPTURE(at);
    region.boot();
    region.fails_at_read = at;
    training.at(7);
    restored const back = store.restore(training.view.state());
    CHECK(back.result.message == std::string("the power is gone"));
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

TEST_CASE("forgetting is interrupted anywhere: never the older one of two") {
  for (cut const how : all_cuts) {
    for (long at = 0; at < 2; ++at) {
      for (int savings = 2; savings < 4; ++savings) {
        CAPTURE(static_cast<int>(how));
        CAPTURE(at);
        flash<256, 8> region(2);
        pair training;
        two_slot_checkpoints store(region);
        for (int i = 1; i <= savings; ++i) REQUIRE(store.save(training.at(i)).ok());
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

TEST_CASE("no heap") {
  flash<256, 8> region(2);
  two_slot_checkpoints store(region);
  pair training;
  training.at(1);
  REQUIRE(testing::counts_allocations());
  long const before = testing::allocations();
  bool good = store.save(training.view.state()).ok() && store.save(training.view.state()).ok();
  good = store.restore(training.view.state()).found && good && store.clear().ok();
  CHECK(testing::allocations() == before);
  CHECK(good);
}
