// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <cstdlib>
#include <new>

#include <doctest/doctest.h>

#include <tautline/core.hpp>
#include <tautline/hooks/pipeline.hpp>
#include <tautline/hooks/script.hpp>
#include <tautline/sessions/static_graph.hpp>
#include <tautline/sessions/step_function.hpp>

// No heap: every way into it is counted, and the library takes none. Nor does its coroutine, whose frame must fit the
// session's memory or be refused.

namespace {
long allocations = 0;
void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  size = (size + alignment - 1) / alignment * alignment;
  void* const made = alignment > alignof(std::max_align_t) ? std::aligned_alloc(alignment, size) : std::malloc(size + 1);
  if (made == nullptr) std::abort();
  return made;
}
}  // namespace

void* operator new(std::size_t size) { return counted(size, 1); }
void* operator new[](std::size_t size) { return counted(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, std::nothrow_t const&) noexcept { return counted(size, 1); }
void* operator new[](std::size_t size, std::nothrow_t const&) noexcept { return counted(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment, std::nothrow_t const&) noexcept {
  return counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* gone) noexcept { std::free(gone); }
void operator delete[](void* gone) noexcept { std::free(gone); }
void operator delete(void* gone, std::size_t) noexcept { std::free(gone); }
void operator delete[](void* gone, std::size_t) noexcept { std::free(gone); }
void operator delete(void* gone, std::align_val_t) noexcept { std::free(gone); }
void operator delete[](void* gone, std::align_val_t) noexcept { std::free(gone); }
void operator delete(void* gone, std::size_t, std::align_val_t) noexcept { std::free(gone); }
void operator delete[](void* gone, std::size_t, std::align_val_t) noexcept { std::free(gone); }
void operator delete(void* gone, std::nothrow_t const&) noexcept { std::free(gone); }
void operator delete[](void* gone, std::nothrow_t const&) noexcept { std::free(gone); }

namespace {

using namespace tautline;

/// Allocations while `body` runs.
template <class Body>
long allocations_of(Body body) {
  long const before = allocations;
  body();
  return allocations - before;
}

struct ticks {
  std::uint64_t* at;
  std::uint64_t now() const { return ++*at; }
  static constexpr std::uint64_t ticks_per_second() { return 1000; }
};

auto graph() {
  return static_graph{}
      .variable<"w">(std::array<float, 40>{})
      .placeholder<"rate">(0.5f)
      .op<"loss", "w">([](std::array<float, 40> const& w) { return 1 - w[0]; })
      .update<"train", "w", "rate">([](std::array<float, 40>& w, float rate) { w[0] += rate / 100; });
}

struct logging {
  every_steps trigger{.period = 3, .also_first = true};
  float last = 0;
  auto before_run(auto& ctx) const { return ask_if(ctx.due(), fetch<"loss">); }
  void after_run(auto&, auto const& values) { last = values[fetch<"loss">]; }
};
struct publishing {
  using provides = tautline::provides<"half", float>;
  auto before_run(auto&) const { return run_args{fetch<"loss">, feed<"rate">(0.25f)}; }
  void after_run(auto& ctx, auto const& values) const { ctx.template publish<"half">(values[fetch<"loss">] / 2); }
};
struct limiting {
  step_number steps;
  auto before_run(auto&) const { return fetch<"half">; }
  void after_run(auto& ctx, auto const& values) const {
    if (ctx.step() >= steps) ctx.request_stop({"half is {}", values[fetch<"half">]});
  }
  void end(auto&) const {}
};

struct limiting_steps {
  void after_run(auto& ctx) const {
    if (ctx.step() >= 20) ctx.request_stop("enough");
  }
};
struct copying {
  void before_run(auto& ctx) const {
    char words[] = "made at run time";
    ctx.request_stop(copied{words});
  }
};
struct breaking {
  int runs = 0;
  status run(auto const&) {
    return ++runs % 3 == 0 ? status{runs < 10 ? error_kind::unavailable : error_kind::internal, "gone"} : status{};
  }
};

auto session_of(std::uint64_t& clock, step_number steps) {
  return monitored(graph(), options{with_clock{ticks{&clock}}, frame_bytes<1024>{}}, logging{},
                   named<"publisher">(publishing{}), limiting{steps});
}

TEST_CASE("the counter counts, also what is over-aligned") {
  // as calls: a new-expression may be left out
  CHECK(allocations_of([] { ::operator delete(::operator new(8)); }) == 1);
  CHECK(allocations_of([] { ::operator delete[](::operator new[](8)); }) == 1);
  CHECK(allocations_of([] { ::operator delete(::operator new(128, std::align_val_t{128}), std::align_val_t{128}); }) == 1);
}

TEST_CASE("making, running, and closing a session allocates nothing, in every drive") {
  std::uint64_t clock = 0;
  CHECK(allocations_of([&] {
          auto session = session_of(clock, 100);
          session.close();
        }) == 0);
  CHECK(allocations_of([&] { (void)session_of(clock, 100).run_to_completion(target<"train">); }) == 0);
  CHECK(allocations_of([&] {
          auto session = session_of(clock, 100);
          for (auto const& step : session.steps(target<"train">, fetch<"loss">, fetch<"half">)) (void)step[fetch<"half">];
          if (session.completed_steps() != 100) std::abort();
        }) == 0);
  CHECK(allocations_of([&] {
          auto session = session_of(clock, 100);
          while (!session.should_stop()) (void)session.run(target<"train">, fetch<"loss">);
        }) == 0);
  CHECK(allocations_of([&] {
          auto session = session_of(clock, 100);
          while (!session.should_stop()) (void)session.run_for(50, target<"train">);
        }) == 0);
  CHECK(allocations_of([&] {
          auto session = session_of(clock, 100);
          (void)session.run_steps(7, target<"train">);
          (void)session.evaluate(fetch<"loss">);
          (void)session.run_without_hooks(target<"train">);
          (void)session.run_with<logging>(target<"train">);
          session.request_stop("enough");
        }) == 0);
}

TEST_CASE("copies of a handle allocate nothing") {
  std::uint64_t clock = 0;
  auto session = session_of(clock, 100);
  CHECK(allocations_of([&] {
          auto range = session.steps(target<"train">);
          auto copy = range;
          (void)copy.begin()->step();
        }) == 0);
}

script_body slow_down(script_context<value_of<"loss", float>, feed_of<"rate", float>, provides<"steps", int>> life) {
  float best = co_await life.next_value();
  for (int steps = 0; steps < 20; ++steps) {
    float const loss = co_await life.next_value();
    if (loss < best) best = loss;
    life.feed<"rate">(0.25f);
    life.publish<"steps">(steps);
  }
  co_await life.next_end();
}
TEST_CASE("pipelines and scripts allocate nothing, nor does the frame of a script that does not fit") {
  CHECK(allocations_of([] {
          auto session = monitored(graph(), script<&slow_down, frame_bytes<512>>::with(every_steps{2}),
                                   observe<"steps">() | count() | where(above(100)) | request_stop("{}"),
                                   observe<"loss">() | smooth(0.5f) | window<3>([](auto const& w) { return w.mean(); }) |
                                       (every_steps{3} | at_end) | delta() | tee(publish<"change">()) | for_times(3) |
                                       where(below(-9)) | request_stop("{}"));
          (void)session.run_steps(50, target<"train">);
          session.close();
        }) == 0);
#if !defined(__OPTIMIZE__)
  CHECK(allocations_of([] {
          auto session = try_monitored(graph(), script<&slow_down, frame_bytes<64>>{});
          if (session.status().kind != error_kind::frame_too_small) std::abort();
        }) == 0);
#endif
}

TEST_CASE("an error as a value, and a recovery, allocate nothing") {
  CHECK(allocations_of([] {
          auto session = try_monitored(breaking{}, limiting_steps{});
          if (session.try_run_to_completion().error != error_kind::internal) std::abort();
        }) == 0);
}

TEST_CASE("a copied reason allocates nothing") {
  CHECK(allocations_of([] {
          auto session = monitored(step_function([] {}), copying{});
          (void)session.run_to_completion();
          if (!session.stop()) std::abort();
        }) == 0);
}

TEST_CASE("the loop's frame lies within the session's memory, whose size is known") {
  std::uint64_t clock = 0;
  auto session = session_of(clock, 10);
  CHECK(session.frame_bytes_used() == 0);
  (void)session.run_steps(1, target<"train">);
#if !defined(__clang__) || !defined(__OPTIMIZE__)  // clang keeps the frame of a loop that is over at once on the stack
  CHECK(session.frame_bytes_used() > 0);
#endif
  CHECK(session.frame_bytes_used() <= session.memory_size);
  CHECK(session.memory_size == 1024);
  auto const* const from = reinterpret_cast<char const*>(&session);
  auto range = session.steps(target<"train">);
  auto const* const context = reinterpret_cast<char const*>(&*range.begin());
  CHECK(context >= from);
  CHECK(context < from + sizeof session);
}

TEST_CASE("a session without options has 256 bytes, and a plain loop fits them") {
  auto session = monitored(step_function([] {}), limiting_steps{});
  CHECK(session.memory_size == 256);
  CHECK(session.run_to_completion().steps == 20);
  CHECK(session.frame_bytes_used() <= 256);
}

#if !defined(__OPTIMIZE__)
// Optimised builds refuse this at compile time.
TEST_CASE("a frame that does not fit is an error, never the heap") {
  auto session = monitored(step_function([] {}), options{frame_bytes<64>{}}, limiting_steps{});
  long taken = -1;
  taken = allocations_of([&] {
    if (session.try_run_to_completion().error != error_kind::frame_too_small) std::abort();
  });
  CHECK(taken == 0);
  CHECK(session.frame_bytes_used() > 0);  // this much, and the room for a first error, is more than 64
  CHECK_THROWS_AS((void)session.run_to_completion(), frame_too_small_error);
  CHECK_THROWS_AS((void)session.steps(), frame_too_small_error);
  CHECK_THROWS_AS((void)session.run_steps(1), frame_too_small_error);
  CHECK(session.completed_steps() == 0);
  CHECK(session.is_open());  // an error of the call: a run by itself needs no frame
  CHECK(session.run());
  session.close();
}
#endif

}  // namespace
