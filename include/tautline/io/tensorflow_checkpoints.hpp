// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tautline/io/checkpoint/finite.hpp>
#include <tautline/io/checkpoint_sink.hpp>
#include <tautline/io/log_sink.hpp>
#include <tautline/io/tensorflow/checkpoint_files.hpp>
#include <tautline/io/tensorflow/hook_state.hpp>
#include <tautline/io/tensorflow/saver_parts.hpp>

TAUTLINE_BEGIN

/// How a folder of TensorFlow's checkpoints is treated.
struct tensorflow_checkpoint_options {
  std::size_t keep = 5;  ///< the latest ones; 0: all
  /// Gets a line for each damaged checkpoint, and for each file that could not be removed.
  log_sink report{};
  /// A checkpoint whose hooks are not those of the training is restored all the same: what is there on both sides.
  bool allow_changed_hooks = false;
  /// A checkpoint may have values that the graph's saver does not restore.
  bool allow_more_values = false;
  /// No lock, nothing made or removed; `save` is refused. For looking at the checkpoints of a training that runs.
  bool read_only = false;
};

/// Checkpoints as `tf.train.Saver` writes and reads them, by the saver that the graph itself has: Python goes on from
/// those that were saved here, and the other way round.
///
///     tensorflow_checkpoints saved{"run", {.keep = 3}};
///     auto session = monitored(std::move(graph), options{restore_from{saved}},
///                              checkpoint_saver{saved, every_steps{1000} | at_end}, …);
///
/// The folder gets `model.ckpt-<global step>` with TensorFlow's endings, `checkpoint`, which names the latest and the
/// ones that are kept, `graph.pb`, and beside each checkpoint two files with the state of the hooks. Where these are
/// missing, as Python writes none, the hooks begin as new ones, and the step is the graph's.
///
/// A checkpoint is written under another name, brought to the disk and renamed; then `checkpoint` is replaced in one
/// piece; old ones go after that: a kill at any moment leaves the last one, or the new one. A damaged one is
/// reported, and the one before it used. Two trainings cannot have one folder at a time.
///
/// **Errors** are values. `invalid_argument` where the graph has no saver, or a checkpoint is of another graph; it
/// names the variables. A variable that is not finite is `nan`: nothing is written. Nothing has been changed when a
/// restore fails, unless the operation itself does. `aborted` and `unavailable`: the session broke.
/// **Cost** of a saving: a run that brings the variables here, to look at them, one that writes them, on the
/// training's thread; six `fsync`. Of a restore: the files are read twice, as the first time shows what is damaged.
/// **Thread-safety** the training's thread only.
/// **Source** tf.train.Saver, latest_checkpoint and CheckpointSaverHook of TensorFlow 2.21.
class tensorflow_checkpoints {
 public:
  static constexpr bool refuses_not_finite = true;
  static constexpr bool runs_session = true;

  explicit tensorflow_checkpoints(std::string folder, tensorflow_checkpoint_options options = {})
      : files_(std::move(folder), [this](std::string_view line) { options_.report(line); }),
        options_(std::move(options)) {
    opened_ = files_.open(options_.read_only);
  }
  tensorflow_checkpoints(tensorflow_checkpoints const&) = delete;
  tensorflow_checkpoints& operator=(tensorflow_checkpoints const&) = delete;

  /// Whether the folder could be opened: an error of the kind `busy` if another training has it.
  [[nodiscard]] io_result const& status() const { return opened_; }
  [[nodiscard]] std::string const& folder() const { return files_.path(); }
  /// The complete checkpoints that the folder lists, as paths for Python, the oldest first.
  [[nodiscard]] std::vector<std::string> paths() {
    std::vector<std::string> made;
    if (!opened_.ok() || !files_.scan().ok()) return made;
    for (std::string const& each : files_.listed()) {
      if (files_.is_there(each)) made.push_back(files_.at(each));
    }
    return made;
  }

  // --- as a checkpoint_sink ---------------------------------------------------------------------------------------

  [[nodiscard]] bool is_empty() { return paths().empty(); }
  /// The path of what was saved last; empty before.
  [[nodiscard]] char const* last_path() const { return last_path_.c_str(); }

