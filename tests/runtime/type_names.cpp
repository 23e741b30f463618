// SPDX-License-Identifier: BSL-1.0
#include <string_view>

#include <doctest/doctest.h>

#include <tautline/core.hpp>

using namespace tautline;

template <fixed_string... Names>
struct watcher {
  struct inner {};
};
template <class...>
struct box {};
namespace mytautline {
struct hook {};
}
namespace {
struct local {};
void called() {}
template <auto Function>
struct calling {};
}

template <class Type>
std::string_view spelled() {
  return detail::type_name<Type>;
}

TEST_CASE("a type in a message is spelled as its user writes it, with every compiler") {
  CHECK(spelled<watcher<"loss">>() == "watcher<\"loss\">");
  CHECK(spelled<watcher<"loss", "a}b", "">>() == "watcher<\"loss\", \"a}b\", \"\">");
  CHECK(spelled<watcher<"loss">::inner>() == "watcher<\"loss\">::inner");
  CHECK(spelled<box<every_steps, watcher<"a">>>() == "box<every_steps, watcher<\"a\">>");
  CHECK(spelled<decltype(every_steps{} | at_end)>() == "joined_trigger<every_steps, at_end_trigger, false>");
  CHECK(spelled<mytautline::hook>() == "mytautline::hook");
  CHECK(spelled<calling<&called>>() == "calling<called>");
  CHECK(spelled<local>() == "local");
  // a lambda goes into keys of checkpoints: no line number, no path of a file
  auto const doubled = [](float x) { return 2 * x; };
  std::string_view const of_lambda = spelled<box<decltype(doubled), int>>();
  CHECK(of_lambda.starts_with("box<"));
  CHECK(of_lambda.ends_with("lambda, int>"));
  CHECK(of_lambda.find(".cpp") == std::string_view::npos);
}
