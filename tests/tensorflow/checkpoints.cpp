// SPDX-License-Identifier: BSL-1.0
#include <limits>

#include <tautline/hooks/checkpoint_saver.hpp>
#include <tautline/io/background_checkpoints.hpp>
#include <tautline/io/tensorflow_checkpoints.hpp>
#include <tautline/sessions/static_graph.hpp>

#include <doctest/doctest.h>

#include "training.hpp"

using namespace tensorflow_test;

namespace {

/// A training in a folder.
struct training {
  explicit training(std::string const& folder, tensorflow_checkpoint_options options = {}) : saved(folder, quiet(options)) {}
  tensorflow_checkpoint_options quiet(tensorflow_checkpoint_options options) {
    options.report = [this](std::string_view line) { said.emplace_back(line); };
    return options;
  }
  auto session(extras const& with = {}) {
    return monitored(approaching(with), options{restore_from{saved}}, counter{}, peek{},
                     named<"saver">(checkpoint_saver{saved, every_steps{2} | at_end}));
  }
  /// All that was said, in one line.
  [[nodiscard]] std::string words() const {
    std::string all;
    for (std::string const& line : said) all += line + '\n';
    return all;
  }

  lines said;
  tensorflow_checkpoints saved;
};

/// Trains up to so many steps, saving every second one and the last.
void train(std::string const& folder, step_number steps, extras const& with = {}, tensorflow_checkpoint_options options = {}) {
  training one(folder, options);
  auto session = one.session(with);
  (void)session.run_steps(steps - session.completed_steps(), target<"train">);
  session.close();
}
/// Where a training begins in the folder, and with what. -1: the values are not those of the step.
struct found {
  step_number step = -1;
  std::int64_t seen = -1;
  std::string words{};
};
found look(std::string const& folder, tensorflow_checkpoint_options options = {}) {
  training one(folder, options);
  auto session = one.session();
  found made{session.completed_steps(), session.template hook<counter>().seen, one.words()};
  if (w_of(session) != w_after(made.step)) made.step = -1;
  session.abandon();
  return made;
}
std::string files_of(std::string const& name) {
  return name + ".data-00000-of-00001 " + name + ".hooks.json " + name + ".hooks.safetensors " + name + ".index";
}
void cut_in_half(std::string const& path) { fs::resize_file(path, fs::file_size(path) / 2); }
void flip_in(std::string const& path, std::size_t place) {
  std::string bytes = content(path);
  bytes.at(place) = static_cast<char>(bytes.at(place) ^ 0x10);
  write(path, bytes);
}

/// A store of safetensors that writes at once.
struct at_once {
  explicit at_once(std::string const& folder, checkpoint_options options = {}) : store(folder, keep_latest{}, std::move(options)) {}
  status save(training_state const& state) {
    done = store.save(state);
    return {done.kind, done.message.c_str()};
  }
  restored restore(training_state const& state) { return store.restore(state); }
  checkpoint_store store;
  saved_checkpoint done{};
};

}  // namespace

TEST_CASE("a training goes on from what its graph's own saver wrote") {
  scratch folder;
  train(folder.path, 5);
  CHECK(names_in(folder.path) ==
        ".lock checkpoint graph.pb " + files_of("model.ckpt-2") + ' ' + files_of("model.ckpt-4") + ' ' + files_of("model.ckpt-5"));
  CHECK(content(folder / "checkpoint") ==
        "model_checkpoint_path: \"model.ckpt-5\"\nall_model_checkpoint_paths: \"model.ckpt-2\"\n"
        "all_model_checkpoint_paths: \"model.ckpt-4\"\nall_model_checkpoint_paths: \"model.ckpt-5\"\n");
  auto const graph = tensorflow_graph<>::from_graph_def(folder / "graph.pb");
  CHECK(graph.status().ok());
  training again(folder.path);
  auto session = again.session();
  CHECK(session.completed_steps() == 5);
  CHECK(session.hook<counter>().seen == 5);
  CHECK(w_of(session) == w_after(5));
  session.run_steps(3, target<"train">);
  CHECK(session.hook<counter>().seen == 8);
  CHECK(w_of(session) == w_after(8));
  session.close();
  CHECK(again.saved.last_path() == fs::canonical(folder.path).string() + "/model.ckpt-8");
  CHECK(again.said.empty());
}

