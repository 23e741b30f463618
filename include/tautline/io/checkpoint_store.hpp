// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tautline/io/checkpoint/compare.hpp>
#include <tautline/io/checkpoint/finite.hpp>
#include <tautline/io/checkpoint/folder.hpp>
#include <tautline/io/log_sink.hpp>

TAUTLINE_BEGIN

/// How a store treats what it finds, and what it is given from outside.
struct checkpoint_options {
  /// Gets a line for each damaged file, and for each that could not be removed.
  log_sink report{};
  /// Seconds since some moment, for the manifests; without one, equal trainings write equal files.
  std::function<std::int64_t()> clock{};
  /// A checkpoint whose hooks are not those of the training is restored all the same: what is there on both sides.
  bool allow_changed_hooks = false;
  /// The same for nodes of the graph. Its variables must be the same ones.
  bool allow_changed_graph = false;
  /// No lock, nothing made or removed; `save` is refused. For looking at the checkpoints of a training that runs.
  bool read_only = false;
};

/// What a saving did.
struct saved_checkpoint {
  error_kind kind = error_kind::none;
  std::string message{};      ///< what went wrong; with `error_kind::nan` it names the variable
  step_number step = 0;
  std::string manifest_file{};  ///< the path

  [[nodiscard]] bool ok() const { return kind == error_kind::none; }
  /// A variable is NaN or infinite: nothing was written, the last checkpoint stays the latest.
  [[nodiscard]] bool not_finite() const { return kind == error_kind::nan; }
};

/// A folder of checkpoints that can be trusted.
///
///     checkpoint_store store{"run/checkpoints", keep_latest{3} | keep_best<"accuracy">{1}};
///     saved_checkpoint const done = store.save(state);    // a training_state, or a checkpoint_snapshot
///     restored const back = store.restore(state);         // it models `restorer`
///
/// Each checkpoint is a safetensors file and a manifest with checksums. Both are written under other names, brought to the
/// disk and renamed; then `latest`, which names the manifest, is replaced in one piece; old ones go only after that. So
/// a process that is killed, or a machine that loses its power, at any moment leaves the last committed checkpoint.
/// A damaged one is reported and the one before it used. Two stores cannot have one folder.
///
/// **Errors** are values: `status()` of opening, `saved_checkpoint`, `restored`. Nothing of the training has been touched
/// when a restore fails.
/// **Cost** of a saving: one pass over the values (whether they are finite, checksums, writing), three `fsync` of files
/// and two of the folder. Of a restore: the file in memory once.
/// **Thread-safety** one thread at a time; it need not be always the same one.
class checkpoint_store {
 public:
  template <keep_policy Policy = keep_latest, file_layer Files = posix_files>
  explicit checkpoint_store(std::string folder, Policy policy = {}, checkpoint_options options = {}, Files files = {})
      : folder_(std::move(folder), detail::any_files(std::move(files))),
        policy_([policy](std::span<checkpoint_entry const> entries, std::span<std::uint8_t> keep) {
          policy.mark(entries, keep);
        }),
        options_(std::move(options)) {
    opened_ = options_.read_only ? folder_.scan(true) : folder_.open();
  }
  checkpoint_store(checkpoint_store const&) = delete;
  checkpoint_store& operator=(checkpoint_store const&) = delete;

  /// Whether the folder could be opened: an error of the kind `busy` if another training has it. `save` and `restore` of
  /// a store that is not open give the same error.
  [[nodiscard]] io_result const& status() const { return opened_; }
  [[nodiscard]] std::string const& folder() const { return folder_.path(); }
  /// The complete checkpoints, the oldest saving first.
  [[nodiscard]] std::vector<checkpoint_entry> entries() const {
    std::vector<checkpoint_entry> made;
    for (detail::known_checkpoint const& each : folder_.known()) {
      if (each.complete()) made.push_back(each.entry);
    }
    return made;
  }
  /// The step of the last saving or restore of this store, -1 before the first.
  [[nodiscard]] step_number last_step() const { return last_step_; }

