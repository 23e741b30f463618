// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/io/tensorflow_checkpoints.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <tautline/io/checkpoint/folder.hpp>
#include <tautline/io/log_sink.hpp>
#include <tautline/io/tensorflow/checkpoint_state.hpp>

// The folder of a tf.train.Saver: names, what is committed, and how a checkpoint gets there. Knows nothing of
// TensorFlow.

TAUTLINE_BEGIN
namespace tensorflow {
namespace detail {

class checkpoint_files {
 public:
  using checkpoint_folder = tautline::detail::checkpoint_folder;

  checkpoint_files(std::string path, log_sink report)
      : folder_(std::move(path), tautline::detail::any_files(posix_files{})), report_(std::move(report)) {}

  [[nodiscard]] checkpoint_folder& folder() { return folder_; }
  [[nodiscard]] std::string const& path() const { return folder_.path(); }
  /// A path that another process finds, too. @param name one of this class, absolute where it is of another folder
  [[nodiscard]] std::string at(std::string const& name) const {
    return name.starts_with('/') ? name : (absolute_.empty() ? folder_.path() : absolute_) + '/' + name;
  }

  [[nodiscard]] io_result open(bool read_only) {
    if (io_result opened = read_only ? folder_.scan(true) : folder_.open(); !opened.ok()) return opened;
    if (char* const real = ::realpath(folder_.path().c_str(), nullptr)) {
      absolute_ = real;
      std::free(real);  // NOLINT(cppcoreguidelines-no-malloc): as it came
    }
    io_result result = scan();
    if (result.ok() && !read_only) clean();
    return result;
  }
  /// Reads the folder, and its file `checkpoint`.
  [[nodiscard]] io_result scan() {
    if (io_result seen = folder_.scan(); !seen.ok()) return seen;
    state_ = {};
    problem_.clear();
    if (!has("checkpoint")) return {};
    aligned_bytes bytes;
    std::string const file = at("checkpoint");
    int const code = files_.read(file.c_str(), bytes);
    if (code != 0) return {error_kind::error, file + " cannot be read: " + std::strerror(code)};
    if (!read_checkpoint_state({reinterpret_cast<char const*>(bytes.data()), bytes.size()}, state_)) {
      state_ = {};
      problem_ = file + ": it is damaged";
      report_(problem_);
    }
    for (std::string& each : state_.all) each = name_of_path(each);
    state_.latest = state_.all.empty() ? std::string{} : state_.all.back();
    return {};
  }
  /// What is wrong with the file `checkpoint`; empty if nothing is.
  [[nodiscard]] std::string const& problem() const { return problem_; }
  [[nodiscard]] bool has(std::string const& name) const { return folder_.has(name); }
  /// Names that `checkpoint` lists, the oldest first.
  [[nodiscard]] std::vector<std::string> const& listed() const { return state_.all; }
  [[nodiscard]] bool is_there(std::string const& name) const {
    return name.starts_with('/') ? ::access((name + ".index").c_str(), R_OK) == 0 : has(name + ".index");
  }

  /// In the order in which they are tried: those that are listed, the latest first, and others by their steps: one that
  /// was written and not yet committed, or whose `checkpoint` is lost.
  [[nodiscard]] std::vector<std::string> candidates() const {
    std::vector<std::string> made(state_.all.rbegin(), state_.all.rend());
    std::vector<std::string> others;
    for (file_entry const& file : folder_.files()) {
      std::string_view name = file.name;
      if (!name.starts_with("model.ckpt") || !name.ends_with(".index")) continue;
      name.remove_suffix(6);
      if (step_of(name) >= 0 && !is_listed(name)) others.emplace_back(name);
    }
    std::sort(others.begin(), others.end(), [](auto const& a, auto const& b) {
      return step_of(a) != step_of(b) ? step_of(a) > step_of(b) : a < b;
    });
    made.insert(made.end(), others.begin(), others.end());
    return made;
  }
  /// 12 of "model.ckpt-12"; -1 without such an ending.
  [[nodiscard]] static step_number step_of(std::string_view name) {
    std::size_t const dash = name.rfind('-');
    if (dash == std::string_view::npos) return -1;
    step_number step = -1;
    auto const [end, failed] = std::from_chars(name.data() + dash + 1, name.data() + name.size(), step);
    return failed == std::errc{} && end == name.data() + name.size() && step >= 0 ? step : -1;
  }

  // --- saving -----------------------------------------------------------------------------------------------------

