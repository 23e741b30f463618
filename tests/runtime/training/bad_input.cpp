// SPDX-License-Identifier: BSL-1.0
#include <csignal>

#include <sys/wait.h>

#include <tautline/hooks/checkpoint_saver.hpp>
#include <tautline/hooks/stop_on_signal.hpp>
#include <tautline/io/background_checkpoints.hpp>

#include "../core/training.hpp"
#include "../io/file_support.hpp"
#include "../io/training.hpp"

// What can be wrong with a folder of checkpoints, or with the training that asks for it, as the training sees it. The cases
// are those of the table in docs/checkpoints.md.

namespace {

using namespace training;
using file_support::contains;
using io_test::scratch;
using tautline::at_end;
using tautline::background_checkpoints;
using tautline::checkpoint_saver;
using tautline::every_steps;
using tautline::posix_files;
using tautline::stop_on_signal;
using tautline::try_monitored;

std::string all_of(tautline::error const& happened) {
  char words[2000];
  happened.write_to(words, sizeof words);
  return words;
}

/// Trains three steps and saves them.
void train(std::string const& folder) {
  background_checkpoints saved(folder);
  auto session = monitored(summing(), options{restore_from{saved}}, checkpoint_saver{saved, at_end});
  (void)session.run_steps(3, target<"train">);
  session.close();
}

/// What a training says that begins there.
template <class Graph, class... Hooks>
std::string refusal(std::string const& folder, Graph graph, Hooks... hooks) {
  background_checkpoints saved(folder);
  auto session = try_monitored(graph, options{restore_from{saved}}, checkpoint_saver{saved, at_end}, std::move(hooks)...);
  CHECK(session.completed_steps() == 0);
  return session.status().kind == error_kind::none ? "" : all_of(session.status());
}

struct counts {
  int count = 0;
  auto state() { return fields{field<"count">(count)}; }
  void after_run(auto&) { ++count; }
};

TEST_CASE("a checkpoint of another graph: all that differs is named") {
  scratch folder;
  train(folder / "saved");
  std::string const said = refusal(folder / "saved", tautline::static_graph{}
                                                         .variable<"v">(0.0)
                                                         .variable<"w">(std::array<float, 2>{})
                                                         .update<"train", "v">([](double& v) { v += 1; }));
  CHECK(contains(said, "is not of this training"));
  CHECK(contains(said, "variable/v is not in the checkpoint"));
  CHECK(contains(said, "variable/w is F32[] in the checkpoint and F32[2] here"));
  CHECK(contains(said, "input/x/position is in the checkpoint and not here"));
  CHECK(contains(said, "invalid_argument"));
}

#if TAUTLINE_EXCEPTIONS
TEST_CASE("the exception says all of that, too") {
  scratch folder;
  train(folder / "saved");
  background_checkpoints saved(folder / "saved");
  std::string said;
  try {
    auto session = monitored(summing(), options{restore_from{saved}}, checkpoint_saver{saved, every_steps{10} | at_end},
                             named<"mine">(counts{}));
  } catch (tautline::invalid_argument_error const& error) {
    said = error.what();
  }
  CHECK(contains(said, "the hook mine is not in the checkpoint (allow_changed_hooks takes it all the same; new hooks begin anew)"));
}
#endif

TEST_CASE("a hook that came, or went, is named, and the way to take the checkpoint all the same") {
  scratch folder;
  train(folder / "saved");
  std::string const came = refusal(folder / "saved", summing(), named<"mine">(counts{}));
  CHECK(contains(came, "the hook mine is not in the checkpoint (allow_changed_hooks takes it all the same"));
  {
    background_checkpoints saved(folder / "saved", {}, {.report = false, .allow_changed_hooks = true});
    auto session = monitored(summing(), options{restore_from{saved}}, checkpoint_saver{saved, at_end}, named<"mine">(counts{}));
    CHECK(session.completed_steps() == 3);
    (void)session.run(target<"train">);
  }
  std::string const went = refusal(folder / "saved", summing());
  CHECK(contains(went, "the hook mine is in the checkpoint and not here"));
}

TEST_CASE("a checkpoint of a newer format is refused: the training does not go back to an older one, or begin anew") {
  scratch folder;
  train(folder / "saved");
  std::string const file = folder / "saved/step-000000000003.json";
  std::string text = io_test::content(file);
  text.replace(text.find("\"format\": 1"), 11, "\"format\": 2");
  text.resize(text.find(",\n \"checksum\""));
  text += ",\n \"checksum\": \"crc32c:" + tautline::detail::hex(tautline::crc32c(text.data(), text.size())) + "\"\n}\n";
  io_test::write(file, text);
  CHECK(contains(refusal(folder / "saved", summing()), file + ": it has the format 2, and this library knows those up to 1"));
}

TEST_CASE("a checkpoint of an older format is resumed") {
  scratch folder;
  train(folder / "saved");
  std::string const data = io_test::content(folder / "saved/step-000000000003.safetensors");
  io_test::write(folder / "saved/step-000000000003.json", R"({
 "format": 0,
 "library": "tautline 0.0.1",
 "step": 3,
 "data": {"file": "step-000000000003.safetensors", "size": )" + std::to_string(data.size()) + R"(, "crc32c": ")" +
                                                              tautline::detail::hex(tautline::crc32c(data.data(), data.size())) + R"("},
 "tensors": [
  {"name": "variable/w", "group": "variable", "owner": "w", "field": "", "type": "F32", "shape": []},
  {"name": "input/x/position", "group": "input", "owner": "x", "field": "position", "type": "I32", "shape": []}
 ],
 "nodes": [],
 "hooks": []
}
)");
  background_checkpoints saved(folder / "saved", {}, {.report = false, .allow_changed_graph = true});
  auto session = monitored(summing(), options{restore_from{saved}}, checkpoint_saver{saved, at_end});
  CHECK(session.completed_steps() == 3);
  CHECK(session.run(target<"train">, fetch<"train">)[fetch<"train">] == 6);
}

