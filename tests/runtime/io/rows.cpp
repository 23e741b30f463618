// SPDX-License-Identifier: BSL-1.0
#include <cstring>
#include <limits>
#include <optional>
#include <random>

#include <sys/resource.h>
#include <sys/wait.h>
#include <csignal>

#include <doctest/doctest.h>

#include <tautline/io/any_summary_writer.hpp>
#include <tautline/io/csv_file.hpp>
#include <tautline/io/jsonl_file.hpp>

#include "file_support.hpp"

using namespace file_support;
using tautline::csv_file;
using tautline::existing_file;
using tautline::jsonl_file;
using tautline::row_options;
using tautline::step_number;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// What a checkpoint does: reads and writes through the listed fields, then tells the object.
template <class Sink>
std::int64_t saved(Sink& sink) {
  std::int64_t position = -1;
  auto const listed = sink.state();
  listed.each([&](auto const& found) { position = found.value; });
  return position;
}
template <class Sink>
void restore(Sink& sink, std::int64_t position) {
  auto const listed = sink.state();
  listed.each([&](auto const& found) { found.value = position; });
  sink.after_restore();
}

template <class Sink>
void train(Sink& rows, step_number from, step_number to) {
  for (step_number step = from; step <= to; ++step) {
    rows.write(step, 1.0 / static_cast<double>(step), 0.1F * static_cast<float>(step));
  }
}

/// Runs `body` in a process that is killed when it is done.
template <class Body>
void killed_after(Body body) {
  pid_t const child = ::fork();
  if (child == 0) {
    body();
    (void)::raise(SIGKILL);
  }
  int how = 0;
  REQUIRE(::waitpid(child, &how, 0) == child);
  REQUIRE(WIFSIGNALED(how));
}

static_assert(tautline::lists_state<jsonl_file<"a">>);
static_assert(tautline::lists_state<csv_file<>>);
static_assert(!tautline::summary_writer<jsonl_file<"a">>);
static_assert(std::is_nothrow_move_constructible_v<csv_file<"a">>);

}  // namespace

TEST_CASE("a row of JSON has its columns in order, and what is no number is null or text") {
  folder const in;
  {
    jsonl_file<"loss", "note", "good", "count"> rows(in / "a.jsonl");
    rows.write(1, 0.1, "plain", true, 3U);
    rows.write(2, 0.1F, std::string("\"\\\n\t\x02"), false, std::int8_t{-4});
    rows.write(3, not_a_number, "\xc3\xa9\xff\xed\xa0\x80\xc0\x80", std::nullopt, std::optional<int>(5));
    rows.write(4, infinity, "", true, -infinity);
    rows.write(5, -0.0, std::string_view("x"), true, 'a');
    rows.write(-6, 0.0F, "", true, std::numeric_limits<std::uint64_t>::max());
  }
  constexpr char bad[] = "\xef\xbf\xbd";
  CHECK(contents(in / "a.jsonl") ==
        "{\"step\":1,\"loss\":0.1,\"note\":\"plain\",\"good\":true,\"count\":3}\n"
        "{\"step\":2,\"loss\":0.1,\"note\":\"\\\"\\\\\\n\\t\\u0002\",\"good\":false,\"count\":-4}\n"
        "{\"step\":3,\"loss\":null,\"note\":\"\xc3\xa9" + std::string(bad) + bad + bad + bad + bad + bad + "\",\"good\":null,\"count\":5}\n"
        "{\"step\":4,\"loss\":\"Infinity\",\"note\":\"\",\"good\":true,\"count\":\"-Infinity\"}\n"
        "{\"step\":5,\"loss\":-0.0,\"note\":\"x\",\"good\":true,\"count\":97}\n"
        "{\"step\":-6,\"loss\":0,\"note\":\"\",\"good\":true,\"count\":18446744073709551615}\n");
}

