// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <limits>

#include <functional>

#include <tautline/hooks/any_hook.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "training.hpp"

using namespace tautline;
using namespace io_test;

TEST_CASE("what is saved is found again, bit by bit") {
  scratch folder;
  small_training from;
  from.at_step(7);
  {
    checkpoint_store store(folder.path);
    REQUIRE(store.status().ok());
    store.metadata().set("accuracy", 0.75);
    saved_checkpoint const done = store.save(from.state());
    CHECK(done.message == "");
    REQUIRE(done.ok());
    CHECK(done.manifest_file == folder / "step-000000000007.json");
    CHECK(store.last_step() == 7);
  }
  CHECK(names_in(folder.path) ==
        std::vector<std::string>{".lock", "latest", "step-000000000007.json", "step-000000000007.safetensors"});
  small_training to;
  to.history.clear();
  checkpoint_store store(folder.path);
  restored const back = store.restore(to.state());
  CHECK(std::string(back.result.message) == "");
  CHECK(back.found);
  CHECK(back.step == 7);
  CHECK(to.bits() == from.bits());
  REQUIRE(store.entries().size() == 1);
  CHECK(store.entries()[0].metadata.number("accuracy") == 0.75);
}

TEST_CASE("a folder without a checkpoint is no error") {
  scratch folder;
  small_training training;
  std::string const before = training.bits();
  lines said;
  checkpoint_store store(folder / "a/b/c", keep_latest{}, said.options());
  restored const back = store.restore(training.state());
  CHECK(back.result.ok());
  CHECK_FALSE(back.found);
  CHECK(training.bits() == before);
  CHECK(said.all.empty());
}

TEST_CASE("equal trainings write equal files") {
  scratch one, two;
  for (scratch const* folder : {&one, &two}) {
    small_training training;
    training.at_step(3);
    checkpoint_store store(folder->path);
    REQUIRE(store.save(training.state()).ok());
  }
  for (char const* name : {"latest", "step-000000000003.json", "step-000000000003.safetensors"}) {
    CHECK(content(one / name) == content(two / name));
  }
}

TEST_CASE("a value that is kept comes back at a fresh start and stays when a running training goes back") {
  scratch folder;
  small_training from;
  from.at_step(5);
  {
    checkpoint_store store(folder.path);
    REQUIRE(store.save(from.state()).ok());
  }
  small_training to;
  checkpoint_store store(folder.path);
  REQUIRE(store.restore(to.state()).found);
  CHECK(to.retries == 5);
  to.retries = 6, to.best = 0;
  to.view.running = true;
  REQUIRE(store.restore(to.state()).found);
  CHECK(to.retries == 6);
  CHECK(to.best == from.best);
}

