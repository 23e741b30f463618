// SPDX-License-Identifier: BSL-1.0
#include <tautline/hooks/prometheus_metrics.hpp>
#include <tautline/hooks/row_logger.hpp>
#include <tautline/hooks/timeline.hpp>

#include "list.hpp"

namespace laws_of {

namespace {
law_exception const adds_to_its_file{law::reset, "a second training adds to the file, whose length is the state"};
}  // namespace

law_report prometheus_metrics() {
  return check_laws([](output& out) { return tautline::prometheus_metrics<"loss", "w">{out.path("train.prom"), every_steps{3}}; });
}
law_report jsonl_logger() {
  return check_laws([](output& out) { return tautline::jsonl_logger<"loss", "w">{out.path("rows.jsonl"), every_steps{2} | at_end}; },
                    {.except = {adds_to_its_file}});
}
law_report csv_logger() {
  return check_laws([](output& out) { return tautline::csv_logger<"loss", "w">{out.path("rows.csv"), every_steps{3}}; },
                    {.except = {adds_to_its_file}});
}
law_report timeline() {
  return check_laws([](output& out) { return tautline::timeline<every_steps>::with(out.path("trace.json", false), every_steps{2}, out.clock()); });
}

}  // namespace laws_of