TEST_CASE("so many stay as the options say, and those that Python has written count") {
  scratch folder;
  train(folder.path, 9, {}, {.keep = 2});
  CHECK(names_in(folder.path) == ".lock checkpoint graph.pb " + files_of("model.ckpt-8") + ' ' + files_of("model.ckpt-9"));
  // Python leaves no state of hooks, a file more, and names with the folder before them
  fs::remove(folder / "model.ckpt-8.hooks.json");
  fs::remove(folder / "model.ckpt-8.hooks.safetensors");
  write(folder / "model.ckpt-8.meta", "a graph");
  write(folder / "checkpoint", "model_checkpoint_path: \"" + folder.path + "/model.ckpt-9\"\nall_model_checkpoint_paths: \"" + folder.path +
                                   "/model.ckpt-8\"\nall_model_checkpoint_paths: \"" + folder.path +
                                   "/model.ckpt-9\"\nall_model_checkpoint_timestamps: 1.5e9\nlast_preserved_timestamp: 1.25");
  train(folder.path, 11, {}, {.keep = 2});
  CHECK(names_in(folder.path) == ".lock checkpoint graph.pb " + files_of("model.ckpt-10") + ' ' + files_of("model.ckpt-11"));
  train(folder.path, 30, {}, {.keep = 0});
  CHECK(training(folder.path).saved.paths().size() == 12);
}

TEST_CASE("a folder that has been moved is still itself") {
  scratch folder;
  train(folder / "before", 4);
  std::string const text = content(folder / "before/checkpoint");
  std::string absolute;
  for (char const* at = text.c_str(); *at != 0; ++at) {
    absolute += *at;
    if (*at == '"' && at[1] == 'm') absolute += folder / "before/";
  }
  write(folder / "before/checkpoint", absolute);
  fs::rename(folder / "before", folder / "after");
  CHECK(look(folder / "after").step == 4);
}

TEST_CASE("a step that is saved twice does not touch the first one before the second is committed") {
  scratch folder;
  training one(folder.path);
  auto session = one.session();
  step_and(session, [&](training_state const& state) {
    REQUIRE(one.saved.save(state).ok());
    CHECK(names_in(folder.path) == ".lock checkpoint graph.pb " + files_of("model.ckpt-1"));
    REQUIRE(one.saved.save(state).ok());
    CHECK(names_in(folder.path) == ".lock checkpoint graph.pb " + files_of("model.ckpt.2-1"));
    REQUIRE(one.saved.save(state).ok());
    CHECK(names_in(folder.path) == ".lock checkpoint graph.pb " + files_of("model.ckpt-1"));
  });
}

TEST_CASE("without the state of the hooks they begin anew, and the step is the graph's") {
  scratch folder;
  train(folder.path, 4);
  fs::remove(folder / "model.ckpt-4.hooks.json");
  found const made = look(folder.path);
  CHECK(made.step == 4);
  CHECK(made.seen == 0);
  // the name of a file says nothing
  for (char const* ending : {".index", ".data-00000-of-00001"}) fs::rename(folder / ("model.ckpt-4" + std::string(ending)), folder / ("best" + std::string(ending)));
  write(folder / "checkpoint", "model_checkpoint_path: \"best\"\n");
  CHECK(look(folder.path).step == 4);
}

