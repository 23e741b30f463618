// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <tautline/core/error.hpp>
#include <tautline/sessions/tensorflow/connection.hpp>
#include <tautline/sessions/tensorflow/graph_parts.hpp>
#include <tautline/sessions/tensorflow/run_arrays.hpp>
#include <tautline/sessions/tensorflow/run_options.hpp>

TAUTLINE_BEGIN
namespace tensorflow {
namespace detail {

/// A finalized graph and its session in the engine, where that is: how one is made, and single runs beside the steps.
class connected_graph {
 public:
  explicit connected_graph(std::unique_ptr<graph_parts> parts) : parts_(std::move(parts)), done_(new_status()) {}

  [[nodiscard]] TF_Graph* graph() const { return parts_->graph.get(); }
  /// Null while none is open.
  [[nodiscard]] TF_Session* session() const { return session_.get(); }
  [[nodiscard]] session_settings const& settings() const { return parts_->settings; }
  /// The first error of importing or building.
  [[nodiscard]] status built() const { return parts_->first; }
  /// Keeps words for a status.
  [[nodiscard]] failure_memory& failures() { return parts_->failures; }

 protected:
  /// A run beside the steps. @param what it is, for the words of its error
  status run_beside(run_arrays& arrays, std::string what) {
    arrays.run(session_.get(), no_options(), nullptr, done_.get());
    return failures().take(done_.get(), std::move(what));
  }
  /// One target in a run of its own, beside the steps: a saver's, say.
  /// @param feed_into where `text` is fed, null for nowhere
  status run_alone(TF_Operation* target, std::string const& what, TF_Operation* feed_into = nullptr,
                   std::string_view text = {}) {
    if (session_ == nullptr) return {error_kind::cancelled, "the TensorFlow session is closed"};
    run_arrays arrays;
    if (feed_into != nullptr) {
      arrays.feed({feed_into, 0}, one_text(text));
    }
    for (auto const& [name, file] : parts_->assets) {
      arrays.feed(parts_->find_output(name), one_text(file));
    }
    arrays.run_target(target);
    return run_beside(arrays, what);
  }
  status read_alone(TF_Output from, tensor_handle& value, std::string const& what) {
    run_arrays arrays;
    arrays.fetch(from, 0);
    status const done = run_beside(arrays, what);
    if (done.ok()) value.reset(arrays.values()[0]);
    return done;
  }
  // A remote session is made by its first run, and what bounds that is the default of all its runs: so each of them
  // says that it has all the time of the world.
  static constexpr std::int64_t unlimited_ms = 1'000'000'000;
  [[nodiscard]] bool is_remote() const { return !settings().target.empty(); }
  [[nodiscard]] TF_Buffer const* no_options() {
    if (!is_remote()) return nullptr;
    if (no_options_ == nullptr) {
      std::string const bytes = run_options{.timeout_in_ms = unlimited_ms}.bytes();
      no_options_.reset(TF_NewBufferFromString(bytes.data(), bytes.size()));
    }
    return no_options_.get();
  }

  /// Precondition: no session is open.
  status connect() {
    connection const to{settings().target, settings().config, settings().connect_wait};
    session_.reset(to.open(graph(), done_.get()));
    return session_ != nullptr ? to.wait(session_.get(), graph(), done_.get(), failures())
                               : failures().take(done_.get(), "making a session on \"" + settings().target + "\"");
  }

  static tensor_handle one_text(std::string_view text) {
    tensor_handle made = new_text_tensor(nullptr, 0, 1);
    store_text(made.get(), 0, text);
    return made;
  }

  std::unique_ptr<graph_parts> parts_;
  status_handle done_;
  session_handle session_;
  buffer_handle no_options_{};
};

}  // namespace detail
}  // namespace tensorflow
TAUTLINE_END
