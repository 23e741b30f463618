// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tautline/io/byte_buffer.hpp>

TAUTLINE_BEGIN
namespace detail {

inline std::error_code last_error() { return {errno, std::generic_category()}; }

/// A file that is written at its end only; errors are values.
class output_file {
 public:
  output_file() = default;
  /// None yet, but messages have a path to name.
  explicit output_file(std::string path) : path_(std::move(path)) {}
  output_file(output_file&& other) noexcept
      : path_(std::exchange(other.path_, {})), descriptor_(std::exchange(other.descriptor_, -1)) {}
  output_file& operator=(output_file&& other) noexcept {
    (void)close();
    path_ = std::exchange(other.path_, {});
    descriptor_ = std::exchange(other.descriptor_, -1);
    return *this;
  }
  ~output_file() { (void)close(); }

  /// Makes a file that was not there; `file_exists` if it was.
  std::error_code create(std::string path) {
    path_ = std::move(path);
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    return descriptor_ < 0 ? last_error() : std::error_code{};
  }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  [[nodiscard]] std::string const& path() const { return path_; }

  /// Writes from the front of `bytes` and takes away what was written: after an error the rest can be tried again.
  std::error_code write(byte_buffer& bytes) {
    if (!is_open()) return std::make_error_code(std::errc::bad_file_descriptor);
    struct stat about {};
    // what goes to a file without a name is lost without an error
    if (::fstat(descriptor_, &about) == 0 && about.st_nlink == 0) {
      return std::make_error_code(std::errc::no_such_file_or_directory);
    }
    std::size_t done = 0;
    std::error_code problem;
    while (done < bytes.size()) {
      auto const count = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
      if (count >= 0) {
        done += static_cast<std::size_t>(count);
      } else if (errno != EINTR) {
        problem = last_error();
        break;
      }
    }
    bytes.drop_front(done);
    return problem;
  }
  std::error_code close() {
    int const descriptor = std::exchange(descriptor_, -1);
    // not tried again after EINTR: on Linux the descriptor is gone then
    return descriptor >= 0 && ::close(descriptor) != 0 && errno != EINTR ? last_error() : std::error_code{};
  }

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace detail
TAUTLINE_END
