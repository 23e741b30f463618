// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../core/support.hpp"

namespace support {

/// A session whose values, all of them alike, are a function of the raw run, and which writes down what it is asked for.
struct scripted : backend {
  explicit scripted(world& given, std::function<double(long run)> values = [](long run) { return 1.0 / static_cast<double>(run); })
      : backend(given), of_run(std::move(values)) {}

  template <class Request>
  tautline::status run(Request const& request) {
    using tautline::detail::item_kind;
    tautline::status const done = backend::run(request);
    if (request.template wants<item_kind::fetch, "loss">()) of->trace.back() += " loss";
    if (request.template wants<item_kind::fetch, "epoch">()) of->trace.back() += " epoch";
    if (done.ok()) current = of_run(of->runs);
    return done;
  }
  template <tautline::fixed_string Name>
  [[nodiscard]] double const& value() const {
    return current;
  }

  std::function<double(long)> of_run;
  double current = 0;
};

/// Fails the given raw run as a broken session does.
inline std::function<tautline::status(long)> broken_in(long failing) {
  return [failing](long run) {
    return run == failing ? tautline::status{error_kind::aborted, "broken"} : tautline::status{};
  };
}

inline bool contains(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

inline long count(lines const& all, std::string const& wanted) {
  long found = 0;
  for (std::string const& line : all) found += line == wanted ? 1 : 0;
  return found;
}

}  // namespace support