  /// **Errors** of opening the folder; `invalid_argument` where there is no saver, or names keep hooks from being
  /// saved.
  tautline::status prepare(training_state const& state) {
    tensorflow::engine* const engine = nullptr_or_engine(state);
    if (io_result ready = check(engine); !ready.ok()) return fail(ready.kind, std::move(ready.message));
    graph_is_written_ = false;
    tensorflow::detail::state_of_hooks hooks(state);
    if (status_type const read = state.read(); !read.ok()) return read;
    if (!copy_.take(hooks.view())) return no_memory();
    io_result const names = tensorflow::detail::hook_files::check(copy_);
    return names.ok() ? status_type{} : fail(names.kind, "this training cannot be saved: " + names.message);
  }

  tautline::status save(training_state const& state) {
    tensorflow::engine* const engine = nullptr_or_engine(state);
    if (io_result ready = check(engine); !ready.ok()) return fail(ready.kind, std::move(ready.message));
    if (options_.read_only) return fail(error_kind::invalid_argument, "checkpoints that are only read cannot be saved");
    if (status_type const read = state.read(); !read.ok()) return read;
    if (std::string const bad = find_not_finite(state); !bad.empty()) return fail(error_kind::nan, bad);
    tensorflow::detail::state_of_hooks hooks(state);
    if (!copy_.take(hooks.view())) return no_memory();
    step_number step = state.step();
    if (engine->has_global_step()) {
      if (status_type const read = engine->read_global_step(step); !read.ok()) return read;
    }
    return write(*engine, step);
  }

  // --- as a restorer ----------------------------------------------------------------------------------------------

  restored restore(training_state const& state) {
    tensorflow::engine* const engine = nullptr_or_engine(state);
    if (io_result ready = check(engine); !ready.ok()) return {fail(ready.kind, std::move(ready.message))};
    if (io_result seen = files_.scan(); !seen.ok()) return {fail(seen.kind, std::move(seen.message))};
    std::string all = files_.problem();
    for (std::string const& name : files_.candidates()) {
      found_checkpoint from;
      from.name = name;
      if (std::string const problem = open(from); !problem.empty()) {
        options_.report(files_.at(name) + ": " + problem);
        all += (all.empty() ? "" : "; ") + files_.at(name) + ": " + problem;
        continue;
      }
      return restore(state, *engine, from);
    }
    if (all.empty()) return {};
    return {fail(error_kind::error, "no checkpoint can be used: " + all)};
  }

 private:
  using status_type = tautline::status;
  struct found_checkpoint {
    std::string name;
    tensorflow::detail::checkpoint_reader_handle reader{};
    loaded_checkpoint hooks{};  ///< not `found` where Python wrote it
  };

  static tensorflow::engine* nullptr_or_engine(training_state const& state) {
    auto* const engine = state.as<tensorflow::engine>();
    if (engine != nullptr) engine->leave_out_unsaved();
    return engine;
  }
  /// Keeps words for a status: the session keeps five at most.
  status_type fail(error_kind kind, std::string message) {
    if (messages_.size() == 8) messages_.pop_front();
    return {kind, messages_.emplace_back(std::move(message)).c_str()};
  }
  static status_type no_memory() { return {error_kind::error, "there is no memory for the state of the hooks"}; }

  io_result check(tensorflow::engine* engine) {
    if (!opened_.ok()) return opened_;
    if (engine == nullptr) {
      return {error_kind::invalid_argument,
              "tensorflow_checkpoints are for sessions over a tensorflow_graph. Mend: use "
              "checkpoint_store or background_checkpoints"};
    }
    return saver_.find(*engine);
  }
  static std::string find_not_finite(training_state const& state) {
    std::string bad;
    state.each([&](state_item const& item) {
      if (item.group != state_group::variable || !bad.empty()) return;
      std::size_t const place = detail::find_not_finite(item.view);
      if (place == item.view.element_count()) return;
      bad = detail::full_name(item) + " is not finite (element " + std::to_string(place) + " of " +
            std::to_string(item.view.element_count()) + "): step " + std::to_string(state.step()) + " is not saved";
    });
    return bad;
  }