  /// "model.ckpt-12", or "model.ckpt.2-12" where there are files of that name: what has been committed is not touched
  /// before the new one is.
  [[nodiscard]] std::string free_name(step_number step) const {
    for (int number = 1;; ++number) {
      std::string name =
          "model.ckpt" + (number == 1 ? std::string{} : '.' + std::to_string(number)) + '-' + std::to_string(step);
      if (files_of(name).empty() && !is_listed(name)) return name;
    }
  }
  /// Files that begin so are removed when the folder is opened.
  [[nodiscard]] static std::string temporary_name(std::string const& name) {
    return std::string(tautline::detail::temporary_intro) + name;
  }
  /// Brings what TensorFlow has written to the disk, and all of it but the index in its place.
  [[nodiscard]] io_result put_data(std::string const& temporary, std::string const& name) {
    if (io_result seen = folder_.scan(); !seen.ok()) return seen;
    if (!has(temporary + ".index")) {
      return {error_kind::error, "TensorFlow has saved, and " + at(temporary) +
                                     ".index is not there. Mend: the folder must "
                                     "be the same one for all processes of the training"};
    }
    for (std::string const& file : files_of(temporary)) {
      if (io_result synced = sync(file); !synced.ok()) return synced;
    }
    for (std::string const& file : files_of(temporary)) {
      if (file == temporary + ".index") continue;
      if (io_result moved = move(file, name + file.substr(temporary.size())); !moved.ok()) return moved;
    }
    return {};
  }
  [[nodiscard]] io_result put_index(std::string const& temporary, std::string const& name) {
    if (io_result synced = folder_.sync(); !synced.ok()) return synced;
    return move(temporary + ".index", name + ".index");
  }
  /// Makes it the latest one.
  [[nodiscard]] io_result commit(std::string const& name) {
    if (io_result synced = folder_.sync(); !synced.ok()) return synced;
    state_.all.push_back(name);
    state_.latest = name;
    return write_state();
  }
  /// Removes the oldest ones. A problem is reported.
  void rotate(std::size_t keep) {
    // of an earlier saving of the same step one is enough
    std::vector<std::string> gone;
    std::vector<std::string> stay;
    for (std::size_t i = 0; i < state_.all.size(); ++i) {
      std::string const& each = state_.all[i];
      bool const is_old = keep != 0 && state_.all.size() - i > keep;
      bool const is_replaced = each != state_.latest && !each.starts_with('/') && step_of(each) >= 0 &&
                               step_of(each) == step_of(state_.latest);
      (is_old || is_replaced ? gone : stay).push_back(each);
    }
    if (gone.empty()) return;
    state_.all = stay;
    if (io_result const done = write_state(); !done.ok()) return report_(done.message);
    if (io_result const seen = folder_.scan(); !seen.ok()) return report_(seen.message);
    for (std::string const& each : gone) {
      if (each.starts_with('/')) continue;  // of another folder
      std::string const problem = folder_.remove(each + ".index");
      if (!problem.empty()) report_(problem);
      remove_all(each);
    }
  }
  void remove_all(std::string const& name) {
    if (!folder_.scan().ok()) return;
    for (std::string const& file : files_of(name)) {
      if (std::string const problem = folder_.remove(file); !problem.empty()) report_(problem);
    }
    static_cast<void>(folder_.scan());
  }

  /// After a saving that failed: nothing of it stays, unless it has been committed all the same.
  void remove_unlisted(std::string const& name) {
    if (scan().ok() && problem_.empty() && !is_listed(name)) remove_all(name);
  }

 private:
  [[nodiscard]] bool is_listed(std::string_view name) const {
    return std::find(state_.all.begin(), state_.all.end(), name) != state_.all.end();
  }
  /// "model.ckpt-1.index" and others of "model.ckpt-1", none of "model.ckpt-12".
  [[nodiscard]] std::vector<std::string> files_of(std::string const& name) const {
    std::vector<std::string> made;
    for (file_entry const& file : folder_.files()) {
      if (file.name.starts_with(name + '.')) made.push_back(file.name);
    }
    return made;
  }
  /// Of a path as `checkpoint` has it. A folder that has been moved is still itself.
  [[nodiscard]] std::string name_of_path(std::string const& path) const {
    std::size_t const slash = path.rfind('/');
    if (slash == std::string::npos) return path;
    std::string const last = path.substr(slash + 1);
    if (has(last + ".index")) return last;
    return path.starts_with('/') ? path : at(path);
  }
  [[nodiscard]] io_result write_state() {
    if (io_result put = folder_.put_text("checkpoint", write_checkpoint_state(state_)); !put.ok()) return put;
    return folder_.sync();
  }
  [[nodiscard]] io_result sync(std::string const& name) const {
    int code = 0;
    int const file = ::open(at(name).c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) code = errno;
    while (code == 0 && ::fsync(file) != 0) {
      if (errno != EINTR) code = errno;
    }
    if (file >= 0) ::close(file);
    return code == 0 ? io_result{} : fails(name, "cannot be brought to the disk", code);
  }
  [[nodiscard]] io_result move(std::string const& from, std::string const& to) {
    int const code = files_.rename(at(from).c_str(), at(to).c_str());
    return code == 0 ? io_result{} : fails(to, "cannot be put in place", code);
  }
  [[nodiscard]] io_result fails(std::string const& name, char const* what, int code) const {
    return {error_kind::error, at(name) + ' ' + what + ": " + std::strerror(code)};
  }
  /// What a saving has left that was not finished: files without an index.
  void clean() {
    std::vector<std::string> unfinished;
    for (file_entry const& file : folder_.files()) {
      if (!file.name.starts_with("model.ckpt")) continue;
      std::size_t end = file.name.find(".data-");
      if (end == std::string::npos) end = file.name.find(".hooks.");
      if (end == std::string::npos) continue;
      std::string const name = file.name.substr(0, end);
      if (step_of(name) >= 0 && !has(name + ".index") && !is_listed(name)) unfinished.push_back(file.name);
    }
    for (std::string const& file : unfinished) {
      if (std::string const problem = folder_.remove(file); !problem.empty()) report_(problem);
    }
    if (!unfinished.empty()) static_cast<void>(folder_.scan());
  }

  checkpoint_folder folder_;
  log_sink report_;
  posix_files files_;
  std::string absolute_;
  std::string problem_;
  checkpoint_state state_;
};

}  // namespace detail
}  // namespace tensorflow
TAUTLINE_END
