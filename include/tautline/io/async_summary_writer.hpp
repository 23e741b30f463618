// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstring>
#include <string_view>
#include <vector>

#include <tautline/core/training_state.hpp>
#include <tautline/io/background_writer.hpp>
#include <tautline/io/summary_writer.hpp>

TAUTLINE_BEGIN
namespace detail {

/// Copies of tags in memory that is allocated once and never moves: the worker reads them while others are added.
class tag_store {
 public:
  tag_store(std::size_t tags, std::size_t bytes) : bytes_(bytes) { known_.reserve(tags); }

  /// The kept copy; of null data where there is no room for a new one. Tags come in turns, so the one behind the last is
  /// looked at first.
  [[nodiscard]] std::string_view find(std::string_view tag) noexcept {
    std::size_t const count = known_.size();
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t const at = next_;
      next_ = next_ + 1 == count ? 0 : next_ + 1;
      if (known_[at] == tag) return known_[at];
    }
    return add(tag);
  }

 private:
  TAUTLINE_COLD std::string_view add(std::string_view tag) noexcept {
    if (known_.size() == known_.capacity() || tag.size() >= bytes_.size() - used_) return {};
    char* const place = bytes_.data() + used_;
    std::memcpy(place, tag.data(), tag.size());
    place[tag.size()] = 0;
    used_ += tag.size() + 1;
    next_ = 0;
    return known_.emplace_back(place, tag.size());
  }

  std::vector<char> bytes_;
  std::vector<std::string_view> known_;
  std::size_t used_ = 0;
  std::size_t next_ = 0;
};

struct scalar_record {
  char const* tag;  // null: flush
  std::size_t length;
  double value;
  step_number step;
  double time;
};

/// Writers that take the time of a number as well, in seconds of the Unix epoch.
template <class Writer>
concept takes_time = requires(Writer& writer, std::string_view tag, double value, step_number step) {
  writer.add_scalar(tag, value, step, 1.5);
};

template <class Writer>
struct writes_scalars {
  std::shared_ptr<Writer> writer;
  std::shared_ptr<tag_store> tags;  // what records point to

  void operator()(scalar_record const& record) const {
    if (record.tag == nullptr) {
      if constexpr (requires { writer->flush(); }) writer->flush();
    } else if constexpr (takes_time<Writer>) {
      writer->add_scalar(std::string_view(record.tag, record.length), record.value, record.step, record.time);
    } else {
      writer->add_scalar(std::string_view(record.tag, record.length), record.value, record.step);
    }
  }
};

}  // namespace detail

struct async_summary_options {
  background_options background = {.capacity = 4096};
  std::size_t tags = 256;         ///< different tags that can be written
  std::size_t tag_bytes = 16384;  ///< room for all of them
};

/// A summary writer that hands its numbers to another one on a thread of its own: what costs a step is a copy of 40
/// bytes into a queue.
///
///     event_file events("logs");
///     async_summary_writer summaries(events);
///     auto session = monitored(graph, tensor_logger<"loss">{every_steps{10}, {.log = false, .writer = summaries}});
///
/// Tags are copied when they are first seen, into memory that is there from the start.
///
/// @tparam Writer any summary writer; one with `add_scalar(tag, value, step, wall_time)` gets the time at which the number
/// was added. It is not to be used by others before `join`
///
/// **Errors** an error of the inner writer ends the writing. The next `add_scalar` throws it (with exceptions), and each
/// one after it; `try_add_scalar` says `failed`; `failure()` tells. What there is no room for is dropped and counted.
/// **Cost** about that of reading a clock, which it does where the writer takes the time. No allocation, lock or system
/// call; where the system's clock is one, use a writer that does not take the time.
/// **Thread-safety** one producer at a time.
template <summary_writer Writer>
class async_summary_writer {
 public:
  /// The writer must outlive this object, and the worker where that was given up.
  explicit async_summary_writer(Writer& writer, async_summary_options how = {})
      : async_summary_writer(std::shared_ptr<Writer>(std::shared_ptr<void>{}, &writer), how) {}
  explicit async_summary_writer(std::shared_ptr<Writer> writer, async_summary_options how = {})
      : tags_(std::make_shared<detail::tag_store>(how.tags, how.tag_bytes)),
        out_(detail::writes_scalars<Writer>{std::move(writer), tags_}, how.background),
        linger_(how.background.linger) {}

  /// Copies a tag now, so that its first number costs no more than the others.
  void intern(std::string_view tag) { (void)tags_->find(tag); }

  void add_scalar(std::string_view tag, double value, step_number step) {
    [[maybe_unused]] pushed const how = try_add_scalar(tag, value, step);
#if TAUTLINE_EXCEPTIONS
    if (how == pushed::failed) [[unlikely]] detail::raise(failure());
#endif
  }
  /// The same, without an exception.
  pushed try_add_scalar(std::string_view tag, double value, step_number step) noexcept {
    std::string_view const kept = tags_->find(tag);
    if (kept.data() == nullptr) [[unlikely]] {
      ++without_tag_;
      return pushed::full;
    }
    double time = 0;
    if constexpr (detail::takes_time<Writer>) {
      time = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    }
    return out_.push({kept.data(), kept.size(), value, step, time});
  }

  /// Waits until everything has been written, and flushes the inner writer where it can be. Not for a step.
  /// @return false at the deadline, after an error, or if something was dropped
  bool flush(std::chrono::nanoseconds patience) {
    pushed const asked = out_.push({nullptr, 0, 0, 0, 0});
    return out_.settle(patience) && asked == pushed::taken && dropped() == 0;
  }
  /// The same, with the patience of the destructor.
  bool flush() { return flush(linger_); }

  /// Not for a step, as `flush`: the inner writer is told by the caller's own thread when all before it has been written.
  void add_graph(training_state const& state)
    requires requires(Writer& writer) { writer.add_graph(state); }
  {
    if (out_.settle(linger_)) out_.consumer().writer->add_graph(state);
  }
  void mark_restart(step_number completed)
    requires requires(Writer& writer) { writer.mark_restart(completed); }
  {
    if (out_.settle(linger_)) out_.consumer().writer->mark_restart(completed);
  }

  /// Writes what is left and ends the thread; at the latest the destructor does. A second call does nothing more.
  background_report join(std::chrono::nanoseconds patience) {
    (void)out_.push({nullptr, 0, 0, 0, 0});
    background_report report = out_.join(patience);
    report.dropped = dropped();
    return report;
  }

  /// Numbers for which there was no room, or that came after an error.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return out_.dropped() + without_tag_; }
  [[nodiscard]] error failure() const { return out_.failure(); }

 private:
  std::shared_ptr<detail::tag_store> tags_;
  background_writer<detail::scalar_record, detail::writes_scalars<Writer>> out_;
  std::chrono::milliseconds linger_;
  std::uint64_t without_tag_ = 0;
};
template <class Writer>
async_summary_writer(Writer&, async_summary_options = {}) -> async_summary_writer<Writer>;
template <class Writer>
async_summary_writer(std::shared_ptr<Writer>, async_summary_options = {}) -> async_summary_writer<Writer>;

TAUTLINE_END
