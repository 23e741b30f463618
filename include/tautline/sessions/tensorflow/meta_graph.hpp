// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tautline/sessions/tensorflow/graph_keys.hpp>
#include <tautline/sessions/tensorflow/meta_graph_parts.hpp>
#include <tautline/sessions/tensorflow/outcome.hpp>
#include <tautline/sessions/tensorflow/protobuf.hpp>

TAUTLINE_BEGIN
namespace tensorflow {

namespace detail {

/// The whole of a file. **Errors** `invalid_argument`, with the system's words on why it cannot be read.
inline outcome read_file(std::string const& path, std::string& bytes) {
  auto const failed = [&] {
    return outcome{error_kind::invalid_argument, path + " cannot be read: " + std::strerror(errno)};
  };
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return failed();
  char part[1 << 16];
  std::size_t got = 0;
  while ((got = std::fread(part, 1, sizeof part, file)) != 0) bytes.append(part, got);
  auto made = std::ferror(file) != 0 ? failed() : outcome{};
  std::fclose(file);
  return made;
}

}  // namespace detail

/// A graph with what Python TensorFlow tells about it: a MetaGraphDef, read from the file `model.ckpt-100.meta` beside
/// a checkpoint or out of a SavedModel.
///
///     auto const meta = tensorflow::meta_graph::from_file("model.ckpt-100.meta");
///     if (!meta.result.ok()) return report(meta.result.message);
///     TF_Buffer graph_def{meta.graph_def().data(), meta.graph_def().size(), nullptr};
///     auto const init = meta.init_op();                               // "init", as tf.train.Scaffold named it
///     for (auto const& one : meta.variables("trainable_variables")) … // one.variable_name, one.initializer_name
///
/// **Errors** in `result`: no such file, not in binary form, cut short or otherwise no MetaGraphDef, no graph in it. A
/// file that ends exactly between two collections cannot be told from a whole one: the format has no end mark.
/// **Cost** one copy of the file in memory, shared by copies of this object; `graph_def()` is a view of it.
/// **Source** tensorflow/core/protobuf/meta_graph.proto, saved_model.proto
class meta_graph {
 public:
  outcome result{};
  std::string meta_graph_version{}, tensorflow_version{}, tensorflow_git_version{};
  std::vector<std::string> tags{};
  bool has_saver = false;
  saver_def saver{};
  std::vector<collection_def> collections{};
  std::vector<signature_def> signatures{};
  std::vector<asset_file_def> assets{};
  std::string folder{};  ///< of a SavedModel: assets are in `assets/`, variables have the prefix `variables/variables`

  /// @param bytes of a MetaGraphDef
  [[nodiscard]] static meta_graph from_bytes(std::string bytes) {
    return whole(std::move(bytes), "the meta graph");
  }
  [[nodiscard]] static meta_graph from_file(std::string const& path) {
    std::string bytes;
    if (auto failed = detail::read_file(path, bytes); !failed.ok()) return refused(std::move(failed.message));
    return whole(std::move(bytes), path);
  }

  /// @param bytes of a SavedModel, which may hold several graphs
  /// @param wanted the tags of the graph that is meant, all of them, in any order
  /// **Errors** as above, and a graph with these tags is not there, or is there twice: the message lists what is there.
  [[nodiscard]] static meta_graph from_saved_model_bytes(std::string bytes, std::vector<std::string> wanted) {
    return choose(std::move(bytes), std::move(wanted), "the saved model");
  }
  /// @param folder the one with the file `saved_model.pb`
  [[nodiscard]] static meta_graph from_saved_model(std::string const& folder, std::vector<std::string> wanted) {
    std::string bytes;
    std::string const path = folder + "/saved_model.pb";
    if (auto failed = detail::read_file(path, bytes); !failed.ok()) {
      for (char const* other : {"/saved_model.pbtxt", "/saved_model.cpb"}) {
        std::string ignored;
        if (detail::read_file(folder + other, ignored).ok())
          failed.message += std::string("; there is ") + (other + 1) + ", which is not read";
      }
      return refused(std::move(failed.message));
    }
    meta_graph made = choose(std::move(bytes), std::move(wanted), path);
    made.folder = folder;
    return made;
  }

  /// The GraphDef, as TF_GraphImportGraphDef takes it. A view: good as long as this object or a copy of it.
  [[nodiscard]] std::string_view graph_def() const { return graph_def_; }

