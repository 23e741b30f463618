// SPDX-License-Identifier: BSL-1.0
#include <cstdio>
#include <cstring>
#include <memory>

#include <tensorflow/c/c_api.h>

#include <doctest/doctest.h>

#include <tautline/sessions/tensorflow/meta_graph.hpp>

#include "files.hpp"

using files::listed;
using tautline::tensorflow::collection_def;
using tautline::tensorflow::meta_graph;
using tautline::tensorflow::tensor_info;
namespace graph_keys = tautline::tensorflow::graph_keys;

namespace {

std::string number(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", static_cast<double>(value));
  return text;
}
std::string flag(bool value) { return value ? "1" : "0"; }

std::string described(std::string const& where, tensor_info const& one) {
  return where + ' ' + one.key + ' ' + one.name + ' ' + std::to_string(one.dtype) + ' ' + flag(one.unknown_rank) + ' ' +
         listed(one.shape) + ' ' + one.values + ' ' + one.indices + ' ' + one.dense_shape;
}

/// The names of the nodes that TensorFlow finds in the graph.
std::vector<std::string> nodes_of(std::string_view graph_def) {
  std::vector<std::string> names;
  std::unique_ptr<TF_Graph, void (*)(TF_Graph*)> const graph(TF_NewGraph(), &TF_DeleteGraph);
  std::unique_ptr<TF_Status, void (*)(TF_Status*)> const status(TF_NewStatus(), &TF_DeleteStatus);
  std::unique_ptr<TF_ImportGraphDefOptions, void (*)(TF_ImportGraphDefOptions*)> const options(
      TF_NewImportGraphDefOptions(), &TF_DeleteImportGraphDefOptions);
  TF_Buffer const buffer{graph_def.data(), graph_def.size(), nullptr};
  TF_GraphImportGraphDef(graph.get(), &buffer, options.get(), status.get());
  REQUIRE_MESSAGE(TF_GetCode(status.get()) == TF_OK, TF_Message(status.get()));
  std::size_t at = 0;
  while (TF_Operation* const one = TF_GraphNextOperation(graph.get(), &at)) names.emplace_back(TF_OperationName(one));
  return names;
}

/// The same lines as those of fixtures.py.
std::string described(meta_graph const& meta) {
  std::vector<std::string> lines{
      "info " + meta.meta_graph_version + ' ' + meta.tensorflow_version + ' ' + meta.tensorflow_git_version,
      "tags " + listed(meta.tags)};
  if (meta.has_saver) {
    auto const& saver = meta.saver;
    lines.push_back("saver " + saver.filename_tensor_name + ' ' + saver.save_tensor_name + ' ' + saver.restore_op_name +
                    ' ' + std::to_string(saver.max_to_keep) + ' ' + flag(saver.sharded) + ' ' +
                    number(saver.keep_checkpoint_every_n_hours) + ' ' + std::to_string(saver.version));
  }
  char const* const kinds[] = {"none", "node_list", "bytes_list", "int64_list", "float_list", "any_list"};
  for (auto const& one : meta.collections) {
    auto const variables = meta.variables(one.key);
    for (auto const& variable : variables) {
      lines.push_back("variable " + one.key + ' ' + variable.variable_name + ' ' + variable.initial_value_name + ' ' +
                      variable.initializer_name + ' ' + variable.snapshot_name + ' ' + flag(variable.is_resource) + ' ' +
                      flag(variable.trainable) + ' ' + variable.full_name + ' ' + listed(variable.full_shape) + ' ' +
                      listed(variable.var_offset) + ' ' + listed(variable.var_shape));
    }
    if (!variables.empty()) continue;
    std::vector<std::string> values;
    bool const raw = one.holds == collection_def::bytes_list || one.holds == collection_def::any_list;
    for (auto const& value : one.strings) values.push_back(raw ? std::to_string(value.size()) : value);
    for (auto const value : one.integers) values.push_back(std::to_string(value));
    for (auto const value : one.floats) values.push_back(number(value));
    lines.push_back("collection " + one.key + ' ' + kinds[one.holds] + ' ' + listed(values));
  }
  for (auto const& one : meta.signatures) {
    lines.push_back("signature " + one.key + ' ' + one.method_name);
    for (auto const& input : one.inputs) lines.push_back(described("input " + one.key, input));
    for (auto const& output : one.outputs) lines.push_back(described("output " + one.key, output));
  }
  for (auto const& one : meta.assets) lines.push_back("asset " + one.tensor_name + ' ' + one.filename);
  for (auto const& name : nodes_of(meta.graph_def())) lines.push_back("node " + name);
  return files::sorted(std::move(lines));
}

}  // namespace

TEST_CASE("a .meta of a finalized Scaffold is read as Python reads it") {
  auto const meta = meta_graph::from_file(files::path("scaffold.meta"));
  REQUIRE_MESSAGE(meta.result.ok(), meta.result.message);
  CHECK(described(meta) == files::contents("scaffold.txt"));
  CHECK(meta.init_op() == "group_deps");
  CHECK(meta.local_init_op() == "group_deps_1");
  CHECK(meta.ready_op() == "concat:0");
  CHECK(meta.ready_for_local_init_op() == "concat_1:0");
  CHECK(meta.summary_op() == "Merge/MergeSummary:0");
  CHECK(meta.train_op() == "train");
  CHECK(meta.main_op().empty());
  CHECK(meta.global_step().variable_name == "global_step:0");
  CHECK(meta.variables(graph_keys::trainable_variables).size() == 5);
  CHECK(meta.nodes("absent").empty());
  CHECK(meta.collection("absent") == nullptr);
  CHECK(meta.saver.max_to_keep == 7);
}

