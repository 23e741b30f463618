// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/hooks/off_thread.hpp>

#include <atomic>
#include <mutex>
#include <ranges>

#include <tautline/hooks/detail/inside.hpp>

// A run as it is seen later, on another thread: what of it was asked for, copied.

TAUTLINE_BEGIN
namespace detail {

/// Values that only point to what the backend has are no copies: spans, views of text, pointers.
template <class Value>
concept points_elsewhere = std::is_pointer_v<Value> || std::is_same_v<Value, tensor_view> ||
                           (std::ranges::range<Value&> && std::ranges::view<Value>) ||
                           requires { requires bool(Value::points_elsewhere); };
template <class Value>
concept can_be_recorded = std::is_trivially_copyable_v<Value> && !points_elsewhere<Value>;

template <std::size_t Index, class Fetch, class Value>
struct recorded_leaf {
  Value value;
};

/// The values of one run, as a plain object.
template <class Indices, class Fetches, class... Values>
struct recorded_data;
template <std::size_t... Index, class... Fetches, class... Values>
struct recorded_data<std::index_sequence<Index...>, type_list<Fetches...>, Values...>
    : recorded_leaf<Index, Fetches, Values>... {};

template <class Values, class Fetches>
struct recorded_types;
template <class Values, fixed_string... Names, class... Types>
struct recorded_types<Values, type_list<fetch_t<Names, Types>...>> {
  using fetches = type_list<fetch_t<Names, Types>...>;
  template <fixed_string Name>
  using value_type = std::remove_cvref_t<decltype(std::declval<Values&>()[fetch<Name>])>;
  static constexpr bool can_be_copied = (true && ... && can_be_recorded<value_type<Names>>);

  using data = recorded_data<std::make_index_sequence<sizeof...(Names)>, fetches, value_type<Names>...>;
  static data copy(Values& values) { return {{values[fetch<Names>]}...}; }
};

/// As `run_values`, over copies.
template <class Data, class Fetches>
class recorded_values {
 public:
  explicit recorded_values(Data const& data) : data_(&data) {}

  template <fixed_string Name>
  [[nodiscard]] auto const& get() const {
    using verdict = decltype(check_asked_for<Name>(Fetches{}));
    if constexpr (verdict::good) {
      return found<Name>(*data_);
    } else {
      verdict::say();
      return nothing;
    }
  }
  template <fixed_string Name, class Type>
  [[nodiscard]] auto const& operator[](fetch_t<Name, Type>) const {
    return get<Name>();
  }
  template <fixed_string Name, class Type>
  [[nodiscard]] bool has(fetch_t<Name, Type>) const {
    return true;
  }
  template <class Visit>
  void each(Visit visit) const {
    each_of(visit, Fetches{});
  }

 private:
  static constexpr rejected nothing{};
  template <fixed_string Name, std::size_t Index, class Type, class Value>
  static Value const& found(recorded_leaf<Index, fetch_t<Name, Type>, Value> const& leaf) {
    return leaf.value;
  }
  template <class Visit, fixed_string... Names, class... Types>
  void each_of(Visit& visit, type_list<fetch_t<Names, Types>...>) const {
    (visit(name_of<Names>, this->template get<Names>()), ...);
  }
  Data const* data_;
};

/// What the worker and the session tell each other besides records.
struct off_thread_messages {
  std::mutex mutex;  // the worker's, and of what is not a step
  stop_handle stop;
  bool stopped = false;
  char reason[copied::capacity] = "";
  std::atomic<bool> failed{false};
  error_kind kind = error_kind::none;
  char message[160] = "";

  void request_stop(text words) {
    std::lock_guard const lock(mutex);
    stop.request_stop(words);
  }
  void request_stop(copied const& words) {
    std::lock_guard const lock(mutex);
    if (!stopped) writer(reason, sizeof reason).put(words.characters);
    stopped = true;
    stop.request_stop(text::of_lasting(reason));
  }
  [[nodiscard]] bool stop_requested() {
    std::lock_guard const lock(mutex);
    return stop.stop_requested();
  }
  void fail(error_kind how, text words) {
    if (failed.load(std::memory_order_relaxed)) return;
    kind = how;
    words.write_to(message, sizeof message);
    failed.store(true, std::memory_order_release);
  }
};

}  // namespace detail

/// A run as a hook in `off_thread` sees it, later: what it was, and ways to speak to the session.
class recorded_run {
 public:
  recorded_run(detail::off_thread_messages& messages, step_number step, bool due, bool vetoed)
      : messages_(&messages), step_(step), due_(due), vetoed_(vetoed) {}
  recorded_run(recorded_run const&) = delete;
  recorded_run& operator=(recorded_run const&) = delete;

  [[nodiscard]] step_number step() const { return step_; }
  [[nodiscard]] bool due() const { return due_; }
  [[nodiscard]] bool vetoed() const { return vetoed_; }
  /// The training stops after the run that is then in progress.
  void request_stop(text reason = "") { messages_->request_stop(reason); }
  void request_stop(copied const& reason) { messages_->request_stop(reason); }
  [[nodiscard]] bool stop_requested() const { return messages_->stop_requested(); }
  /// The error comes up in the next step that this hook sees, or in `end`.
  void fail(error_kind kind, text message) { messages_->fail(kind, message); }
  void fail(error_kind kind, copied const& message) { messages_->fail(kind, text::of_lasting(message.characters)); }

  template <fixed_string Name, class Value>
  void publish(Value const&) const {
    static_assert(never<Value>,
                  "tautline: a hook in off_thread cannot publish: its run is long over when it sees it. Mend: publish from a hook "
                  "of its own, without off_thread");
  }
  template <class Self = recorded_run>
  void session() const {
    static_assert(never<Self>,
                  "tautline: a hook in off_thread cannot use the session in a run: another thread drives it. Mend: fetch the "
                  "values that are needed, or use the session in after_create_session or end");
  }

 private:
  template <class>
  static constexpr bool never = false;
  detail::off_thread_messages* messages_;
  step_number step_;
  bool due_;
  bool vetoed_;
};

TAUTLINE_END
