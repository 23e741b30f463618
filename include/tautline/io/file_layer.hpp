// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cerrno>
#include <concepts>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tautline/core/error.hpp>
#include <tautline/io/checkpoint/bytes.hpp>
#include <tautline/io/detail/write_all.hpp>

TAUTLINE_BEGIN

/// A file in a folder.
struct file_entry {
  std::string name;
  std::uint64_t size = 0;  ///< bytes
};

/// What writes a file or reads it says so: `kind` is `none` if all went well.
struct io_result {
  error_kind kind = error_kind::none;
  std::string message{};

  [[nodiscard]] bool ok() const { return kind == error_kind::none; }
};

/// All that a store of files needs of a file system. Every function returns 0 or the value of `errno`. A test gives a
/// layer of its own, which fails at the operation that it wants.
template <class Files>
concept file_layer = requires(Files& files, char const* path, int& handle, void const* data, std::size_t size,
                              std::vector<file_entry>& entries, aligned_bytes& bytes, long& owner) {
  { files.make_folder(path) } -> std::same_as<int>;  ///< with all above it; none is made where it exists
  { files.create(path, handle) } -> std::same_as<int>;  ///< a new file for writing; EEXIST where one is
  { files.write(handle, data, size) } -> std::same_as<int>;  ///< all of it, behind what is there
  { files.sync(handle) } -> std::same_as<int>;  ///< returns when the data are on the disk
  { files.close(handle) } -> std::same_as<int>;
  { files.rename(path, path) } -> std::same_as<int>;  ///< replaces what has the name, in one piece
  { files.sync_folder(path) } -> std::same_as<int>;  ///< returns when names made, changed or removed are on the disk
  { files.remove(path) } -> std::same_as<int>;
  { files.list(path, entries) } -> std::same_as<int>;  ///< regular files, in any order
  { files.read(path, bytes) } -> std::same_as<int>;  ///< the whole file; ENOMEM if it does not fit
  /// Exclusive, until unlocked or the process ends, however it ends. EWOULDBLOCK: another has it, `owner` says which
  /// process, 0 if that is not known.
  { files.lock(path, handle, owner) } -> std::same_as<int>;
  { files.unlock(handle) } -> std::same_as<int>;
};

/// The file system of the machine.
class posix_files {
 public:
  int make_folder(char const* path) {
    std::string part;
    for (char const* at = path;; ++at) {
      if ((*at == '/' && !part.empty()) || *at == 0) {
        if (::mkdir(part.c_str(), 0777) != 0 && errno != EEXIST) {
          int const code = errno;
          struct stat found{};
          if (::stat(part.c_str(), &found) != 0) return code;  // what is there need not be writable
        }
      }
      if (*at == 0) break;
      part += *at;
    }
    struct stat found{};
    if (::stat(path, &found) != 0) return errno;
    return S_ISDIR(found.st_mode) ? 0 : ENOTDIR;
  }
  int create(char const* path, int& handle) {
    do handle = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    while (handle < 0 && errno == EINTR);
    return handle < 0 ? errno : 0;
  }
  int write(int handle, void const* data, std::size_t size) {
    std::size_t done = 0;
    return detail::write_all(handle, static_cast<char const*>(data), size, done);
  }
  int sync(int handle) { return retried([&] { return ::fsync(handle); }); }
  int close(int handle) { return ::close(handle) == 0 || errno == EINTR ? 0 : errno; }
  int rename(char const* from, char const* to) { return ::rename(from, to) == 0 ? 0 : errno; }
  int sync_folder(char const* path) {
    int const folder = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return errno;
    int code = retried([&] { return ::fsync(folder); });
    if (code == EINVAL) code = 0;  // file systems whose folders need none
    ::close(folder);
    return code;
  }
  int remove(char const* path) { return ::unlink(path) == 0 ? 0 : errno; }
  int list(char const* path, std::vector<file_entry>& entries) {
    entries.clear();
    DIR* const folder = ::opendir(path);
    if (folder == nullptr) return errno;
    int code = 0;
    while (true) {
      errno = 0;
      dirent const* const found = ::readdir(folder);
      if (found == nullptr) {
        code = errno;
        break;
      }
      struct stat status{};
      // one that goes while the folder is read is none
      if (::fstatat(::dirfd(folder), found->d_name, &status, 0) != 0 || !S_ISREG(status.st_mode)) continue;
      entries.push_back({found->d_name, static_cast<std::uint64_t>(status.st_size)});
    }
    ::closedir(folder);
    return code;
  }
  int read(char const* path, aligned_bytes& bytes) {
    int const file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno;
    int const code = read_all(file, bytes);
    ::close(file);
    return code;
  }
  int lock(char const* path, int& handle, long& owner) {
    owner = 0;
    handle = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (handle < 0) return errno;
    char digits[24]{};
    if (retried([&] { return ::flock(handle, LOCK_EX | LOCK_NB); }) != 0) {
      int const code = errno;
      if (::pread(handle, digits, sizeof digits - 1, 0) > 0) std::sscanf(digits, "%ld", &owner);
      ::close(handle);
      return code;
    }
    // who has it is said for the one that comes second; that it cannot be written is no reason to stop
    int const length = std::snprintf(digits, sizeof digits, "%ld\n", static_cast<long>(::getpid()));
    bool const told = ::ftruncate(handle, 0) == 0 && ::pwrite(handle, digits, static_cast<std::size_t>(length), 0) > 0;
    static_cast<void>(told);
    return 0;
  }
  int unlock(int handle) { return ::close(handle) == 0 ? 0 : errno; }

