// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <limits>

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
  REQUIRE(store.restore(to.state()).found);
  CHECK(to.retries == 6);
  CHECK(to.best == from.best);
}
