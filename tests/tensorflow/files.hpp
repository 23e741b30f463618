// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

/// What fixtures.py wrote.
namespace files {

inline std::string path(std::string const& name) {
  char const* const folder = std::getenv("TAUTLINE_TENSORFLOW_FILES");
  return std::string(folder == nullptr ? "." : folder) + '/' + name;
}
/// Of any file, by its path.
inline std::string content(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline std::string contents(std::string const& name) { return content(path(name)); }
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
