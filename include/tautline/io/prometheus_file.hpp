// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <tautline/core/state.hpp>
#include <tautline/io/detail/io_failure.hpp>
#include <tautline/io/detail/metric_text.hpp>
#include <tautline/io/detail/output_file.hpp>

TAUTLINE_BEGIN

namespace detail {
template <fixed_string Name, fixed_string Help>
struct metric {
  static_assert(is_metric_name(Name.characters),
                "tautline: this is no name of a metric. Mend: use letters, digits and _, and no digit first");
  static_assert(Help.size() > 0, "tautline: a metric has a help text. Mend: say in a sentence what it counts or measures");
  static constexpr auto name = Name;
  static constexpr auto help = Help;
};

template <fixed_string Name>
inline constexpr bool has_reserved_end = std::string_view(Name.characters).ends_with("_total") ||
                                         std::string_view(Name.characters).ends_with("_bucket") ||
                                         std::string_view(Name.characters).ends_with("_count") ||
                                         std::string_view(Name.characters).ends_with("_sum");

template <auto... Bounds>
consteval bool are_bounds() {
  if constexpr (sizeof...(Bounds) == 0 || !(std::is_arithmetic_v<decltype(Bounds)> && ...)) {
    return false;
  } else {
    double const bounds[] = {static_cast<double>(Bounds)...};
    for (std::size_t i = 0; i < sizeof...(Bounds); ++i) {
      if (classify(bounds[i]) != number_class::finite || (i > 0 && !(bounds[i - 1] < bounds[i]))) return false;
    }
    return true;
  }
}
}  // namespace detail

/// A number that goes up and down. @tparam Name as Prometheus knows it, with the unit at its end: "train_step_seconds"
template <fixed_string Name, fixed_string Help>
struct prometheus_gauge : detail::metric<Name, Help> {
  static_assert(!detail::has_reserved_end<Name>,
                "tautline: the name of a gauge or a histogram has the end of another kind. Mend: _total is for counters, "
                "_bucket, _count and _sum are what a histogram adds itself");
  static constexpr std::string_view kind = "gauge";
  static constexpr std::size_t slots = 1;
};

/// A number that only grows, from 0 on.
template <fixed_string Name, fixed_string Help>
struct prometheus_counter : detail::metric<Name, Help> {
  static_assert(std::string_view(Name.characters).ends_with("_total"),
                "tautline: the name of a counter ends in _total. Mend: write it there, as in \"train_steps_total\"");
  static constexpr std::string_view kind = "counter";
  static constexpr std::size_t slots = 1;
};

/// How values are spread. @tparam Bounds upper bounds of the buckets, finite and rising; one for the rest is added
template <fixed_string Name, fixed_string Help, auto... Bounds>
struct prometheus_histogram : detail::metric<Name, Help> {
  static_assert(!detail::has_reserved_end<Name>,
                "tautline: the name of a gauge or a histogram has the end of another kind. Mend: _total is for counters, "
                "_bucket, _count and _sum are what a histogram adds itself");
  static_assert(detail::are_bounds<Bounds...>(),
                "tautline: a histogram has bounds that are finite and rise. Mend: give the upper bounds of its buckets, "
                "from the smallest to the largest");
  static constexpr std::string_view kind = "histogram";
  static constexpr std::array<double, sizeof...(Bounds)> bounds{static_cast<double>(Bounds)...};
  static constexpr std::size_t slots = sizeof...(Bounds) + 2;  ///< buckets, that of the rest, the sum
};

namespace detail {
template <fixed_string Name>
struct metric_label {
  static constexpr auto name = Name;
  std::string_view value;
};

template <fixed_string... Names>
consteval bool are_different() {
  std::string_view const names[] = {Names.characters..., std::string_view{}};
  for (std::size_t i = 0; i < sizeof...(Names); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (names[i] == names[j]) return false;
    }
  }
  return true;
}
}  // namespace detail

/// A label that all metrics of a file have: `prometheus_label<"run">("digits")`. Its value is any text.
template <fixed_string Name>
[[nodiscard]] constexpr detail::metric_label<Name> prometheus_label(std::string_view value) {
  static_assert(detail::is_label_name(Name.characters),
                "tautline: this is no name of a label. Mend: use letters, digits and _, no digit and no __ first, and "
                "neither le nor quantile");
  return {value};
}