 private:
  template <class Call>
  static int retried(Call call) {
    int result = 0;
    do result = call();
    while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
  }
  static int read_all(int file, aligned_bytes& bytes) {
    struct stat status{};
    if (::fstat(file, &status) != 0) return errno;
    if (S_ISDIR(status.st_mode)) return EISDIR;
    if (!bytes.resize(static_cast<std::size_t>(status.st_size))) return ENOMEM;
    std::size_t have = 0;
    while (have < bytes.size()) {
      ssize_t const got = ::read(file, bytes.data() + have, bytes.size() - have);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return errno;
      if (got == 0) break;  // it has become shorter since
      have += static_cast<std::size_t>(got);
    }
    return bytes.resize(have) ? 0 : ENOMEM;
  }
};
static_assert(file_layer<posix_files>);

namespace detail {

/// A file layer whose type is not known: a store is compiled once, whatever its files are.
class any_files {
 public:
  template <file_layer Files>
  explicit any_files(Files files) : how_(std::make_unique<model<Files>>(std::move(files))) {}

  [[nodiscard]] int make_folder(std::string const& path) const { return how_->make_folder(path.c_str()); }
  [[nodiscard]] int create(std::string const& path, int& handle) const { return how_->create(path.c_str(), handle); }
  [[nodiscard]] int write(int handle, void const* data, std::size_t size) const { return how_->write(handle, data, size); }
  [[nodiscard]] int sync(int handle) const { return how_->sync(handle); }
  int close(int handle) const { return how_->close(handle); }
  [[nodiscard]] int rename(std::string const& from, std::string const& to) const {
    return how_->rename(from.c_str(), to.c_str());
  }
  [[nodiscard]] int sync_folder(std::string const& path) const { return how_->sync_folder(path.c_str()); }
  int remove(std::string const& path) const { return how_->remove(path.c_str()); }
  [[nodiscard]] int list(std::string const& path, std::vector<file_entry>& into) const {
    return how_->list(path.c_str(), into);
  }
  [[nodiscard]] int read(std::string const& path, aligned_bytes& into) const { return how_->read(path.c_str(), into); }
  [[nodiscard]] int lock(std::string const& path, int& handle, long& owner) const {
    return how_->lock(path.c_str(), handle, owner);
  }
  int unlock(int handle) const { return how_->unlock(handle); }

 private:
  struct functions {
    functions() = default;
    functions(functions const&) = delete;
    functions& operator=(functions const&) = delete;
    virtual ~functions() = default;
    virtual int make_folder(char const* path) = 0;
    virtual int create(char const* path, int& handle) = 0;
    virtual int write(int handle, void const* data, std::size_t size) = 0;
    virtual int sync(int handle) = 0;
    virtual int close(int handle) = 0;
    virtual int rename(char const* from, char const* to) = 0;
    virtual int sync_folder(char const* path) = 0;
    virtual int remove(char const* path) = 0;
    virtual int list(char const* path, std::vector<file_entry>& into) = 0;
    virtual int read(char const* path, aligned_bytes& into) = 0;
    virtual int lock(char const* path, int& handle, long& owner) = 0;
    virtual int unlock(int handle) = 0;
  };
  template <class Files>
  struct model final : functions {
    explicit model(Files given) : files(std::move(given)) {}
    int make_folder(char const* path) override { return files.make_folder(path); }
    int create(char const* path, int& handle) override { return files.create(path, handle); }
    int write(int handle, void const* data, std::size_t size) override { return files.write(handle, data, size); }
    int sync(int handle) override { return files.sync(handle); }
    int close(int handle) override { return files.close(handle); }
    int rename(char const* from, char const* to) override { return files.rename(from, to); }
    int sync_folder(char const* path) override { return files.sync_folder(path); }
    int remove(char const* path) override { return files.remove(path); }
    int list(char const* path, std::vector<file_entry>& into) override { return files.list(path, into); }
    int read(char const* path, aligned_bytes& into) override { return files.read(path, into); }
    int lock(char const* path, int& handle, long& owner) override { return files.lock(path, handle, owner); }
    int unlock(int handle) override { return files.unlock(handle); }
    Files files;
  };
  std::unique_ptr<functions> how_;
};

}  // namespace detail
TAUTLINE_END
