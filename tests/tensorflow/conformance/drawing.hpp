// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tensorflow/c/c_api.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "script.hpp"

/// The graph that plays the `session` part of a scenario, made with nothing but the C API.
///
/// What counts raw runs is a variable, "play/raw_run": begun at the number of those that other sessions made, read first in
/// a run and then counted up. Values are looked up in their lists by it, and it decides whether a run fails.
namespace conformance {

/// What a graph has to know besides the scenario.
struct scene {
  step_number first_step = 0;  ///< that the init op gives to the global step
  std::string device = {};     ///< of all operations; empty where only one exists
  std::string other_device = {};  ///< of a task that takes part in each run and each making; empty for none
};

/// Adds operations.
class drawing {
 public:
  explicit drawing(TF_Graph* graph, std::string device)
      : graph_(graph), device_(std::move(device)), status_(TF_NewStatus()) {}
  drawing(drawing const&) = delete;
  drawing& operator=(drawing const&) = delete;
  ~drawing() { TF_DeleteStatus(status_); }

  class op {
   public:
    op(drawing& to, char const* type, std::string const& name, std::string const& device)
        : to_(&to), made_(TF_NewOperation(to.graph_, type, name.c_str())) {
      if (!device.empty()) TF_SetDevice(made_, device.c_str());
    }
    op& in(TF_Output from) { return TF_AddInput(made_, from), *this; }
    op& in_list(std::vector<TF_Output> const& from) {
      return TF_AddInputList(made_, from.data(), static_cast<int>(from.size())), *this;
    }
    op& after(TF_Operation* before) { return TF_AddControlInput(made_, before), *this; }
    op& after(std::vector<TF_Operation*> const& all) {
      for (TF_Operation* const each : all) after(each);
      return *this;
    }
    op& type(char const* name, TF_DataType type) { return TF_SetAttrType(made_, name, type), *this; }
    op& types(char const* name, TF_DataType type) { return TF_SetAttrTypeList(made_, name, &type, 1), *this; }
    op& text(char const* name, std::string const& value) {
      return TF_SetAttrString(made_, name, value.data(), value.size()), *this;
    }
    op& number(char const* name, std::int64_t value) { return TF_SetAttrInt(made_, name, value), *this; }
    op& numbers(char const* name, std::initializer_list<std::int64_t> values) {
      return TF_SetAttrIntList(made_, name, values.begin(), static_cast<int>(values.size())), *this;
    }
    op& scalar() { return TF_SetAttrShape(made_, "shape", nullptr, 0), *this; }
    op& scalars() {
      std::int64_t const* const none = nullptr;
      int const rank = 0;
      return TF_SetAttrShapeList(made_, "output_shapes", &none, &rank, 1), *this;
    }
    op& tensor(char const* name, TF_Tensor* value) {
      TF_SetAttrTensor(made_, name, value, to_->status_);
      TF_DeleteTensor(value);
      return *this;
    }
    TF_Operation* done() { return to_->finish(made_); }
    TF_Output value(int output = 0) { return {done(), output}; }

   private:
    drawing* to_;
    TF_OperationDescription* made_;
  };

  op add(char const* type, std::string const& name = {}) { return add_at(device_, type, name); }
  op add_at(std::string const& device, char const* type, std::string const& name = {}) {
    return {*this, type, name.empty() ? "play/" + std::string(type) + "_" + std::to_string(++made_) : name, device};
  }

  template <class Number>
  TF_Output constant(TF_DataType type, Number value) {
    TF_Tensor* const held = TF_AllocateTensor(type, nullptr, 0, sizeof value);
    *static_cast<Number*>(TF_TensorData(held)) = value;
    return add("Const").tensor("value", held).type("dtype", type).value();
  }
  template <class Number>
  TF_Output constants(TF_DataType type, std::vector<Number> const& values) {
    auto const count = static_cast<std::int64_t>(values.size());
    TF_Tensor* const held = TF_AllocateTensor(type, &count, 1, values.size() * sizeof(Number));
    for (std::size_t i = 0; i < values.size(); ++i) static_cast<Number*>(TF_TensorData(held))[i] = values[i];
    return add("Const").tensor("value", held).type("dtype", type).value();
  }
  TF_Output whole(std::int64_t value) { return constant<std::int64_t>(TF_INT64, value); }
  TF_Output real(double value) { return constant<double>(TF_DOUBLE, value); }

