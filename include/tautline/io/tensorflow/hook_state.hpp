// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/io/tensorflow_checkpoints.hpp>

#include <string>
#include <utility>
#include <vector>

#include <tautline/core/training_state.hpp>
#include <tautline/io/checkpoint/compare.hpp>
#include <tautline/io/checkpoint/folder.hpp>

// What a checkpoint of TensorFlow has no place for: the state of the hooks, and the completed steps.

TAUTLINE_BEGIN
namespace tensorflow {
namespace detail {

/// A training's state without its variables.
class state_of_hooks {
 public:
  explicit state_of_hooks(training_state const& from) : from_(from) {}
  state_of_hooks(state_of_hooks const&) = delete;
  state_of_hooks& operator=(state_of_hooks const&) = delete;
  /// Good as long as this object.
  [[nodiscard]] training_state view() { return {this, functions, from_.step(), from_.is_running()}; }

 private:
  static void items(void* self, void* visitor, training_state::item_visit visit) {
    static_cast<state_of_hooks*>(self)->from_.each([&](state_item const& item) {
      if (item.group != state_group::variable) visit(visitor, item);
    });
  }
  static void nodes(void*, void*, training_state::node_visit) {}
  static status read(void*) { return {}; }
  static void* backend(void*, void const*) { return nullptr; }
  static constexpr training_state::functions functions{&items, &nodes, &read, &backend};

  training_state from_;
};

/// Two files beside a checkpoint: values as safetensors, and a manifest with their checksums.
class hook_files {
 public:
  static std::string manifest_name(std::string const& checkpoint) { return checkpoint + ".hooks.json"; }
  static std::string data_name(std::string const& checkpoint) { return checkpoint + ".hooks.safetensors"; }

  /// @param copy has been taken of a `state_of_hooks`
  [[nodiscard]] static io_result write(tautline::detail::checkpoint_folder& folder, std::string const& checkpoint,
                                       checkpoint_snapshot const& copy) {
    checkpoint_manifest manifest;
    std::vector<named_tensor> const tensors = describe(copy, manifest);
    safetensors_layout const layout = lay_out_safetensors(tensors, {{"tautline_step", std::to_string(copy.step())}});
    if (!layout.result.ok()) return layout.result;
    manifest.data_file = data_name(checkpoint);
    manifest.data_size = layout.head.size() + layout.data_size;
    manifest.data_checksum = crc32c(layout.head.data(), layout.head.size());
    for (std::size_t const index : layout.order) {
      tensor_view const& view = tensors[index].view;
      manifest.data_checksum = crc32c(view.data, view.bytes(), manifest.data_checksum);
      manifest.tensors[index].has_checksum = true;
      manifest.tensors[index].checksum = crc32c(view.data, view.bytes());
    }
    io_result done = folder.put(manifest.data_file, [&](auto const& put) {
      int code = put(layout.head.data(), layout.head.size());
      for (std::size_t const index : layout.order) {
        tensor_view const& view = tensors[index].view;
        if (code == 0 && view.bytes() != 0) code = put(view.data, view.bytes());
      }
      return code;
    });
    if (!done.ok()) return done;
    std::string const text = tautline::detail::write_manifest(manifest);
    if (text.empty()) return {error_kind::invalid_argument, "the name of a hook is not UTF-8"};
    return folder.put_text(manifest_name(checkpoint), text);
  }

  /// Why such files could not be written; none if they can.
  [[nodiscard]] static io_result check(checkpoint_snapshot const& copy) {
    checkpoint_manifest manifest;
    return lay_out_safetensors(describe(copy, manifest)).result;
  }

 private:
  static std::vector<named_tensor> describe(checkpoint_snapshot const& copy, checkpoint_manifest& manifest) {
    std::vector<named_tensor> tensors;
    manifest.library = tautline::detail::library_version;
    manifest.step = copy.step();
    manifest.graph_hash = tautline::detail::hash_of({});
    for (checkpoint_snapshot::item const& item : copy.items()) {
      tensors.push_back({item.name(), item.view});
      manifest.tensors.push_back({tensors.back().name, to_string(item.group), item.owner, item.field, item.view});
      if (item.group == state_group::hook && (manifest.hooks.empty() || manifest.hooks.back() != item.owner)) {
        manifest.hooks.emplace_back(item.owner);
      }
    }
    return tensors;
  }
};

}  // namespace detail
}  // namespace tensorflow
TAUTLINE_END
