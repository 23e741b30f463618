// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <tautline/core.hpp>
#include <tautline/testing/script.hpp>

TAUTLINE_BEGIN
namespace testing {
namespace detail {

/// Numbers by name, without a heap after the first use of each name.
class number_table {
 public:
  double* find(std::string_view name) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (entries_[i].name == name) return &entries_[i].value;
    }
    return nullptr;
  }
  /// @param name of static life
  double& at(char const* name) {
    if (double* const found = find(name)) return *found;
    std::size_t const place = std::min(count_, entries_.size() - 1);
    count_ = place + 1;
    entries_[place] = {name, 0};
    return entries_[place].value;
  }
  void clear() { count_ = 0; }
  [[nodiscard]] bool empty() const { return count_ == 0; }

 private:
  struct entry {
    std::string_view name;
    double value = 0;
  };
  std::array<entry, 64> entries_{};
  std::size_t count_ = 0;
};

template <class Value>
double as_number(Value const& value) {
  if constexpr (std::is_convertible_v<Value const&, double>) {
    return static_cast<double>(value);
  } else {
    return 0;
  }
}

}  // namespace detail

/// A session that does what a `script` says: a backend in which every name exists, as a number, at most 64 of them.
///
///     script plan;
///     plan.values["loss"] = [](long run) { return 1.0 / double(run); };
///     auto session = monitored(scripted_session(plan), my_hook{});
///
/// It can be checkpointed (its place in the input, and its variables), and writes lines into `plan.seen`: a session is
/// made, a raw run begins, with what is fetched and fed, a session is closed. A look without a step takes no input if it
/// feeds something, or fetches nothing but variables.
class scripted_session {
 public:
  explicit scripted_session(script& plan) : plan_(&plan) {}

  status open() {
    status const made = plan_->begin_session();
    if (!made.ok()) return made;
    if (plan_->sessions == 1 || !plan_->keeps_on_recreate) {
      completed_ = plan_->initial_step;
      plan_->position = 0;
      weight_ = 0;
      stored_.clear();
    }
    say("session " + std::to_string(plan_->sessions));
    return {};
  }
  void close() { say("session_closed " + std::to_string(plan_->sessions)); }
  [[nodiscard]] step_number initial_step() const { return completed_; }
  [[nodiscard]] step_number steps_per_run() const { return plan_->steps_per_run; }

  template <class Request>
  status run(Request const& request) {
    fed_.clear();
    request.each_feed([&]<fixed_string Name>() {
      fed_.at(name_of<Name>) = detail::as_number(*request.template fed<Name>());
    });
    if (plan_->seen != nullptr) say_run(request);
    bool const takes_input = Request::is_step || (looks_at_input(request) && fed_.empty());
    if (status const begun = plan_->begin_run(takes_input); !begun.ok()) return begun;
    auto const fed = [&](std::string_view name) -> double const* { return fed_.find(name); };
    if (takes_input) {
      for (auto const& [name, value] : plan_->variables) stored_.at(name.c_str()) = value.of(plan_->now(), fed);
    }
    if constexpr (Request::is_step) {
      completed_ += plan_->steps_per_run;
      if (plan_->learns) learn(request);
    }
    request.each_fetch([&]<fixed_string Name>() { current_.at(name_of<Name>) = value_now(name_of<Name>); });
    return {};
  }
  /// A number, whatever type was asked for: `value<"loss">()`, `value<"loss", float>()`.
  template <fixed_string Name, class Type = double>
  [[nodiscard]] Type const& value() {
    static_assert(std::is_same_v<Type, double>,
                  "tautline: the values of a scripted_session are of type double. Mend: fetch the name without a type");
    return current_.at(name_of<Name>);
  }

  template <class Visit>
  void each_state(Visit const& visit) {
    show("w", state_group::variable, "", weight_, visit);
    for (auto const& [name, value] : plan_->variables) {
      show(name.c_str(), state_group::variable, "", stored_.at(name.c_str()), visit);
    }
    show("input", state_group::input, "position", plan_->position, visit);
    show("input", state_group::input, "completed", completed_, visit);
  }

 private:
  template <class Value, class Visit>
  static void show(char const* owner, state_group group, char const* field, Value& value, Visit const& visit) {
    state_item item;
    item.group = group;
    item.owner = owner;
    item.field = field;
    item.view = view_tensor(value);
    item.object = &value;
    visit(static_cast<state_item const&>(item));
  }
  [[nodiscard]] bool is_variable(std::string_view name) const {
    return (name == "w" && plan_->learns) || plan_->variables.contains(name);
  }
  template <class Request>
  bool looks_at_input(Request const& request) const {
    bool looks = false;
    bool asks = false;
    request.each_fetch([&]<fixed_string Name>() {
      asks = true;
      looks = looks || !is_variable(name_of<Name>);
    });
    return looks || !asks;
  }
  double value_now(char const* name) {
    if (std::string_view(name) == "w" && plan_->learns) return weight_;
    if (plan_->variables.contains(std::string_view(name))) return stored_.at(name);
    return plan_->value(name, [&](std::string_view fed) -> double const* { return fed_.find(fed); });
  }
  /// Everything that came in leaves a trace in the variable; halves, so that it stays finite.
  template <class Request>
  void learn(Request const& request) {
    double change = value_now("loss");
    double factor = 0.25;
    request.each_feed([&]<fixed_string Name>() {
      double const* const fed = fed_.find(name_of<Name>);
      if (fed != nullptr) change += factor * *fed;  // it is there: g++ does not know
      factor /= 2;
    });
    weight_ = 0.5 * weight_ + 0.125 * change;
  }

  void say(std::string line) const {
    if (plan_->seen != nullptr) plan_->seen->say(std::move(line));
  }
  template <class Request>
  void say_run(Request const& request) const {
    uncounted const by_the_kit;
    std::vector<std::string> fetched;
    std::vector<std::string> given;
    request.each_fetch([&]<fixed_string Name>() { fetched.emplace_back(name_of<Name>); });
    request.each_feed([&]<fixed_string Name>() { given.emplace_back(name_of<Name>); });
    plan_->seen->say("run " + std::to_string(plan_->runs + 1) + listed(" fetch=", fetched) + listed(" feed=", given));
  }
  static std::string listed(char const* word, std::vector<std::string>& names) {
    std::sort(names.begin(), names.end());
    std::string all;
    for (std::string const& name : names) all += (all.empty() ? word : ",") + name;
    return all;
  }

  script* plan_;
  step_number completed_ = 0;
  double weight_ = 0;
  detail::number_table fed_;
  detail::number_table current_;
  detail::number_table stored_;
};

}  // namespace testing
TAUTLINE_END
