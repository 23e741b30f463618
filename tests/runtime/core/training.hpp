// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tautline/core.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "support.hpp"

// A small training whose state can be seen whole, a place in memory to save it to, and hooks that save, veto and go back.

namespace training {

using namespace support;
using tautline::element_type;
using tautline::field;
using tautline::fields;
using tautline::kept_field;
using tautline::monitored;
using tautline::named;
using tautline::options;
using tautline::restore_from;
using tautline::restored;
using tautline::state_item;
using tautline::training_state;

/// 0, 1, 2, … up to `length`; knows where it stands.
struct counting {
  int position = 0;
  int length = 1000;
  bool operator()(float& x) {
    if (position == length) return false;
    x = static_cast<float>(position++);
    return true;
  }
  auto state() { return fields{field<"position">(position)}; }
};

/// `w` is the sum of the elements, each times `rate`; `late` is computed from what the update has changed.
inline auto summing(int length = 1000) {
  return tautline::static_graph{}
      .variable<"w">(0.0F)
      .placeholder<"rate">(1.0F)
      .source<"x">(0.0F, counting{0, length})
      .op<"loss", "w", "x">([](float w, float x) { return w + x; })
      .update<"train", "w", "x", "rate">([](float& w, float x, float rate) { return w += rate * x; })
      .op<"late", "w">([](float w) { return 2 * w; });
}

inline std::string name_of(state_item const& item) {
  char words[200];
  item.write_name(words, sizeof words);
  return words;
}

/// A store in memory: the bytes of every value, by name.
struct memory_store {
  struct tensor {
    std::vector<std::int64_t> shape;
    std::string bytes;
  };
  std::map<std::string, tensor> saved;
  step_number step = 0;
  bool has = false;
  int restores = 0;
  int saves = 0;
  std::function<tautline::status(int restore)> in_restore;  ///< restores count from 1

  void save(training_state const& state) {
    ++saves;
    saved.clear();
    state.each([&](state_item const& item) {
      tensor& to = saved[name_of(item)];
      to.shape.assign(item.view.shape, item.view.shape + item.view.rank);
      to.bytes.assign(static_cast<char const*>(item.view.data), item.view.bytes());
    });
    step = state.step();
    has = true;
  }
  restored restore(training_state const& state) {
    ++restores;
    if (in_restore) {
      if (tautline::status const how = in_restore(restores); !how.ok()) return {how};
    }
    if (!has) return {};
    state.each([&](state_item const& item) {
      auto const found = saved.find(name_of(item));
      if (found == saved.end() || (item.kept && state.is_running())) return;
      tensor const& from = found->second;
      tautline::tensor_view view = item.view;
      if (item.resize != nullptr) CHECK(item.resize(item.object, from.shape.data(), view));
      REQUIRE(view.bytes() == from.bytes.size());
      std::memcpy(view.data, from.bytes.data(), from.bytes.size());
    });
    return {{}, true, step};
  }
  template <class Value>
  Value get(std::string const& name) const {
    Value value{};
    auto const found = saved.find(name);
    REQUIRE(found != saved.end());
    REQUIRE(found->second.bytes.size() == sizeof value);
    std::memcpy(&value, found->second.bytes.data(), sizeof value);
    return value;
  }
};

/// Saves in the steps of its trigger.
template <class Trigger = tautline::every_steps>
struct memory_saver {
  using category = tautline::saver;
  static constexpr bool stateless = true;
  memory_store* store;
  Trigger trigger;
  bool wanted = false;

  void after_run(auto& ctx) { wanted = ctx.due(); }
  void end(auto&, life& at) { wanted = at.due(); }
  [[nodiscard]] bool wants_save() const { return wanted; }
  void save(training_state const& state, life&) {
    wanted = false;
    store->save(state);
  }
};
template <class Trigger>
memory_saver(memory_store*, Trigger) -> memory_saver<Trigger>;

/// Writes down what it is told, and acts in its gate.
struct gatekeeper {
  static constexpr bool stateless = true;
  lines* trace;
  std::string id = "gate";
  std::function<void(tautline::run_context_base& ctx, float loss)> act = {};

  void after_create_session(auto& session) { trace->push_back("created " + id + " at " + number(session.step())); }
  auto before_run(auto&) { return fetch<"loss">; }
  void gate(auto& ctx, auto& values) {
    float const loss = values[fetch<"loss">];
    trace->push_back("gate " + id + " step=" + number(ctx.step()) + " loss=" + number(loss) + " w=" +
                     number(ctx.session()[fetch<"w">]) + (ctx.vetoed() ? " vetoed" : ""));
    if (act) act(ctx, loss);
  }
  void after_run(auto& ctx, auto& values) {
    trace->push_back("after_run " + id + " step=" + number(ctx.step()) + " loss=" + number(values[fetch<"loss">]) + " w=" +
                     number(ctx.session()[fetch<"w">]) + (ctx.vetoed() ? " vetoed" : ""));
  }
  void on_error(tautline::error const& happened) { trace->push_back("on_error " + id + " " + to_string(happened.kind)); }
  void end(auto&) { trace->push_back("end " + id); }
  void close() { trace->push_back("close " + id); }
};

/// The same without a gate, for values of the second part of a run.
struct late_reader {
  static constexpr bool stateless = true;
  lines* trace;
  auto before_run(auto&) { return tautline::run_args{fetch<"late">, fetch<"train">}; }
  void after_run(auto& ctx, auto& values) {
    trace->push_back("late step=" + number(ctx.step()) + " " + number(values[fetch<"late">]) + " " +
                     number(values[fetch<"train">]));
  }
  void after_run(auto& ctx) {
    trace->push_back("late step=" + number(ctx.step()) + " nothing" + (ctx.vetoed() ? ", vetoed" : ""));
  }
};

}  // namespace training
