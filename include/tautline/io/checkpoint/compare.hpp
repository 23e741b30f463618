// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/io/checkpoint_store.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tautline/core/training_state.hpp>
#include <tautline/io/checkpoint/manifest.hpp>
#include <tautline/io/checkpoint/snapshot.hpp>

// Whether a checkpoint is of the training that asks for it, and if not, all that differs.

TAUTLINE_BEGIN
namespace detail {

/// "F32[784, 10]"
inline std::string form_text(tensor_view const& form) {
  std::string text = to_string(form.type);
  text += '[';
  for (std::size_t i = 0; i < form.rank; ++i) text += (i == 0 ? "" : ", ") + std::to_string(form.shape[i]);
  return text += ']';
}

inline std::string full_name(state_item const& item) {
  return checkpoint_snapshot::item{item.group, item.owner, item.field, {}}.name();
}

/// A list of what differs that does not grow without bounds.
class differences {
 public:
  void add(std::string line) {
    if (lines_.size() < most) lines_.push_back(std::move(line));
    ++count_;
  }
  [[nodiscard]] bool none() const { return count_ == 0; }
  [[nodiscard]] std::string text() const {
    std::string made;
    for (std::string const& line : lines_) made += (made.empty() ? "" : "; ") + line;
    if (count_ > most) made += "; and " + std::to_string(count_ - most) + " more";
    return made;
  }

