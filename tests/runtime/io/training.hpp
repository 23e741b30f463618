// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <tautline/io/checkpoint_store.hpp>

#include "../../scratch.hpp"

// A training without a session: values with names, as a checkpoint sees them.

namespace io_test {

namespace fs = std::filesystem;

using scratch_test::scratch;

inline std::string content(std::string const& path) {
  tautline::aligned_bytes bytes;
  tautline::posix_files{}.read(path.c_str(), bytes);
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}
using scratch_test::write;
inline std::vector<std::string> names_in(std::string const& path) {
  std::vector<std::string> made;
  for (auto const& each : fs::directory_iterator(path)) made.push_back(each.path().filename().string());
  std::sort(made.begin(), made.end());
  return made;
}

/// What a session gives to a saver, made by hand: `items` and `nodes` may be changed at will.
struct fake {
  std::vector<tautline::state_item> items;
  std::vector<tautline::node_info> nodes;
  tautline::step_number step = 0;

  template <class Value>
  void add(tautline::state_group group, char const* owner, char const* field, Value& value, bool kept = false) {
    tautline::state_item item;
    item.group = group, item.owner = owner, item.field = field, item.kept = kept;
    item.view = tautline::view_tensor(value);
    item.object = &value;
    if constexpr (requires(std::int64_t const* shape) { tautline::tensor_traits<Value>::resize(value, shape); }) {
      item.resize = &tautline::detail::resize_item<Value>;
    }
    items.push_back(item);
  }
  bool running = false;  ///< a training that goes back, else one that is resumed

  [[nodiscard]] tautline::training_state state() {
    static constexpr tautline::training_state::functions how{
        [](void* core, void* visitor, tautline::training_state::item_visit visit) {
          for (tautline::state_item item : static_cast<fake*>(core)->items) {
            // as a session does it: seen anew each time
            if (item.resize != nullptr) refresh(item);
            visit(visitor, item);
          }
        },
        [](void* core, void* visitor, tautline::training_state::node_visit visit) {
          for (tautline::node_info const& node : static_cast<fake*>(core)->nodes) visit(visitor, node);
        }};
    return {this, how, step, running};
  }

 private:
  static void refresh(tautline::state_item& item) {
    if (item.view.type != tautline::element_type::F32) return;
    item.view = tautline::view_tensor(*static_cast<std::vector<float>*>(item.object));
  }
};

/// A small training with a bit of everything.
struct small_training {
  float w[2][3]{{1, 2, 3}, {4, 5, 6}};
  double bias = 0.5;
  std::vector<float> history{1, 2};
  std::int64_t position = 0;
  std::uint64_t random[4]{1, 2, 3, 4};
  float best = 9;
  bool seen = false;
  int retries = 0;
  fake view{};

  small_training() {
    using enum tautline::state_group;
    view.add(variable, "w", "", w);
    view.add(variable, "bias", "", bias);
    view.add(variable, "history", "", history);
    view.add(input, "x", "position", position);
    view.add(input, "x", "random", random);
    view.add(hook, "early_stopping<\"loss\">", "best", best);
    view.add(hook, "early_stopping<\"loss\">", "seen", seen);
    view.add(hook, "roll_back", "retries", retries, true);
    static constexpr char const* inputs[] = {"w", "bias"};
    tautline::node_info node;
    node.name = "w", node.kind = "variable", node.has_form = true, node.form = view.items[0].view;
    view.nodes.push_back(node);
    node.name = "bias", node.form = view.items[1].view;
    view.nodes.push_back(node);
    node.name = "loss", node.kind = "op", node.inputs = inputs, node.input_count = 2, node.form = view.items[1].view;
    view.nodes.push_back(node);
  }
  small_training(small_training const&) = delete;
  small_training& operator=(small_training const&) = delete;

  /// Values that no other step has.
  void at_step(tautline::step_number step) {
    auto const number = static_cast<float>(step);
    view.step = step;
    for (auto& row : w) {
      for (float& each : row) each = number + each / 16;
    }
    bias = static_cast<double>(step) / 3;
    history.assign(static_cast<std::size_t>(step % 5), number);
    position = step * 10;
    random[step % 4] += static_cast<std::uint64_t>(step);
    best = 1 / number;
    seen = step % 2 == 1;
    retries = static_cast<int>(step);
  }
  [[nodiscard]] tautline::training_state state() { return view.state(); }
  /// All values, to compare.
  [[nodiscard]] std::string bits() {
    std::string made;
    state().each([&](tautline::state_item const& item) {
      made.append(static_cast<char const*>(item.view.data), item.view.bytes()) += '|';
    });
    return made;
  }
};

/// Takes what a store says.
struct lines {
  std::vector<std::string> all;
  [[nodiscard]] tautline::checkpoint_options options() {
    tautline::checkpoint_options made;
    made.report = [this](std::string_view line) { all.emplace_back(line); };
    return made;
  }
  [[nodiscard]] bool say(std::string const& words) const {
    return std::any_of(all.begin(), all.end(), [&](std::string const& line) { return line.find(words) != std::string::npos; });
  }
};

}  // namespace io_test