TEST_CASE("the view of the graph outlives moves and copies") {
  auto copy = [] {
    auto meta = meta_graph::from_file(files::path("scaffold.meta"));
    auto moved = std::move(meta);
    return moved;
  }();
  auto const other = copy;
  copy = meta_graph();
  CHECK(nodes_of(meta_graph(other).graph_def()).size() > 50);
}

TEST_CASE("a SavedModel's graph is chosen by its tags, in any order") {
  std::string const folder = files::path("saved_model");
  auto const train = meta_graph::from_saved_model(folder, {"train"});
  REQUIRE_MESSAGE(train.result.ok(), train.result.message);
  CHECK(described(train) == files::contents("saved_model_train.txt"));
  CHECK(train.main_op() == "init_all_tables");
  CHECK(train.folder == folder);
  auto const serve = meta_graph::from_saved_model(folder, {"cpu", "serve"});
  REQUIRE_MESSAGE(serve.result.ok(), serve.result.message);
  CHECK(described(serve) == files::contents("saved_model_serve.txt"));
  REQUIRE(serve.signature("serving_default") != nullptr);
  REQUIRE(train.assets.size() == 1);
  CHECK(train.assets[0].filename == "words.txt");
}

TEST_CASE("tags that no graph has are an error that lists those that are there") {
  for (std::vector<std::string> const& tags : {std::vector<std::string>{"serve"}, {}, {"train", "cpu"}}) {
    auto const none = meta_graph::from_saved_model(files::path("saved_model"), tags);
    CHECK(none.result.kind == tautline::error_kind::invalid_argument);
    CHECK(none.result.message.find("; it has {\"train\"}, {\"cpu\", \"serve\"}") != std::string::npos);
    CHECK(none.graph_def().empty());
  }
}

TEST_CASE("what is no file, no meta graph or no binary form is one error with the path") {
  auto const message = [](meta_graph const& meta) {
    CHECK_FALSE(meta.result.ok());
    CHECK(meta.graph_def().empty());
    return meta.result.message;
  };
  CHECK(message(meta_graph::from_file("/nowhere/x.meta")) == "/nowhere/x.meta cannot be read: No such file or directory");
  CHECK(message(meta_graph::from_file("/")).find("Is a directory") != std::string::npos);
  CHECK(message(meta_graph::from_saved_model("/nowhere", {"serve"})) ==
        "/nowhere/saved_model.pb cannot be read: No such file or directory");
  CHECK(message(meta_graph::from_bytes("")) == "the meta graph has no graph_def");
  CHECK(message(meta_graph::from_bytes("x")) == "the meta graph is cut short or is no MetaGraphDef");
  CHECK(message(meta_graph::from_saved_model_bytes("", {"serve"})).find("it has no graph at all") != std::string::npos);
  CHECK(message(meta_graph::from_bytes("meta_info_def {\n}\n")).find("text form") != std::string::npos);
  CHECK(message(meta_graph::from_saved_model_bytes("saved_model_schema_version: 1\n", {})).find("text form") !=
        std::string::npos);
  CHECK(message(meta_graph::from_file(files::path("words.txt"))) ==
        files::path("words.txt") + " is cut short or is no MetaGraphDef");
}

TEST_CASE("a file that was cut short is refused at each length") {
  std::string const saved = files::contents("small.pb");
  REQUIRE(meta_graph::from_saved_model_bytes(saved, {"train"}).result.ok());
  for (std::size_t i = 0; i < saved.size(); ++i) {
    auto const meta = meta_graph::from_saved_model_bytes(saved.substr(0, i), {"train"});
    CHECK_FALSE(meta.result.ok());
    CHECK(meta.result.message.size() > 10);
  }
  // a MetaGraphDef has no end mark: cut between two of its parts it is a whole one with fewer parts
  std::string const bytes = files::contents("small.meta");
  auto const whole = meta_graph::from_bytes(bytes);
  REQUIRE(whole.result.ok());
  std::size_t taken = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) taken += meta_graph::from_bytes(bytes.substr(0, i)).result.ok() ? 1U : 0U;
  // the graph alone, and after it the saver, collections and signatures but for the last part
  std::size_t const parts = 1 + whole.collections.size() + whole.signatures.size() + whole.assets.size();
  CHECK(taken == parts);
}

TEST_CASE("a file with a damaged byte is read or refused") {
  std::string const saved = files::contents("small.pb");
  std::size_t refused = 0;
  for (std::size_t i = 0; i < saved.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = saved;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      auto const meta = meta_graph::from_saved_model_bytes(damaged, {"train"});
      refused += meta.result.ok() ? 0U : 1U;
      CHECK(meta.result.ok() == !meta.graph_def().empty());
    }
  }
  CHECK(refused > saved.size());
}
