// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <malloc.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tautline/core.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/sessions/tensorflow.hpp>
#include <tautline/sessions/tensorflow/ops.hpp>

// Memory that somebody still points to is no leak to a sanitizer, and grows all the same. What TensorFlow keeps for itself
// is warmed up first.

using namespace tautline;
using tautline::tensorflow::tensor;

namespace {

auto echoing_graph() {
  tensorflow_graph<> graph;
  auto ops = graph.ops();
  auto const w = ops.variable<float>("w", {256}, 0.0F);
  (void)ops.identity(ops.placeholder<float>("x", {-1, 256}), "y");
  (void)ops.identity(ops.placeholder<std::string_view>("text", {-1}), "text_out");
  (void)ops.assign_add(w, ops.fill<float>({256}, 1), "train");
  (void)ops.tensor_slices({ops.constant<float>({1, 2})}).iterator("next");
  return std::move(graph).value<"y", tensor<float, 2>>().step_target<"train">();
}

std::size_t heap_in_use() { return ::mallinfo2().uordblks; }

/// How much the heap grows by one more of many calls, in the mean. Sanitizers have a heap of their own: 0 there.
template <class Call>
double growth(int warm_up, int calls, Call call) {
  for (int i = 0; i < warm_up; ++i) call();
  std::size_t const before = heap_in_use();
  for (int i = 0; i < calls; ++i) call();
  std::size_t const after = heap_in_use();
  return after > before ? static_cast<double>(after - before) / calls : 0;
}

}  // namespace

TEST_CASE("steps of every kind do not grow the heap") {
  auto session = monitored(echoing_graph());
  std::vector<std::array<float, 256>> const rows(8);
  std::vector<std::string> const texts{"", std::string(100, 'a'), "b"};
  int run = 0;
  auto const step = [&] {
    ++run;
    if (run % 3 == 0) {
      (void)session.run(target<"train">, run_options(tensorflow::run_options{.trace = tensorflow::trace_level::full}));
    } else {
      (void)session.run(target<"train">, feed<"x">(rows), feed<"text">(texts), fetch<"y">,
                        fetch<"text_out", tensor<std::string_view, 1>>, fetch<"w", tensor<float, 1>>);
    }
  };
  CHECK(growth(3000, 6000, step) < 1);
}

TEST_CASE("sessions that are made and closed do not grow the heap") {
  CHECK(growth(30, 60, [] {
          auto session = monitored(echoing_graph(), stop_at_step{2});
          CHECK(session.run_to_completion(target<"train">).steps == 2);
        }) < 2000);
}

TEST_CASE("runs and makings that fail do not grow the heap") {
  CHECK(growth(30, 60, [] {
          auto session = try_monitored(echoing_graph());
          CHECK(!session.try_run(target<"train">, fetch<"y">));  // nobody feeds x
          CHECK(try_monitored(tensorflow_graph<>::from_graph_def_bytes("no graph")).status().kind ==
                error_kind::invalid_argument);
        }) < 2000);
}
