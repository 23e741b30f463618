// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tautline/core/state.hpp>
#include <tautline/io/checkpoint/json.hpp>
#include <tautline/io/checkpoint/metadata.hpp>
#include <tautline/io/crc32c.hpp>
#include <tautline/io/safetensors.hpp>

// The manifest of a checkpoint: what stands in the file beside it, and all that is needed to trust it.

TAUTLINE_BEGIN

/// A value, as the manifest describes it.
struct saved_tensor {
  std::string name;  ///< "variable/w"
  std::string group;
  std::string owner;
  std::string field;
  tensor_view form{};  ///< element type and shape
  bool has_checksum = false;
  std::uint32_t checksum = 0;  ///< CRC-32C of its bytes
};

/// A node of the graph, as the manifest describes it.
struct saved_node {
  std::string name;
  std::string kind;
  std::vector<std::string> inputs;
  bool has_form = false;
  tensor_view form{};
};

struct checkpoint_manifest {
  /// The version of the format that this library writes. Older ones are read, newer ones refused.
  static constexpr std::uint64_t current_format = 1;

  std::uint64_t format = current_format;
  std::string library;
  step_number step = 0;
  std::int64_t sequence = 0;
  std::string data_file;
  std::uint64_t data_size = 0;
  std::uint32_t data_checksum = 0;
  std::vector<saved_tensor> tensors;
  std::vector<saved_node> nodes;
  std::string graph_hash;  ///< of nodes: name, kind, inputs, element type, number of dimensions
  std::vector<std::string> hooks;  ///< those with state
  checkpoint_metadata metadata;
  bool has_time = false;
  std::int64_t time = 0;  ///< seconds
};

