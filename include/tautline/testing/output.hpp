// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <tautline/testing/fake_clock.hpp>
#include <tautline/testing/script.hpp>
#include <tautline/testing/trace.hpp>

TAUTLINE_BEGIN
namespace testing {

namespace detail {

/// A folder of its own, removed with all that is in it.
class temporary_folder {
 public:
  temporary_folder() {
    static std::atomic<unsigned> made{0};
    std::random_device random;
    path_ = std::filesystem::temp_directory_path() /
            ("tautline-" + std::to_string(random()) + "-" + std::to_string(made.fetch_add(1)));
    std::filesystem::create_directories(path_);
  }
  temporary_folder(temporary_folder const&) = delete;
  temporary_folder& operator=(temporary_folder const&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::filesystem::path const& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace detail

/// What a hook writes while a law is tried: the factory gives it to the hook as a sink, a writer, a listener.
///
///     [](output& out) { return tensor_logger<"loss">{every_steps{3}, {.log = out.sink(), .writer = out, .clock = out.clock()}}; }
class output {
 public:
  explicit output(script& plan) : plan_(&plan) {}
  output(output const&) = delete;
  output& operator=(output const&) = delete;

  /// Takes lines: any callable of the form `sink(std::string_view)` may be wanted.
  [[nodiscard]] auto sink() {
    return [this](std::string_view line) { write(line); };
  }
  /// As a summary writer.
  void add_scalar(std::string_view tag, double value, step_number step) {
    uncounted const by_the_kit;
    char words[64];
    std::snprintf(words, sizeof words, " %lld %.17g", static_cast<long long>(step), value);
    lines_.say(std::string(tag) + words);
  }
  /// Whatever else there is to compare.
  void write(std::string_view line) {
    uncounted const by_the_kit;
    lines_.say(std::string(line));
  }
  /// The clock that the session has, too.
  [[nodiscard]] fake_clock clock() const { return plan_->clock; }
  /// A file for the hook to write, in a folder of its own that a resumed training finds again and that is removed in the
  /// end. @param compared a resumed training must leave its bytes as they are without an interruption
  [[nodiscard]] std::string path(std::string const& name, bool compared = true) {
    uncounted const by_the_kit;
    if (!folder_) folder_ = std::make_shared<detail::temporary_folder>();
    if (compared) compared_.insert(name);
    return (folder_->path() / name).string();
  }
  /// What the session does.
  [[nodiscard]] script& plan() const { return *plan_; }

  [[nodiscard]] std::string text() const { return lines_.text(); }
  void clear() { lines_.clear(); }
  /// The contents of all files that are to be compared.
  [[nodiscard]] std::string files() const {
    std::string all;
    for (std::string const& name : compared_) {
      std::ifstream file(folder_->path() / name, std::ios::binary);
      std::ostringstream text;
      text << file.rdbuf();
      all += name + ":\n" + text.str();
    }
    return all;
  }
  /// The files of a training that was killed are there.
  void finds_files_of(output const& killed) { folder_ = killed.folder_; }

 private:
  script* plan_;
  trace lines_;
  std::shared_ptr<detail::temporary_folder> folder_;
  std::set<std::string> compared_;
};

}  // namespace testing
TAUTLINE_END
