// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <tautline/sessions/tensorflow/ops.hpp>

// A graph and a session by the C API alone: what is built is looked at without anything else of the library.

namespace bare {

using namespace tautline::tensorflow;

/// The elements of a tensor, as numbers.
template <class T = float>
std::vector<T> elements(TF_Tensor* tensor) {
  auto const* const data = static_cast<T const*>(TF_TensorData(tensor));
  return std::vector<T>(data, data + TF_TensorElementCount(tensor));
}

struct built {
  detail::graph_parts parts;
  TF_Graph* graph = parts.graph.get();
  detail::building notes{parts};
  scope ops{notes};

  built() = default;
  built(built const&) = delete;
  ~built() { close(); }

  struct fed {
    output where;
    constant_value value;
  };

  /// Runs once; the message of an error goes to `message`.
  template <class T = float>
  std::vector<std::vector<T>> run(std::vector<output> const& fetches, std::vector<fed> const& feeds = {},
                                  std::vector<operation> const& targets = {}) {
    REQUIRE_MESSAGE(ops.status().ok(), std::string(ops.status().message));
    detail::call_status status;
    if (session == nullptr) {
      TF_SessionOptions* const options = TF_NewSessionOptions();
      session = TF_NewSession(graph, options, status.get());
      TF_DeleteSessionOptions(options);
      REQUIRE(status.ok());
    }
    std::vector<TF_Output> in, out;
    std::vector<TF_Tensor*> values, results(fetches.size());
    std::vector<TF_Operation const*> run;
    for (auto const& one : feeds) in.push_back(one.where.handle()), values.push_back(one.value.handle());
    for (auto const& one : fetches) out.push_back(one.handle());
    for (auto const& one : targets) run.push_back(one.handle());
    TF_SessionRun(session, nullptr, in.data(), values.data(), int(in.size()), out.data(), results.data(),
                  int(out.size()), run.data(), int(run.size()), nullptr, status.get());
    code = TF_GetCode(status.get());
    message = status.message();
    std::vector<std::vector<T>> found;
    for (TF_Tensor* const one : results) {
      if (one == nullptr) continue;
      if constexpr (std::is_same_v<T, std::string>) {
        auto const* const strings = static_cast<TF_TString const*>(TF_TensorData(one));
        found.emplace_back();
        for (std::int64_t i = 0; i < TF_TensorElementCount(one); ++i) {
          found.back().emplace_back(TF_StringGetDataPointer(&strings[i]), TF_StringGetSize(&strings[i]));
        }
      } else {
        found.push_back(elements<T>(one));
      }
      TF_DeleteTensor(one);
    }
    return found;
  }
  template <class T = float>
  std::vector<T> value(output const& of, std::vector<fed> const& feeds = {}) {
    auto found = run<T>({of}, feeds);
    REQUIRE_MESSAGE(code == TF_OK, message);
    return found.at(0);
  }
  void make(operation const& target) {
    run({}, {}, {target});
    REQUIRE_MESSAGE(code == TF_OK, message);
  }
  /// The next run is in a new session.
  void close() {
    if (session == nullptr) return;
    detail::call_status status;
    TF_CloseSession(session, status.get());
    TF_DeleteSession(std::exchange(session, nullptr), status.get());
  }

  TF_Session* session = nullptr;
  TF_Code code = TF_OK;
  std::string message;
};

using vec = std::vector<float>;

/// Equal up to rounding.
inline bool near(std::vector<float> const& a, std::vector<float> const& b, float tolerance = 1e-5f) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(a[i] - b[i]) <= tolerance * (1 + std::abs(b[i])))) return false;
  }
  return true;
}

}  // namespace bare
