// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <tautline/core.hpp>

namespace support {

/// Checkpoints in memory, for tests of a hook's state: the latest one only.
struct memory_store {
  struct value {
    tautline::tensor_view form;
    std::vector<std::byte> bytes;
    bool kept = false;
  };
  std::map<std::string, value> values;
  tautline::step_number step = 0;
  bool has = false;
  int restores = 0;

  void save(tautline::training_state const& state) {
    values.clear();
    state.each([&](tautline::state_item const& item) {
      auto const* const from = static_cast<std::byte const*>(item.view.data);
      values[name_of(item)] = {item.view, {from, from + item.view.bytes()}, item.kept};
    });
    step = state.step();
    has = true;
  }
  /// Values that are kept are put back in a new training only, not in one that goes back.
  tautline::restored restore(tautline::training_state const& state) {
    if (!has) return {};
    ++restores;
    tautline::status result;
    state.each([&](tautline::state_item const& item) {
      auto const found = values.find(name_of(item));
      if (found == values.end()) {
        result = {tautline::error_kind::invalid_argument, "not in the checkpoint"};
        return;
      }
      if (item.kept && state.is_running()) return;
      tautline::tensor_view view = item.view;
      if (!view.same_form(found->second.form) &&
          (item.resize == nullptr || !item.resize(item.object, found->second.form.shape, view))) {
        result = {tautline::error_kind::invalid_argument, "of another form"};
        return;
      }
      std::memcpy(view.data, found->second.bytes.data(), found->second.bytes.size());
    });
    return {result, true, step};
  }
  template <class Number>
  [[nodiscard]] Number get(std::string const& name) const {
    Number number{};
    std::memcpy(&number, values.at(name).bytes.data(), sizeof number);
    return number;
  }

  static std::string name_of(tautline::state_item const& item) {
    char name[300];
    item.write_name(name, sizeof name);
    return name;
  }
};

/// Saves into it when its trigger says so.
template <class Trigger = tautline::every_steps>
struct memory_saver {
  using category = tautline::saver;
  static constexpr bool stateless = true;

  memory_store* store;
  Trigger trigger{};
  bool wanted = false;

  void after_run(auto& ctx) { wanted = ctx.due(); }
  void end(auto&, tautline::life& at) { wanted = at.due(); }
  [[nodiscard]] bool wants_save() const { return wanted; }
  void save(tautline::training_state const& state, tautline::life&) {
    wanted = false;
    store->save(state);
  }
};
template <class Trigger>
memory_saver(memory_store*, Trigger) -> memory_saver<Trigger>;

}  // namespace support
