// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "training.hpp"

// What is saved of an object: how its values are seen, what they are called, and that they come back.

namespace {

using namespace training;
using tautline::tensor_view;
using tautline::view_tensor;

std::string form_of(tensor_view const& view) {
  std::string words = to_string(view.type);
  for (int i = 0; i < view.rank; ++i) words += (i == 0 ? " " : "x") + std::to_string(view.shape[i]);
  return words;
}
template <class Value>
std::string form(Value value) {
  tensor_view const view = view_tensor(value);
  CHECK((view.data != nullptr || view.element_count() == 0));
  return form_of(view);
}

enum class mode : std::uint8_t { slow, fast };
enum signed_mode : std::int16_t { one = 1 };

/// A matrix with Eigen's members, by columns or by rows.
template <bool RowMajor>
struct matrix {
  static constexpr bool IsRowMajor = RowMajor;
  std::vector<float> elements = std::vector<float>(6);
  [[nodiscard]] int rows() const { return 2; }
  [[nodiscard]] int cols() const { return 3; }
  [[nodiscard]] std::size_t size() const { return elements.size(); }
  float* data() { return elements.data(); }
};

TEST_CASE("numbers, bools, enumerations and bytes are scalars") {
  CHECK(form(true) == "BOOL");
  CHECK(form(1.0F) == "F32");
  CHECK(form(1.0) == "F64");
  CHECK(form(std::int8_t{1}) == "I8");
  CHECK(form(std::uint8_t{1}) == "U8");
  CHECK(form(std::int16_t{1}) == "I16");
  CHECK(form(std::uint16_t{1}) == "U16");
  CHECK(form(1) == "I32");
  CHECK(form(1U) == "U32");
  CHECK(form(std::int64_t{1}) == "I64");
  CHECK(form(std::uint64_t{1}) == "U64");
  CHECK(form(mode::fast) == "U8");
  CHECK(form(one) == "I16");
  CHECK(form(std::byte{7}) == "U8");
}

TEST_CASE("arrays and vectors have their shape, nested ones a dimension more each") {
  CHECK(form(std::array<float, 3>{}) == "F32 3");
  CHECK(form(std::array<std::array<int, 4>, 3>{}) == "I32 3x4");
  CHECK(form(std::vector<double>(5)) == "F64 5");
  CHECK(form(std::vector<std::array<float, 2>>(5)) == "F32 5x2");
  CHECK(form(std::vector<std::array<std::array<mode, 7>, 2>>(5)) == "U8 5x2x7");
  CHECK(form(std::string("words")) == "I8 5");
  float plain[2][3][4] = {};
  CHECK(form_of(view_tensor(plain)) == "F32 2x3x4");
  CHECK(view_tensor(plain).data == &plain[0][0][0]);
  std::array<float, 2> inner[3] = {};
  CHECK(form_of(view_tensor(inner)) == "F32 3x2");
  float some[4] = {};
  std::span<float> over(some);
  CHECK(form_of(view_tensor(over)) == "F32 4");
  CHECK(form(std::vector<float>(0)) == "F32 0");
}

TEST_CASE("a matrix is seen as it lies in memory") {
  CHECK(form(matrix<true>{}) == "F32 2x3");
  CHECK(form(matrix<false>{}) == "F32 3x2");
}

TEST_CASE("bytes and forms") {
  std::array<std::array<int, 4>, 3> value{};
  tensor_view const view = view_tensor(value);
  CHECK(view.element_count() == 12);
  CHECK(view.bytes() == 48);
  std::array<std::array<int, 3>, 4> other{};
  CHECK(view.same_form(view));
  CHECK_FALSE(view.same_form(view_tensor(other)));
  std::array<int, 12> flat{};
  CHECK_FALSE(view.same_form(view_tensor(flat)));
  std::array<std::array<float, 4>, 3> floats{};
  CHECK_FALSE(view.same_form(view_tensor(floats)));
}

// --- what hooks list ----------------------------------------------------------------------------------------------------

struct average {
  float mean = 0;
  int count = 0;
  auto state() { return fields{field<"mean">(mean), field<"count">(count)}; }
};
struct nested {
  average inner;
  average kept;
  bool seen = false;
  mode now = mode::slow;
  std::vector<std::array<float, 2>> history;
  float table[2][2] = {};
  auto state() {
    return fields{field<"inner">(inner),  kept_field<"kept">(kept),       field<"seen">(seen),
                  field<"mode">(now),     field<"history">(history), field<"table">(table)};
  }
  void close() {}
};
struct plain {
  int number = 0;
  auto state() { return fields{field<"number">(number)}; }
  void close() {}
};
template <class... Values>
struct of_values {
  int number = 0;
  auto state() { return fields{field<"number">(number)}; }
  void close() {}
};

template <class Session>
std::string listed(Session& session) {
  std::string words;
  session.raw().state().each([&](state_item const& item) {
    words += name_of(item) + " " + form_of(item.view) + (item.kept ? " kept" : "") + (item.resize != nullptr ? " resizable" : "") + "\n";
  });
  return words;
}

/// A graph with nothing to be saved.
auto empty_graph() { return tautline::static_graph{}.placeholder<"x">(0.0F); }

TEST_CASE("objects within objects are listed by path, and what is kept is so at any depth") {
  auto session = monitored(empty_graph(), named<"n">(nested{}));
  CHECK(listed(session) ==
        "hook/n/inner/mean F32\n"
        "hook/n/inner/count I32\n"
        "hook/n/kept/mean F32 kept\n"
        "hook/n/kept/count I32 kept\n"
        "hook/n/seen BOOL\n"
        "hook/n/mode U8\n"
        "hook/n/history F32 0x2 resizable\n"
        "hook/n/table F32 2x2\n");
}

TEST_CASE("hooks are known by name or type, of equal ones the second is #2") {
  plain outside;
  auto session = monitored(empty_graph(), plain{}, named<"a">(plain{}), plain{}, named<"b">(plain{}), std::ref(outside), plain{});
  std::string const type = std::string("hook/") + tautline::detail::type_name<plain>;
  CHECK(listed(session) == type + "/number I32\n" + "hook/a/number I32\n" + type + "#2/number I32\n" + "hook/b/number I32\n" +
                               type + "#3/number I32\n" + type + "#4/number I32\n");
}

TEST_CASE("ten hooks of one type have ten names") {
  auto session = monitored(empty_graph(), plain{}, plain{}, plain{}, plain{}, plain{}, plain{}, plain{}, plain{}, plain{}, plain{},
                           plain{});
  std::string const all = listed(session);
  CHECK(all.find("#9/number") != std::string::npos);
  CHECK(all.find("#10/number") != std::string::npos);
  CHECK(all.find("#11/number") != std::string::npos);
}

TEST_CASE("the names of hooks with long types are different") {
  using namespace tautline;
  using first = of_values<std::array<std::array<std::array<std::array<float, 1000>, 2000>, 3000>, 4000>, int>;
  using second = of_values<std::array<std::array<std::array<std::array<float, 1000>, 2000>, 3000>, 4000>, long>;
  auto session = monitored(empty_graph(), first{}, second{});
  std::string const all = listed(session);
  auto const end = all.find('\n');
  CHECK(all.substr(0, end) != all.substr(end + 1, all.size() - end - 2));
}

namespace {
template <class Part>
struct with_state_name {
  static constexpr auto state_name = tautline::fixed_string{"part"};
  int n = 0;
  auto state() { return fields{field<"n">(n)}; }
  void close() {}
};
}  // namespace

TEST_CASE("a class may say by which name its state is known, whatever its template arguments are") {
  auto session = monitored(summing(), with_state_name<int>{}, with_state_name<float>{}, named<"own">(with_state_name<char>{}));
  std::string const all = listed(session);
  for (char const* name : {"hook/part/n I32", "hook/part#2/n I32", "hook/own/n I32"}) CHECK(all.find(name) != std::string::npos);
}

TEST_CASE("the flags of triggers are listed with their hooks, only where there are any") {
  struct with {
    tautline::every_steps trigger{10};
    void close() {}
  };
  struct without {
    tautline::at_steps<1> trigger{10};
    void close() {}
  };
  auto session = monitored(empty_graph(), named<"with">(with{}), named<"without">(without{}));
  CHECK(listed(session) == "hook/with/(trigger) U64\n");
}

/// What a gate, a source, an op and an update list of themselves.
struct drawing {
  std::uint32_t random = 1;
  bool operator()(float& x) {
    random = random * 1664525U + 1013904223U;
    x = static_cast<float>(random >> 8);
    return true;
  }
  auto state() { return fields{field<"random">(random)}; }
};
struct momentum {
  float velocity = 0;
  float operator()(float& w, float x) {
    velocity = 0.5F * velocity + x;
    return w += velocity;
  }
  auto state() { return fields{field<"velocity">(velocity)}; }
};
struct weights {
  std::array<float, 3> layer{};
  float bias = 0;
  auto state() { return fields{field<"layer">(layer), field<"bias">(bias)}; }
};

TEST_CASE("of a graph: variables, parts of variables, and what the callables list") {
  auto session = monitored(tautline::static_graph{}
                               .variable<"w">(0.0F)
                               .variable<"model">(weights{})
                               .variable<"rows">(std::vector<float>(4))
                               .source<"x">(0.0F, drawing{})
                               .update<"train", "w", "x">(momentum{}));
  CHECK(listed(session) ==
        "variable/w F32\n"
        "variable/model/layer F32 3\n"
        "variable/model/bias F32\n"
        "variable/rows F32 4 resizable\n"
        "input/x/random U32\n"
        "input/train/velocity F32\n");
}

// --- there and back -----------------------------------------------------------------------------------------------------

/// Fills a `nested` in its third run.
struct filling : nested {
  void after_run(auto& ctx) {
    if (ctx.step() != 3) return;
    inner = {0.5F, 7};
    kept = {1.5F, 9};
    seen = true;
    now = mode::fast;
    history = {{1, 2}, {3, 4}, {5, 6}};
    table[1][0] = 42;
  }
};

TEST_CASE("everything comes back as it was, in the size that it had") {
  memory_store store;
  auto const graph = [] {
    return tautline::static_graph{}.variable<"rows">(std::vector<float>{}).update<"train", "rows">([](std::vector<float>& rows) {
      rows.push_back(static_cast<float>(rows.size()) * 10);
    });
  };
  {
    auto session = monitored(graph(), options{restore_from{store}}, filling{}, memory_saver{&store, tautline::every_steps{3}});
    (void)session.run_steps(4, target<"train">);
  }
  auto session = monitored(graph(), options{restore_from{store}}, filling{});
  auto& hook = session.hook<filling>();
  CHECK(hook.inner.mean == 0.5F);
  CHECK(hook.inner.count == 7);
  CHECK(hook.kept.count == 9);
  CHECK(hook.seen);
  CHECK(hook.now == mode::fast);
  REQUIRE(hook.history.size() == 3);
  CHECK(hook.history[2][1] == 6);
  CHECK(hook.table[1][0] == 42);
  CHECK(session.raw()[fetch<"rows">] == std::vector<float>{0, 10, 20});
}

TEST_CASE("a vector of arrays refuses a shape that its elements do not have") {
  std::vector<std::array<float, 2>> value(1);
  std::int64_t const wrong[] = {5, 3};
  std::int64_t const right[] = {5, 2};
  using traits = tautline::tensor_traits<std::vector<std::array<float, 2>>>;
  CHECK_FALSE(traits::resize(value, wrong));
  CHECK(value.size() == 1);
  CHECK(traits::resize(value, right));
  CHECK(value.size() == 5);
}

TEST_CASE("a name is cut where there is no room, and is never written beyond it") {
  state_item item;
  item.owner = "owner";
  item.field = "field";
  char room[10];
  CHECK(item.write_name(room, sizeof room) == 9);
  CHECK(std::string(room) == "variable/");
  CHECK(name_of(item) == "variable/owner/field");
}

}  // namespace
