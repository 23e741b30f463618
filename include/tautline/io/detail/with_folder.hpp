// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private

#include <filesystem>
#include <string>
#include <system_error>

#include <tautline/core/config.hpp>

TAUTLINE_BEGIN
namespace detail {

/// The path, whose folder is there now if it can be made. Opening the file says what is wrong if it cannot.
inline std::string with_folder(std::string path) {
  std::error_code ignored;
  std::filesystem::path const folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  return path;
}

}  // namespace detail
TAUTLINE_END
