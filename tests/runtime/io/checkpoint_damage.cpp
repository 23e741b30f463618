// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include "disk.hpp"
#include "training.hpp"

using namespace tautline;
using namespace io_test;

namespace {

/// Two checkpoints, of which the second is the latest; small ones, since every byte of them is tried.
struct two_saved {
  disk where;
  std::string first;
  std::string second;

  struct training {
    float w[2]{};
    int count = 0;
    fake view{};
    training() {
      view.add(state_group::variable, "w", "", w);
      view.add(state_group::hook, "counter", "count", count);
    }
    [[nodiscard]] std::string bits() const {
      return {reinterpret_cast<char const*>(w), reinterpret_cast<char const*>(w + 2)};
    }
  };

  two_saved() {
    lines said;
    checkpoint_store store("run", keep_latest{}, said.options(), disk_files(where));
    training one;
    one.view.step = 1, one.w[1] = 1;
    REQUIRE(store.save(one.view.state()).ok());
    first = one.bits();
    one.view.step = 2, one.w[1] = 2;
    REQUIRE(store.save(one.view.state()).ok());
    second = one.bits();
    CHECK(said.all.empty());
  }

  /// Puts `text` into a file of it, and restores.
  /// @return whether the checkpoint `step` was found, and the file named with a reason
  [[nodiscard]] bool refuses(std::string const& name, std::string const& text, step_number step) {
    std::string const whole = std::exchange(where.now[name]->content, text);
    lines said;
    training to;
    bool good = false;
    {
      checkpoint_store store("run", keep_latest{}, said.options(), disk_files(where));
      restored const back = store.restore(to.view.state());
      good = back.found && back.result.ok() && back.step == step && to.bits() == (step == 1 ? first : second);
      good = good && said.all.size() == 1 && said.say("run/" + name + ": ") && said.all[0].size() > name.size() + 10;
    }
    where.now[name]->content = whole;
    return good;
  }
};

}  // namespace

TEST_CASE("a flipped bit in any byte of any file is noticed") {
  two_saved saved;
  for (auto const& [name, step] : {std::pair<char const*, step_number>{"step-000000000002.safetensors", 1},
                                   {"step-000000000002.json", 1},
                                   {"latest", 2}}) {
    std::string const whole = saved.where.now[name]->content;
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string text = whole;
      text[at] = static_cast<char>(text[at] ^ (1 << at % 8));
      CAPTURE(name);
      CAPTURE(at);
      CHECK(saved.refuses(name, text, step));
    }
  }
}

TEST_CASE("the digit of the format is no way round the checksum") {
  two_saved saved;
  std::string const whole = saved.where.now["step-000000000002.json"]->content;
  std::size_t const at = whole.find("\"format\": ") + 10;
  for (char digit = '0'; digit <= '9'; ++digit) {
    std::string text = whole;
    text[at] = digit;
    if (digit != whole[at]) CHECK(saved.refuses("step-000000000002.json", text, 1));
    // without its tail it would be one of format 0
    text.replace(text.find(",\n \"checksum\""), std::string::npos, "\n}\n");
    CHECK(saved.refuses("step-000000000002.json", text, 1));
  }
}

TEST_CASE("a file that ends early, wherever, is noticed") {
  two_saved saved;
  for (auto const& [name, step] : {std::pair<char const*, step_number>{"step-000000000002.safetensors", 1},
                                   {"step-000000000002.json", 1},
                                   {"latest", 2}}) {
    std::string const whole = saved.where.now[name]->content;
    for (std::size_t length = 0; length < whole.size(); ++length) {
      CAPTURE(name);
      CAPTURE(length);
      CHECK(saved.refuses(name, whole.substr(0, length), step));
    }
    CHECK(saved.refuses(name, whole + '\0', step));
    CHECK(saved.refuses(name, whole + '\n', step));
  }
}

TEST_CASE("a damaged value is named") {
  two_saved saved;
  std::string& text = saved.where.now["step-000000000002.safetensors"]->content;
  text.back() = static_cast<char>(text.back() ^ 1);
  lines said;
  checkpoint_store store("run", keep_latest{}, said.options(), disk_files(saved.where));
  two_saved::training to;
  CHECK(store.restore(to.view.state()).step == 1);
  REQUIRE(said.all.size() == 1);
  CHECK(said.all[0] == "run/step-000000000002.safetensors: its checksum is wrong: the values of hook/counter/count are damaged");
}

TEST_CASE("files that are gone are as good as damaged") {
  for (char const* name : {"step-000000000002.safetensors", "step-000000000002.json"}) {
    two_saved saved;
    saved.where.now.erase(name);
    lines said;
    checkpoint_store store("run", keep_latest{}, said.options(), disk_files(saved.where));
    two_saved::training to;
    CHECK(store.restore(to.view.state()).step == 1);
    CHECK(said.say(name));
    CHECK(said.say("No such file"));
  }
  two_saved saved;
  saved.where.now.erase("latest");
  lines said;
  checkpoint_store store("run", keep_latest{}, said.options(), disk_files(saved.where));
  two_saved::training to;
  CHECK(store.restore(to.view.state()).step == 2);
  CHECK(said.say("run/latest: it is not there"));
}