TEST_CASE("one that is damaged is reported, and the one before it used") {
  struct damage {
    char const* what;
    void (*make)(std::string const& folder);
  };
  damage const all[] = {
      {"no values", [](std::string const& f) { fs::remove(f + "/model.ckpt-5.data-00000-of-00001"); }},
      {"no index", [](std::string const& f) { fs::remove(f + "/model.ckpt-5.index"); }},
      {"half of the values", [](std::string const& f) { cut_in_half(f + "/model.ckpt-5.data-00000-of-00001"); }},
      {"half of the index", [](std::string const& f) { cut_in_half(f + "/model.ckpt-5.index"); }},
      {"another value", [](std::string const& f) { flip_in(f + "/model.ckpt-5.data-00000-of-00001", 9); }},
      {"another index", [](std::string const& f) { flip_in(f + "/model.ckpt-5.index", 20); }},
      {"no values of hooks", [](std::string const& f) { fs::remove(f + "/model.ckpt-5.hooks.safetensors"); }},
      {"half of the hooks", [](std::string const& f) { cut_in_half(f + "/model.ckpt-5.hooks.json"); }},
      {"another value of a hook",
       [](std::string const& f) { flip_in(f + "/model.ckpt-5.hooks.safetensors", fs::file_size(f + "/model.ckpt-5.hooks.safetensors") - 8); }},
  };
  scratch folder;
  train(folder / "whole", 5);
  for (damage const& each : all) {
    CAPTURE(each.what);
    scratch with;
    fs::copy(folder / "whole", with.path, fs::copy_options::recursive);
    each.make(with.path);
    found const made = look(with.path);
    CHECK(made.step == 4);
    CHECK(made.seen == 4);
    CHECK(contains(made.words, "model.ckpt-5"));
  }
}

TEST_CASE("where no list of checkpoints is, or a damaged one, the latest that is whole is found") {
  scratch folder;
  train(folder / "whole", 5);
  for (char const* text : {"", "model_checkpoint_path: \"mod", "nothing of the kind", "model_checkpoint_path: \"gone\"\n"}) {
    CAPTURE(text);
    write(folder / "whole/checkpoint", text);
    found const made = look(folder / "whole");
    CHECK(made.step == 5);
    CHECK(!made.words.empty());
  }
  fs::remove(folder / "whole/checkpoint");
  CHECK(look(folder / "whole").step == 5);
  // what was being written is none, and goes
  write(folder / "whole/model.ckpt-9.data-00000-of-00001", "half");
  write(folder / "whole/model.ckpt-9.hooks.json", "half");
  write(folder / "whole/.tautline-tmp-model.ckpt-9.index", "half");
  CHECK(look(folder / "whole").step == 5);
  CHECK(!contains(names_in(folder / "whole"), "-9"));
}

TEST_CASE("where all are damaged a training does not begin") {
  scratch folder;
  train(folder.path, 3);
  cut_in_half(folder / "model.ckpt-2.index");
  fs::remove(folder / "model.ckpt-3.index");
  std::string const words = error_of([&] { (void)look(folder.path); });
  CHECK(contains(words, "no checkpoint can be used"));
  CHECK(contains(words, "model.ckpt-2"));
  CHECK(contains(words, "model.ckpt-3"));
}

TEST_CASE("a checkpoint of another graph is an error with the name, and nothing has been changed") {
  scratch folder;
  train(folder / "plain", 2);
  train(folder / "more", 2, {.second = true});
  train(folder / "longer", 2, {.length = 3});
  auto const words_with = [&](std::string const& where, extras const& with, tensorflow_checkpoint_options options = {}) {
    return error_of([&] {
      training one(folder / where, options);
      auto session = one.session(with);
      session.abandon();
    });
  };
  CHECK(contains(words_with("plain", {.second = true}), "it has no \"v\""));
  CHECK(contains(words_with("more", {}), "it has \"v\", which the saver of the graph does not know"));
  CHECK(words_with("more", {}, {.allow_more_values = true}) == "");
  CHECK(contains(words_with("longer", {}), "\"w\" is float32 [3] in it, and float32 [2] in the graph"));

  // in a session that runs: all as it was
  training one(folder / "longer");
  auto session = monitored(approaching(), counter{}, peek{});
  session.run_steps(2, target<"train">);
  step_and(session, [&](training_state const& state) {
    restored const refused = one.saved.restore(state);
    CHECK(refused.result.kind == error_kind::invalid_argument);
    CHECK(!refused.found);
  });
  CHECK(w_of(session) == w_after(3));
  CHECK(session.hook<counter>().seen == 3);
}

