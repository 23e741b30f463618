// SPDX-License-Identifier: BSL-1.0
#pragma once

// A summary writer of the demo's own: all that hooks want of one is `add_scalar`.

#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <tautline/core.hpp>

#include "data.hpp"

namespace digits {

/// Makes one line of JSON for each number: {"step": 300, "tag": "loss", "value": 0.25}
class metrics_file {
 public:
  /// Makes the folder if it is not there. **Errors** input_error
  explicit metrics_file(std::filesystem::path const& folder) : path_(folder / "metrics.jsonl") {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (!failed) {
      out_.open(path_, std::ios::trunc);
      if (!out_) failed = std::make_error_code(std::errc::permission_denied);
    }
    if (failed) throw input_error(fmt::format("cannot write to {}: {}", folder.string(), failed.message()));
  }

  void add_scalar(std::string_view tag, double value, tautline::step_number step) {
    out_ << fmt::format(R"({{"step": {}, "tag": "{}", "value": {}}})", step, tag,
                        std::isfinite(value) ? fmt::format("{}", value) : "null")
         << std::endl;  // whole lines, also if the run is killed
    if (!out_) throw std::runtime_error(fmt::format("cannot write to {}", path_.string()));
  }

  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
  std::ofstream out_;
};

}  // namespace digits