  /// Null if there is none of this name.
  [[nodiscard]] collection_def const* collection(std::string_view key) const { return find(collections, key); }
  [[nodiscard]] signature_def const* signature(std::string_view key) const { return find(signatures, key); }

  /// The names in a collection of nodes. Empty if there is none.
  [[nodiscard]] std::vector<std::string> nodes(std::string_view key) const {
    auto const* found = collection(key);
    return found != nullptr && found->holds == collection_def::node_list ? found->strings : std::vector<std::string>();
  }
  /// The only name in a collection of nodes. Empty if there is none, or several.
  [[nodiscard]] std::string node(std::string_view key) const {
    auto all = nodes(key);
    return all.size() == 1 ? std::move(all.front()) : std::string();
  }
  /// The variables of a collection. Empty if there is none.
  [[nodiscard]] std::vector<variable_def> variables(std::string_view key = graph_keys::global_variables) const {
    std::vector<variable_def> all;
    auto const* found = collection(key);
    if (found == nullptr || found->holds != collection_def::bytes_list) return all;
    for (auto const& bytes : found->strings) {
      if (variable_def one; detail::read_variable(bytes, one)) all.push_back(std::move(one));
    }
    return all;
  }

  // What a finalized tf.train.Scaffold leaves in the graph; each is empty where there is none.
  [[nodiscard]] std::string init_op() const { return node(graph_keys::init_op); }
  [[nodiscard]] std::string local_init_op() const { return node(graph_keys::local_init_op); }
  /// A tensor of strings: the names of what is not initialized.
  [[nodiscard]] std::string ready_op() const { return node(graph_keys::ready_op); }
  /// Likewise, without the local variables.
  [[nodiscard]] std::string ready_for_local_init_op() const { return node(graph_keys::ready_for_local_init_op); }
  /// A scalar of a string: a Summary.
  [[nodiscard]] std::string summary_op() const { return node(graph_keys::summary_op); }
  [[nodiscard]] std::string train_op() const {
    if (auto named = named_by_signature(signature_keys::train_op); !named.empty()) return named;
    if (auto named = node(graph_keys::train_op); !named.empty()) return named;
    return node(graph_keys::saved_model_train_op);
  }
  /// What is to be run when a SavedModel has been loaded and its variables are restored.
  [[nodiscard]] std::string main_op() const {
    if (auto named = named_by_signature(signature_keys::init_op); !named.empty()) return named;
    if (auto named = node(graph_keys::saved_model_main_op); !named.empty()) return named;
    return node(graph_keys::legacy_init_op);
  }
  /// The variable of the global step. All its names are empty where there is none; where the collection has the name of
  /// a tensor only, the snapshot is that tensor, and the other names are empty.
  [[nodiscard]] variable_def global_step() const {
    if (auto all = variables(graph_keys::global_step); all.size() == 1) return std::move(all.front());
    variable_def by_name;
    by_name.snapshot_name = node(graph_keys::global_step);
    return by_name;
  }

 private:
  using shared_bytes = std::shared_ptr<std::string const>;

  static meta_graph refused(std::string why) {
    meta_graph made;
    made.result = {error_kind::invalid_argument, std::move(why)};
    return made;
  }
  template <class Element>
  static Element const* find(std::vector<Element> const& all, std::string_view key) {
    // from the back: of two entries of a map the later one counts
    auto const found = std::find_if(all.rbegin(), all.rend(), [&](Element const& one) { return one.key == key; });
    return found == all.rend() ? nullptr : &*found;
  }
  [[nodiscard]] std::string named_by_signature(std::string_view key) const {
    auto const* found = signature(key);
    if (found == nullptr || found->outputs.size() != 1) return {};
    return found->outputs.front().name;
  }

  static constexpr char const* text_form = " is in text form; only the binary form is read";
  static bool is_text(std::string_view bytes) {
    for (std::string_view start :
         {"meta_info_def", "graph_def", "saver_def", "saved_model_schema_version", "meta_graphs"}) {
      if (bytes.starts_with(start)) return true;
    }
    return false;
  }
  static std::string list_of(std::vector<std::string> const& tags) {
    std::string list = "{";
    for (auto const& tag : tags) list += (list.size() > 1 ? ", \"" : "\"") + tag + '"';
    return list + '}';
  }

