// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private

#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tautline/io/byte_buffer.hpp>
#include <tautline/io/detail/write_all.hpp>

TAUTLINE_BEGIN
namespace detail {

inline std::error_code last_error() { return {errno, std::generic_category()}; }

inline void drop_front(std::string& bytes, std::size_t count) { bytes.erase(0, count); }
inline void drop_front(byte_buffer& bytes, std::size_t count) { bytes.drop_front(count); }

/// A file that is written at its end, and that can be cut. Errors are values.
class output_file {
 public:
  output_file() = default;
  /// None yet, but messages have a path to name.
  explicit output_file(std::string path) : path_(std::move(path)) {}
  output_file(output_file&& other) noexcept
      : path_(std::exchange(other.path_, {})),
        descriptor_(std::exchange(other.descriptor_, -1)),
        regular_(other.regular_) {}
  output_file& operator=(output_file&& other) noexcept {
    (void)close();
    path_ = std::exchange(other.path_, {});
    descriptor_ = std::exchange(other.descriptor_, -1);
    regular_ = other.regular_;
    return *this;
  }
  ~output_file() { (void)close(); }

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
  /// @param bytes a `std::string` or a `byte_buffer`
  /// @return how many bytes were written
  template <class Bytes>
  std::int64_t write(Bytes& bytes, std::error_code& problem) {
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
    int const code = write_all(descriptor_, bytes.data(), bytes.size(), done);
    if (code != 0) problem = {code, std::generic_category()};
    drop_front(bytes, done);
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

 private:
  std::string path_;
  int descriptor_ = -1;
  bool regular_ = false;
};

}  // namespace detail
TAUTLINE_END
