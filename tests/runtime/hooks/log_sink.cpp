// SPDX-License-Identifier: BSL-1.0
#include <unistd.h>

#include <cstdio>

#include <tautline/hooks/progress_bar.hpp>
#include <tautline/hooks/tensor_logger.hpp>

#include "support.hpp"

using namespace support;
using tautline::every_steps;
using tautline::log_sink;
using tautline::monitored;
using tautline::progress_bar;
using tautline::any_summary_writer;
using tautline::summary_writer;
using tautline::tensor_logger;
using tautline::terminal;

namespace {

/// What `body` writes to the standard error.
template <class Body>
std::string standard_error_of(Body body) {
  std::fflush(stderr);
  std::FILE* const file = std::tmpfile();
  int const kept = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  body();
  std::fflush(stderr);
  dup2(kept, STDERR_FILENO);
  ::close(kept);
  std::string text;
  std::rewind(file);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

struct writer {
  int calls = 0;
  double last = 0;
  void add_scalar(std::string_view, double value, step_number) { ++calls, last = value; }
};
struct no_writer {
  void add(double) {}
};
static_assert(summary_writer<writer>);
static_assert(!summary_writer<no_writer>);
static_assert(!std::is_constructible_v<any_summary_writer, writer>);  // a temporary would be gone
static_assert(!std::is_constructible_v<log_sink, int>);
static_assert(!std::is_constructible_v<log_sink, char const*>);

}  // namespace

TEST_CASE("lines go to the standard error by default, and false silences") {
  CHECK(standard_error_of([] { log_sink{}("hello"); }) == "hello\n");
  CHECK(standard_error_of([] { log_sink{true}("hello"); }) == "hello\n");
  CHECK(standard_error_of([] { log_sink{false}("hello"); }).empty());
  CHECK_FALSE(log_sink{false});
}

TEST_CASE("a sink is any callable; std::ref shares one") {
  struct counting {
    int calls = 0;
    void operator()(std::string_view) { ++calls; }
  } sink;
  log_sink shared(std::ref(sink));
  shared("a");
  shared("b");
  CHECK(sink.calls == 2);
  log_sink copy(sink);
  copy("c");
  CHECK(sink.calls == 2);
}

TEST_CASE("a writer is referred to, or shared, or absent") {
  writer one;
  any_summary_writer(one).add_scalar("tag", 0.5, 1);
  CHECK(one.calls == 1);
  CHECK(one.last == 0.5);
  auto shared = std::make_shared<writer>();
  any_summary_writer const holds(shared);
  CHECK(shared.use_count() == 2);
  holds.add_scalar("tag", 2, 1);
  CHECK(shared->calls == 1);
  any_summary_writer{}.add_scalar("tag", 1, 1);
  CHECK_FALSE(any_summary_writer{});
  CHECK(any_summary_writer(one));
  any_summary_writer const no_share = std::shared_ptr<writer>();
  no_share.add_scalar("tag", 1, 1);
  CHECK_FALSE(no_share);
  CHECK(shared->calls == 1);
  CHECK(one.calls == 1);

  struct unchanging {
    int* calls;
    void add_scalar(std::string_view, double, step_number) const { ++*calls; }
  };
  int calls = 0;
  unchanging const fixed{&calls};
  any_summary_writer(fixed).add_scalar("tag", 1, 1);
  any_summary_writer(std::make_shared<unchanging const>(fixed)).add_scalar("tag", 1, 1);
  CHECK(calls == 2);
}

TEST_CASE("a line wipes a progress bar that stands on the standard error, and the bar ends its own line only") {
  world of;
  auto const text = standard_error_of([&] {
    auto session = monitored(scripted(of, [](long) { return 1.0; }),
                             progress_bar{4, {.interval = 1000, .terminal = terminal::yes, .width = 4, .clock = run_clock{&of}}},
                             tensor_logger<"loss">{every_steps{1}});
    (void)session.run_steps(2);
  });
  CHECK(text ==
        "\r 25% [=>  ] 1/4  100.0 steps/s  ETA 0:00:00\x1b[K"
        "\r\x1b[K"
        "(    N/A    ) Step:      1, loss = 1\n"
        "(    0.000 s) Step:      2, loss = 1\n"
        "\r 50% [==> ] 2/4  100.0 steps/s  ETA 0:00:00\x1b[K"
        "\n");
}

TEST_CASE("a bar that was wiped has no line to end") {
  world of;
  of.in_run = [](long run) { return run == 2 ? tautline::status{error_kind::internal, "on fire"} : tautline::status{}; };
  auto const text = standard_error_of([&] {
    auto session = tautline::try_monitored(
        scripted(of), progress_bar{4, {.interval = 1000, .terminal = terminal::yes, .clock = run_clock{&of}}},
        tensor_logger<"loss">{every_steps{1}});
    (void)session.try_run_to_completion();
  });
  CHECK(text.ends_with("loss = 1\n"));
}
