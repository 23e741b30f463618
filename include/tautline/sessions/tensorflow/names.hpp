// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tautline/sessions/tensorflow/status.hpp>

// Names of a graph: "loss:0" is the first output of the operation "loss", which may also be written without ":0".

TAUTLINE_BEGIN
namespace tensorflow {
namespace detail {

/// Calls `visit(TF_Operation*)` for each operation, in the order in which they were added.
template <class Visit>
void each_operation(TF_Graph* graph, Visit visit) {
  std::size_t place = 0;
  while (TF_Operation* const found = TF_GraphNextOperation(graph, &place)) visit(found);
}

/// These, and all operations from which values reach them, each once, the nearest first.
/// @param with_controls also those that they merely wait for: then it is all that runs with them
inline std::vector<TF_Operation*> operations_before(std::vector<TF_Operation*> starts, bool with_controls) {
  std::vector<TF_Operation*> found;
  std::set<TF_Operation*> seen;
  auto const add = [&](TF_Operation* one) {
    if (seen.insert(one).second) found.push_back(one);
  };
  for (TF_Operation* const start : starts) add(start);
  std::vector<TF_Operation*> controls;
  for (std::size_t at = 0; at < found.size(); ++at) {
    TF_Operation* const each = found[at];
    for (int i = 0; i < TF_OperationNumInputs(each); ++i) add(TF_OperationInput({each, i}).oper);
    if (!with_controls) continue;
    controls.resize(static_cast<std::size_t>(TF_OperationNumControlInputs(each)));
    TF_OperationGetControlInputs(each, controls.data(), static_cast<int>(controls.size()));
    for (TF_Operation* const one : controls) add(one);
  }
  return found;
}

/// Whether an operation is a variable: of the resource kind, or of the older one, whose output is a reference.
inline bool is_variable(TF_Operation* operation) {
  std::string_view const type = TF_OperationOpType(operation);
  return type == "VarHandleOp" || type == "VariableV2" || type == "Variable";
}

/// "loss:0" in two; -1 stands for a name without an output.
inline std::pair<std::string, int> split_name(std::string_view name) {
  std::size_t const colon = name.rfind(':');
  if (colon == std::string_view::npos) return {std::string(name), -1};
  int index = -1;
  std::string_view const digits = name.substr(colon + 1);
  auto const [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (failed != std::errc{} || end != digits.data() + digits.size() || index < 0) return {std::string(name), -1};
  return {std::string(name.substr(0, colon)), index};
}

/// How many letters have to be changed, left out or added to make one of the other (Levenshtein).
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t const replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

/// How far a name is from what was asked for. Scopes are left out easily, so the last part of a path counts by itself.
inline std::size_t name_distance(std::string_view asked, std::string_view name) {
  auto const last = [](std::string_view path) { return path.substr(path.rfind('/') + 1); };
  std::size_t distance = 2 * std::min(edit_distance(asked, name), edit_distance(last(asked), last(name)) + 1);
  if (!asked.empty() && name.find(asked) != std::string_view::npos) distance = std::min<std::size_t>(distance, 3);
  return distance;
}

/// The names of the graph that are likest to `asked`, at most five, in one line: `"loss", "train/loss"`.
/// @param fits a test of an operation
template <class Fits>
std::string near_names(TF_Graph* graph, std::string_view asked, Fits fits) {
  std::vector<std::pair<std::size_t, std::string_view>> found;
  std::size_t const most = 2 * std::max<std::size_t>(2, asked.size() / 2);
  each_operation(graph, [&](TF_Operation* operation) {
    std::string_view const name = TF_OperationName(operation);
    if (!fits(operation) || name.starts_with("tautline/")) return;
    if (std::size_t const distance = name_distance(asked, name); distance <= most) found.emplace_back(distance, name);
  });
  std::sort(found.begin(), found.end());
  if (found.size() > 5) found.resize(5);
  std::string words;
  for (auto const& [distance, name] : found) words.append(words.empty() ? "\"" : ", \"").append(name).append("\"");
  return words;
}

/// `the graph has no "los"; near: "loss", "train/loss"`
template <class Fits>
std::string no_such_name(TF_Graph* graph, std::string_view what, std::string_view asked, Fits fits) {
  std::string words = std::string(what) + ": the graph has no \"" + std::string(asked) + "\"";
  std::string const near = near_names(graph, split_name(asked).first, fits);
  return words + (near.empty() ? "; no name is like it" : "; near: " + near);
}

/// The first five names of a list, in one line.
inline std::string listed(std::vector<std::string> const& names) {
  std::string words;
  for (std::size_t i = 0; i < names.size() && i < 5; ++i) words += (words.empty() ? "\"" : ", \"") + names[i] + "\"";
  if (names.size() > 5) words += " and " + std::to_string(names.size() - 5) + " more";
  return words;
}

/// "[?,64]" of a shape; "of any shape" where the rank is not known.
inline std::string shape_text(std::int64_t const* shape, int rank) {
  if (rank < 0) return "of any shape";
  std::string words = "[";
  for (int i = 0; i < rank; ++i) {
    if (i > 0) words += ',';
    words += shape[i] < 0 ? "?" : std::to_string(shape[i]);
  }
  return words + "]";
}

}  // namespace detail
}  // namespace tensorflow
TAUTLINE_END
