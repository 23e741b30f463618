// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <tautline/core.hpp>
#include <tautline/testing/allocations.hpp>

TAUTLINE_BEGIN
namespace testing {

/// One value of a training's state, copied.
struct saved_item {
  std::string name;  ///< "variable/w", "hook/early_stopping/best"
  element_type type = element_type::U8;
  std::vector<std::int64_t> shape;
  bool resizable = false;
  bool kept = false;  ///< see `kept_field`
  std::vector<unsigned char> bytes;

  [[nodiscard]] bool same_form(saved_item const& other) const { return type == other.type && shape == other.shape; }
};

/// A copy of everything that a checkpoint would hold, to compare and to put back.
class snapshot {
 public:
  snapshot() = default;
  explicit snapshot(training_state const& state) : step_(state.step()) {
    uncounted const by_the_kit;
    state.each([&](state_item const& item) {
      saved_item copy;
      copy.name = name_of_item(item);
      copy.type = item.view.type;
      copy.shape.assign(item.view.shape, item.view.shape + item.view.rank);
      copy.resizable = item.resize != nullptr;
      copy.kept = item.kept;
      copy.bytes.resize(item.view.bytes());
      if (!copy.bytes.empty()) std::memcpy(copy.bytes.data(), item.view.data, copy.bytes.size());
      items_.push_back(std::move(copy));
    });
  }

  [[nodiscard]] step_number step() const { return step_; }
  [[nodiscard]] std::vector<saved_item> const& items() const { return items_; }
  [[nodiscard]] saved_item const* find(std::string const& name) const {
    for (saved_item const& item : items_) {
      if (item.name == name) return &item;
    }
    return nullptr;
  }

  /// Puts the values back. @param keep leave `kept_field`s alone  @return empty, or what does not fit
  std::string write_to(training_state const& state, bool keep = false) const {
    uncounted const by_the_kit;
    std::string problem;
    state.each([&](state_item const& item) {
      std::string const name = name_of_item(item);
      if (keep && item.kept) return;
      saved_item const* const saved = find(name);
      tensor_view view = item.view;
      if (saved == nullptr) {
        problem += name + " was not saved\n";
      } else if (saved->type != view.type || saved->shape.size() != view.rank) {
        problem += name + " had another form\n";
      } else {
        bool const same = std::equal(saved->shape.begin(), saved->shape.end(), view.shape);
        if (!same && (item.resize == nullptr || !item.resize(item.object, saved->shape.data(), view))) {
          problem += name + " had another shape\n";
        } else if (!saved->bytes.empty()) {
          std::memcpy(view.data, saved->bytes.data(), saved->bytes.size());
        }
      }
    });
    return problem;
  }

  /// Empty if both are equal to the bit, else what differs, a line each. @param kept compare `kept_field`s, too
  [[nodiscard]] std::string difference(snapshot const& other, bool kept = true) const {
    std::string found;
    if (step_ != other.step_) found += "step: " + std::to_string(step_) + " and " + std::to_string(other.step_) + "\n";
    for (saved_item const& item : items_) {
      saved_item const* const match = other.find(item.name);
      if (match == nullptr) {
        found += item.name + " is in the first only\n";
      } else if ((kept || !item.kept) && (!item.same_form(*match) || item.bytes != match->bytes)) {
        found += item.name + ": " + shown(item) + " and " + shown(*match) + "\n";
      }
    }
    for (saved_item const& item : other.items_) {
      if (find(item.name) == nullptr) found += item.name + " is in the second only\n";
    }
    return found;
  }

 private:
  static std::string name_of_item(state_item const& item) {
    char name[400];
    item.write_name(name, sizeof name);
    return name;
  }
  static std::string shown(saved_item const& item) {
    std::string all;
    std::size_t const width = size_of(item.type);
    for (std::size_t at = 0; at + width <= item.bytes.size() && at < 4 * width; at += width) {
      all += (at > 0 ? " " : "") + number(item, at, width);
    }
    return all + (item.bytes.size() > 4 * width ? " …" : "");
  }
  static std::string number(saved_item const& item, std::size_t at, std::size_t width) {
    if (item.type == element_type::F32) {
      float value = 0;
      std::memcpy(&value, item.bytes.data() + at, sizeof value);
      return std::to_string(value);
    }
    if (item.type == element_type::F64) {
      double value = 0;
      std::memcpy(&value, item.bytes.data() + at, sizeof value);
      return std::to_string(value);
    }
    std::uint64_t value = 0;
    std::memcpy(&value, item.bytes.data() + at, width);  // little-endian machines show the number
    return std::to_string(value);
  }

  std::vector<saved_item> items_;
  step_number step_ = 0;
};

/// Keeps checkpoints in memory: `options{restore_from{store}}`, and `memory_saver{store, every_steps{5}}`. It must outlive
/// the session.
class memory_store {
 public:
  /// The newest is restored. In the same process as it was saved or restored before, kept fields stay as they are; a copy
  /// of a store made by `reopened` is that of a new process.
  restored restore(training_state const& state) {
    if (saved_.empty()) return {};
    bool const running = std::exchange(used_, true);
    problem_ = saved_.back().write_to(state, running);
    if (!problem_.empty()) return {{error_kind::invalid_argument, problem_.c_str()}, false, 0};
    return {{}, true, saved_.back().step()};
  }
  void save(training_state const& state) { save(snapshot(state)); }
  void save(snapshot taken) {
    uncounted const by_the_kit;
    used_ = true;
    saved_.push_back(std::move(taken));
  }

  /// What a new process finds.
  [[nodiscard]] memory_store reopened() const {
    memory_store made(*this);
    made.used_ = false;
    return made;
  }
  /// Every checkpoint, in the order in which they were saved.
  [[nodiscard]] std::vector<snapshot> const& saved() const { return saved_; }
  void clear() { saved_.clear(), used_ = false; }

 private:
  std::vector<snapshot> saved_;
  std::string problem_;
  bool used_ = false;
};

/// Saves into a `memory_store` when its trigger fires: `memory_saver{store, every_steps{5} | at_end}`.
template <trigger Trigger>
class memory_saver {
 public:
  using category = saver;
  static constexpr bool stateless = true;

  memory_saver(memory_store& store, Trigger given) : trigger(std::move(given)), store_(&store) {}

  template <class Graph>
  void begin(Graph&) {
    wanted_ = false;
  }
  template <class Context>
  void after_run(Context& ctx) {
    wanted_ = ctx.due();
  }
  template <class Session>
  void end(Session&, life& at) {
    wanted_ = at.due();
  }
  [[nodiscard]] bool wants_save() const { return wanted_; }
  void save(training_state const& state, life&) {
    wanted_ = false;
    store_->save(state);
  }

  Trigger trigger;

 private:
  memory_store* store_;
  bool wanted_ = false;
};

}  // namespace testing
TAUTLINE_END