TEST_CASE("other hooks than those of the checkpoint are an error, unless that is allowed") {
  scratch folder;
  train(folder.path, 2);
  auto const begin = [&](bool allowed) {
    tensorflow_checkpoints saved{folder.path, {.report = false, .allow_changed_hooks = allowed}};
    auto session = monitored(approaching(), options{restore_from{saved}}, named<"another">(counter{}));
    return session.completed_steps();
  };
  CHECK(contains(error_of([&] { begin(false); }), "the hook tensorflow_test::counter is in the checkpoint and not here"));
  CHECK(begin(true) == 2);
}

TEST_CASE("what is not finite is not saved") {
  scratch folder;
  training one(folder.path);
  auto session = one.session();
  session.run_steps(2, target<"train">);
  std::string const before = names_in(folder.path);
  std::vector<float> const bad{1, std::numeric_limits<float>::quiet_NaN()};
  (void)session.run_without_hooks(target<"give_w">, feed<"w_given">(bad));
  step_and(session, [&](training_state const& state) {
    status const refused = one.saved.save(state);
    CHECK(refused.kind == error_kind::nan);
    CHECK(contains(refused.message, "variable/w is not finite (element 1 of 2)"));
  });
  session.run_steps(1, target<"train">);
  CHECK(session.hook<"saver">().saved() == 1);
  CHECK(session.hook<"saver">().skipped() == 1);
  CHECK(names_in(folder.path) == before);
}

TEST_CASE("strings are saved by the graph's own saver, and by no other") {
  scratch folder;
  {
    training one(folder / "own");
    auto session = one.session({.text = true});
    session.run_steps(3, target<"train">);
    session.close();
    CHECK(session.hook<"saver">().saved() == 2);
  }
  training again(folder / "own");
  auto session = again.session({.text = true});
  CHECK(session.completed_steps() == 3);
  auto const words = session.run_without_hooks(fetch<"words/Read/ReadVariableOp", tensor<std::string_view, 1>>);
  CHECK(words[fetch<"words/Read/ReadVariableOp", tensor<std::string_view, 1>>][1] == "were");

  at_once store{folder / "other"};
  std::string const refused = error_of([&] {
    auto other = monitored(approaching({.text = true}), checkpoint_saver{store, every_steps{1}});
    other.run_steps(1, target<"train">);
  });
  CHECK(contains(refused, "variable \"words\" is of string, which this kind of checkpoint cannot hold"));
  CHECK(contains(refused, "tensorflow_checkpoints"));
  CHECK(store.store.entries().empty());
}

TEST_CASE("a graph without a saver, and one whose saver writes the old format, are errors when the session is made") {
  scratch folder;
  tensorflow_checkpoints saved{folder.path};
  auto const words_of = [&](tensorflow_graph<> graph) {
    return error_of([&] { (void)monitored(std::move(graph), checkpoint_saver{saved, every_steps{1}}); });
  };
  auto const build = [](bool old) {
    tensorflow_graph<> bare;
    {
      tensorflow_graph<> full;
      auto ops = full.ops();
      auto const w = ops.variable<float>("w", {}, 0.0F);
      (void)ops.init();
      if (old) {
        auto const name = ops.placeholder<std::string_view>("save/Const", {});
        auto const text = ops.constant(tautline::tensorflow::constant_value(std::vector<std::string>{"w"}));
        ops.op("Save", "save/control_dependency", {name, text, std::vector<tautline::tensorflow::output>{w}});
        ops.no_op("save/restore_all");
      }
      tautline::tensorflow::buffer_handle const bytes(TF_NewBuffer());
      auto const done = tautline::tensorflow::new_status();
      TF_GraphToGraphDef(full.handle(), bytes.get(), done.get());
      bare = tensorflow_graph<>::from_graph_def_bytes({static_cast<char const*>(bytes->data), bytes->length});
    }
    return bare;
  };
  CHECK(contains(words_of(build(false)), "the graph has no saver: it has no \"save/Const\""));
  CHECK(contains(words_of(build(true)), "writes the format V1"));
}