TEST_CASE("where none loads it is an error, with all reasons, and nothing is touched") {
  two_saved saved;
  for (char const* name : {"step-000000000002.safetensors", "step-000000000001.json"}) saved.where.now[name]->content += ' ';
  lines said;
  checkpoint_store store("run", keep_latest{}, said.options(), disk_files(saved.where));
  two_saved::training to;
  to.w[0] = 77;
  restored const back = store.restore(to.view.state());
  CHECK_FALSE(back.result.ok());
  CHECK_FALSE(back.found);
  CHECK(to.w[0] == 77);
  std::string const message = back.result.message;
  CHECK(message.starts_with("no checkpoint can be used: "));
  CHECK(message.find("run/step-000000000002.safetensors: it has ") != std::string::npos);
  CHECK(message.find("run/step-000000000001.json: it has no checksum") != std::string::npos);
  CHECK(said.all.size() == 2);
}

TEST_CASE("one that was found damaged does not count when old ones are removed") {
  two_saved saved;
  saved.where.now["step-000000000002.safetensors"]->content.back() ^= 1;
  lines said;
  checkpoint_store store("run", keep_latest{2}, said.options(), disk_files(saved.where));
  two_saved::training to;
  REQUIRE(store.restore(to.view.state()).step == 1);
  to.view.step = 3;
  REQUIRE(store.save(to.view.state()).ok());
  REQUIRE(store.entries().size() == 2);
  CHECK(store.entries()[0].step == 1);
  CHECK(store.entries()[1].step == 3);
}

TEST_CASE("a newer format is refused, not skipped") {
  two_saved saved;
  std::string& text = saved.where.now["step-000000000002.json"]->content;
  text.replace(text.find("\"format\": 1"), 11, "\"format\": 2");
  text.resize(text.find(",\n \"checksum\""));
  text += ",\n \"checksum\": \"crc32c:" + detail::hex(crc32c(text.data(), text.size())) + "\"\n}\n";
  lines said;
  checkpoint_store store("run", keep_latest{}, said.options(), disk_files(saved.where));
  two_saved::training to;
  restored const back = store.restore(to.view.state());
  CHECK(back.result.kind == error_kind::invalid_argument);
  CHECK(std::string(back.result.message) ==
        "run/step-000000000002.json: it has the format 2, and this library knows those up to 1");
}

TEST_CASE("a checkpoint of format 0 is still read") {
  disk where;
  float w[2]{3, 4};
  int count = 5;
  std::vector<named_tensor> const tensors{{"variable/w", view_tensor(w)}, {"hook/counter/count", view_tensor(count)}};
  safetensors_layout const layout = lay_out_safetensors(tensors);
  std::string data = layout.head;
  for (std::size_t const index : layout.order) {
    data.append(static_cast<char const*>(tensors[index].view.data), tensors[index].view.bytes());
  }
  auto const put = [&](char const* name, std::string const& text) {
    where.now[name] = std::make_shared<disk::inode>(disk::inode{text, text});
  };
  put("step-000000000009.safetensors", data);
  put("step-000000000009.json", R"({
 "format": 0,
 "library": "tautline 0.0.1",
 "step": 9,
 "data": {"file": "step-000000000009.safetensors", "size": )" + std::to_string(data.size()) + R"(, "crc32c": ")" +
                                    detail::hex(crc32c(data.data(), data.size())) + R"("},
 "tensors": [
  {"name": "variable/w", "group": "variable", "owner": "w", "field": "", "type": "F32", "shape": [2]},
  {"name": "hook/counter/count", "group": "hook", "owner": "counter", "field": "count", "type": "I32", "shape": []}
 ],
 "nodes": [],
 "hooks": ["counter"]
}
)");
  put("latest", "step-000000000009.json\n");
  lines said;
  two_saved::training to;
  {
    checkpoint_store store("run", keep_latest{}, said.options(), disk_files(where));
    restored const back = store.restore(to.view.state());
    CHECK(std::string(back.result.message) == "");
    CHECK(back.found);
    CHECK(back.step == 9);
    CHECK(to.w[1] == 4);
    CHECK(to.count == 5);
    CHECK(said.all.empty());
    to.view.step = 10;
    REQUIRE(store.save(to.view.state()).ok());
    CHECK(store.entries().back().step == 10);
  }
  where.now["step-000000000009.safetensors"]->content.back() ^= 1;
  where.now["latest"]->content = "step-000000000009.json\n";
  checkpoint_store store("run", keep_latest{}, said.options(), disk_files(where));
  CHECK(store.restore(to.view.state()).step == 10);
  CHECK(said.say("step-000000000009.safetensors: its checksum is wrong"));
}