  status_type write(tensorflow::engine& engine, step_number step) {
    if (io_result seen = files_.scan(); !seen.ok()) return fail(seen.kind, std::move(seen.message));
    std::string const name = files_.free_name(step);
    std::string const temporary = files_.temporary_name(name);
    std::string const path = files_.at(temporary);
    status_type done = engine.run_alone(saver_.save(), "saving " + files_.at(name), saver_.filename(), path);
    if (done.ok()) done = kept(put(engine, name, temporary));
    if (!done.ok()) {
      files_.remove_all(temporary);
      files_.remove_unlisted(name);
      return done;
    }
    last_path_ = files_.at(name);
    files_.rotate(options_.keep);
    return {};
  }
  status_type kept(io_result result) {
    return result.ok() ? status_type{} : fail(result.kind, std::move(result.message));
  }
  io_result put(tensorflow::engine& engine, std::string const& name, std::string const& temporary) {
    io_result done = files_.put_data(temporary, name);
    if (done.ok()) done = tensorflow::detail::hook_files::write(files_.folder(), name, copy_);
    if (done.ok() && !graph_is_written_) {
      done = write_graph(engine);
      graph_is_written_ = done.ok();
    }
    if (done.ok()) done = files_.put_index(temporary, name);
    return done.ok() ? files_.commit(name) : done;
  }
  io_result write_graph(tensorflow::engine& engine) {
    tensorflow::status_handle const done = tensorflow::new_status();
    tensorflow::buffer_handle const bytes(TF_NewBuffer());
    TF_GraphToGraphDef(engine.graph(), bytes.get(), done.get());
    if (TF_GetCode(done.get()) != TF_OK) return {error_kind::error, std::string("graph.pb: ") + TF_Message(done.get())};
    return files_.folder().put_text("graph.pb", {static_cast<char const*>(bytes->data), bytes->length});
  }

  /// Reads all of a checkpoint. @return why it is damaged
  std::string open(found_checkpoint& from) {
    tensorflow::status_handle const done = tensorflow::new_status();
    from.reader.reset(TF_NewCheckpointReader(files_.at(from.name).c_str(), done.get()));
    if (TF_GetCode(done.get()) != TF_OK) return TF_Message(done.get());
    if (std::string damaged = tensorflow::detail::saver_parts::verify(from.reader.get()); !damaged.empty())
      return damaged;
    std::string const manifest = tensorflow::detail::hook_files::manifest_name(from.name);
    std::string problem;
    if (files_.has(manifest)) (void)files_.folder().load(manifest, from.hooks, problem);
    return problem;
  }
  restored restore(training_state const& state, tensorflow::engine& engine, found_checkpoint const& from) {
    std::string const path = files_.at(from.name);
    std::string problem = saver_.compare(from.reader.get(), options_.allow_more_values);
    tensorflow::detail::state_of_hooks hooks(state);
    std::string notes;
    if (problem.empty() && from.hooks.found) {
      problem = detail::compare(hooks.view(), from.hooks.manifest, {options_.allow_changed_hooks, false}, notes);
    }
    if (problem.empty() && from.hooks.found) {
      detail::saved_views views;
      for (named_tensor const& each : from.hooks.file.tensors()) views.emplace(each.name, &each.view);
      problem = detail::put_into(hooks.view(), views, state.is_running());
    }
    if (!problem.empty()) return {fail(error_kind::invalid_argument, path + " is not of this training: " + problem)};
    if (!notes.empty()) options_.report(path + ": " + notes);
    if (status_type const done = engine.run_alone(saver_.restore(), "restoring " + path, saver_.filename(), path);
        !done.ok()) {
      return {done};
    }
    engine.variables_are_written();
    restored made{{}, true, from.hooks.manifest.step};
    if (!from.hooks.found) {
      made.step = files_.step_of(from.name);
      if (engine.has_global_step()) made.result = engine.read_global_step(made.step);
    }
    return made;
  }

  tensorflow::detail::checkpoint_files files_;
  tensorflow_checkpoint_options options_;
  io_result opened_{};
  tensorflow::detail::saver_parts saver_;
  bool graph_is_written_ = false;
  checkpoint_snapshot copy_;
  std::string last_path_;
  std::deque<std::string> messages_;
};
static_assert(restorer<tensorflow_checkpoints> && checkpoint_sink<tensorflow_checkpoints>);

TAUTLINE_END
