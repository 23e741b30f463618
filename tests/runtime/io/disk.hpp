// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <tautline/io/file_layer.hpp>

// A disk in memory that fails where a test wants it to, and that forgets, when the power goes, what it was not told to
// keep: bytes without fsync, names without fsync of the folder.

namespace io_test {

enum class fault {
  none,
  fail,          ///< the operation does nothing and says so
  fail_after,    ///< it is done, and reported as failed
  torn,          ///< a write does half; others as `fail`
  crash_before,  ///< the process dies: this operation and all later ones do not take place
  crash_torn,    ///< likewise, after half of a write
  crash_after,   ///< likewise, after the operation
  power_cut,     ///< crash_after, and only what is on the disk is left
};

class disk {
 public:
  struct inode {
    std::string content;
    std::string durable;
  };
  using names = std::map<std::string, std::shared_ptr<inode>>;

  names now;           ///< as the processes see it
  int operations = 0;  ///< since the last boot
  int fault_at = -1;
  fault mode = fault::none;
  int code = EIO;
  bool is_locked = false;

  [[nodiscard]] bool dead() const { return dead_; }
  /// Starts anew: after a power cut with what the disk has, of which the seed decides what is left to chance.
  void boot(unsigned seed) {
    if (dead_ && mode == fault::power_cut) lose(seed);
    dead_ = is_locked = false;
    open_.clear();
    mode = fault::none, fault_at = -1, operations = 0;
  }
  /// One operation: `act(half)` returns a value of errno.
  template <class Act>
  int operate(Act act) {
    if (dead_) return EIO;
    if (operations++ != fault_at || mode == fault::none) return act(false);
    switch (mode) {
      case fault::torn: return static_cast<void>(act(true)), code;
      case fault::crash_torn: act(true), dead_ = true; return code;
      case fault::crash_before: dead_ = true; return code;
      case fault::crash_after:
      case fault::power_cut: act(false), dead_ = true; return code;
      case fault::fail_after: act(false); return code;
      default: return code;
    }
  }

  int create(std::string const& name, int& handle) {
    if (now.contains(name)) return EEXIST;
    auto made = std::make_shared<inode>();
    now[name] = made;
    pending_.push_back({"", name, made});
    open_.push_back(made);
    handle = static_cast<int>(open_.size());
    return 0;
  }
  inode& of(int handle) { return *open_[static_cast<std::size_t>(handle - 1)]; }
  int rename(std::string const& from, std::string const& to) {
    if (!now.contains(from)) return ENOENT;
    pending_.push_back({from, to, now[from]});
    now[to] = now[from];
    now.erase(from);
    return 0;
  }
  int remove(std::string const& name) {
    if (now.erase(name) == 0) return ENOENT;
    pending_.push_back({name, "", nullptr});
    return 0;
  }
  int sync_folder() {
    durable_ = now;
    pending_.clear();
    return 0;
  }

 private:
  struct change {
    std::string from, to;
    std::shared_ptr<inode> what;
  };
  void lose(unsigned seed) {
    std::mt19937 random(seed);
    // all that is not ordered by a sync may or may not have got there; the first two seeds are the extremes
    auto const kept = [&] { return seed == 0 ? false : seed == 1 || random() % 2 == 0; };
    for (change const& each : pending_) {
      if (!kept()) continue;
      if (!each.from.empty()) durable_.erase(each.from);
      if (!each.to.empty()) durable_[each.to] = each.what;
    }
    for (auto& [name, file] : durable_) {
      bool const whole = file->durable == file->content;
      if (!whole && !kept()) file->content = file->durable + file->content.substr(file->durable.size(), random() % 40);
      file->durable = file->content;
    }
    now = durable_;
    pending_.clear();
  }

  names durable_;
  std::vector<change> pending_;
  std::vector<std::shared_ptr<inode>> open_;
  bool dead_ = false;
};

/// The file layer over such a disk. There is one folder; a name is all behind the last slash.
class disk_files {
 public:
  explicit disk_files(disk& where) : disk_(&where) {}

  int make_folder(char const*) { return always_works(); }
  int create(char const* path, int& handle) {
    return disk_->operate([&](bool half) { return half ? 0 : disk_->create(name(path), handle); });
  }
  int write(int handle, void const* data, std::size_t size) {
    return disk_->operate([&](bool half) {
      disk_->of(handle).content.append(static_cast<char const*>(data), half ? size / 2 : size);
      return 0;
    });
  }
  int sync(int handle) {
    return disk_->operate([&](bool half) {
      if (!half) disk_->of(handle).durable = disk_->of(handle).content;
      return 0;
    });
  }
  int close(int) { return always_works(); }
  int rename(char const* from, char const* to) {
    return disk_->operate([&](bool half) { return half ? 0 : disk_->rename(name(from), name(to)); });
  }
  int sync_folder(char const*) {
    return disk_->operate([&](bool half) { return half ? 0 : disk_->sync_folder(); });
  }
  int remove(char const* path) {
    return disk_->operate([&](bool half) { return half ? 0 : disk_->remove(name(path)); });
  }
  int list(char const*, std::vector<tautline::file_entry>& into) {
    into.clear();
    return disk_->operate([&](bool) {
      for (auto const& [name, file] : disk_->now) into.push_back({name, file->content.size()});
      return 0;
    });
  }
  int read(char const* path, tautline::aligned_bytes& into) {
    return disk_->operate([&](bool) {
      auto const found = disk_->now.find(name(path));
      if (found == disk_->now.end()) return ENOENT;
      std::string const& text = found->second->content;
      if (!into.resize(text.size())) return ENOMEM;
      if (!text.empty()) std::memcpy(into.data(), text.data(), text.size());
      return 0;
    });
  }
  int lock(char const*, int& handle, long& owner) {
    owner = 4711;
    handle = 0;
    return disk_->operate([&](bool) { return std::exchange(disk_->is_locked, true) ? EWOULDBLOCK : 0; });
  }
  int unlock(int) {
    disk_->is_locked = false;
    return 0;
  }

 private:
  static std::string name(std::string const& path) { return path.substr(path.rfind('/') + 1); }
  int always_works() {
    return disk_->operate([](bool) { return 0; });
  }
  disk* disk_;
};
static_assert(tautline::file_layer<disk_files>);

}  // namespace io_test
