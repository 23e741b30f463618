// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tautline/core/training_state.hpp>
#include <tautline/io/checkpoint/bytes.hpp>
#include <tautline/io/checkpoint/metadata.hpp>

TAUTLINE_BEGIN

/// An owned copy of everything that a checkpoint holds. The training goes on while another thread writes it.
///
///     checkpoint_snapshot copy;
///     copy.reserve(state);           // once: memory that the system has given already
///     copy.take(state);              // after a step
///     store.save(std::move(copy));   // on any thread; the memory stays in `copy`, for the next `take`
///
/// **Cost** of `take` one memcpy of the values, in one piece of memory that is used again from save to save; about 100 bytes
/// for each value and node. Checksums are made by what saves.
class checkpoint_snapshot {
 public:
  /// A value: `view` looks into the snapshot's memory; `owner` and `field` as in `state_item`.
  struct item {
    state_group group = state_group::variable;
    char const* owner = "";
    char const* field = "";
    tensor_view view{};

    /// "variable/w", "hook/early_stopping<"loss">/best".
    [[nodiscard]] std::string name() const {
      std::string made = to_string(group);
      made += '/', made += owner;
      if (*field != 0) made += '/', made += field;
      return made;
    }
  };

  checkpoint_snapshot() = default;
  checkpoint_snapshot(checkpoint_snapshot&& other) noexcept { *this = std::move(other); }
  /// Swaps, so that no memory is given away.
  checkpoint_snapshot& operator=(checkpoint_snapshot&& other) noexcept {
    items_.swap(other.items_), nodes_.swap(other.nodes_), inputs_.swap(other.inputs_);
    bytes_ = std::move(other.bytes_);
    std::swap(metadata_, other.metadata_);
    std::swap(step_, other.step_), std::swap(is_taken_, other.is_taken_);
    return *this;
  }

  /// Makes the room that `state` needs now, and touches its pages.
  /// @return false without memory
  [[nodiscard]] bool reserve(training_state const& state) {
    if (!bytes_.resize(lay_out(state))) return false;
    bytes_.touch();
    is_taken_ = false;
    return true;
  }

  /// Copies all values. The metadata are those of the last time: `metadata().clear()` where that is not wanted.
  /// @return false without memory; then there is nothing to save in it
  [[nodiscard]] bool take(training_state const& state) {
    is_taken_ = false;
    if (!bytes_.resize(lay_out(state))) return false;
    std::size_t index = 0, at = 0;
    state.each([&](state_item const& from) {
      item& to = items_[index++];
      to.view.data = bytes_.data() + at;
      std::size_t const size = to.view.bytes();
      if (size != 0) std::memcpy(to.view.data, from.view.data, size);
      at = aligned(at + size);
    });
    step_ = state.step();
    is_taken_ = true;
    return true;
  }

  /// Writes the values back to where they came from: the same training, no value added since.
  /// @return false if a shape has changed and cannot be put back
  bool put_back(training_state const& state) const {
    std::size_t index = 0;
    bool good = true;
    state.each([&](state_item const& to) {
      if (index >= items_.size()) return;
      item const& from = items_[index++];
      tensor_view view = to.view;
      if (!view.same_form(from.view) && (to.resize == nullptr || !to.resize(to.object, from.view.shape, view))) {
        good = false;
      } else if (from.view.bytes() != 0) {
        std::memcpy(view.data, from.view.data, from.view.bytes());
      }
    });
    return good;
  }

  /// There is something to save.
  [[nodiscard]] bool is_taken() const { return is_taken_; }
  /// Completed steps when it was taken.
  [[nodiscard]] step_number step() const { return step_; }
  [[nodiscard]] std::span<item const> items() const { return items_; }
  /// The graph. Their data are of no concern.
  [[nodiscard]] std::span<node_info const> nodes() const { return nodes_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_.size(); }
  [[nodiscard]] checkpoint_metadata& metadata() { return metadata_; }
  [[nodiscard]] checkpoint_metadata const& metadata() const { return metadata_; }

 private:
  static constexpr std::size_t aligned(std::size_t size) {
    return (size + aligned_bytes::alignment - 1) / aligned_bytes::alignment * aligned_bytes::alignment;
  }

  /// @return the bytes that the values need
  std::size_t lay_out(training_state const& state) {
    items_.clear(), nodes_.clear(), inputs_.clear();
    std::size_t size = 0;
    state.each([&](state_item const& from) {
      items_.push_back({from.group, from.owner, from.field, from.view});
      size += aligned(from.view.bytes());
    });
    // the names live as long as the program, the arrays of them need not
    state.each_node([&](node_info const& node) {
      nodes_.push_back(node);
      for (std::size_t i = 0; i < node.input_count; ++i) inputs_.push_back(node.inputs[i]);
    });
    std::size_t at = 0;
    for (node_info& node : nodes_) {
      node.inputs = inputs_.data() + at;
      at += node.input_count;
    }
    return size;
  }

  std::vector<item> items_;
  std::vector<node_info> nodes_;
  std::vector<char const*> inputs_;
  aligned_bytes bytes_;
  checkpoint_metadata metadata_;
  step_number step_ = 0;
  bool is_taken_ = false;
};

TAUTLINE_END
