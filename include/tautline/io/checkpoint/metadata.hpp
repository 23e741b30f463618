// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tautline/core/config.hpp>

TAUTLINE_BEGIN

/// Words and numbers that go into a checkpoint's manifest: metrics, by which a policy finds the best, and notes.
///
///     snapshot.metadata().set("accuracy", 0.93);
///     snapshot.metadata().set("data", "digits.csv");
class checkpoint_metadata {
 public:
  struct item {
    std::string name;
    bool is_number = false;
    double number = 0;  ///< what is not finite is null in the file, and NaN when it is read again
    std::string words{};
  };

  void set(std::string_view name, double number) {
    item& found = of(name);
    found.is_number = true, found.number = number, found.words.clear();
  }
  void set(std::string_view name, std::string_view words) {
    item& found = of(name);
    found.is_number = false, found.number = 0, found.words = words;
  }
  void clear() { items_.clear(); }

  /// NaN if there is no number of the name.
  [[nodiscard]] double number(std::string_view name) const {
    for (item const& each : items_) {
      if (each.name == name && each.is_number) return each.number;
    }
    return std::numeric_limits<double>::quiet_NaN();
  }
  /// Empty if there are no words of the name.
  [[nodiscard]] std::string_view words(std::string_view name) const {
    for (item const& each : items_) {
      if (each.name == name) return each.words;
    }
    return {};
  }
  /// In the order in which they were set first.
  [[nodiscard]] std::vector<item> const& items() const { return items_; }

 private:
  item& of(std::string_view name) {
    for (item& each : items_) {
      if (each.name == name) return each;
    }
    items_.push_back({std::string(name)});
    return items_.back();
  }

  std::vector<item> items_;
};

TAUTLINE_END
