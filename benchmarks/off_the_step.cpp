// SPDX-License-Identifier: BSL-1.0
// What logging, summaries and saving beside the loop leave on the thread of the steps. Prints `name value` lines.
//
//   step_p999_ratio      99.9th percentile of the time of a step with them, divided by that of the same loop without
//                        hooks
//   step_p999_least_ratio   the same of the least disturbed repetition of each kind
//   jitter/HOOKS/WHERE/*_ns   percentiles of the time of a step, each the median over the repetitions, and the longest
//                             of all: without hooks (bare), with the three beside the loop (writers_off_thread), and
//                             with the same three writing in the step (writers_on_thread)
//   add_scalar_*         async_summary_writer::add_scalar, in ns, and divided by a reading of the clock and by a copy
//                        of 64 bytes
//
// Repetitions with and without hooks take turns; each ratio is the median over the pairs.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <tautline/core.hpp>
#include <tautline/hooks/off_thread.hpp>
#include <tautline/hooks/tensor_logger.hpp>
#include <tautline/io/async_summary_writer.hpp>
#include <tautline/sessions/static_graph.hpp>

using namespace tautline;

namespace {

using clock_type = std::chrono::steady_clock;
constexpr int steps = 10000;
constexpr int pairs = 15;
constexpr std::size_t model_size = 262144;  // 1 MiB of float
constexpr std::size_t touched = 16384;      // of them in a step

struct weights {
  std::vector<float> numbers = std::vector<float>(model_size);
};
/// When each step began.
struct times {
  std::vector<clock_type::time_point> at;
  times() { at.reserve(steps + 1); }
};

auto make_graph(weights& model, times& began) {
  return static_graph{}
      .variable<"w">(0.0F)
      .op<"loss", "w">([](float w) { return (w - 3) * (w - 3); })
      .update<"train", "w">([&model, &began](float& w) {
        began.at.push_back(clock_type::now());
        float sum = 0;
        for (std::size_t i = 0; i < touched; ++i) sum += model.numbers[i] = model.numbers[i] * 0.999F + 0.001F * w;
        w += 1e-6F * sum + 0.0001F * (3 - w);
      });
}

struct to_file {
  std::FILE* file;
  void add_scalar(std::string_view tag, double value, step_number step, double time = 0) {
    std::fprintf(file, "%.6f,%lld,%.*s,%.9g\n", time, static_cast<long long>(step), static_cast<int>(tag.size()),
                 tag.data(), value);
  }
};

/// Copies the model into a buffer that is free, and has it written by a thread of its own.
struct snapshot {
  std::atomic<bool> busy{false};
  std::vector<float> copy = std::vector<float>(model_size);
  std::FILE* file = nullptr;
};
struct write_snapshot {
  snapshot* to;
  void operator()(step_number) const {
    std::rewind(to->file);
    std::fwrite(to->copy.data(), sizeof(float), to->copy.size(), to->file);
    std::fflush(to->file);
    to->busy.store(false, std::memory_order_release);
  }
};
struct saver_hook {
  static constexpr bool real_time = true;
  weights* model;
  snapshot* to;
  background_writer<step_number, write_snapshot>* out;
  every_steps trigger{2500};
  void after_run(auto& ctx) const noexcept {
    if (!ctx.due() || to->busy.exchange(true, std::memory_order_acquire)) return;
    std::memcpy(to->copy.data(), model->numbers.data(), model_size * sizeof(float));
    (void)out->push(ctx.step());
  }
};
template <class Writer>
struct summaries {
  static constexpr bool real_time = true;
  Writer* to;
  every_steps trigger{10};
  auto before_run(auto& ctx) const noexcept { return ask_if(ctx.due(), fetch<"loss">); }
  void after_run(auto& ctx, auto const& values) const noexcept {
    (void)to->try_add_scalar("loss", static_cast<double>(values[fetch<"loss">]), ctx.step());
  }
};
/// What these two do, in the step itself.
struct saver_in_the_step {
  weights* model;
  std::FILE* file;
  every_steps trigger{2500};
  void after_run(auto& ctx) const {
    if (!ctx.due()) return;
    std::rewind(file);
    std::fwrite(model->numbers.data(), sizeof(float), model_size, file);
    std::fflush(file);
  }
};
struct summaries_in_the_step {
  to_file* to;
  every_steps trigger{10};
  auto before_run(auto& ctx) const { return ask_if(ctx.due(), fetch<"loss">); }
  void after_run(auto& ctx, auto const& values) const {
    to->add_scalar("loss", static_cast<double>(values[fetch<"loss">]), ctx.step());
  }
};

/// Times of the steps of one training, in ns.
struct jitter {
  double p50, p99, p999, max;
};
jitter jitter_of(times const& began) {
  std::vector<double> taken;
  for (std::size_t i = 1; i < began.at.size(); ++i) {
    taken.push_back(std::chrono::duration<double, std::nano>(began.at[i] - began.at[i - 1]).count());
  }
  std::sort(taken.begin(), taken.end());
  return {taken[taken.size() / 2], taken[taken.size() * 99 / 100], taken[taken.size() * 999 / 1000], taken.back()};
}
double median(std::vector<double> all) {
  auto const place = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), place, all.end());
  return *place;
}

