// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/io/checkpoint_store.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include <tautline/io/checkpoint/manifest.hpp>
#include <tautline/io/checkpoint_policy.hpp>
#include <tautline/io/file_layer.hpp>

// The folder of a checkpoint store: names, the lock, how a file gets there in one piece, and what is there.

TAUTLINE_BEGIN

/// A checkpoint that has been read and checked.
struct loaded_checkpoint {
  io_result result{};  ///< an error if there are checkpoints, and none of them can be used
  bool found = false;
  checkpoint_manifest manifest;
  safetensors_file file;  ///< the values
  std::string manifest_file;
};

namespace detail {

inline constexpr std::string_view temporary_intro = ".tautline-tmp-";

inline std::string step_name(step_number step) {
  char text[40];
  std::snprintf(text, sizeof text, "step-%012lld", static_cast<long long>(step));
  return text;
}
/// "step-000000000012" of "step-000000000012-7.safetensors"; empty if it is no such name.
inline std::string step_part(std::string const& name, std::string_view ending) {
  if (!name.starts_with("step-") || !name.ends_with(ending)) return {};
  std::size_t const end = name.find_first_not_of("0123456789", 5);
  return end == 5 ? std::string{} : name.substr(0, end);
}

/// A manifest of the folder.
struct known_checkpoint {
  std::string manifest_file;
  manifest_verdict verdict = manifest_verdict::good;
  std::string problem{};       ///< why the verdict is not good, or the data are not complete
  checkpoint_entry entry{};    ///< of a manifest that can be read
  std::string data_file{};
  std::uint64_t manifest_size = 0;
  std::uint64_t data_size = 0;
  [[nodiscard]] bool complete() const { return problem.empty(); }
};

class checkpoint_folder {
 public:
  checkpoint_folder(std::string path, any_files files) : path_(std::move(path)), files_(std::move(files)) {
    while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  }
  checkpoint_folder(checkpoint_folder const&) = delete;
  checkpoint_folder& operator=(checkpoint_folder const&) = delete;
  ~checkpoint_folder() {
    if (lock_ >= 0) files_.unlock(lock_);
  }

  [[nodiscard]] std::string const& path() const { return path_; }
  [[nodiscard]] std::string at(std::string const& name) const { return path_ + '/' + name; }
  /// All manifests, the oldest first; those that cannot be read before them.
  [[nodiscard]] std::vector<known_checkpoint>& known() { return known_; }
  [[nodiscard]] std::vector<known_checkpoint> const& known() const { return known_; }
  [[nodiscard]] std::vector<file_entry> const& files() const { return listed_; }

  /// Makes the folder, takes the lock, and removes what dead processes have left unfinished.
  [[nodiscard]] io_result open() {
    if (int const code = files_.make_folder(path_); code != 0) return fails("cannot be made", code);
    long owner = 0;
    int const code = files_.lock(at(".lock"), lock_, owner);
    if (code != 0) lock_ = -1;
    if (code == EWOULDBLOCK || code == EAGAIN) {
      return {error_kind::busy, "the folder of checkpoints " + path_ + " is in use by " +
                                    (owner == 0 ? "another process" : "process " + std::to_string(owner)) +
                                    "; two trainings cannot share one"};
    }
    if (code != 0) return fails("cannot be locked (a store that only reads is opened with read_only)", code);
    io_result result = scan(true);
    if (result.ok()) clean();
    return result;
  }

  /// Reads the names, and the manifests that are new. A folder that is not there is empty.
  /// @param afresh all manifests: somebody else may have touched them
  [[nodiscard]] io_result scan(bool afresh = false) {
    std::vector<known_checkpoint> const before = afresh ? std::vector<known_checkpoint>{} : std::move(known_);
    known_.clear();
    if (int const code = files_.list(path_, listed_); code != 0 && code != ENOENT) return fails("cannot be read", code);
    for (file_entry const& file : listed_) {
      if (step_part(file.name, ".json").empty()) continue;
      auto const same = std::find_if(before.begin(), before.end(), [&](known_checkpoint const& each) {
        return each.manifest_file == file.name && each.manifest_size == file.size;
      });
      known_checkpoint one = same != before.end() ? *same : look_at(file);
      if (one.complete()) one.problem = why_incomplete(one.data_file, one.data_size);
      known_.push_back(std::move(one));
    }
    std::sort(known_.begin(), known_.end(), [](known_checkpoint const& a, known_checkpoint const& b) {
      if (a.entry.sequence != b.entry.sequence) return a.entry.sequence < b.entry.sequence;
      return a.manifest_file < b.manifest_file;
    });
    return {};
  }

