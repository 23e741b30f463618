// SPDX-License-Identifier: BSL-1.0
#pragma once

// The pictures of handwritten digits: reading them from CSV, and the split into rows to learn from and rows held out.

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

namespace digits {

inline constexpr std::size_t pixels = 64;
inline constexpr std::size_t classes = 10;

/// One picture: 8×8 ink values row by row, scaled to 0…1, and what it shows.
struct example {
  std::array<float, pixels> ink;
  std::uint8_t digit;
};

struct pictures {
  std::vector<example> train;
  std::vector<example> held_out;  ///< every fifth row (index % 5 == 4)
};

/// Something that the user can mend: the message names the place.
struct input_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One field of the CSV as an integer from 0 to `most`.
inline int parse_field(std::string_view field, int most, std::string_view file, std::size_t line, std::size_t column) {
  int number = 0;
  auto const [end, failed] = std::from_chars(field.data(), field.data() + field.size(), number);
  if (failed != std::errc{} || end != field.data() + field.size() || number < 0 || number > most) {
    std::string shown(field.substr(0, 20));
    for (char& character : shown) character = character >= ' ' && character <= '~' ? character : '?';
    throw input_error(fmt::format("{}, line {}, column {}: expected {} from 0 to {}, found '{}'", file, line, column,
                                  column > pixels ? "a digit" : "an integer", most, shown));
  }
  return number;
}

inline example parse_row(std::string_view row, std::string_view file, std::size_t line) {
  example parsed{};
  std::size_t column = 0;
  for (bool more = true; more; ++column) {
    std::size_t const comma = row.find(',');
    more = comma != std::string_view::npos;
    std::string_view const field = row.substr(0, comma);
    if (column < pixels) {
      parsed.ink[column] = static_cast<float>(parse_field(field, 16, file, line, column + 1)) / 16;
    } else if (column == pixels) {
      parsed.digit = static_cast<std::uint8_t>(parse_field(field, 9, file, line, column + 1));
    } else {
      throw input_error(fmt::format("{}, line {}, column {}: more than {} columns", file, line, column + 1, pixels + 1));
    }
    if (more) row.remove_prefix(comma + 1);
  }
  if (column <= pixels) {
    throw input_error(fmt::format("{}, line {}, column {}: the row ends, expected {} columns", file, line, column + 1,
                                  pixels + 1));
  }
  return parsed;
}

inline pictures read_csv(std::string const& file) {
  std::error_code failed;
  std::filesystem::file_status const found = std::filesystem::status(file, failed);
  if (std::filesystem::is_directory(found)) throw input_error(fmt::format("cannot read {}: it is a directory", file));
  std::ifstream in(file);
  if (!in) {
    throw input_error(fmt::format("cannot read {}: {}", file,
                                  std::filesystem::exists(found) ? "no permission" : "there is no such file"));
  }
  pictures read;
  std::size_t line = 0;
  for (std::string row; std::getline(in, row); ++line) {
    if (!row.empty() && row.back() == '\r') row.pop_back();
    (line % 5 == 4 ? read.held_out : read.train).push_back(parse_row(row, file, line + 1));
  }
  if (in.bad()) throw input_error(fmt::format("cannot read {}: reading failed after line {}", file, line));
  if (read.held_out.empty()) {
    throw input_error(fmt::format("{}: {} rows are too few, every fifth is held out", file, line));
  }
  return read;
}

}  // namespace digits
