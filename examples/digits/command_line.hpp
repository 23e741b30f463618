// SPDX-License-Identifier: BSL-1.0
#pragma once

// What the demo can be told, and how it refuses what it does not understand: one line, exit code 2.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace digits {

struct settings {
  std::string data = "examples/data/digits.csv";
  std::int64_t epochs = 40;  ///< 0 is endless
  std::int64_t steps = 0;    ///< 0 is no limit
  std::uint64_t seed = 1;
  float rate = 0.1F;
  std::string out;  ///< empty: no files
  bool resume = false;  ///< goes on with the training whose files are in `out`
};

enum class command { run, exit };

struct parsed_command {
  command next;
  int exit_code;
  settings given;
};

inline parsed_command parse_command_line(int count, char** arguments) {
  settings given;
  auto const digits_only = [](std::string const& text) {
    return !text.empty() && text.size() < 16 && text.find_first_not_of("0123456789") == std::string::npos;
  };
  auto const whole = [=](std::string const& text) {  // CLI11 by itself takes -1 for a large unsigned number
    return digits_only(text) ? std::string() : fmt::format("expected a whole number, found '{}'", text);
  };
  auto const at_least_1 = [=](std::string const& text) {
    bool const fine = digits_only(text) && text.find_first_not_of('0') != std::string::npos;
    return fine ? std::string() : fmt::format("expected a whole number of at least 1, found '{}'", text);
  };
  auto const positive = [](std::string const& text) {
    float number = 0;
    bool const fine = CLI::detail::lexical_cast(text, number) && number > 0 && std::isfinite(number);
    return fine ? std::string() : fmt::format("expected a positive number, found '{}'", text);
  };

  CLI::App app("Trains a small network on pictures of handwritten digits, under tautline's hooks.", "digits_demo");
  app.add_option("--data", given.data, "the pictures, as CSV")->capture_default_str();
  auto* const epochs = app.add_option("--epochs", given.epochs, "passes over the rows; endless if only --steps is given")
                           ->check(CLI::Validator(at_least_1, "N"))
                           ->capture_default_str();
  app.add_option("--steps", given.steps, "stop at this step")->check(CLI::Validator(at_least_1, "N"));
  app.add_option("--seed", given.seed, "of the weights and of the order of the rows")
      ->check(CLI::Validator(whole, "N"))
      ->capture_default_str();
  app.add_option("--rate", given.rate, "learning rate")->check(CLI::Validator(positive, "RATE"))->capture_default_str();
  auto* const out = app.add_option("--out", given.out, "folder for the files written; made if it is not there");
  app.add_flag("--resume", given.resume, "go on with the training in that folder")->needs(out);

  try {
    app.parse(count, arguments);
  } catch (CLI::ParseError const& refused) {
    if (refused.get_exit_code() == 0) return {command::exit, app.exit(refused), given};  // --help
    std::string line = refused.what();
    std::replace(line.begin(), line.end(), '\n', ' ');
    fmt::print(stderr, "digits_demo: {} (--help lists the options)\n", line);
    return {command::exit, 2, given};
  }
  if (given.steps != 0 && epochs->empty()) given.epochs = 0;
  return {command::run, 0, given};
}

}  // namespace digits