  /// Whether names keep a training from being saved: one that two values have, or that is not UTF-8. To be asked when the
  /// training begins, for the first saving may come at its end.
  /// @param snapshot has been reserved or taken
  [[nodiscard]] static io_result check_names(checkpoint_snapshot const& snapshot) {
    checkpoint_manifest manifest;
    io_result seen = describe(snapshot, manifest).result;
    if (seen.ok() && detail::write_manifest(manifest).empty()) seen = {error_kind::invalid_argument, name_is_no_text};
    if (!seen.ok()) {
      seen.message = "this training cannot be saved: " + seen.message + ". Mend: give each hook, and each field of one, a name of its own in UTF-8";
    }
    return seen;
  }

  /// Writes a checkpoint. The snapshot stays the caller's, with its memory.
  saved_checkpoint save(checkpoint_snapshot const& snapshot) {
    saved_checkpoint made;
    made.step = snapshot.step();
    auto const fail = [&](io_result why) {
      made.kind = why.kind, made.message = std::move(why.message);
      return made;
    };
    if (!opened_.ok()) return fail(opened_);
    if (options_.read_only) return fail({error_kind::invalid_argument, "a store that only reads cannot save"});
    if (!snapshot.is_taken()) return fail({error_kind::invalid_argument, "there is nothing in the snapshot"});
    if (io_result seen = folder_.scan(); !seen.ok()) return fail(std::move(seen));

    std::string const manifest_file = detail::step_name(snapshot.step()) + ".json";
    std::string replaced;  // the data of an earlier saving of this step
    for (detail::known_checkpoint const& each : folder_.known()) {
      if (each.manifest_file == manifest_file) replaced = each.data_file;
    }
    checkpoint_manifest manifest;
    if (io_result done = write(snapshot, manifest_file, manifest); !done.ok()) {
      static_cast<void>(folder_.scan());
      return fail(std::move(done));
    }
    last_step_ = snapshot.step();
    made.manifest_file = folder_.at(manifest_file);
    if (!replaced.empty() && replaced != manifest.data_file) report(folder_.remove(replaced));
    rotate(manifest_file);
    return made;
  }
  /// The same as `save(snapshot)`: by the move a caller says that it does not touch the snapshot during the writing.
  saved_checkpoint save(checkpoint_snapshot&& snapshot) {
    return save(static_cast<checkpoint_snapshot const&>(snapshot));
  }
  /// Takes a snapshot of its own and writes it.
  saved_checkpoint save(training_state const& state) {
    if (auto const read = state.read(); !read.ok()) return {read.kind, read.message, state.step(), {}};
    if (!snapshot_.take(state)) return {error_kind::error, "there is no memory for the snapshot", state.step(), {}};
    return save(snapshot_);
  }
  /// What the next `save(training_state)` writes beside the values.
  [[nodiscard]] checkpoint_metadata& metadata() { return snapshot_.metadata(); }

  /// Reads the latest checkpoint that is not damaged.
  [[nodiscard]] loaded_checkpoint load() {
    loaded_checkpoint made;
    auto const fail = [&](error_kind kind, std::string why) -> loaded_checkpoint {
      made = {};
      made.result = {kind, std::move(why)};
      return std::move(made);
    };
    if (!opened_.ok()) return fail(opened_.kind, opened_.message);
    if (io_result seen = folder_.scan(true); !seen.ok()) return fail(seen.kind, std::move(seen.message));
    std::string problem;
    std::string const latest = folder_.read_latest(problem);
    bool const is_named = !latest.empty();
    std::string all;
    auto const note = [&](std::string const& line) {
      report(line);
      all += (all.empty() ? "" : "; ") + line;
    };
    if (!problem.empty()) note(folder_.at("latest") + ": " + problem);
    if (!is_named && problem.empty() && folder_.known().empty()) return made;
    if (!is_named && problem.empty()) note(folder_.at("latest") + ": it is not there");
    for (std::string const& name : candidates(latest)) {
      std::string why;
      detail::manifest_verdict const verdict = folder_.load(name, made, why);
      if (verdict == detail::manifest_verdict::good) return made;
      if (verdict == detail::manifest_verdict::newer) return fail(error_kind::invalid_argument, std::move(why));
      note(why);
    }
    return fail(error_kind::error, "no checkpoint can be used: " + all);
  }