TEST_CASE("a CSV file has one header, quotes where it must, and one line for each row") {
  folder const in;
  {
    csv_file<"loss", "a,b", "text"> rows(in / "a.csv");
    CHECK(contents(in / "a.csv").empty());
    rows.write(1, not_a_number, infinity, "a\r\nb");
    rows.write(2, -infinity, std::nullopt, "say \"x\", y");
  }
  csv_file<"loss", "a,b", "text">(in / "a.csv").write(3, 0.5, true, "");
  CHECK(contents(in / "a.csv") == "step,loss,\"a,b\",text\n1,nan,inf,\"a  b\"\n2,-inf,,\"say \"\"x\"\", y\"\n3,0.5,true,\n");
}

TEST_CASE("without names both take scalars with a tag") {
  folder const in;
  {
    jsonl_file<> json(in / "a.jsonl");
    csv_file<> csv(in / "a.csv");
    tautline::any_summary_writer(json).add_scalar("loss \"1\"", 0.25, 7);
    tautline::any_summary_writer(csv).add_scalar("loss, 1", not_a_number, 7);
    json.add_scalar("x", not_a_number, 8);
  }
  CHECK(contents(in / "a.jsonl") == "{\"step\":7,\"tag\":\"loss \\\"1\\\"\",\"value\":0.25}\n{\"step\":8,\"tag\":\"x\",\"value\":null}\n");
  CHECK(contents(in / "a.csv") == "step,tag,value\n7,\"loss, 1\",nan\n");
}

TEST_CASE("every finite number reads back to the bit") {
  folder const in;
  std::mt19937_64 random(1);
  std::vector<double> numbers;
  std::vector<float> singles;
  {
    csv_file<"double", "float"> rows(in / "a.csv", {.flush_every = 1000});
    while (numbers.size() < 5000) {
      std::uint64_t const bits = random();
      auto const number = __builtin_bit_cast(double, bits);
      auto const single = __builtin_bit_cast(float, static_cast<std::uint32_t>(bits));
      if (number - number != 0 || single - single != 0) continue;
      numbers.push_back(number), singles.push_back(single);
      rows.write(1, number, single);
    }
  }
  std::ifstream lines(in / "a.csv");
  std::string line;
  std::getline(lines, line);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    REQUIRE(std::getline(lines, line));
    char* end = nullptr;
    double const number = std::strtod(line.c_str() + 2, &end);
    float const single = std::strtof(end + 1, nullptr);
    REQUIRE(std::memcmp(&number, &numbers[i], sizeof number) == 0);
    REQUIRE(std::memcmp(&single, &singles[i], sizeof single) == 0);
  }
  CHECK_FALSE(std::getline(lines, line));
}

TEST_CASE("rows are written in groups, and whole") {
  folder const in;
  csv_file<"a"> rows(in / "a.csv", {.flush_every = 3});
  rows.write(1, 1), rows.write(2, 2);
  CHECK(contents(in / "a.csv").empty());
  rows.write(3, 3);
  CHECK(contents(in / "a.csv") == "step,a\n1,1\n2,2\n3,3\n");
  rows.write(4, 4);
  CHECK(rows.position() == 23);
  CHECK(contents(in / "a.csv").size() == 23);
  rows.write(5, 5);
  rows.close();
  CHECK(contents(in / "a.csv").size() == 27);
  CHECK(contains(problem_of(rows, [](auto& file) { file.write(6, 6); }), "cannot write " + (in / "a.csv")));
}