namespace {

/// What `restore` says when the training has changed since: all of it, and the training stays as it is.
std::string refusal(scratch const& folder, small_training& training, checkpoint_options options = {}) {
  std::string const before = training.bits();
  checkpoint_store store(folder.path, keep_latest{}, std::move(options));
  restored const back = store.restore(training.state());
  CHECK_FALSE(back.result.ok());
  CHECK_FALSE(back.found);
  CHECK(training.bits() == before);
  return back.result.message;
}
void save_one(scratch const& folder) {
  small_training training;
  training.at_step(4);
  checkpoint_store store(folder.path);
  REQUIRE(store.save(training.state()).ok());
}
bool has(std::string const& text, std::string const& words) { return text.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("variables that are missing, new, or of another shape or type are all named") {
  scratch folder;
  save_one(folder);
  small_training other;
  float scale = 1;
  double w[3][2]{};
  float bias[1]{};
  other.view.items.erase(other.view.items.begin() + 2);  // history
  other.view.items[0].view = view_tensor(w);
  other.view.items[1].view = view_tensor(bias);
  other.view.add(state_group::variable, "scale", "", scale);
  std::string const said = refusal(folder, other);
  CHECK(has(said, folder / "step-000000000004.json is not of this training: "));
  CHECK(has(said, "variable/w is F32[2, 3] in the checkpoint and F64[3, 2] here"));
  CHECK(has(said, "variable/bias is F64[] in the checkpoint and F32[1] here"));
  CHECK(has(said, "variable/scale is not in the checkpoint"));
  CHECK(has(said, "variable/history is in the checkpoint and not here"));
}

TEST_CASE("the list of differences does not grow without bounds") {
  scratch folder;
  save_one(folder);
  small_training other;
  static std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back("extra" + std::to_string(i));
  float value = 0;
  for (std::string const& name : names) other.view.add(state_group::variable, name.c_str(), "", value);
  CHECK(has(refusal(folder, other), "; and 80 more"));
}

TEST_CASE("hooks that came or went are named, and allowed only when that is said") {
  scratch folder;
  save_one(folder);
  float worst = 2;
  auto const change = [&](small_training& other) {
    other.view.items.pop_back();  // roll_back
    other.view.add(state_group::hook, "plateau", "worst", worst);
  };
  small_training other;
  change(other);
  std::string const said = refusal(folder, other);
  CHECK(has(said, "the hook roll_back is in the checkpoint and not here"));
  CHECK(has(said, "the hook plateau is not in the checkpoint"));
  CHECK(has(said, "allow_changed_hooks"));

  small_training again;
  change(again);
  lines notes;
  checkpoint_options options = notes.options();
  options.allow_changed_hooks = true;
  checkpoint_store store(folder.path, keep_latest{}, options);
  CHECK(store.restore(again.state()).step == 4);
  CHECK(again.best == 0.25f);
  CHECK(worst == 2);
  CHECK(notes.say("the hook plateau is not in the checkpoint"));
}

TEST_CASE("a field that a hook has lost or changed is an error, whatever is allowed") {
  scratch folder;
  save_one(folder);
  small_training other;
  double best = 0;
  other.view.items[5].view = view_tensor(best);
  other.view.items.erase(other.view.items.begin() + 6);  // seen
  checkpoint_options options;
  options.allow_changed_hooks = options.allow_changed_graph = true;
  std::string const said = refusal(folder, other, options);
  CHECK(has(said, "hook/early_stopping<\"loss\">/best is F32[] in the checkpoint and F64[] here"));
  CHECK(has(said, "hook/early_stopping<\"loss\">/seen is in the checkpoint and not here"));
}

namespace {
struct patience {
  int waited = 0;
  auto state() { return fields{field<"waited">(waited)}; }
  void after_run(auto&) { ++waited; }
};
struct plateau : patience {};
}  // namespace

TEST_CASE("of a slot with another hook, or without one, the hook is named") {
  scratch folder;
  checkpoint_store store(folder.path);
  auto const graph = [] { return static_graph{}.variable<"w">(0.0F).update<"train", "w">([](float& w) { w += 1; }); };
  auto const said_with = [&](auto install) {
    any_hook<> slot;
    install(slot);
    auto session = try_monitored(graph(), options{restore_from{store}}, named<"slot">(std::ref(slot)));
    char said[1000];
    session.status().message.write_to(said, sizeof said);
    return std::string(said);
  };
  {
    any_hook<> slot;
    slot.install(patience{});
    auto session = monitored(graph(), named<"slot">(std::ref(slot)));
    (void)session.run(target<"train">);
    REQUIRE(store.save(session.raw().state()).ok());
  }
  CHECK(said_with([](auto& slot) { slot.install(patience{}); }) == "");
  std::string const other = said_with([](auto& slot) { slot.install(plateau{}); });
  CHECK(has(other, "hook/slot/plateau/waited is not in the checkpoint"));
  CHECK(has(other, "hook/slot/patience/waited is in the checkpoint and not here"));
  CHECK(has(said_with([](auto&) {}), "the hook slot is in the checkpoint and not here"));
}

TEST_CASE("nodes that differ are listed, and allowed only when that is said") {
  scratch folder;
  save_one(folder);
  static constexpr char const* inputs[] = {"bias", "w"};
  auto const change = [&](small_training& other) {
    other.view.nodes[2].inputs = inputs;
    other.view.nodes.push_back(other.view.nodes[0]);
    other.view.nodes[3].name = "accuracy", other.view.nodes[3].kind = "op";
    other.view.nodes[1].kind = "placeholder";
    other.view.nodes[0].form.type = element_type::F64;
  };
  small_training other;
  change(other);
  std::string const said = refusal(folder, other);
  CHECK(has(said, "the node loss had the inputs (w, bias) and has (bias, w)"));
  CHECK(has(said, "the node accuracy is new"));
  CHECK(has(said, "the node bias was of the kind variable and is of the kind placeholder"));
  CHECK(has(said, "the node w was F32[2, 3] and is F64[2, 3]"));
  CHECK(has(said, "allow_changed_graph"));
  small_training gone;
  gone.view.nodes.erase(gone.view.nodes.begin());
  CHECK(has(refusal(folder, gone), "the node w is gone"));
  small_training order;
  std::swap(order.view.nodes[0], order.view.nodes[1]);
  CHECK(has(refusal(folder, order), "its nodes stand in another order"));

  small_training again;
  change(again);
  checkpoint_options options;
  options.allow_changed_graph = true;
  options.report = false;
  checkpoint_store store(folder.path, keep_latest{}, options);
  CHECK(store.restore(again.state()).step == 4);
}

TEST_CASE("extents of values that grow are no difference, and are put back") {
  scratch folder;
  save_one(folder);
  small_training other;
  other.history.assign(100, 7.f);
  other.view.nodes[0].form.shape[0] = 9;  // what a node had in a batch of another size
  checkpoint_store store(folder.path);
  CHECK(store.restore(other.state()).step == 4);
  CHECK(other.history == std::vector<float>(4, 4.f));
}

TEST_CASE("if one shape cannot be put back, nothing has been changed") {
  scratch folder;
  save_one(folder);
  small_training other;
  other.at_step(3);
  std::vector<float> second(3, 5.f);
  {
    checkpoint_store store(folder.path);
    small_training with;
    std::vector<float> eight(8, 1.f);
    with.at_step(4);
    with.view.add(state_group::variable, "zz", "", eight);
    REQUIRE(store.save(with.state()).ok());
  }
  other.view.add(state_group::variable, "zz", "", second);
  other.view.items.back().resize = [](void*, std::int64_t const*, tensor_view&) { return false; };
  CHECK(has(refusal(folder, other), "variable/zz is F32[8] in the checkpoint and cannot become that here, it is F32[3]"));
  CHECK(second == std::vector<float>(3, 5.f));
}

TEST_CASE("what is not finite is never saved as the latest") {
  for (double const bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity()}) {
    scratch folder;
    save_one(folder);
    auto const before = names_in(folder.path);
    small_training training;
    training.at_step(5);
    checkpoint_store store(folder.path);
    training.bias = bad;
    saved_checkpoint done = store.save(training.state());
    CHECK(done.not_finite());
    CHECK(done.message == "variable/bias is not finite (element 0 of 1): step 5 is not saved");
    training.bias = 0;
    training.w[1][1] = static_cast<float>(bad);
    done = store.save(training.state());
    CHECK(done.message == "variable/w is not finite (element 4 of 6): step 5 is not saved");
    CHECK(names_in(folder.path) == before);
    training.w[1][1] = 0;
    training.best = static_cast<float>(bad);  // a hook may well have seen one
    CHECK(store.save(training.state()).ok());
  }
}

TEST_CASE("every kind of element and every place is looked at") {
  std::vector<float> many(5000, 1.f);
  std::vector<double> wide(3000, 1.);
  std::vector<std::uint16_t> half(3000, 0x3c00);
  for (std::size_t const at : {std::size_t{0}, std::size_t{1023}, std::size_t{1024}, std::size_t{2999}}) {
    many[at] = std::numeric_limits<float>::infinity();
    CHECK(detail::find_not_finite(view_tensor(many)) == at);
    many[at] = std::numeric_limits<float>::max();
    wide[at] = std::numeric_limits<double>::quiet_NaN();
    CHECK(detail::find_not_finite(view_tensor(wide)) == at);
    wide[at] = -1e308;
    tensor_view narrow = view_tensor(half);
    narrow.type = element_type::F16;
    half[at] = 0xfc00;
    CHECK(detail::find_not_finite(narrow) == at);
    half[at] = 0x7bff;
    CHECK(detail::find_not_finite(narrow) == half.size());
    narrow.type = element_type::BF16;
    half[at] = 0x7fc0;
    CHECK(detail::find_not_finite(narrow) == at);
    half[at] = 0x3f80;
    CHECK(detail::find_not_finite(narrow) == half.size());
  }
  CHECK(detail::find_not_finite(view_tensor(many)) == many.size());
  CHECK(detail::find_not_finite(view_tensor(wide)) == wide.size());
}

TEST_CASE("a folder in use is refused, with folder and process, and free again afterwards") {
  scratch folder;
  {
    checkpoint_store first(folder.path);
    REQUIRE(first.status().ok());
    checkpoint_store second(folder.path + "/");
    CHECK(second.status().kind == error_kind::busy);
    CHECK(second.status().message == "the folder of checkpoints " + folder.path + " is in use by process " +
                                         std::to_string(::getpid()) + "; two trainings cannot share one");
    small_training training;
    CHECK(second.save(training.state()).kind == error_kind::busy);
    CHECK(second.restore(training.state()).result.kind == error_kind::busy);
    CHECK(first.save(training.state()).ok());
    checkpoint_options only_reads;
    only_reads.read_only = true;
    checkpoint_store third(folder.path, keep_latest{}, only_reads);
    CHECK(third.load().found);
    CHECK(third.save(training.state()).message == "a store that only reads cannot save");
  }
  CHECK(checkpoint_store(folder.path).status().ok());
}

TEST_CASE("what cannot be a folder is refused with the reason") {
  scratch folder;
  write(folder / "file", "x");
  CHECK(checkpoint_store(folder / "file").status().message ==
        "the folder of checkpoints " + folder / "file" + " cannot be made: Not a directory");
  CHECK(has(checkpoint_store(folder / "file/below").status().message, "cannot be made: Not a directory"));
}

TEST_CASE("what dead processes have left is removed when the folder is opened, and nothing else") {
  scratch folder;
  save_one(folder);
  write(folder / ".tautline-tmp-12345-1-latest", "half");
  write(folder / "step-000000000009.safetensors", "never got its manifest");
  write(folder / "step-000000000004-7.safetensors", "replaced");
  write(folder / "notes.txt", "mine");
  write(folder / "step-000000000008.json", "damaged");
  write(folder / "step-000000000008.safetensors", "somebody may want to look at it");
  checkpoint_store store(folder.path);
  CHECK(names_in(folder.path) == std::vector<std::string>{".lock", "latest", "notes.txt", "step-000000000004.json",
                                                          "step-000000000004.safetensors", "step-000000000008.json",
                                                          "step-000000000008.safetensors"});
}

TEST_CASE("a training that was taken back: the newest saving counts, not the highest step") {
  scratch folder;
  small_training training;
  checkpoint_store store(folder.path, keep_latest{2});
  for (step_number const step : {100, 200, 300, 150}) {
    training.at_step(step);
    REQUIRE(store.save(training.state()).ok());
  }
  REQUIRE(store.entries().size() == 2);
  CHECK(store.entries()[0].step == 300);
  CHECK(store.entries()[1].step == 150);
  CHECK(store.restore(training.state()).step == 150);
}

TEST_CASE("a step that is saved again is replaced") {
  scratch folder;
  small_training training;
  checkpoint_store store(folder.path);
  for (int i = 0; i < 3; ++i) {
    training.at_step(6);
    REQUIRE(store.save(training.state()).ok());
  }
  CHECK(names_in(folder.path).size() == 4);
  std::string const bits = training.bits();
  training.at_step(9);
  CHECK(store.restore(training.state()).step == 6);
  CHECK(training.bits() == bits);
}

TEST_CASE("metadata and time come back, and no number of it is lost") {
  scratch folder;
  small_training training;
  training.at_step(1);
  checkpoint_options options;
  options.clock = [] { return std::int64_t{1'700'000'000}; };
  {
    checkpoint_store store(folder.path, keep_latest{}, options);
    store.metadata().set("loss", 0.1 + 0.2);
    store.metadata().set("nan", std::numeric_limits<double>::quiet_NaN());
    store.metadata().set("note", "a \"quoted\" line\n");
    REQUIRE(store.save(training.state()).ok());
    store.metadata().set("note", "\xff");
    training.view.step = 2;
    CHECK(store.save(training.state()).message == "a name of the graph or of the metadata is not UTF-8");
  }
  checkpoint_store store(folder.path);
  loaded_checkpoint const found = store.load();
  REQUIRE(found.found);
  CHECK(found.manifest.step == 1);
  CHECK(found.manifest.time == 1'700'000'000);
  CHECK(found.manifest.metadata.number("loss") == 0.1 + 0.2);
  CHECK(found.manifest.metadata.number("nan") != found.manifest.metadata.number("nan"));
  CHECK(found.manifest.metadata.words("note") == "a \"quoted\" line\n");
  CHECK(found.manifest.hooks == std::vector<std::string>{"early_stopping<\"loss\">", "roll_back"});
  CHECK(found.manifest.nodes.size() == 3);
  CHECK(found.manifest.library == "tautline 0.1.0");
}

TEST_CASE("a snapshot is a copy, and its memory stays") {
  small_training training;
  training.at_step(1);
  checkpoint_snapshot snapshot;
  REQUIRE(snapshot.reserve(training.state()));
  CHECK_FALSE(snapshot.is_taken());
  REQUIRE(snapshot.take(training.state()));
  void const* const place = snapshot.items()[0].view.data;
  CHECK(reinterpret_cast<std::uintptr_t>(place) % 64 == 0);
  training.at_step(2);
  scratch folder;
  checkpoint_store store(folder.path);
  CHECK(store.save(std::move(snapshot)).step == 1);
  REQUIRE(snapshot.take(training.state()));
  CHECK(snapshot.items()[0].view.data == place);
  CHECK(snapshot.step() == 2);
  checkpoint_snapshot moved = std::move(snapshot);
  CHECK_FALSE(store.save(snapshot).ok());  // NOLINT(bugprone-use-after-move): there is nothing in it
  CHECK(store.save(moved).ok());
}

TEST_CASE("what a trigger remembers may be missing on either side: another trigger is no other hook") {
  for (bool const in_checkpoint : {false, true}) {
    CAPTURE(in_checkpoint);
    scratch folder;
    std::uint64_t flags = 1;
    small_training with, without;
    with.view.add(tautline::state_group::hook, "logger", tautline::trigger_field, flags);
    small_training& from = in_checkpoint ? with : without;
    small_training& to = in_checkpoint ? without : with;
    from.at_step(5);
    {
      checkpoint_store store(folder.path);
      REQUIRE(store.save(from.state()).ok());
    }
    checkpoint_store store(folder.path);
    restored const back = store.restore(to.state());
    CHECK_MESSAGE(back.found, back.result.message);
    CHECK(to.best == from.best);
  }
}