  TF_Output variable(std::string const& name, TF_DataType type) {
    return add("VarHandleOp", name).type("dtype", type).scalar().text("shared_name", name).value();
  }
  op assign(TF_Output variable, TF_Output value, TF_DataType type, char const* how = "AssignVariableOp") {
    return add(how).in(variable).in(value).type("dtype", type);
  }
  op read(TF_Output variable, TF_DataType type) { return add("ReadVariableOp").in(variable).type("dtype", type); }
  TF_Operation* group(std::string const& name, std::vector<TF_Operation*> const& all) {
    return add("NoOp", name).after(all).done();
  }
  op range(std::int64_t end) {
    return add("RangeDataset").in(whole(0)).in(whole(end)).in(whole(1)).types("output_types", TF_INT64).scalars();
  }
  TF_Output iterator(std::string const& name) {
    return add("IteratorV2", name).text("shared_name", name).text("container", "").types("output_types", TF_INT64).scalars().value();
  }
  op next(TF_Output iterator) { return add("IteratorGetNext").in(iterator).types("output_types", TF_INT64).scalars(); }

 private:
  TF_Operation* finish(TF_OperationDescription* made) {
    TF_Operation* const operation = TF_FinishOperation(made, status_);
    if (TF_GetCode(status_) != TF_OK) {
      // the test's own fault, which must not be taken for another one
      std::fprintf(stderr, "the graph of a scenario cannot be made: %s\n", TF_Message(status_));
      std::abort();
    }
    return operation;
  }