TEST_CASE("a folder in use by another training is refused, with folder and process") {
  scratch folder;
  background_checkpoints first(folder / "saved");
  std::string const said = refusal(folder / "saved", summing());
  CHECK(contains(said, "busy"));
  CHECK(contains(said, folder / "saved"));
  CHECK(contains(said, std::to_string(::getpid())));
}

TEST_CASE("a folder that may not be written is refused when the training begins, not at the first saving") {
  file_support::folder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec |
                                                  std::filesystem::perms::others_read | std::filesystem::perms::others_exec);
  file_support::as_nobody const weak;
  std::string const said = refusal(folder / "saved", summing());
  CHECK(contains(said, folder / "saved"));
  CHECK(contains(said, "Permission denied"));
}

TEST_CASE("all checkpoints damaged: the training does not begin anew in silence") {
  scratch folder;
  train(folder / "saved");
  for (std::string const& name : io_test::names_in(folder / "saved")) {
    if (name.ends_with(".safetensors")) io_test::write(folder / ("saved/" + name), "nothing");
  }
  background_checkpoints saved(folder / "saved", {}, {.report = false});
  auto session = try_monitored(summing(), options{restore_from{saved}}, checkpoint_saver{saved, at_end});
  CHECK(contains(written(session.status()), "no checkpoint can be used"));
}

TEST_CASE("an input without elements: no step, nothing saved, the end is reached") {
  scratch folder;
  background_checkpoints saved(folder / "saved");
  auto session = monitored(summing(0), options{restore_from{saved}}, checkpoint_saver{saved, every_steps{1} | at_end});
  auto const done = session.run_to_completion(target<"train">);
  session.close();
  CHECK(done.steps == 0);
  CHECK(written(done.stop.reason) == "end of input");
  CHECK(saved.is_empty());
}

// --- signals ----------------------------------------------------------------------------------------------------------

/// Gets a signal whenever the data of a checkpoint are about to be written: the first of its three files.
struct signalled_files : posix_files {
  std::vector<int> signals;  ///< for each saving, 0: none
  std::size_t files = 0;
  explicit signalled_files(std::vector<int> given) : signals(std::move(given)) {}
  int create(char const* path, int& handle) {
    std::size_t const saving = files++ / 3;
    if (files % 3 == 1 && saving < signals.size() && signals[saving] != 0) ::raise(signals[saving]);
    return posix_files::create(path, handle);
  }
};

/// A training in a process of its own. @return how that ended
int status_of_training(std::string const& folder, std::vector<int> signals) {
  pid_t const child = ::fork();
  if (child == 0) {
    std::signal(SIGTERM, SIG_DFL);  // doctest has a handler of its own
    {
      background_checkpoints saved(folder, tautline::keep_all{}, {}, {}, signalled_files(std::move(signals)));
      auto session = monitored(summing(), options{restore_from{saved}}, stop_on_signal{}, checkpoint_saver{saved, every_steps{10} | at_end});
      (void)session.try_run_to_completion(target<"train">);
      (void)session.try_close();
    }
    ::_exit(0);
  }
  int how = -1;
  CHECK(::waitpid(child, &how, 0) == child);
  return how;
}

TEST_CASE("a signal in the middle of a saving: that one is finished, the training ends in good order and saves once more") {
  scratch folder;
  int const how = status_of_training(folder / "saved", {0, SIGTERM});
  CHECK(WIFEXITED(how));
  background_checkpoints saved(folder / "saved");
  auto session = monitored(summing(), options{restore_from{saved}}, stop_on_signal{}, checkpoint_saver{saved, every_steps{10} | at_end});
  CHECK(session.completed_steps() >= 20);
  CHECK(session.completed_steps() < 1000);
}

TEST_CASE("a second signal in the middle of a saving ends the process at once; afterwards the latest one loads") {
  scratch folder;
  int const how = status_of_training(folder / "saved", {0, SIGTERM, SIGTERM});
  CHECK(WIFSIGNALED(how));
  CHECK(WTERMSIG(how) == SIGTERM);
  background_checkpoints saved(folder / "saved");
  auto session = monitored(summing(), options{restore_from{saved}}, stop_on_signal{}, checkpoint_saver{saved, every_steps{10} | at_end});
  CHECK(session.completed_steps() == 20);
}

}  // namespace