  static meta_graph whole(std::string bytes, std::string const& from) {
    if (is_text(bytes)) return refused(from + text_form);
    auto const file = std::make_shared<std::string const>(std::move(bytes));
    return read(file, *file, from);
  }
  static meta_graph choose(std::string bytes, std::vector<std::string> wanted, std::string const& from) {
    if (is_text(bytes)) return refused(from + text_form);
    auto const file = std::make_shared<std::string const>(std::move(bytes));
    std::vector<std::string_view> graphs;
    if (!read_message(*file, [&](proto_reader& in) {
          if (in.field() == 2) graphs.push_back(in.bytes());
        }))
      return refused(malformed(from, "SavedModel"));
    std::sort(wanted.begin(), wanted.end());
    std::string there;
    std::string_view chosen;
    int count = 0;
    for (auto const graph : graphs) {
      std::vector<std::string> tags;
      bool const read = read_message(graph, [&](proto_reader& in) {
        if (in.field() == 1)
          in.message([&](proto_reader& info) {
            if (info.field() == 4) tags.emplace_back(info.bytes());
          });
      });
      if (!read) return refused(malformed(from, "SavedModel"));
      std::sort(tags.begin(), tags.end());
      if (tags == wanted) chosen = graph, ++count;
      there += (there.empty() ? "" : ", ") + list_of(tags);
    }
    if (count == 1) return read(file, chosen, from);
    return refused(from + " has " + (count == 0 ? "no graph" : "several graphs") + " with the tags " + list_of(wanted) +
                   "; it has " + (there.empty() ? "no graph at all" : there));
  }

  static std::string malformed(std::string const& from, char const* what) {
    return from + " is cut short or is no " + what;
  }

  static meta_graph read(shared_bytes const& file, std::string_view bytes, std::string const& from) {
    meta_graph made;
    bool has_graph = false;
    bool const read = read_message(bytes, [&](proto_reader& in) {
      switch (in.field()) {
        case 1:
          in.message([&](proto_reader& info) { made.read_info(info); });
          break;
        case 2:
          made.graph_def_ = in.bytes(), has_graph = true;
          break;
        case 3:
          made.has_saver = true, in.message([&](proto_reader& saver) { detail::read_saver(saver, made.saver); });
          break;
        case 4:
          in.entry([&](std::string_view key, proto_reader& list) {
            detail::read_collection(key, list, made.collections.emplace_back());
          });
          break;
        case 5:
          in.entry([&](std::string_view key, proto_reader& signature) {
            detail::read_signature(key, signature, made.signatures.emplace_back());
          });
          break;
        case 6:
          detail::read_asset(in, made.assets.emplace_back());
          break;
        default:
          break;
      }
    });
    if (!read) return refused(malformed(from, "MetaGraphDef"));
    if (!has_graph) return refused(from + " has no graph_def");
    for (auto const& one : made.collections) {
      if (!holds_variables(one)) continue;
      for (auto const& variable : one.strings) {
        if (variable_def ignored; !detail::read_variable(variable, ignored))
          return refused(malformed(from + ": an entry of the collection \"" + one.key + '"', "VariableDef"));
      }
    }
    // a builder of the first kind wrote them into a collection only
    if (auto const* old = made.collection(graph_keys::saved_model_assets); made.assets.empty() && old != nullptr) {
      for (auto const& any : old->strings) {
        if (!detail::read_asset_in_any(any, made.assets.emplace_back())) {
          return refused(malformed(from + ": an entry of the collection \"" + old->key + '"', "AssetFileDef"));
        }
      }
    }
    made.file_ = file;
    return made;
  }
  static bool holds_variables(collection_def const& one) {
    namespace keys = graph_keys;
    auto const known = {keys::global_variables, keys::local_variables,     keys::metric_variables,
                        keys::model_variables,  keys::trainable_variables, keys::moving_average_variables,
                        keys::global_step};
    return one.holds == collection_def::bytes_list && std::find(known.begin(), known.end(), one.key) != known.end();
  }

  void read_info(proto_reader& in) {
    switch (in.field()) {
      case 1:
        meta_graph_version = in.bytes();
        break;
      case 4:
        tags.emplace_back(in.bytes());
        break;
      case 5:
        tensorflow_version = in.bytes();
        break;
      case 6:
        tensorflow_git_version = in.bytes();
        break;
      default:
        break;
    }
  }
  shared_bytes file_{};
  std::string_view graph_def_{};
};

}  // namespace tensorflow
TAUTLINE_END