  /// Puts the latest checkpoint that is not damaged into a training: all values, but of one that is running what is `kept`
  /// stays as it is.
  restored restore(training_state const& state) {
    auto const fail = [&](error_kind kind, std::string why) {
      message_ = std::move(why);
      return restored{{kind, message_.c_str()}};
    };
    loaded_checkpoint const from = load();
    if (!from.result.ok()) return fail(from.result.kind, from.result.message);
    if (!from.found) return {};
    std::string notes;
    detail::restore_options const allowed{options_.allow_changed_hooks, options_.allow_changed_graph};
    std::string problem = detail::compare(state, from.manifest, allowed, notes);
    if (problem.empty()) {
      detail::saved_views views;
      for (named_tensor const& each : from.file.tensors()) views.emplace(each.name, &each.view);
      problem = detail::put_into(state, views, state.is_running());
    }
    if (!problem.empty()) {
      return fail(error_kind::invalid_argument, folder_.at(from.manifest_file) + " is not of this training: " + problem);
    }
    if (!notes.empty()) report(folder_.at(from.manifest_file) + ": " + notes);
    last_step_ = from.manifest.step;
    return {{}, true, from.manifest.step};
  }

 private:
  static constexpr char const* name_is_no_text = "a name of the graph or of the metadata is not UTF-8";

  void report(std::string const& line) const {
    if (!line.empty()) options_.report(line);
  }

  /// The manifests in the order in which they are tried: the named one, those before it, those behind it.
  [[nodiscard]] std::vector<std::string> candidates(std::string const& named) const {
    std::vector<std::string> before, behind;
    bool is_before = named.empty();
    auto const& known = folder_.known();
    bool const is_known = std::any_of(known.begin(), known.end(), [&](auto const& one) { return one.manifest_file == named; });
    std::vector<std::string> made;
    if (!named.empty()) made.push_back(named);
    for (auto at = known.rbegin(); at != known.rend(); ++at) {
      if (at->manifest_file == named) {
        is_before = true;
      } else {
        (is_before || !is_known ? before : behind).push_back(at->manifest_file);
      }
    }
    made.insert(made.end(), before.begin(), before.end());
    made.insert(made.end(), behind.begin(), behind.end());
    return made;
  }

  /// What the manifest says of the values and of the graph, and where the values stand in their file.
  static safetensors_layout describe(checkpoint_snapshot const& snapshot, checkpoint_manifest& manifest) {
    std::vector<named_tensor> tensors;
    for (checkpoint_snapshot::item const& item : snapshot.items()) {
      tensors.push_back({item.name(), item.view});
      saved_tensor& saved = manifest.tensors.emplace_back();
      saved.name = tensors.back().name;
      saved.group = to_string(item.group), saved.owner = item.owner, saved.field = item.field;
      saved.form = item.view;
      bool const is_new = manifest.hooks.empty() || manifest.hooks.back() != item.owner;
      if (item.group == state_group::hook && is_new) manifest.hooks.emplace_back(item.owner);
    }
    manifest.library = detail::library_version;
    manifest.step = snapshot.step();
    manifest.nodes = detail::nodes_of(snapshot.nodes());
    manifest.graph_hash = detail::hash_of(manifest.nodes);
    manifest.metadata = snapshot.metadata();
    return lay_out_safetensors(tensors, {{"tautline_step", std::to_string(snapshot.step())}});
  }

