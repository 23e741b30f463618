// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tautline/core/error.hpp>

TAUTLINE_BEGIN
namespace detail {

/// A file of lines that are written at its end, and that can be cut. Errors are values.
class text_file {
 public:
  text_file() = default;
  text_file(text_file&& other) noexcept
      : path_(std::move(other.path_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        regular_(other.regular_) {}
  text_file& operator=(text_file&&) = delete;
  ~text_file() { (void)close(); }

  /// @param flags of open(2), besides those for writing at the end
  std::error_code open(std::string path, int flags) {
    path_ = std::move(path);
    descriptor_ = ::open(path_.c_str(), flags | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor_ < 0) return last_error();
    struct stat about {};
    if (::fstat(descriptor_, &about) != 0) return last_error();
    regular_ = S_ISREG(about.st_mode);
    return {};
  }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  /// Whether it can be cut and read: a file on a disk, no pipe, no terminal.
  [[nodiscard]] bool is_regular() const { return regular_; }
  [[nodiscard]] std::string const& path() const { return path_; }

  /// Writes from the front of `bytes` and takes away what was written: after an error the rest can be tried again.
  /// @return how many bytes were written
  std::int64_t write(std::string& bytes, std::error_code& problem) {
    if (!is_open()) {
      problem = std::make_error_code(std::errc::bad_file_descriptor);
      return 0;
    }
    struct stat about {};
    // what goes to a file without a name is lost without an error
    if (regular_ && ::fstat(descriptor_, &about) == 0 && about.st_nlink == 0) {
      problem = std::make_error_code(std::errc::no_such_file_or_directory);
      return 0;
    }
    std::size_t done = 0;
    while (done < bytes.size()) {
      auto const count = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
      if (count >= 0) {
        done += static_cast<std::size_t>(count);
      } else if (errno != EINTR) {
        problem = last_error();
        break;
      }
    }
    bytes.erase(0, done);
    return static_cast<std::int64_t>(done);
  }

  /// Bytes in the file; 0 for what is no regular file.
  [[nodiscard]] std::int64_t size() const {
    struct stat about {};
    return regular_ && ::fstat(descriptor_, &about) == 0 ? static_cast<std::int64_t>(about.st_size) : 0;
  }
  /// Up to `most` bytes from `offset` on; fewer at the end of the file and after an error.
  [[nodiscard]] std::string read(std::int64_t offset, std::size_t most) const {
    std::string bytes(most, '\0');
    std::size_t done = 0;
    while (done < most) {
      auto const count = ::pread(descriptor_, bytes.data() + done, most - done,
                                 static_cast<off_t>(offset) + static_cast<off_t>(done));
      if (count == 0 || (count < 0 && errno != EINTR)) break;
      if (count > 0) done += static_cast<std::size_t>(count);
    }
    bytes.resize(done);
    return bytes;
  }
  std::error_code cut(std::int64_t size) {
    return ::ftruncate(descriptor_, static_cast<off_t>(size)) == 0 ? std::error_code{} : last_error();
  }
  /// Waits until the disk has it.
  std::error_code sync() {
    return !regular_ || ::fdatasync(descriptor_) == 0 ? std::error_code{} : last_error();
  }
  std::error_code close() {
    int const descriptor = std::exchange(descriptor_, -1);
    // not tried again after EINTR: on Linux the descriptor is gone then
    return descriptor >= 0 && ::close(descriptor) != 0 && errno != EINTR ? last_error() : std::error_code{};
  }

  static std::error_code last_error() { return {errno, std::generic_category()}; }

 private:
  std::string path_;
  int descriptor_ = -1;
  bool regular_ = false;
};

/// What the last attempt of a sink met. Where exceptions are on it is thrown besides.
class io_failure {
 public:
  [[nodiscard]] tautline::status status() const { return {kind_, kind_ == error_kind::none ? "" : message_.c_str()}; }
  [[nodiscard]] bool failed() const { return kind_ != error_kind::none; }

  /// @return whether there is no problem; throws it as a std::system_error where exceptions are on
  bool check(std::error_code problem, char const* what, std::string const& path) {
    if (!problem) [[likely]] {
      kind_ = error_kind::none;
      return true;
    }
    raise_system(problem, what, path);
    return false;
  }
  /// A refusal once more, for who asks again.
  /// @return whether there was one
  TAUTLINE_COLD bool repeat() {
    if (kind_ != error_kind::invalid_argument) return false;
    refuse(std::string(message_));
    return true;
  }
  /// The file, or what is asked of it, is wrong. Throws an `invalid_argument_error` where exceptions are on.
  TAUTLINE_COLD void refuse(std::string message) {
    kind_ = error_kind::invalid_argument;
    message_ = std::move(message);
#if TAUTLINE_EXCEPTIONS
    throw invalid_argument_error(message_.c_str());
#endif
  }

 private:
  TAUTLINE_COLD void raise_system(std::error_code problem, char const* what, std::string const& path) {
    kind_ = error_kind::error;
    message_ = what + path + ": " + problem.message();
#if TAUTLINE_EXCEPTIONS
    throw std::system_error(problem, what + path);
#endif
  }

  error_kind kind_ = error_kind::none;
  std::string message_;
};

/// A path for a message whose space is limited: its end if it is long.
inline std::string shown_path(std::string const& path) {
  return path.size() <= 120 ? path : "..." + path.substr(path.size() - 117);
}

}  // namespace detail
TAUTLINE_END
