// SPDX-License-Identifier: BSL-1.0
#include <fstream>
#include <limits>

#include <sys/resource.h>
#include <sys/stat.h>
#include <csignal>

#include <doctest/doctest.h>

#include <tautline/io/prometheus_file.hpp>

#include "file_support.hpp"

using namespace file_support;
using tautline::prometheus_counter;
using tautline::prometheus_file;
using tautline::prometheus_gauge;
using tautline::prometheus_histogram;
using tautline::prometheus_label;

// That promtool reads it is shown by tests/readers/promtool.py.

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

using small = prometheus_file<prometheus_gauge<"a_loss", "Loss.">, prometheus_counter<"a_steps_total", "Steps.">>;
using times = prometheus_file<prometheus_counter<"a_total", "A.">, prometheus_histogram<"b_seconds", "B.", 0.5, 1, 2.5>,
                              prometheus_gauge<"c_c", "C.">>;

static_assert(tautline::lists_state<small>);
static_assert(noexcept(std::declval<small&>().set<"a_loss">(1)));
static_assert(std::is_nothrow_move_constructible_v<small>);

std::string value_of(double value) {
  folder const in;
  small metrics(in / "a.prom");
  metrics.set<"a_loss">(value);
  metrics.write();
  std::string const text = contents(in / "a.prom");
  std::size_t const at = text.find("\na_loss ") + 8;
  return text.substr(at, text.find('\n', at) - at);
}

}  // namespace

TEST_CASE("names, helps, kinds, values: nothing is written before it is asked for") {
  folder const in;
  small metrics(in / "a.prom");
  metrics.set<"a_loss">(0.1);
  metrics.add<"a_steps_total">();
  metrics.add<"a_steps_total">(2);
  CHECK(in.entries() == 0);
  metrics.write();
  CHECK(in.entries() == 1);
  CHECK(contents(in / "a.prom") ==
        "# HELP a_loss Loss.\n# TYPE a_loss gauge\na_loss 0.1\n"
        "# HELP a_steps_total Steps.\n# TYPE a_steps_total counter\na_steps_total 3\n");
  CHECK(metrics.value<"a_steps_total">() == 3);
}

TEST_CASE("values are spelled as Prometheus wants them") {
  CHECK(value_of(not_a_number) == "NaN");
  CHECK(value_of(infinity) == "+Inf");
  CHECK(value_of(-infinity) == "-Inf");
  CHECK(value_of(1e300) == "1e+300");
  CHECK(value_of(1.0 / 3) == "0.3333333333333333");
}

TEST_CASE("a counter only grows; a gauge takes any amount") {
  folder const in;
  small metrics(in / "a.prom");
  metrics.add<"a_steps_total">(5);
  metrics.add<"a_steps_total">(-2);
  metrics.add<"a_steps_total">(not_a_number);
  CHECK(metrics.value<"a_steps_total">() == 5);
  metrics.add<"a_loss">(-2);
  CHECK(metrics.value<"a_loss">() == -2);
}

TEST_CASE("a bucket holds its bound and all that is smaller; what is no number is in the last one") {
  folder const in;
  times metrics(in / "a.prom");
  for (double const value : {0.5, 0.50001, 1.0, 2.0, 3.0, -1.0}) metrics.observe<"b_seconds">(value);
  metrics.write();
  CHECK(contains(contents(in / "a.prom"),
                 "# TYPE b_seconds histogram\nb_seconds_bucket{le=\"0.5\"} 2\nb_seconds_bucket{le=\"1\"} 4\n"
                 "b_seconds_bucket{le=\"2.5\"} 5\nb_seconds_bucket{le=\"+Inf\"} 6\nb_seconds_sum 6.00001\nb_seconds_count 6\n"));
  metrics.observe<"b_seconds">(not_a_number);
  metrics.write();
  CHECK(contains(contents(in / "a.prom"),
                 "b_seconds_bucket{le=\"2.5\"} 5\nb_seconds_bucket{le=\"+Inf\"} 7\nb_seconds_sum NaN\nb_seconds_count 7\n"));
  CHECK(metrics.value<"a_total">() == 0);
  CHECK(metrics.value<"c_c">() == 0);
}

TEST_CASE("labels stand in every sample, escaped") {
  folder const in;
  times metrics(in / "a.prom", prometheus_label<"run">("a\"b\\c\nd\xff"), prometheus_label<"_x">(""));
  metrics.write();
  std::string const text = contents(in / "a.prom");
  std::string const labels = "run=\"a\\\"b\\\\c\\nd\xef\xbf\xbd\",_x=\"\"";
  CHECK(contains(text, "\na_total{" + labels + "} 0\n"));
  CHECK(contains(text, "\nb_seconds_bucket{" + labels + ",le=\"0.5\"} 0\n"));
  CHECK(contains(text, "\nb_seconds_sum{" + labels + "} 0\n"));
}

TEST_CASE("a reader never sees half a file, and everybody may read it") {
  folder const in;
  prometheus_file<prometheus_gauge<"a", "A\\ \"b\"\nc">> metrics(in / "a.prom");
  mode_t const was = ::umask(022);
  metrics.write();
  ::umask(was);
  CHECK(contains(contents(in / "a.prom"), "# HELP a A\\\\ \"b\"\\nc\n"));
  struct stat about {};
  REQUIRE(::stat((in / "a.prom").c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0644);
  std::ifstream reader(in / "a.prom");
  std::string const before = contents(in / "a.prom");
  metrics.set<"a">(7);
  metrics.write();
  std::ostringstream seen;
  seen << reader.rdbuf();
  CHECK(seen.str() == before);  // who has opened the old one reads the old one
  CHECK(contains(contents(in / "a.prom"), "a 7\n"));
  CHECK(in.entries() == 1);
}

TEST_CASE("an error leaves the old file, names it and the reason, and is over with the next success") {
  folder const in;
  small none(in / "none/a.prom");
  CHECK(contains(problem_of(none, [](auto& file) { file.write(); }), "cannot write " + (in / "none/a.prom") + ": No such file"));
  small metrics(in / "a.prom");
  metrics.write();
  std::string const before = contents(in / "a.prom");
  (void)std::signal(SIGXFSZ, SIG_IGN);
  rlimit was{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &was) == 0);
  rlimit limit = was;
  limit.rlim_cur = 10;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  metrics.set<"a_loss">(5);
  CHECK(contains(problem_of(metrics, [](auto& file) { file.write(); }), (in / "a.prom") + ": File too large"));
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &was) == 0);
  CHECK(contents(in / "a.prom") == before);
  CHECK(in.entries() == 1);
  CHECK(problem_of(metrics, [](auto& file) { file.write(); }).empty());
  CHECK(contains(contents(in / "a.prom"), "a_loss 5\n"));
  std::filesystem::permissions(in.path(), std::filesystem::perms{0555});
  as_nobody const now;
  CHECK(contains(problem_of(metrics, [](auto& file) { file.write(); }), (in / "a.prom") + ": Permission denied"));
}

TEST_CASE("the values are the state") {
  folder const in;
  times first(in / "a.prom"), second(in / "b.prom");
  first.add<"a_total">(3), first.observe<"b_seconds">(0.7), first.set<"c_c">(-1);
  first.state().each([&](auto const& from) {
    second.state().each([&](auto const& to) { to.value = from.value; });
  });
  first.write(), second.write();
  CHECK(contents(in / "a.prom") == contents(in / "b.prom"));
  CHECK(contains(contents(in / "b.prom"), "b_seconds_bucket{le=\"1\"} 1\n"));
}