/// Metrics for Prometheus, written as a file that the textfile collector of node_exporter reads: nothing listens, and
/// nobody is waited for. The set of metrics is a type:
///
///     prometheus_file<prometheus_gauge<"train_loss", "Loss of the last step.">,
///                     prometheus_counter<"train_steps_total", "Steps done.">,
///                     prometheus_histogram<"train_step_seconds", "Time of a step.", 0.001, 0.01, 0.1>>
///         metrics("metrics/train.prom", prometheus_label<"run">("digits"));
///     metrics.set<"train_loss">(0.25);
///     metrics.add<"train_steps_total">();
///     metrics.observe<"train_step_seconds">(0.004);
///     metrics.write();
///
/// Updates are stores to the object; only `write` touches the file. It writes PATH.tmp and renames it, so that a reader
/// sees the old file or the new one. node_exporter reads names that end in .prom.
///
/// **State** the values: after a resume counters go on where they were at the checkpoint.
/// **Errors** of the system are a `std::system_error` that names the file; with `-fno-exceptions` they are `status()`.
/// The old file stays then, and the next `write` tries anew. Nothing is written before the first `write`.
/// **Cost** of an update: a few stores, of an observation a search in the bounds; of a write four system calls. No
/// allocation after the first write.
/// **Thread-safety** one thread at a time.
/// **Source** Prometheus, "Exposition formats", text format 0.0.4; "Metric and label naming".
template <class... Metrics>
class prometheus_file {
  static_assert(detail::are_different<Metrics::name...>(),
                "tautline: two metrics of a file have one name. Mend: give each a name of its own");

 public:
  /// @param path of the file; its folder must exist when it is written
  template <fixed_string... Labels>
  explicit prometheus_file(std::string path, detail::metric_label<Labels> const&... labels)
      : path_(std::move(path)), temporary_(path_ + ".tmp") {
    static_assert(detail::are_different<Labels...>(),
                  "tautline: two labels of a file have one name. Mend: give each a name of its own");
    ((labels_ += labels_.empty() ? "" : ",", labels_ += Labels.characters, labels_ += "=\"",
      detail::append_metric_text(labels_, labels.value, true), labels_ += '"'),
     ...);
  }

  /// Of a gauge. Any value, NaN and infinities too.
  template <fixed_string Name>
  void set(double value) noexcept {
    if constexpr (check<Name, "gauge">()) values_[first_of<Name>()] = value;
  }
  /// Of a counter or a gauge. A counter does not take what would not let it grow: negative amounts and NaN count nothing.
  template <fixed_string Name>
  void add(double amount = 1) noexcept {
    if constexpr (check<Name, "counter", "gauge">()) {
      if (kind_of<Name>() == "gauge" || (detail::classify(amount) != detail::number_class::not_a_number && amount > 0)) {
        values_[first_of<Name>()] += amount;
      }
    }
  }
  /// Of a histogram. NaN falls into the last bucket, and makes the sum NaN.
  template <fixed_string Name>
  void observe(double value) noexcept {
    if constexpr (check<Name, "histogram">()) {
      static constexpr auto bounds = bounds_of<Name>();
      constexpr std::size_t count = slots_of<Name>() - 2;
      std::size_t bucket = detail::classify(value) == detail::number_class::not_a_number ? count : 0;
      while (bucket < count && value > bounds[bucket]) ++bucket;
      values_[first_of<Name>() + bucket] += 1;
      values_[first_of<Name>() + count + 1] += value;
    }
  }
  /// Of a gauge or a counter.
  template <fixed_string Name>
  [[nodiscard]] double value() const noexcept {
    if constexpr (check<Name, "gauge", "counter">()) {
      return values_[first_of<Name>()];
    } else {
      return 0;
    }
  }

  /// All values are 0 again: for a second training.
  void reset() noexcept { values_ = {}; }