  [[nodiscard]] bool has(std::string const& name) const {
    return std::any_of(listed_.begin(), listed_.end(), [&](file_entry const& each) { return each.name == name; });
  }
  [[nodiscard]] std::int64_t last_sequence() const {
    std::int64_t last = 0;
    for (known_checkpoint const& each : known_) last = std::max(last, each.entry.sequence);
    return last;
  }

  /// Puts a file into the folder: written under another name, on the disk, then renamed. `fill(write)` writes by
  /// `write(data, size)`, which returns 0 or a value of `errno`; so does it.
  template <class Fill>
  [[nodiscard]] io_result put(std::string const& name, Fill&& fill) {
    std::erase_if(known_, [&](known_checkpoint const& each) { return each.manifest_file == name; });
    std::string const temporary = at(std::string(temporary_intro) + std::to_string(static_cast<long>(::getpid())) + '-' +
                                     std::to_string(++temporaries_) + '-' + name);
    int file = -1;
    int code = files_.create(temporary, file);
    if (code != 0) return file_fails(name, "cannot be written", code);
    code = fill([&](void const* data, std::size_t size) { return files_.write(file, data, size); });
    if (code == 0) code = files_.sync(file);
    int const closed = files_.close(file);
    if (code == 0) code = closed;
    char const* what = "cannot be written";
    if (code == 0) code = files_.rename(temporary, at(name)), what = "cannot be put in place";
    if (code == 0) return {};
    files_.remove(temporary);
    return file_fails(name, what, code);
  }
  [[nodiscard]] io_result put_text(std::string const& name, std::string_view text) {
    return put(name, [&](auto const& write) { return write(text.data(), text.size()); });
  }
  [[nodiscard]] io_result sync() {
    int const code = files_.sync_folder(path_);
    return code == 0 ? io_result{} : fails("cannot be brought to the disk", code);
  }
  /// @return what went wrong, empty if nothing; that it is not there is no fault
  std::string remove(std::string const& name) {
    int const code = files_.remove(at(name));
    return code == 0 || code == ENOENT ? std::string{} : file_fails(name, "cannot be removed", code).message;
  }

  /// The text of `latest`.
  static std::string latest_text(std::string const& manifest_file) {
    return manifest_file + " crc32c:" + hex(crc32c(manifest_file.data(), manifest_file.size())) + '\n';
  }
  /// @return the manifest that `latest` names, empty if it does not; then `problem` says why, unless there is none
  [[nodiscard]] std::string read_latest(std::string& problem) {
    aligned_bytes bytes;
    int const code = files_.read(at("latest"), bytes);
    if (code == ENOENT) return {};
    if (code != 0) {
      problem = std::string("it cannot be read: ") + std::strerror(code);
      return {};
    }
    std::string const text(reinterpret_cast<char const*>(bytes.data()), bytes.size());
    std::string name = text.substr(0, text.find(' '));
    if (text == latest_text(name)) return name;
    // format 0 wrote the name alone
    name = text.substr(0, text.find('\n'));
    checkpoint_manifest manifest;
    std::string ignored;
    if (!step_part(name, ".json").empty() && text == name + '\n' &&
        read_one(name, manifest, ignored) == manifest_verdict::good && manifest.format == 0) {
      return name;
    }
    problem = "it is damaged";
    return {};
  }

  /// Reads a checkpoint and checks every byte of it.
  [[nodiscard]] manifest_verdict load(std::string const& manifest_file, loaded_checkpoint& out, std::string& problem) {
    out = {};
    out.manifest_file = manifest_file;
    std::string why;
    manifest_verdict const verdict = read_one(manifest_file, out.manifest, why);
    if (verdict != manifest_verdict::good) {
      problem = at(manifest_file) + ": " + why;
      return verdict;
    }
    why = load_data(out);
    if (why.empty()) {
      out.found = true;
      return manifest_verdict::good;
    }
    problem = at(out.manifest.data_file) + ": " + why;
    for (known_checkpoint& each : known_) {
      if (each.manifest_file == manifest_file) each.problem = why;  // it counts no longer as one that can be used
    }
    return manifest_verdict::damaged;
  }

