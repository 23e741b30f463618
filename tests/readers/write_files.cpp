// SPDX-License-Identifier: BSL-1.0
// Writes the files that the scripts in this folder read, into the folder that it is given. What must be in them stands
// in the scripts too.
#include <limits>
#include <optional>
#include <string>

#include <unistd.h>

#include <tautline/io/csv_file.hpp>
#include <tautline/io/jsonl_file.hpp>
#include <tautline/io/prometheus_file.hpp>
#include <tautline/io/trace_file.hpp>

namespace {

using namespace tautline;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr char odd[] = "odd \"name\" \\ \n\t\x01 \xc3\xa9 \xff";

constexpr std::uint64_t start = 86'400'000'000'001;  // a day, and a nanosecond that a float would lose

void write_trace(trace_file& trace) {
  trace_track const steps = trace.track("steps"), hooks = trace.track("hooks \"1\"");
  for (std::uint64_t i = 1; i <= 100; ++i) {
    std::uint64_t const begin = start + i * 100'000 + i;
    trace.slice("step", "train", begin, 50'000 + i, steps, {{"number", i}, {"loss", 1.0 / static_cast<double>(i)}});
    trace.slice("inner", "train", begin + 10, 1'001, steps);
    trace.begin("hook", "hooks", begin + 20, hooks);
    trace.end(begin + 30 + i, hooks, {{"done", true}});
    trace.counter("loss", begin, 1.0 / static_cast<double>(i));
  }
  trace.instant("stop", "train", start + 20'000'000, steps, {{"reason", "loss below 0.01"}});
  trace.slice(odd, odd, start + 20'000'000, 7, hooks,
              {{"nan", not_a_number}, {"inf", infinity}, {"float", 0.1F}, {"big", std::numeric_limits<std::int64_t>::min()}, {odd, odd}});
  trace.counter("bad", start + 20'000'000, not_a_number);
  trace.counter("two", start + 20'000'000, {{"a", 1}, {"b", not_a_number}, {"c", 2.5}});
}

/// Numbers that are hard to write. The scripts have them as hexadecimal digits.
constexpr double hard[] = {0.1, -0.0, 5e-324, 1.7976931348623157e308, 1.0 / 3, 123456789012345678.0, 1e22, 2.5e-7};

}  // namespace

int main(int, char** arguments) {
  std::string const folder = std::string(arguments[1]) + "/";
  {
    trace_file trace(folder + "complete.json", {.process = "digits", .process_id = 4242});
    write_trace(trace);
    trace.close();
  }
  {
    prometheus_file<prometheus_gauge<"demo_loss", "Loss of the \"last\" step,\nmean over the batch \\ example.">,
                    prometheus_gauge<"demo_not_a_number", "A value that is none.">,
                    prometheus_counter<"demo_steps_total", "Steps done.">,
                    prometheus_histogram<"demo_step_seconds", "Time of a step.", 0.001, 0.01, 0.1, 1, 1000000>>
        metrics(folder + "demo.prom", prometheus_label<"run">(odd), prometheus_label<"rank">("0"));
    metrics.set<"demo_loss">(1.0 / 3);
    metrics.set<"demo_not_a_number">(not_a_number);
    metrics.add<"demo_steps_total">(1234567);
    for (double const seconds : {0.0005, 0.001, 0.02, 0.5, 2e6}) metrics.observe<"demo_step_seconds">(seconds);
    metrics.write();
  }
  jsonl_file<"value", "single", odd, "yes", "absent"> rows(folder + "rows.jsonl");
  jsonl_file<> scalars(folder + "scalars.jsonl");
  csv_file<"value", "single", "a \"quoted, column\"", "text"> table(folder + "rows.csv");
  csv_file<> long_table(folder + "scalars.csv");
  step_number step = 0;
  for (double const value : hard) {
    ++step;
    rows.write(step, value, static_cast<float>(step) / 10, std::string(odd), step % 2 == 0, std::nullopt);
    scalars.add_scalar(odd, value, step);
    table.write(step, value, static_cast<float>(step) / 10, std::optional<int>{}, "a, \"b\"\nc");
    long_table.add_scalar("loss, \"train\"", value, step);
  }
  for (double const value : {not_a_number, infinity, -infinity}) {
    ++step;
    rows.write(step, value, 0.0F, "", false, std::optional<int>(7));
    scalars.add_scalar("odd", value, step);
    table.write(step, value, 0.0F, std::optional<int>(7), "");
    long_table.add_scalar("odd", value, step);
  }
  trace_file trace(folder + "unclosed.json", {.process = "digits", .process_id = 4242});
  write_trace(trace);
  trace.flush();
  trace.slice("lost", "train", start, 1);
  ::_exit(0);  // as after a kill: nothing is closed
}