  /// Replaces the file by the present values.
  void write() {
    bool const first = lines_.empty();
    lines_.clear();
    (append_metric<Metrics>(lines_), ...);
    // numbers get longer: by less than 25 characters each, and there are fewer than slots and a count for each metric
    if (first) lines_.reserve(lines_.size() + 25 * (slot_count + sizeof...(Metrics)));
    int const descriptor = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) return fail(detail::last_error());
    std::size_t done = 0;
    std::error_code problem{detail::write_all(descriptor, lines_.data(), lines_.size(), done), std::generic_category()};
    if (::close(descriptor) != 0 && errno != EINTR && !problem) problem = detail::last_error();
    if (!problem && std::rename(temporary_.c_str(), path_.c_str()) != 0) problem = detail::last_error();
    if (problem) (void)::unlink(temporary_.c_str());
    fail(problem);
  }

  /// What a checkpoint keeps: the values.
  auto state() { return fields{field<"values">(values_)}; }

  [[nodiscard]] std::string const& path() const { return path_; }
  /// What the last `write` met, with a message that names the file, good until the next one.
  [[nodiscard]] tautline::status status() const { return failure_.status(); }

 private:
  static constexpr std::size_t slot_count = (std::size_t{0} + ... + Metrics::slots);

  template <fixed_string Name>
  static consteval std::string_view kind_of() {
    std::string_view found;
    ((Metrics::name == Name ? found = Metrics::kind : found), ...);
    return found;
  }
  template <fixed_string Name>
  static consteval std::size_t first_of() {
    std::size_t found = 0, next = 0;
    ((found = Metrics::name == Name ? next : found, next += Metrics::slots), ...);
    return found;
  }
  /// The bounds of a histogram, the other places unused.
  template <fixed_string Name>
  static consteval std::array<double, slot_count> bounds_of() {
    std::array<double, slot_count> bounds{};
    auto const copy = [&]<fixed_string Own, fixed_string Help, auto... Bounds>(prometheus_histogram<Own, Help, Bounds...>) {
      std::size_t next = 0;
      if (Own == Name) ((bounds[next++] = static_cast<double>(Bounds)), ...);
    };
    auto const look = [&]<class Metric>(Metric metric) {
      if constexpr (Metric::kind == "histogram") copy(metric);
    };
    (look(Metrics{}), ...);
    return bounds;
  }
  template <fixed_string Name>
  static consteval std::size_t slots_of() {
    std::size_t found = 0;
    ((found = Metrics::name == Name ? Metrics::slots : found), ...);
    return found;
  }

  /// Whether there is a metric of this name, and of one of these kinds.
  template <fixed_string Name, fixed_string... Kinds>
  static consteval bool check() {
    constexpr bool known = !kind_of<Name>().empty();
    constexpr bool right = !known || ((kind_of<Name>() == std::string_view(Kinds.characters)) || ...);
    static_assert(known, "tautline: this file has no metric of this name. Mend: use a name of the file's type, or add a "
                         "metric to it");
    static_assert(right, "tautline: a metric of this kind is not changed or read in this way. Mend: set is for gauges, add "
                         "for counters and gauges, observe for histograms, value for gauges and counters");
    return known && right;
  }

  template <class Metric>
  void append_metric(std::string& out) const {
    auto const head = [&](char const* what) {
      out += what;
      out += Metric::name.c_str();
      out += ' ';
    };
    head("# HELP ");
    detail::append_metric_text(out, Metric::help.c_str(), false);
    out += '\n';
    head("# TYPE ");
    out += Metric::kind;
    out += '\n';
    auto const sample = [&](char const* ending, std::string_view bound, double value) {
      out += Metric::name.c_str();
      out += ending;
      if (!labels_.empty() || !bound.empty()) {
        out += '{';
        out += labels_;
        if (!labels_.empty() && !bound.empty()) out += ',';
        if (!bound.empty()) out.append("le=\"").append(bound) += '"';
        out += '}';
      }
      out += ' ';
      detail::append_metric_value(out, value);
      out += '\n';
    };
    constexpr std::size_t first = first_of<Metric::name>();
    if constexpr (Metric::kind == "histogram") {
      constexpr std::size_t bounds = Metric::slots - 2;
      double count = 0;
      for (std::size_t i = 0; i <= bounds; ++i) {
        count += values_[first + i];  // a bucket holds those of all smaller ones
        char digits[40];
        char const* end = digits;
        if (i < bounds) end = std::to_chars(digits, digits + sizeof digits, Metric::bounds[i]).ptr;
        std::string_view const bound(digits, static_cast<std::size_t>(end - digits));
        sample("_bucket", i == bounds ? "+Inf" : bound, count);
      }
      sample("_sum", {}, values_[first + bounds + 1]);
      sample("_count", {}, count);
    } else {
      sample("", {}, values_[first]);
    }
  }

  void fail(std::error_code problem) { (void)failure_.check(problem, "cannot write ", path_); }

  std::string path_, temporary_;
  std::string labels_;  ///< as they stand between braces
  std::string lines_;   ///< what is written, kept for its memory
  std::array<double, slot_count> values_{};
  detail::io_failure failure_;
};

TAUTLINE_END
