// SPDX-License-Identifier: BSL-1.0
#include <tautline/sessions/tensorflow/run_options.hpp>

#include <doctest/doctest.h>

#include "files.hpp"

using namespace tautline::tensorflow;

namespace {

/// The same lines as those of fixtures.py.
std::vector<std::string> lines_of(run_metadata const& metadata, bool& whole) {
  std::vector<std::string> lines;
  whole = metadata.each_slice([&](op_slice const& one) {
    lines.push_back("slice " + std::string(one.device) + ' ' + std::string(one.node) + ' ' + std::string(one.op()) + ' ' +
                    std::to_string(one.start_micros) + ' ' + std::to_string(one.micros) + ' ' +
                    std::to_string(one.scheduled_micros) + ' ' + std::to_string(one.thread_id));
  });
  whole &= metadata.each_thread([&](std::string_view device, std::uint32_t id, std::string_view name) {
    lines.push_back("thread " + std::string(device) + ' ' + std::to_string(id) + ' ' + std::string(name));
  });
  return lines;
}

}  // namespace

TEST_CASE("options are the bytes that Python writes") {
  run_options const options{.trace = trace_level::full,
                            .timeout_in_ms = 250,
                            .inter_op_thread_pool = -1,
                            .output_partition_graphs = true,
                            .report_tensor_allocations_upon_oom = true};
  CHECK(options.bytes() == files::contents("run_options.pb"));
  CHECK(run_options{}.bytes().empty());
  CHECK_FALSE(run_options{}.any());
  CHECK(options.any());
}

TEST_CASE("options of several parties: the highest trace level, the shortest timeout, all that one wants") {
  run_options merged;
  merged |= {.trace = trace_level::software, .timeout_in_ms = 500};
  CHECK(merged == run_options{.trace = trace_level::software, .timeout_in_ms = 500});
  merged |= {.trace = trace_level::none, .timeout_in_ms = 200, .output_partition_graphs = true};
  merged |= {.trace = trace_level::hardware, .report_tensor_allocations_upon_oom = true};
  CHECK(merged == run_options{.trace = trace_level::hardware,
                              .timeout_in_ms = 200,
                              .output_partition_graphs = true,
                              .report_tensor_allocations_upon_oom = true});
  CHECK((run_options{.inter_op_thread_pool = 2} | run_options{.inter_op_thread_pool = 1}).inter_op_thread_pool == 2);
  CHECK((run_options{} | run_options{.inter_op_thread_pool = 1}).inter_op_thread_pool == 1);
  CHECK_FALSE(run_options{.timeout_in_ms = 1}.wants_metadata());
  CHECK(run_options{.trace = trace_level::software}.wants_metadata());
}

TEST_CASE("metadata of a run are read as Python reads them") {
  std::string const bytes = files::contents("run_metadata.pb");
  run_metadata const metadata(bytes.data(), bytes.size());
  bool whole = false;
  auto lines = lines_of(metadata, whole);
  CHECK(whole);
  CHECK(lines.size() > 10);
  CHECK(files::sorted(std::move(lines)) == files::contents("run_metadata.txt"));
  CHECK(metadata.bytes() == bytes);
}

TEST_CASE("no metadata are no slices") {
  bool whole = false;
  CHECK(lines_of(run_metadata(), whole).empty());
  CHECK(whole);
  CHECK(run_metadata(nullptr, 0).empty());
}

TEST_CASE("names of threads and a device that stands behind its nodes are read") {
  proto_writer out;
  out.message(1, [](proto_writer& stats) {
    stats.message(1, [](proto_writer& device) {
      device.message(2, [](proto_writer& node) {
        node.text(1, "n");
        node.integer(2, 1000);
        node.integer(5, -3);  // a clock that was set back
        node.text(8, "a label of another kind");
      });
      device.message(3, [](proto_writer& entry) { entry.integer(1, 7), entry.text(2, "pool"); });
      device.text(1, "cpu");
    });
  });
  bool whole = false;
  CHECK(files::sorted(lines_of(run_metadata(out.bytes()), whole)) == "slice cpu n  1000 0 0 0\nthread cpu 7 pool\n");
  CHECK(whole);
}

TEST_CASE("metadata that were cut short or damaged are refused or read") {
  std::string const bytes = files::contents("run_metadata.pb");
  std::size_t refused = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 7) {
    bool whole = true;
    std::string const cut = bytes.substr(0, i);
    (void)lines_of(run_metadata(cut), whole);
    refused += whole ? 0U : 1U;
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(~damaged[i]);
    (void)lines_of(run_metadata(damaged), whole);
  }
  CHECK(refused + 10 > bytes.size() / 7);  // but for those that end with a part
}
