// SPDX-License-Identifier: BSL-1.0
// What a step of ours takes from the heap beside what TensorFlow does in its own calls: nothing but the tensors that are fed.
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <tensorflow/c/c_api.h>

#include <tautline/testing/count_allocations.hpp>

namespace {

long tensors_made = 0;

/// TensorFlow's own work is not counted; the calls that make tensors are, by themselves.
template <class... Arguments>
void uncounted_run(Arguments... arguments) {
  tautline::testing::uncounted const quiet;
  TF_SessionRun(arguments...);
}
TF_Tensor* uncounted_tensor(TF_DataType type, std::int64_t const* shape, int rank, std::size_t bytes) {
  tautline::testing::uncounted const quiet;
  ++tensors_made;
  return TF_AllocateTensor(type, shape, rank, bytes);
}

}  // namespace

#define TF_SessionRun uncounted_run
#define TF_AllocateTensor uncounted_tensor
#include <tautline/core.hpp>
#include <tautline/sessions/tensorflow.hpp>
#undef TF_SessionRun
#undef TF_AllocateTensor

using namespace tautline;

namespace {

using row = std::array<float, 64>;

TF_Output operation(TF_Graph* graph, char const* type, std::string const& name, auto... inputs) {
  tensorflow::status_handle const done = tensorflow::new_status();
  TF_OperationDescription* const made = TF_NewOperation(graph, type, name.c_str());
  (TF_AddInput(made, inputs), ...);
  if constexpr (sizeof...(inputs) == 0) TF_SetAttrType(made, "dtype", TF_FLOAT);
  TF_Output const output{TF_FinishOperation(made, done.get()), 0};
  REQUIRE(TF_GetCode(done.get()) == TF_OK);
  return output;
}

/// x and its squares: "v0" is x·x, "v1" is v0·x, …
auto powers() {
  tensorflow_graph<> graph;
  TF_Output const x = operation(graph.handle(), "Placeholder", "x");
  TF_Output last = x;
  for (int i = 0; i < 8; ++i) last = operation(graph.handle(), "Mul", "v" + std::to_string(i), last, x);
  return graph;
}

template <fixed_string Name>
struct reader {
  static constexpr auto value = fetch<Name, tensorflow::tensor<float, 1>>;
  step_number period = 1;
  float sum = 0;
  template <class Context>
  auto before_run(Context& ctx) const {
    return ask_if(ctx.step() % period == 0, value);
  }
  template <class Context>
  void after_run(Context&) const {}
  template <class Context, class Values>
  void after_run(Context&, Values& values) {
    for (float const number : values[value]) sum += number;
  }
};

struct feeder {
  row const* fed;
  template <class Context>
  auto before_run(Context&) const {
    return feed<"x">(*fed);
  }
};

struct counted {
  long allocations, tensors;
};
template <class Body>
counted count(Body body) {
  long const before = testing::allocations();
  tensors_made = 0;
  body();
  return {testing::allocations() - before, tensors_made};
}

}  // namespace

TEST_CASE("a step takes nothing from the heap but the tensors that are fed, whatever hooks ask for in it") {
  REQUIRE(testing::counts_allocations());
  row ones;
  ones.fill(1);
  auto session = monitored(powers(), feeder{&ones}, reader<"v0">{}, reader<"v1">{}, reader<"v2">{.period = 2},
                           reader<"v3">{.period = 3}, reader<"v7">{.period = 5});
  session.run_steps(32, target<"v7">);  // what it keeps grows as far as it will
  counted const found = count([&] { session.run_steps(300, target<"v7">); });
  CHECK(found.allocations == 0);
  CHECK(found.tensors == 300);
  CHECK(session.template hook<reader<"v0">>().sum == 64 * 332);

  counted const by_caller = count([&] {
    for (int i = 0; i < 50; ++i) (void)session.run(target<"v7">);
  });
  CHECK(by_caller.allocations == 0);
  CHECK(by_caller.tensors == 50);
}

TEST_CASE("the count sees what a step takes") {
  struct grabber {
    void after_run(run_context_base&) { delete std::exchange(kept, new int(1)); }
    int* kept = nullptr;
    void close() { delete std::exchange(kept, nullptr); }
  };
  row ones;
  ones.fill(1);
  auto session = monitored(powers(), feeder{&ones}, grabber{});
  session.run_steps(3, target<"v7">);
  CHECK(count([&] { session.run_steps(10, target<"v7">); }).allocations == 10);
}
