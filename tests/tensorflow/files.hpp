// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

/// What fixtures.py wrote.
namespace files {

inline std::string path(std::string const& name) {
  char const* const folder = std::getenv("TAUTLINE_TENSORFLOW_FILES");
  return std::string(folder == nullptr ? "." : folder) + '/' + name;
}
inline std::string contents(std::string const& name) {
  std::ifstream in(path(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
/// Lines, sorted as Python sorts them.
inline std::string sorted(std::vector<std::string> lines) {
  std::sort(lines.begin(), lines.end());
  std::string all;
  for (auto const& line : lines) all += line + '\n';
  return all;
}
template <class List>
std::string listed(List const& values) {
  std::string all;
  for (auto const& value : values) {
    if (!all.empty()) all += ',';
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(value)>>) {
      all += std::to_string(value);
    } else {
      all += value;
    }
  }
  return '[' + all + ']';
}

}  // namespace files
