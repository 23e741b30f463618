// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tautline/sessions/tensorflow/meta_graph.hpp>
#include <tautline/sessions/tensorflow/names.hpp>
#include <tautline/sessions/tensorflow/settings.hpp>
#include <tautline/sessions/tensorflow/variables.hpp>

TAUTLINE_BEGIN
namespace tensorflow {
namespace detail {

/// A graph with what is known of it, under construction and afterwards.
struct graph_parts {
  graph_handle graph{TF_NewGraph()};
  std::vector<std::pair<std::string, std::string>> aliases{};  ///< a program's name, the graph's
  session_settings settings{};
  std::vector<std::string> locals{};  ///< variables of one process alone
  /// Tensors that the local init op is fed with: files of a SavedModel.
  std::vector<std::pair<std::string, std::string>> assets{};
  std::string saved_variables{};  ///< the prefix of the checkpoint within a SavedModel; empty for none
  failure_memory failures{};
  status first{};  ///< the first error of building: everything after it is harmless
  /// Where it is built in C++: what that keeps, and what is to be done when the graph is finished. @see scope
  std::shared_ptr<void> builder{};
  void (*finish_building)(graph_parts&) = nullptr;

  /// The graph's name for one of the program.
  [[nodiscard]] std::string_view name_in_graph(std::string_view name) const {
    for (auto const& [from, to] : aliases) {
      if (from == name) return to;
    }
    return name;
  }
  void fail(error_kind kind, std::string message) {
    if (first.ok()) first = failures.set(kind, std::move(message));
  }

  /// Adds the nodes of a serialized GraphDef. @param origin for messages: "graph.pb"
  void import(std::string_view bytes, std::string const& origin) {
    if (!first.ok()) return;
    status_handle const done = new_status();
    buffer_handle const buffer(TF_NewBufferFromString(bytes.data(), bytes.size()));
    import_options_handle const options(TF_NewImportGraphDefOptions());
    TF_GraphImportGraphDef(graph.get(), buffer.get(), options.get(), done.get());
    first = failures.take(done.get(), origin + " cannot be imported as a graph");
  }

  /// Adds a meta graph, and takes what it tells about its life.
  void import(meta_graph const& from, std::string const& origin) {
    if (!from.result.ok()) return fail(from.result.kind, from.result.message);
    import(from.graph_def(), origin);
    bool const is_saved_model = !from.folder.empty();
    scaffold& names = settings.scaffold;
    names.init_op = from.init_op();
    names.local_init_op = is_saved_model ? from.main_op() : from.local_init_op();
    if (names.local_init_op.empty()) names.local_init_op = from.local_init_op();
    names.ready_op = from.ready_op();
    names.ready_for_local_init_op = from.ready_for_local_init_op();
    names.global_step = from.global_step().variable_name;
    // export_meta_graph of the module leaves the saver out, and has it in the collection only
    saver_def saver = from.saver;
    collection_def const* const savers = from.collection(graph_keys::savers);
    if (saver.save_tensor_name.empty() && savers != nullptr && !savers->strings.empty()) {
      saver = {};
      (void)read_message(savers->strings.front(), [&](proto_reader& in) { read_saver(in, saver); });
    }
    names.saver_filename = saver.filename_tensor_name;
    names.saver_save = saver.save_tensor_name;
    names.saver_restore = saver.restore_op_name;
    for (variable_def const& each : from.variables(graph_keys::local_variables)) {
      locals.push_back(split_name(each.variable_name).first);
    }
    for (asset_file_def const& each : from.assets) {
      assets.emplace_back(each.tensor_name, from.folder + "/assets/" + each.filename);
    }
    if (is_saved_model && !names.saver_restore.empty()) saved_variables = from.folder + "/variables/variables";
  }

  /// Whether the graph has what the scaffold names.
  /// @param is_built in C++: what is made when that is finished need not be there yet
  void check_scaffold(bool is_built) {
    scaffold const& names = settings.scaffold;
    std::pair<char const*, std::string const&> const all[] = {
        {"init_op", names.init_op},           {"local_init_op", names.local_init_op},
        {"ready_op", names.ready_op},         {"ready_for_local_init_op", names.ready_for_local_init_op},
        {"global_step", names.global_step},   {"saver_filename", names.saver_filename},
        {"saver_save", names.saver_save},     {"saver_restore", names.saver_restore}};
    for (auto const& [what, name] : all) {
      TF_Operation* const found = name.empty() ? nullptr : find(name, "");
      bool const is_ready_op = std::string_view(what).starts_with("ready");
      if (found != nullptr && is_ready_op) check_ready_op(what, name, found);
      bool const comes = is_built && (name == "init" || name == "local_init" || name.starts_with("save/"));
      if (name.empty() || found != nullptr || comes) continue;
      fail(error_kind::invalid_argument,
           no_such_name(graph.get(), std::string("scaffold.") + what, name, [](TF_Operation*) { return true; }));
    }
  }

  /// It gives the names of what is not ready: strings.
  void check_ready_op(char const* what, std::string const& name, TF_Operation* found) {
    TF_Output const output = find_output(name);
    if (output.index < TF_OperationNumOutputs(found) && TF_OperationOutputType(output) == TF_STRING) return;
    fail(error_kind::invalid_argument, std::string("scaffold.") + what + ": \"" + name + "\" does not give strings");
  }

  /// A value by its name in the graph: "ready" is "ready:0". The operation is null if the graph has none.
  [[nodiscard]] TF_Output find_output(std::string const& named) const {
    return {find(named, ""), std::max(split_name(named).second, 0)};
  }
  /// An operation by the name that settings or the original give it; null if that is empty or the graph has none.
  [[nodiscard]] TF_Operation* find(std::string const& named, char const* by_default) const {
    std::string const& name = named.empty() ? std::string(by_default) : split_name(named).first;
    return name.empty() ? nullptr : TF_GraphOperationByName(graph.get(), name.c_str());
  }
};

}  // namespace detail
}  // namespace tensorflow
TAUTLINE_END
