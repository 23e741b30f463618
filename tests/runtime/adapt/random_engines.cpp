// SPDX-License-Identifier: BSL-1.0
#include <cstring>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include <tautline/adapt/random.hpp>
#include <tautline/core/state.hpp>

TEST_CASE_TEMPLATE("an engine goes on from its saved bytes", Engine, std::mt19937, std::mt19937_64, std::minstd_rand,
                   std::ranlux24_base) {
  static_assert(tautline::tensor_value<Engine>);
  Engine engine(7);
  engine.discard(1000);
  tautline::tensor_view const view = tautline::view_tensor(engine);
  CHECK(view.type == tautline::element_type::U8);
  CHECK(view.bytes() == sizeof(Engine));
  std::vector<char> saved(view.bytes());
  std::memcpy(saved.data(), view.data, saved.size());
  std::vector<typename Engine::result_type> expected;
  for (int i = 0; i < 2000; ++i) expected.push_back(engine());

  Engine other;
  std::memcpy(tautline::view_tensor(other).data, saved.data(), saved.size());
  std::vector<typename Engine::result_type> got;
  for (int i = 0; i < 2000; ++i) got.push_back(other());
  CHECK(got == expected);
}