 private:
  [[nodiscard]] io_result fails(char const* what, int code) const {
    return {error_kind::error, "the folder of checkpoints " + path_ + ' ' + what + ": " + std::strerror(code)};
  }
  [[nodiscard]] io_result file_fails(std::string const& name, char const* what, int code) const {
    return {error_kind::error, at(name) + ' ' + what + ": " + std::strerror(code)};
  }

  [[nodiscard]] manifest_verdict read_one(std::string const& name, checkpoint_manifest& out, std::string& problem) {
    aligned_bytes bytes;
    if (int const code = files_.read(at(name), bytes); code != 0) {
      problem = std::string("it cannot be read: ") + std::strerror(code);
      return manifest_verdict::damaged;
    }
    return read_manifest({reinterpret_cast<char const*>(bytes.data()), bytes.size()}, out, problem);
  }

  [[nodiscard]] known_checkpoint look_at(file_entry const& file) {
    checkpoint_manifest manifest;
    known_checkpoint one{file.name};
    one.manifest_size = file.size;
    one.verdict = read_one(file.name, manifest, one.problem);
    one.entry = {manifest.step, manifest.sequence, manifest.has_time, manifest.time, std::move(manifest.metadata)};
    one.data_file = std::move(manifest.data_file), one.data_size = manifest.data_size;
    return one;
  }

  [[nodiscard]] std::string why_incomplete(std::string const& data_file, std::uint64_t size) const {
    for (file_entry const& file : listed_) {
      if (file.name != data_file) continue;
      if (file.size == size) return {};
      return data_file + " has " + std::to_string(file.size) + " bytes instead of " + std::to_string(size);
    }
    return data_file + " is not there";
  }

  /// With the lock in hand, all that is unfinished is of processes that are gone.
  void clean() {
    for (file_entry const& file : listed_) {
      if (file.name.starts_with(temporary_intro)) {
        files_.remove(at(file.name));
        continue;
      }
      std::string const step = step_part(file.name, ".safetensors");
      if (step.empty()) continue;
      // data whose manifest is damaged stay: somebody may want to look at them
      bool wanted = false;
      for (known_checkpoint const& each : known_) {
        bool const readable = each.verdict == manifest_verdict::good;
        wanted = wanted || (readable ? each.data_file == file.name : step_part(each.manifest_file, ".json") == step);
      }
      if (!wanted) files_.remove(at(file.name));
    }
  }

  /// @return why it is damaged
  [[nodiscard]] std::string load_data(loaded_checkpoint& out) {
    checkpoint_manifest const& manifest = out.manifest;
    aligned_bytes bytes;
    if (int const code = files_.read(at(manifest.data_file), bytes); code != 0) {
      return std::string("it cannot be read: ") + std::strerror(code);
    }
    if (bytes.size() != manifest.data_size) {
      return "it has " + std::to_string(bytes.size()) + " bytes instead of " + std::to_string(manifest.data_size);
    }
    bool const right = crc32c(bytes.data(), bytes.size()) == manifest.data_checksum;
    out.file = safetensors_file::of(std::move(bytes));
    if (!out.file.result().ok()) return out.file.result().message;
    if (!right) {
      for (saved_tensor const& each : manifest.tensors) {
        tensor_view const* const view = out.file.find(each.name);
        if (view != nullptr && each.has_checksum && crc32c(view->data, view->bytes()) != each.checksum) {
          return "its checksum is wrong: the values of " + each.name + " are damaged";
        }
      }
      return "its checksum is wrong";
    }
    if (out.file.tensors().size() != manifest.tensors.size()) return "its tensors are not those of the manifest";
    for (saved_tensor const& each : manifest.tensors) {
      tensor_view const* const view = out.file.find(each.name);
      if (view == nullptr || !view->same_form(each.form)) return each.name + " is not as the manifest says";
      if (view->type != element_type::BOOL) continue;
      auto const* const values = static_cast<std::uint8_t const*>(view->data);
      for (std::size_t i = 0; i < view->bytes(); ++i) {
        if (values[i] > 1) return each.name + " has a bool that is neither 0 nor 1";
      }
    }
    return {};
  }

  std::string path_;
  any_files files_;
  int lock_ = -1;
  unsigned temporaries_ = 0;
  std::vector<known_checkpoint> known_;
  std::vector<file_entry> listed_;
};

}  // namespace detail
TAUTLINE_END
