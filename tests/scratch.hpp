// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

// Folders and files that a test makes for itself.

namespace scratch_test {

/// A folder of its own, gone at the end.
struct scratch {
  scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "tautline-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  scratch(scratch const&) = delete;
  scratch& operator=(scratch const&) = delete;
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  [[nodiscard]] std::string operator/(std::string const& name) const { return path + '/' + name; }
  std::string path;
};
inline void write(std::string const& path, std::string const& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

}  // namespace scratch_test