TEST_CASE("a training that was killed and resumed leaves the bytes of one that was not") {
  for (std::uint32_t const group : {1U, 4U, 100U}) {
    for (existing_file const existing : {existing_file::append, existing_file::start_over}) {
      CAPTURE(group);
      folder const in;
      row_options const how{.existing = existing, .flush_every = group};
      {
        csv_file<"loss", "rate"> csv(in / "whole.csv", how);
        jsonl_file<"loss", "rate"> json(in / "whole.jsonl", how);
        train(csv, 1, 30), train(json, 1, 30);
      }
      // checkpoints in step 0 and step 10, killed in step 19, and once more before there is a new one
      for (step_number const checkpoint : {0, 10}) {
        std::filesystem::remove(in / "a.csv"), std::filesystem::remove(in / "a.jsonl");
        killed_after([&] {
          csv_file<"loss", "rate"> csv(in / "a.csv", how);
          jsonl_file<"loss", "rate"> json(in / "a.jsonl", how);
          train(csv, 1, checkpoint), train(json, 1, checkpoint);
          put(in / "checkpoint", std::to_string(saved(csv)) + " " + std::to_string(saved(json)));
          train(csv, checkpoint + 1, 19), train(json, checkpoint + 1, 19);
        });
        std::int64_t csv_position = -1, json_position = -1;
        std::ifstream(in / "checkpoint") >> csv_position >> json_position;
        std::ofstream(in / "a.csv", std::ios::app) << "20,0.0";  // torn off
        auto const resume = [&](step_number until) {
          csv_file<"loss", "rate"> csv(in / "a.csv", how);
          jsonl_file<"loss", "rate"> json(in / "a.jsonl", how);
          restore(csv, csv_position), restore(json, json_position);
          train(csv, checkpoint + 1, until), train(json, checkpoint + 1, until);
        };
        killed_after([&] { resume(23); });
        resume(30);
        CHECK(contents(in / "a.csv") == contents(in / "whole.csv"));
        CHECK(contents(in / "a.jsonl") == contents(in / "whole.jsonl"));
      }
    }
  }
}

TEST_CASE("going back within a training drops the rows that are not written yet, too") {
  folder const in;
  jsonl_file<"a"> rows(in / "a.jsonl", {.flush_every = 5});
  rows.write(1, 1);
  auto const position = rows.position();
  for (step_number step = 2; step < 9; ++step) rows.write(step, step);
  rows.rewind_to(position);
  CHECK(rows.position() == position);
  rows.write(2, "again");
  rows.close();
  CHECK(contents(in / "a.jsonl") == "{\"step\":1,\"a\":1}\n{\"step\":2,\"a\":\"again\"}\n");
}

TEST_CASE("a new training adds to a file or starts over, and nothing changes before its first row") {
  folder const in;
  put(in / "a.csv", "step,a\n1,1\n2,");
  auto const play = [&](existing_file existing) {
    csv_file<"a"> rows(in / "a.csv", {.existing = existing});
    (void)saved(rows);
    CHECK(contents(in / "a.csv") == "step,a\n1,1\n2,");
    rows.write(7, 7);
    return contents(in / "a.csv");
  };
  CHECK(play(existing_file::append) == "step,a\n1,1\n7,7\n");
  put(in / "a.csv", "step,a\n1,1\n2,");
  CHECK(play(existing_file::start_over) == "step,a\n7,7\n");
  put(in / "b.csv", "step,");  // a kill within the header
  csv_file<"a">(in / "b.csv").write(1, 1);
  CHECK(contents(in / "b.csv") == "step,a\n1,1\n");
  put(in / "long", std::string(10000, 'x') + "\n" + std::string(9000, 'y'));  // the end of lines is far from that of the file
  jsonl_file<"a">(in / "long").write(1, 1);
  CHECK(contents(in / "long") == std::string(10000, 'x') + "\n{\"step\":1,\"a\":1}\n");
}

TEST_CASE("a header that differs is refused, with the difference") {
  folder const in;
  auto const refused = [&](std::string const& header) {
    std::string const text = header + "\n1,2,3\n";
    put(in / "a.csv", text);
    std::string const said = problem_of_making<csv_file<"loss", "rate">>(in / "a.csv");
    CHECK(contains(said, in / "a.csv"));
    CHECK(contents(in / "a.csv") == text);
    return said;
  };
  CHECK(contains(refused("step,loss,accuracy"), "column 3 of the file is \"accuracy\", here it is \"rate\""));
  CHECK(contains(refused("step,loss"), "the file has no column 3, which is \"rate\" here"));
  CHECK(contains(refused("step,loss,rate,more"), "column 4 of the file is \"more\", which is not written here"));
  put(in / "a.csv", "step,loss,rate\n");
  CHECK(problem_of_making<csv_file<"loss", "rate">>(in / "a.csv").empty());
}