jitter bare() {
  weights model;
  times began;
  auto session = monitored(make_graph(model, began));
  (void)session.run_steps(steps, target<"train">);
  return jitter_of(began);
}
jitter hooked(std::uint64_t& dropped) {
  weights model;
  times began;
  std::FILE* const log = std::tmpfile();
  to_file curves{std::tmpfile()};
  snapshot copy;
  copy.file = std::tmpfile();
  async_summary_writer out(curves);
  background_writer<step_number, write_snapshot> saving(write_snapshot{&copy}, {.capacity = 4});
  {
    auto sink = [log](std::string_view line) {
      std::fprintf(log, "%.*s\n", static_cast<int>(line.size()), line.data());
    };
    auto session = monitored(make_graph(model, began), options{real_time{}},
                             off_thread{tensor_logger<"loss">{every_steps{100}, {.log = sink}}},
                             summaries<decltype(out)>{&out}, saver_hook{&model, &copy, &saving});
    (void)session.run_steps(steps, target<"train">);
    session.close();
    dropped += session.template hook<off_thread<tensor_logger<"loss">>>().dropped() + out.dropped() + saving.dropped();
  }
  (void)out.join(std::chrono::seconds(10));
  (void)saving.join(std::chrono::seconds(10));
  std::fclose(log), std::fclose(curves.file), std::fclose(copy.file);
  return jitter_of(began);
}

jitter hooked_in_the_step() {
  weights model;
  times began;
  std::FILE* const log = std::tmpfile();
  to_file curves{std::tmpfile()};
  std::FILE* const copy = std::tmpfile();
  {
    auto sink = [log](std::string_view line) {
      std::fprintf(log, "%.*s\n", static_cast<int>(line.size()), line.data());
    };
    auto session = monitored(make_graph(model, began), tensor_logger<"loss">{every_steps{100}, {.log = sink}},
                             summaries_in_the_step{&curves}, saver_in_the_step{&model, copy});
    (void)session.run_steps(steps, target<"train">);
    session.close();
  }
  std::fclose(log), std::fclose(curves.file), std::fclose(copy);
  return jitter_of(began);
}

void tell(char const* where, std::vector<jitter> const& all) {
  std::pair<char const*, double jitter::*> const parts[] = {
      {"p50", &jitter::p50}, {"p99", &jitter::p99}, {"p999", &jitter::p999}};
  for (auto const& [name, part] : parts) {
    std::vector<double> found;
    for (jitter const& one : all) found.push_back(one.*part);
    std::printf("jitter/%s/%s_ns %.0f\n", where, name, median(found));
  }
  double longest = 0;
  for (jitter const& one : all) longest = std::max(longest, one.max);
  std::printf("jitter/%s/max_ns %.0f\n", where, longest);
}

template <class Body>
double nanoseconds(Body body) {
  constexpr int calls = 2000;
  auto const start = clock_type::now();
  for (int i = 0; i < calls; ++i) body(i);
  return std::chrono::duration<double, std::nano>(clock_type::now() - start).count() / calls;
}

}  // namespace

int main() {
  std::uint64_t dropped = 0;
  std::vector<double> without, with, ratios;
  std::vector<jitter> none, off, on;
  for (int i = 0; i < pairs; ++i) {
    none.push_back(bare()), off.push_back(hooked(dropped)), on.push_back(hooked_in_the_step());
    without.push_back(none.back().p999), with.push_back(off.back().p999);
    ratios.push_back(with.back() / without.back());
  }
  std::printf("step_p999_bare_us %.3f\nstep_p999_hooked_us %.3f\n", median(without) / 1000, median(with) / 1000);
  std::printf("step_p999_ratio %.3f\nstep_p999_least_ratio %.3f\nstep_records_dropped %llu\n", median(ratios),
              *std::min_element(with.begin(), with.end()) / *std::min_element(without.begin(), without.end()),
              static_cast<unsigned long long>(dropped));
  tell("0/bare", none), tell("3/writers_off_thread", off), tell("3/writers_on_thread", on);

  std::FILE* const file = std::tmpfile();
  to_file timed{file};
  std::vector<double> adding, reading, copying, to_clock, to_copy;
  static char from[64], into[64];
  for (int i = 0; i < 101; ++i) {
    async_summary_writer out(timed, {.background = {.capacity = 4096}});
    (void)out.try_add_scalar("loss", 0, 0), (void)out.try_add_scalar("accuracy", 0, 0);
    adding.push_back(nanoseconds([&](int step) {
      (void)out.try_add_scalar(step % 2 == 0 ? "loss" : "accuracy", 0.5, step);
    }));
    reading.push_back(nanoseconds([&](int) {
      auto now = std::chrono::system_clock::now();
      asm volatile("" : : "r"(&now) : "memory");
    }));
    copying.push_back(nanoseconds([&](int) {
      std::memcpy(into, from, sizeof into);
      asm volatile("" : : "r"(into), "r"(from) : "memory");
    }));
    to_clock.push_back(adding.back() / reading.back());
    to_copy.push_back(adding.back() / copying.back());
  }
  std::fclose(file);
  std::printf("add_scalar_ns %.2f\nclock_ns %.2f\ncopy_64_ns %.2f\nadd_scalar_to_clock %.3f\nadd_scalar_to_copy %.2f\n",
              median(adding), median(reading), median(copying), median(to_clock), median(to_copy));
}