  io_result write(checkpoint_snapshot const& snapshot, std::string const& manifest_file, checkpoint_manifest& manifest) {
    safetensors_layout const layout = describe(snapshot, manifest);
    if (!layout.result.ok()) return layout.result;
    manifest.sequence = folder_.last_sequence() + 1;
    if (options_.clock) manifest.has_time = true, manifest.time = options_.clock();
    manifest.data_size = layout.head.size() + layout.data_size;
    manifest.data_file = detail::step_name(snapshot.step()) + ".safetensors";
    // the file of an earlier saving stays until the new one is committed
    for (std::int64_t number = manifest.sequence; folder_.has(manifest.data_file); ++number) {
      manifest.data_file = detail::step_name(snapshot.step()) + '-' + std::to_string(number) + ".safetensors";
    }

    io_result not_finite;
    io_result result = folder_.put(manifest.data_file, [&](auto const& write) {
      manifest.data_checksum = crc32c(layout.head.data(), layout.head.size());
      int code = write(layout.head.data(), layout.head.size());
      for (std::size_t const index : layout.order) {
        if (code == 0) code = write_values(snapshot, index, manifest.tensors[index], not_finite, write);
        std::uint32_t const checksum = manifest.tensors[index].checksum;
        manifest.data_checksum = crc32c_joined(manifest.data_checksum, checksum, manifest.tensors[index].form.bytes());
      }
      return code;
    });
    if (!not_finite.ok()) return not_finite;
    if (!result.ok()) return result;
    std::string const text = detail::write_manifest(manifest);
    if (text.empty()) result = {error_kind::invalid_argument, name_is_no_text};
    // a manifest that takes the place of one must not get to the disk before its data
    if (result.ok() && folder_.has(manifest_file)) result = folder_.sync();
    if (result.ok()) result = folder_.put_text(manifest_file, text);
    if (!result.ok()) {
      folder_.remove(manifest.data_file);
      return result;
    }
    result = folder_.sync();
    if (result.ok()) result = folder_.put_text("latest", detail::checkpoint_folder::latest_text(manifest_file));
    if (result.ok()) result = folder_.sync();
    return result;
  }

  /// In blocks, so that each is looked at, summed and written while it is in the cache. What is not finite ends it.
  template <class Write>
  static int write_values(checkpoint_snapshot const& snapshot, std::size_t index, saved_tensor& tensor,
                          io_result& not_finite, Write const& write) {
    constexpr std::size_t block = std::size_t{1} << 18;
    element_type const type = tensor.form.type;
    bool const must_be_finite = snapshot.items()[index].group == state_group::variable && is_floating(type);
    auto const* const data = static_cast<std::byte const*>(tensor.form.data);
    std::size_t const size = tensor.form.bytes();
    tensor.has_checksum = true;
    for (std::size_t at = 0; at < size; at += block) {
      std::size_t const length = std::min(block, size - at);
      std::size_t const count = length / size_of(type);
      if (std::size_t const bad = must_be_finite ? detail::find_not_finite(type, data + at, count) : count; bad < count) {
        not_finite = {error_kind::nan, tensor.name + " is not finite (element " +
                                           std::to_string(at / size_of(type) + bad) + " of " +
                                           std::to_string(tensor.form.element_count()) + "): step " +
                                           std::to_string(snapshot.step()) + " is not saved"};
        return EINVAL;
      }
      tensor.checksum = crc32c(data + at, length, tensor.checksum);
      if (int const code = write(data + at, length); code != 0) return code;
    }
    return 0;
  }

  /// Removes what the policy does not keep, manifests before data.
  void rotate(std::string const& newest) {
    if (io_result const seen = folder_.scan(); !seen.ok()) return report(seen.message);
    std::vector<checkpoint_entry> entries;
    std::vector<detail::known_checkpoint> complete;
    for (detail::known_checkpoint const& each : folder_.known()) {
      if (each.complete()) complete.push_back(each), entries.push_back(each.entry);
    }
    std::vector<std::uint8_t> keep(entries.size());
    policy_(entries, keep);
    bool removed = false;
    for (std::size_t i = 0; i < complete.size(); ++i) {
      if (keep[i] != 0 || complete[i].manifest_file == newest) continue;
      std::string const problem = folder_.remove(complete[i].manifest_file);
      report(problem.empty() ? folder_.remove(complete[i].data_file) : problem);
      removed = true;
    }
    if (removed) static_cast<void>(folder_.scan());
  }

  detail::checkpoint_folder folder_;
  std::function<void(std::span<checkpoint_entry const>, std::span<std::uint8_t>)> policy_;
  checkpoint_options options_;
  io_result opened_{};
  checkpoint_snapshot snapshot_;
  std::string message_;
  step_number last_step_ = -1;
};
static_assert(restorer<checkpoint_store>);

TAUTLINE_END