  TF_Graph* graph_;
  std::string device_;
  TF_Status* status_;
  int made_ = 0;
};

/// When something fails.
enum class moment_of_failure { run, making };

/// An operation that fails with this error by what it does, once `before` has been computed.
inline TF_Operation* failing(drawing& to, failure what, moment_of_failure when, std::string const& name, TF_Operation* before) {
  switch (what.kind) {
    case error_kind::out_of_range:
      if (what.derived) {  // the end of a queue: another operation, the same code
        TF_Output const queue = to.add("FIFOQueueV2", name).types("component_types", TF_DOUBLE).value();
        TF_Operation* const closed = to.add("QueueCloseV2").in(queue).after(before).done();
        return to.add("QueueDequeueV2").in(queue).types("component_types", TF_DOUBLE).after(closed).done();
      } else {  // the end of a Dataset without elements
        TF_Output const ended = to.iterator(name);
        TF_Operation* const begun = to.add("MakeIterator").in(to.range(0).value()).in(ended).after(before).done();
        return to.next(ended).after(begun).done();
      }
    case error_kind::cancelled: {
      TF_Output const queue = to.add("FIFOQueueV2", name).types("component_types", TF_DOUBLE).value();
      if (when == moment_of_failure::run) {  // waits for ever: somebody closes the session under the run
        return to.add("QueueDequeueV2").in(queue).types("component_types", TF_DOUBLE).after(before).done();
      }
      TF_Operation* const closed = to.add("QueueCloseV2").in(queue).after(before).done();
      return to.add("QueueEnqueueV2").in(queue).in_list({to.real(0)}).after(closed).done();
    }
    case error_kind::internal: {  // a group of one device is joined by another operation as one of two
      auto const reduce = [&](int size, int instance) {
        return to.add("CollectiveReduce").in(to.real(1)).number("group_size", size).number("group_key", 1)
            .number("instance_key", instance).text("merge_op", "Add").text("final_op", "Id").numbers("subdiv_offsets", {0});
      };
      return reduce(2, 2).after(reduce(1, 1).after(before).done()).done();
    }
    case error_kind::invalid_argument:
      return to.add("Assert", name).in(to.constant<unsigned char>(TF_BOOL, 0)).in_list({to.real(1)}).after(before).done();
    default:  // an iterator that nobody has made: FAILED_PRECONDITION, which has no kind of its own
      return to.next(to.iterator(name)).after(before).done();
  }
}

/// Whether a failure comes from an operation of the graph; `aborted` and `unavailable` come from servers.
constexpr bool is_of_graph(error_kind kind) {
  return kind != error_kind::aborted && kind != error_kind::unavailable;
}

/// Fails where `ordinal` is that of an ordered failure, in the order of the list.
/// @return what the rest of the run has to wait for
inline std::vector<TF_Operation*> failures(drawing& to, std::vector<ordered_failure> const& ordered, TF_Output ordinal,
                                           std::vector<TF_Operation*> const& before, moment_of_failure when) {
  std::string const name = when == moment_of_failure::run ? "play/run_fails_" : "play/making_fails_";
  std::vector<TF_Operation*> passed;
  for (ordered_failure const& one : ordered) {
    if (!is_of_graph(one.raises.kind)) continue;
    TF_Output const now = to.add("Equal").in(ordinal).in(to.whole(one.ordinal)).value();
    TF_Operation* const either = to.add("Switch").in(to.add("Identity").in(to.real(0)).after(before).value()).in(now).done();
    TF_Operation* const here = to.add("Identity").in({either, 1}).done();
    TF_Operation* const failed = failing(to, one.raises, when, name + std::to_string(one.ordinal), here);
    TF_Output const never = to.add("Identity").in({either, 1}).after(failed).value();
    passed.push_back(to.add("Merge").in_list({{either, 0}, never}).done());
  }
  return passed;
}

/// The whole graph. Its names: what the scenario names, "train", "init", "global_step", and "play/…".
inline void draw(TF_Graph* graph, scenario const& script, scene const& where) {
  drawing to(graph, where.device);
  TF_Output const raw_run = to.variable("play/raw_run", TF_INT64);
  TF_Output const attempt = to.variable("play/attempt", TF_INT64);
  TF_Output const global_step = to.variable("global_step", TF_INT64);
  auto const placeholder = [&](std::string const& name) { return to.add("Placeholder", name).type("dtype", TF_INT64).scalar().value(); };
  to.group("play/set", {to.assign(raw_run, placeholder("play/raw_run_is"), TF_INT64).done(),
                        to.assign(attempt, placeholder("play/attempt_is"), TF_INT64).done()});

  // --- values: of the run in progress; outside a run of the next one
  TF_Operation* const before = to.read(raw_run, TF_INT64).done();
  auto const look_up = [&](series const& values) {
    TF_Output const last = to.whole(static_cast<std::int64_t>(values.numbers.size()) - 1);
    TF_Output const place = to.add("Minimum").in({before, 0}).in(last).value();
    return std::pair(to.constants(TF_DOUBLE, values.numbers), place);
  };
  auto const gathered = [&](std::string const& name, series const& values) {
    auto const [list, place] = look_up(values);
    return to.add("GatherV2", name).in(list).in(place).in(to.constant<std::int32_t>(TF_INT32, 0)).value();
  };
  std::vector<std::string> fed;
  auto const feedable = [&](std::string const& name, double otherwise) {
    for (std::string const& known : fed) {
      if (known == name) return TF_Output{TF_GraphOperationByName(graph, name.c_str()), 0};
    }
    fed.push_back(name);
    return to.add("PlaceholderWithDefault", name).in(to.real(otherwise)).scalar().value();
  };
  for (value_script const& one : script.values) {
    if (one.of_feed.empty()) {
      gathered(one.values.name, one.values);
    } else {
      to.add("Identity", one.values.name).in(feedable(one.of_feed, one.otherwise)).done();
    }
  }
  for (hook_script const& hook : script.hooks) {
    for (series const& one : hook.feeds) feedable(one.name, 0);
  }
  for (series const& one : script.caller_feeds) feedable(one.name, 0);

  // what the optimizer does not leave out, as it would a NoOp
  auto const at_other_task = [&](std::vector<TF_Operation*> const& all) {
    TF_Output const queue = to.add_at(where.other_device, "FIFOQueueV2").types("component_types", TF_DOUBLE).value();
    return to.add_at(where.other_device, "QueueSizeV2").in(queue).after(all).done();
  };

  // --- a run: it is counted, may fail, takes an element of the input, makes its steps
  TF_Operation* const counted = to.assign(raw_run, to.whole(1), TF_INT64, "AssignAddVariableOp").after(before).done();
  TF_Output const ordinal = to.add("AddV2").in({before, 0}).in(to.whole(1)).value();
  std::vector<TF_Operation*> waits = failures(to, script.run_failures, ordinal, {counted}, moment_of_failure::run);
  waits.push_back(counted);
  std::vector<TF_Operation*> makes;  // what each session begins with
  if (!where.other_device.empty()) {
    waits = {at_other_task(waits)};
  }
  if (script.input_length >= 0) {
    TF_Output const input = to.iterator("play/input");
    makes.push_back(to.add("MakeIterator").in(to.range(script.input_length).value()).in(input).done());
    waits = {to.next(input).after(waits).done()};
  }
  std::vector<TF_Operation*> steps = {
      to.assign(global_step, to.whole(script.steps_per_run), TF_INT64, "AssignAddVariableOp").after(waits).done()};
  std::vector<TF_Operation*> begins = {to.assign(global_step, to.whole(where.first_step), TF_INT64).done()};
  for (series const& one : script.variables) {
    TF_Output const variable = to.variable(one.name, TF_DOUBLE);
    steps.push_back(to.assign(variable, gathered({}, one), TF_DOUBLE).after(waits).done());
    begins.push_back(to.assign(variable, to.real(0), TF_DOUBLE).done());
  }
  to.group("train", steps);
  to.group("init", begins);

  // --- the making of a session, which may fail, too
  std::vector<TF_Operation*> const passed =
      failures(to, script.make_failures, to.read(attempt, TF_INT64).value(), {}, moment_of_failure::making);
  makes.insert(makes.end(), passed.begin(), passed.end());
  if (!where.other_device.empty()) makes.push_back(at_other_task({}));
  to.group("play/local_init", makes);
}

}  // namespace conformance
