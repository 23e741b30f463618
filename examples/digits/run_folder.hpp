// SPDX-License-Identifier: BSL-1.0
#pragma once

// The folder of a run: which files go where, and that no training writes over another one.

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "data.hpp"

namespace digits {

class run_folder {
 public:
  /// Makes the folder if it is not there. **Errors** input_error: it cannot be made or written, it holds a training that
  /// is not to be resumed, or it holds none that could be.
  run_folder(std::filesystem::path path, bool resume) : path_(std::move(path)) {
    std::error_code failed;
    bool const saved = std::filesystem::exists(path_ / "checkpoints" / "latest", failed);
    if (saved && !resume) {
      throw input_error(fmt::format("{} holds a training: go on with --resume, or give another folder", path_.string()));
    }
    // one that was killed before it had saved anything begins anew
    if (resume && !saved && !std::filesystem::exists(path_ / "events", failed)) {
      throw input_error(fmt::format("{} holds no training that could be resumed", path_.string()));
    }
    std::filesystem::create_directories(path_, failed);
    if (failed) throw input_error(fmt::format("cannot write to {}: {}", path_.string(), failed.message()));
  }

  [[nodiscard]] std::string operator/(char const* name) const { return (path_ / name).string(); }

  /// All files in it, sorted.
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> found;
    for (auto const& each : std::filesystem::recursive_directory_iterator(path_)) {
      if (each.is_regular_file() && each.path().filename() != ".lock") found.push_back(each.path().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace digits