TEST_CASE("a folder has one training at a time, and can be looked at meanwhile") {
  scratch folder;
  train(folder.path, 2);
  training one(folder.path);
  tensorflow_checkpoints second{folder.path, {.report = false}};
  CHECK(second.status().kind == error_kind::busy);
  tensorflow_checkpoints looking{folder.path, {.report = false, .read_only = true}};
  CHECK(looking.status().ok());
  CHECK(looking.paths().size() == 1);
  auto session = monitored(approaching(), options{restore_from{looking}}, counter{}, peek{});
  CHECK(session.completed_steps() == 2);
  step_and(session, [&](training_state const& state) { CHECK(looking.save(state).kind == error_kind::invalid_argument); });
}

TEST_CASE("what cannot be written is an error with the path, and leaves what was there") {
  scratch folder;
  train(folder.path, 2);
  training one(folder.path);
  auto session = one.session();
  fs::create_directory(folder / ".tautline-tmp-model.ckpt-3.index");  // TensorFlow cannot write it
  step_and(session, [&](training_state const& state) {
    status const failed = one.saved.save(state);
    CHECK(!failed.ok());
    CHECK(contains(failed.message, "model.ckpt-3"));
  });
  session.abandon();
  CHECK(content(folder / "checkpoint") == "model_checkpoint_path: \"model.ckpt-2\"\nall_model_checkpoint_paths: \"model.ckpt-2\"\n");
}

TEST_CASE("a session over another kind of graph is an error") {
  scratch folder;
  tensorflow_checkpoints saved{folder.path};
  std::string const words = error_of([&] { (void)monitored(static_graph{}.variable<"w">(0.0F), checkpoint_saver{saved, every_steps{1}}); });
  CHECK(contains(words, "for sessions over a tensorflow_graph"));
}

// --- as safetensors -------------------------------------------------------------------------------------------------

TEST_CASE("variables are saved as safetensors, too, at once and in the background") {
  auto const round_trip = [](auto& saved) {
    {
      auto session = monitored(approaching({.second = true}), options{restore_from{saved}}, counter{}, checkpoint_saver{saved, every_steps{2} | at_end});
      session.run_steps(5, target<"train">);
      session.close();
    }
    auto session = monitored(approaching({.second = true}), options{restore_from{saved}}, counter{}, checkpoint_saver{saved, every_steps{2} | at_end});
    CHECK(session.completed_steps() == 5);
    CHECK(session.template hook<counter>().seen == 5);
    CHECK(w_of(session) == w_after(5));
    session.run_steps(2, target<"train">);
    CHECK(w_of(session) == w_after(7));
    auto const step = session.run_without_hooks(fetch<"global_step">);
    CHECK(step[fetch<"global_step">] == 7);
  };
  scratch folder;
  at_once store{folder / "store"};
  round_trip(store);
  background_checkpoints behind{folder / "background"};
  round_trip(behind);
}

TEST_CASE("safetensors of another graph are an error with the name") {
  scratch folder;
  checkpoint_options const any_graph{.report = false, .allow_changed_graph = true};
  {
    at_once store{folder.path};
    auto session = monitored(approaching(), checkpoint_saver{store, at_end});
    session.run_steps(2, target<"train">);
  }
  auto const words_with = [&](extras const& with) {
    at_once store{folder.path, any_graph};
    return error_of([&] { (void)monitored(approaching(with), options{restore_from{store}}, checkpoint_saver{store, at_end}); });
  };
  CHECK(contains(words_with({.length = 3}), "variable/w is F32[2] in the checkpoint and F32[3] here"));
  CHECK(contains(words_with({.second = true}), "variable/v is not in the checkpoint"));
  CHECK(contains(words_with({.text = true}), "\"words\" is of string"));
  CHECK(words_with({}) == "");
}

TEST_CASE("a session that nobody has restored shows its own values, not the memory for a restore") {
  scratch folder;
  at_once store{folder.path};
  auto session = monitored(approaching({.second = true}), options{restore_from{store}}, named<"saver">(checkpoint_saver{store, never, also_at_start}));
  CHECK(session.hook<"saver">().saved() == 1);
  float v = 0;
  auto const seen = store.store.load();
  for (named_tensor const& each : seen.file.tensors()) {
    if (each.name == "variable/v") v = *static_cast<float const*>(each.view.data);
  }
  CHECK(v == 7);
}