TEST_CASE("a file that does not belong to the position is refused, and stays as it is") {
  folder const in;
  auto const refused = [&](std::string const& text, std::int64_t position, existing_file existing) {
    put(in / "a.csv", text);
    csv_file<"a"> rows(in / "a.csv", {.existing = existing});
    std::string const said = problem_of(rows, [&](auto& file) { restore(file, position); });
    CHECK(rows.status().kind == tautline::error_kind::invalid_argument);
    // a second attempt is no way around
    CHECK(problem_of(rows, [](auto& file) { file.write(9, 9); }) == said);
    CHECK(rows.dropped() == 1);
    CHECK(contents(in / "a.csv") == text);
    CHECK(contains(said, in / "a.csv"));
    return said;
  };
  for (existing_file const existing : {existing_file::append, existing_file::start_over}) {
    CHECK(contains(refused("step,a\n1,1\n", 15, existing), "has 11 bytes, but the training that is resumed had written 15"));
    CHECK(contains(refused("", 15, existing), "has 0 bytes"));
    CHECK(contains(refused("step,a\n1,1\n2,2\n", 10, existing), "no line end at byte 10"));
    CHECK(contains(refused("step,a\n1,1\n", -1, existing), "had written -1"));
  }
  CHECK(contains(refused("step,b\n1,1\n", 11, existing_file::start_over), "column 2 of the file is \"b\", here it is \"a\""));
}

TEST_CASE("errors of the system name the file and the reason") {
  folder const in;
  using rows = csv_file<"a">;
  CHECK(contains(problem_of_making<rows>(in / "none/a.csv"), "cannot open " + (in / "none/a.csv") + ": No such file"));
  CHECK(contains(problem_of_making<rows>(in.path()), "cannot open " + in.path() + ": Is a directory"));
  std::filesystem::permissions(in.path(), std::filesystem::perms{0555});
  {
    as_nobody const now;
    CHECK(contains(problem_of_making<rows>(in / "a.csv"), "cannot open " + (in / "a.csv") + ": Permission denied"));
  }
  rows full("/dev/full");
  CHECK(contains(problem_of(full, [](auto& file) { file.write(1, 1); }), "cannot write /dev/full: No space left on device"));
  CHECK(full.dropped() == 0);
  CHECK(contains(problem_of(full, [](auto& file) { file.write(2, 2); }), "No space left on device"));
  CHECK(full.dropped() == 1);
}

TEST_CASE("what could not be written comes first when there is room again") {
  folder const in;
  (void)std::signal(SIGXFSZ, SIG_IGN);
  rlimit was{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &was) == 0);
  jsonl_file<"a"> rows(in / "a.jsonl");
  rows.write(1, 1);
  rlimit small = was;
  small.rlim_cur = 20;  // within the second row
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  CHECK(contains(problem_of(rows, [](auto& file) { file.write(2, 2); }), "cannot write " + (in / "a.jsonl") + ": File too large"));
  CHECK_FALSE(problem_of(rows, [](auto& file) { file.write(3, 3); }).empty());
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &was) == 0);
  CHECK(problem_of(rows, [](auto& file) { file.write(4, 4); }).empty());
  CHECK(rows.dropped() == 1);
  CHECK(rows.position() == static_cast<std::int64_t>(contents(in / "a.jsonl").size()));
  CHECK(contents(in / "a.jsonl") == "{\"step\":1,\"a\":1}\n{\"step\":2,\"a\":2}\n{\"step\":4,\"a\":4}\n");
}

TEST_CASE("a file that was deleted is an error, and a device has nothing to go back to") {
  folder const in;
  jsonl_file<"a"> rows(in / "a.jsonl");
  rows.write(1, 1);
  std::filesystem::remove(in / "a.jsonl");
  CHECK(contains(problem_of(rows, [](auto& file) { file.write(2, 2); }), "No such file"));
  jsonl_file<"a"> null("/dev/null");
  null.write(1, 1);
  CHECK(problem_of(null, [](auto& file) { restore(file, 1000); }).empty());
  CHECK(null.position() == 1000);
}

TEST_CASE("a moved file goes on") {
  folder const in;
  csv_file<"a"> first(in / "a.csv", {.flush_every = 10});
  first.write(1, 1);
  csv_file<"a"> second(std::move(first));
  second.write(2, 2);
  CHECK(saved(second) == 15);
  CHECK(contents(in / "a.csv") == "step,a\n1,1\n2,2\n");
}