 private:
  static constexpr std::size_t most = 20;
  std::vector<std::string> lines_;
  std::size_t count_ = 0;
};

inline std::vector<saved_node> nodes_of(std::span<node_info const> nodes) {
  std::vector<saved_node> made;
  for (node_info const& node : nodes) {
    saved_node one{node.name, node.kind, {}, node.has_form, node.form};
    for (std::size_t i = 0; i < node.input_count; ++i) one.inputs.emplace_back(node.inputs[i]);
    one.form.data = nullptr;
    made.push_back(std::move(one));
  }
  return made;
}

inline std::string joined(std::vector<std::string> const& words) {
  std::string made;
  for (std::string const& word : words) made += (made.empty() ? "" : ", ") + word;
  return made;
}

/// Node by node, by name; where all are the same, their order.
inline void compare_graphs(std::vector<saved_node> const& saved, std::vector<saved_node> const& now, differences& out) {
  std::map<std::string_view, saved_node const*> old;
  for (saved_node const& node : saved) old.emplace(node.name, &node);
  bool same = true;
  for (saved_node const& node : now) {
    auto const found = old.find(node.name);
    if (found == old.end()) {
      out.add("the node " + node.name + " is new");
      same = false;
      continue;
    }
    saved_node const& before = *found->second;
    std::string why;
    if (before.kind != node.kind) {
      why = "was of the kind " + before.kind + " and is of the kind " + node.kind;
    } else if (before.inputs != node.inputs) {
      why = "had the inputs (" + joined(before.inputs) + ") and has (" + joined(node.inputs) + ")";
    } else if (before.has_form != node.has_form || before.form.type != node.form.type ||
               before.form.rank != node.form.rank) {
      why = "was " + (before.has_form ? form_text(before.form) : "no tensor") + " and is " +
            (node.has_form ? form_text(node.form) : "no tensor");
    }
    if (!why.empty()) out.add("the node " + node.name + ' ' + why), same = false;
    old.erase(found);
  }
  for (saved_node const& node : saved) {
    if (old.contains(node.name)) out.add("the node " + node.name + " is gone"), same = false;
  }
  if (same) out.add("its nodes stand in another order");
}

/// How a value of the training finds its saved one.
struct restore_options {
  bool allow_changed_hooks = false;
  bool allow_changed_graph = false;
};

using saved_views = std::map<std::string, tensor_view const*, std::less<>>;

/// Everything that keeps the checkpoint from being put into the training; empty if nothing does.
/// @param notes what differs and is allowed
inline std::string compare(training_state const& state, checkpoint_manifest const& saved, restore_options const& allowed,
                           std::string& notes) {
  differences values, hooks, graph;
  std::map<std::string, saved_tensor const*, std::less<>> old;
  // a hook of which nothing is kept but what its trigger remembers is none that could be missed
  std::vector<std::string> saved_hooks, owners;
  for (saved_tensor const& each : saved.tensors) {
    old.emplace(each.name, &each);
    bool const has_own = each.group == "hook" && each.field != trigger_field;
    if (has_own && (saved_hooks.empty() || saved_hooks.back() != each.owner)) saved_hooks.push_back(each.owner);
  }
  state.each([&](state_item const& item) {
    bool const is_hook = item.group == state_group::hook;
    if (is_hook && std::string_view(item.field) == trigger_field) {
      old.erase(full_name(item));
      return;
    }
    if (is_hook && (owners.empty() || owners.back() != item.owner)) owners.emplace_back(item.owner);
    std::string const name = full_name(item);
    auto const found = old.find(name);
    if (found == old.end()) {
      bool const hook_is_new = is_hook && std::find(saved_hooks.begin(), saved_hooks.end(), item.owner) == saved_hooks.end();
      if (!hook_is_new) values.add(name + " is not in the checkpoint");
      return;
    }
    tensor_view const& form = found->second->form;
    bool const fits = item.resize == nullptr ? form.same_form(item.view)
                                             : form.type == item.view.type && form.rank == item.view.rank;
    if (!fits) values.add(name + " is " + form_text(form) + " in the checkpoint and " + form_text(item.view) + " here");
    old.erase(found);
  });
  auto const has = [](std::vector<std::string> const& list, std::string const& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (saved_tensor const& each : saved.tensors) {
    bool const is_of_hook = each.group == "hook" && (each.field == trigger_field || !has(owners, each.owner));
    if (!old.contains(each.name) || is_of_hook) continue;
    values.add(each.name + " is in the checkpoint and not here");
  }
  for (std::string const& hook : saved_hooks) {
    if (!has(owners, hook)) hooks.add("the hook " + hook + " is in the checkpoint and not here");
  }
  for (std::string const& hook : owners) {
    if (!has(saved_hooks, hook)) hooks.add("the hook " + hook + " is not in the checkpoint");
  }
  std::vector<node_info> nodes;
  state.each_node([&](node_info const& node) { nodes.push_back(node); });
  std::vector<saved_node> const now = nodes_of(nodes);
  if (hash_of(now) != saved.graph_hash) compare_graphs(saved.nodes, now, graph);

  std::string problem;
  auto const weigh = [&](differences const& found, bool fine, char const* mend) {
    if (found.none()) return;
    std::string& to = fine ? notes : problem;
    to += (to.empty() ? "" : "; ") + found.text() + (fine ? "" : mend);
  };
  weigh(values, false, "");
  weigh(graph, allowed.allow_changed_graph, " (allow_changed_graph takes it all the same)");
  weigh(hooks, allowed.allow_changed_hooks, " (allow_changed_hooks takes it all the same; new hooks begin anew)");
  return problem;
}

/// Writes the saved values into the training, which has been compared. Shapes are changed first: if one cannot be, all is
/// as it was.
/// @param running values that are `kept` stay as they are
inline std::string put_into(training_state const& state, saved_views const& views, bool running) {
  auto const is_wanted = [&](state_item const& item) { return !(running && item.kept); };
  std::string problem;
  bool changes = false;
  auto const saved_of = [&](state_item const& item) -> tensor_view const* {
    auto const found = views.find(full_name(item));
    return found == views.end() ? nullptr : found->second;
  };
  state.each([&](state_item const& item) {
    tensor_view const* const saved = saved_of(item);
    if (saved != nullptr && is_wanted(item) && !saved->same_form(item.view)) changes = true;
  });
  if (changes) {
    checkpoint_snapshot before;
    if (!before.take(state)) return "there is no memory to change the shape of a value";
    state.each([&](state_item const& item) {
      tensor_view const* const saved = saved_of(item);
      if (!problem.empty() || saved == nullptr || !is_wanted(item) || saved->same_form(item.view)) return;
      tensor_view view = item.view;
      if (item.resize == nullptr || !item.resize(item.object, saved->shape, view) || !view.same_form(*saved)) {
        problem = full_name(item) + " is " + form_text(*saved) + " in the checkpoint and cannot become that here, it is " +
                  form_text(item.view);
      }
    });
    if (!problem.empty()) {
      before.put_back(state);
      return problem;
    }
  }
  state.each([&](state_item const& item) {
    tensor_view const* const saved = saved_of(item);
    if (saved == nullptr || !is_wanted(item) || saved->bytes() == 0) return;
    std::memcpy(item.view.data, saved->data, saved->bytes());
  });
  return {};
}

}  // namespace detail
TAUTLINE_END