namespace detail {

#define TAUTLINE_TEXT_OF(x) #x
#define TAUTLINE_TEXT(x) TAUTLINE_TEXT_OF(x)
inline constexpr char library_version[] =
    "tautline " TAUTLINE_TEXT(TAUTLINE_VERSION_MAJOR) "." TAUTLINE_TEXT(TAUTLINE_VERSION_MINOR) "." TAUTLINE_TEXT(
        TAUTLINE_VERSION_PATCH);
#undef TAUTLINE_TEXT
#undef TAUTLINE_TEXT_OF

/// FNV-1a. Extents are left out: those of values that grow and shrink are not the graph's.
inline std::string hash_of(std::vector<saved_node> const& nodes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  auto const add = [&](std::string_view words) {
    for (char const character : words) hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3;
    hash = (hash ^ 0xff) * 0x100000001b3;  // no byte of UTF-8
  };
  for (saved_node const& node : nodes) {
    add(node.name), add(node.kind);
    for (std::string const& input : node.inputs) add(input);
    add(node.has_form ? to_string(node.form.type) : "-");
    add(std::string(node.has_form ? node.form.rank : 0, '*'));
  }
  return hex(static_cast<std::uint32_t>(hash >> 32)) + hex(static_cast<std::uint32_t>(hash));
}

inline constexpr std::string_view checksum_intro = ",\n \"checksum\": \"crc32c:";
inline constexpr std::string_view checksum_end = "\"\n}\n";

inline void write_shape(json_writer& out, tensor_view const& form) {
  out.key("type").value(to_string(form.type)).key("shape").open('[');
  for (std::size_t i = 0; i < form.rank; ++i) out.value(form.shape[i]);
  out.close(']');
}

/// The manifest's text; its last member is a checksum of all before it.
/// @return empty if a name is not UTF-8
inline std::string write_manifest(checkpoint_manifest const& from) {
  json_writer out;
  out.open('{', true).key("format").value(from.format).key("library").value(from.library);
  out.key("step").value(from.step).key("sequence").value(from.sequence);
  if (from.has_time) out.key("time").value(from.time);
  out.key("data").open('{').key("file").value(from.data_file).key("size").value(from.data_size);
  out.key("crc32c").value(hex(from.data_checksum)).close('}');
  out.key("tensors").open('[', true);
  for (saved_tensor const& each : from.tensors) {
    out.open('{').key("name").value(each.name).key("group").value(each.group).key("owner").value(each.owner);
    out.key("field").value(each.field);
    write_shape(out, each.form);
    out.key("crc32c").value(hex(each.checksum)).close('}');
  }
  out.close(']').key("graph").open('{').key("hash").value(from.graph_hash).key("nodes").open('[', true);
  for (saved_node const& node : from.nodes) {
    out.open('{').key("name").value(node.name).key("kind").value(node.kind).key("inputs").open('[');
    for (std::string const& input : node.inputs) out.value(input);
    out.close(']');
    if (node.has_form) write_shape(out, node.form);
    out.close('}');
  }
  out.close(']').close('}').key("hooks").open('[');
  for (std::string const& hook : from.hooks) out.value(hook);
  out.close(']').key("metadata").open('{');
  for (checkpoint_metadata::item const& each : from.metadata.items()) {
    out.key(each.name);
    each.is_number ? out.value(each.number) : out.value(each.words);
  }
  out.close('}');
  if (!out.valid()) return {};
  std::string text = std::move(out.text());
  std::uint32_t const checksum = crc32c(text.data(), text.size());
  return text.append(checksum_intro).append(hex(checksum)).append(checksum_end);
}

inline bool read_form(nlohmann::json const& from, tensor_view& form) {
  std::string type;
  nlohmann::json const* const shape = member(from, "shape");
  if (!get(from, "type", type) || !element_type_from(type, form.type) || shape == nullptr || !shape->is_array() ||
      shape->size() > tensor_view::max_rank) {
    return false;
  }
  for (nlohmann::json const& extent : *shape) {
    if (!extent.is_number_integer()) return false;
    form.shape[form.rank++] = extent.get<std::int64_t>();
  }
  return true;
}

inline bool read_tensors(nlohmann::json const* list, bool with_checksums, std::vector<saved_tensor>& out) {
  if (list == nullptr || !list->is_array()) return false;
  for (nlohmann::json const& from : *list) {
    saved_tensor made;
    std::string checksum;
    if (!get(from, "name", made.name) || !get(from, "group", made.group) || !get(from, "owner", made.owner) ||
        !get(from, "field", made.field) || !read_form(from, made.form)) {
      return false;
    }
    made.has_checksum = with_checksums;
    if (with_checksums && (!get(from, "crc32c", checksum) || !from_hex(checksum, made.checksum))) return false;
    out.push_back(std::move(made));
  }
  return true;
}

inline bool read_strings(nlohmann::json const* list, std::vector<std::string>& out) {
  if (list == nullptr || !list->is_array()) return false;
  for (nlohmann::json const& each : *list) {
    if (!each.is_string()) return false;
    out.push_back(each.get_ref<std::string const&>());
  }
  return true;
}

inline bool read_nodes(nlohmann::json const* list, std::vector<saved_node>& out) {
  if (list == nullptr || !list->is_array()) return false;
  for (nlohmann::json const& from : *list) {
    saved_node made;
    if (!get(from, "name", made.name) || !get(from, "kind", made.kind) || !read_strings(member(from, "inputs"), made.inputs)) {
      return false;
    }
    made.has_form = member(from, "type") != nullptr;
    if (made.has_form && !read_form(from, made.form)) return false;
    out.push_back(std::move(made));
  }
  return true;
}

inline bool read_metadata(nlohmann::json const* from, checkpoint_metadata& out) {
  if (from == nullptr || !from->is_object()) return false;
  for (auto const& [name, value] : from->items()) {
    if (value.is_number()) {
      out.set(name, value.get<double>());
    } else if (value.is_null()) {
      out.set(name, std::numeric_limits<double>::quiet_NaN());
    } else if (value.is_string()) {
      out.set(name, std::string_view(value.get_ref<std::string const&>()));
    } else {
      return false;
    }
  }
  return true;
}

/// How a manifest was read.
enum class manifest_verdict : std::uint8_t { good, damaged, newer };

/// Lifts the text of an older format to the current one. A change of the format adds a step here, and keeps those before it.
///
/// 0 -> 1: had no checksums but that of the data, no checksum of its own, no sequence (the step served), and the graph's
/// hash beside its nodes.
inline bool migrate(nlohmann::json& text, std::uint64_t format) {
  if (format == 0) {
    nlohmann::json const* const step = member(text, "step");
    nlohmann::json const* const nodes = member(text, "nodes");
    if (step == nullptr || nodes == nullptr || member(text, "checksum") != nullptr) return false;
    nlohmann::json graph = nlohmann::json::object();
    graph["hash"] = "";
    graph["nodes"] = *nodes;
    text["sequence"] = *step;
    text["graph"] = std::move(graph);
    if (member(text, "metadata") == nullptr) text["metadata"] = nlohmann::json::object();
  }
  return true;
}

/// @param problem why it is not good
inline manifest_verdict read_manifest(std::string_view text, checkpoint_manifest& out, std::string& problem) {
  std::size_t const tail = checksum_intro.size() + 8 + checksum_end.size();
  bool checked = false;
  if (text.size() > tail && text.substr(text.size() - tail, checksum_intro.size()) == checksum_intro &&
      text.ends_with(checksum_end)) {
    std::uint32_t told = 0;
    checked = from_hex(text.substr(text.size() - checksum_end.size() - 8, 8), told) &&
              told == crc32c(text.data(), text.size() - tail);
    if (!checked) {
      problem = "its checksum is wrong";
      return manifest_verdict::damaged;
    }
  }
  nlohmann::json root;
  if (!parse_json(text, root, problem)) return manifest_verdict::damaged;
  if (!get(root, "format", out.format)) {
    problem = "it has no format";
    return manifest_verdict::damaged;
  }
  if (out.format > checkpoint_manifest::current_format && checked) {
    get(root, "step", out.step), get(root, "sequence", out.sequence);
    problem = "it has the format " + std::to_string(out.format) + ", and this library knows those up to " +
              std::to_string(checkpoint_manifest::current_format);
    return manifest_verdict::newer;
  }
  if (!checked && out.format != 0) {
    problem = "it has no checksum";
    return manifest_verdict::damaged;
  }
  bool const old = out.format == 0;
  problem = "a part of it is missing or of the wrong kind";
  if (!migrate(root, out.format)) return manifest_verdict::damaged;
  nlohmann::json const* const data = member(root, "data");
  nlohmann::json const* const graph = member(root, "graph");
  std::string checksum;
  if (data == nullptr || graph == nullptr || !get(root, "library", out.library) || !get(root, "step", out.step) ||
      !get(root, "sequence", out.sequence) || !get(*data, "file", out.data_file) || !get(*data, "size", out.data_size) ||
      !get(*data, "crc32c", checksum) || !from_hex(checksum, out.data_checksum) ||
      !read_tensors(member(root, "tensors"), !old, out.tensors) || !get(*graph, "hash", out.graph_hash) ||
      !read_nodes(member(*graph, "nodes"), out.nodes) || !read_strings(member(root, "hooks"), out.hooks) ||
      !read_metadata(member(root, "metadata"), out.metadata)) {
    return manifest_verdict::damaged;
  }
  // a name with a folder in it would lead elsewhere
  if (out.data_file.empty() || out.data_file.find('/') != std::string::npos) return manifest_verdict::damaged;
  out.has_time = get(root, "time", out.time);
  if (old) out.graph_hash = hash_of(out.nodes);
  problem.clear();
  return manifest_verdict::good;
}

}  // namespace detail
TAUTLINE_END
