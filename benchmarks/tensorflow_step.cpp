// SPDX-License-Identifier: BSL-1.0
// What a step of a TensorFlow session costs: TF_SessionRun of the C API by hand, and the same under hooks, each of
// which fetches a value of its own. tensorflow_step.py makes the graphs, and measures Python's sessions between the
// rounds.
//
// usage: tensorflow_step GRAPH STEPS       then a round for each line of the standard input; STEPS are those of a turn
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <tautline/core.hpp>
#include <tautline/sessions/tensorflow.hpp>

using namespace tautline;

namespace {

double sink = 0;  // what hooks add up, so that nothing is left out

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string bytes_of(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// --- by hand ---------------------------------------------------------------------------------------------------------

void check(TF_Status const* status) {
  if (TF_GetCode(status) == TF_OK) return;
  std::fprintf(stderr, "%s\n", TF_Message(status));
  std::exit(1);
}

class bare_session {
 public:
  explicit bare_session(std::string const& graph_def) {
    TF_Buffer* const buffer = TF_NewBufferFromString(graph_def.data(), graph_def.size());
    TF_ImportGraphDefOptions* const how = TF_NewImportGraphDefOptions();
    TF_GraphImportGraphDef(graph_, buffer, how, status_);
    check(status_);
    TF_DeleteImportGraphDefOptions(how);
    TF_DeleteBuffer(buffer);
    TF_SessionOptions* const options = TF_NewSessionOptions();
    session_ = TF_NewSession(graph_, options, status_);
    check(status_);
    TF_DeleteSessionOptions(options);
    run("init", nullptr, nullptr, 0);
  }
  ~bare_session() {
    TF_CloseSession(session_, status_);
    TF_DeleteSession(session_, status_);
    TF_DeleteGraph(graph_);
    TF_DeleteStatus(status_);
  }
  bare_session(bare_session const&) = delete;

  [[nodiscard]] TF_Output output(std::string const& name) const {
    return {TF_GraphOperationByName(graph_, name.c_str()), 0};
  }
  void run(char const* target, TF_Output const* fetches, TF_Tensor** values, int count) {
    TF_Operation const* const operation = TF_GraphOperationByName(graph_, target);
    TF_SessionRun(session_, nullptr, nullptr, nullptr, 0, fetches, values, count, &operation, 1, nullptr, status_);
    check(status_);
  }

  /// @return seconds
  double time(int fetched, long steps) {
    std::vector<TF_Output> fetches;
    for (int i = 0; i < fetched; ++i) {
      char name[8];
      std::snprintf(name, sizeof name, "v%02d", i);
      fetches.push_back(output(name));
    }
    TF_Operation const* const train = TF_GraphOperationByName(graph_, "train");
    std::vector<TF_Tensor*> values(static_cast<std::size_t>(fetched));
    double const start = now();
    for (long step = 0; step < steps; ++step) {
      TF_SessionRun(session_, nullptr, nullptr, nullptr, 0, fetches.data(), values.data(), fetched, &train, 1, nullptr,
                    status_);
      if (TF_GetCode(status_) != TF_OK) check(status_);
      for (TF_Tensor*& value : values) {
        sink += static_cast<double>(*static_cast<float const*>(TF_TensorData(value)));
        TF_DeleteTensor(std::exchange(value, nullptr));
      }
    }
    return now() - start;
  }

 private:
  TF_Graph* graph_ = TF_NewGraph();
  TF_Status* status_ = TF_NewStatus();
  TF_Session* session_ = nullptr;
};

// --- with hooks ------------------------------------------------------------------------------------------------------

consteval fixed_string<4> value_name(int i) {
  char const characters[] = {'v', static_cast<char>('0' + i / 10), static_cast<char>('0' + i % 10), '\0'};
  return fixed_string<4>(characters);
}

template <int I>
struct reader {
  static constexpr bool stateless = true;
  static constexpr auto value = fetch<value_name(I), float>;
  double sum = 0;
  template <class Context>
  auto before_run(Context&) const {
    return value;
  }
  template <class Context, class Values>
  void after_run(Context&, Values& values) {
    sum += static_cast<double>(values[value]);
  }
  void close() const { sink += sum; }
};

auto graph_of(std::string const& path) { return tensorflow_graph<>::from_meta_graph(path).step_target<"train">(); }

template <int... I>
auto made_session(std::string const& path, std::integer_sequence<int, I...>) {
  return monitored(graph_of(path), reader<I>{}...);
}
template <int Hooks>
struct hooked_session {
  decltype(made_session(std::string(), std::make_integer_sequence<int, Hooks>())) session;
  explicit hooked_session(std::string const& path)
      : session(made_session(path, std::make_integer_sequence<int, Hooks>())) {}
  double time(long steps) {
    double const start = now();
    session.run_steps(steps, target<"train">);
    return now() - start;
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::string const path = argv[1];
  long const steps = std::atol(argv[2]);
  bare_session bare(bytes_of(path + ".pb"));
  hooked_session<0> none(path + ".meta");
  hooked_session<1> one(path + ".meta");
  hooked_session<5> five(path + ".meta");
  hooked_session<8> eight(path + ".meta");
  hooked_session<64> many(path + ".meta");

  auto const tell = [&](char const* what, int hooks, double seconds) {
    std::printf("%s_%d %.1f\n", what, hooks, seconds / static_cast<double>(steps) * 1e9);
  };
  // the two that are compared take short turns: what disturbs the machine for a while meets both
  auto const pair = [&](int hooks, auto& session) {
    for (int turn = 0; turn < 8; ++turn) {
      if (turn % 2 == 0) tell("bare", hooks, bare.time(hooks, steps));
      tell("tautline", hooks, session.time(steps));
      if (turn % 2 != 0) tell("bare", hooks, bare.time(hooks, steps));
    }
  };
  while (std::getchar() == '\n') {
    pair(0, none);
    pair(1, one);
    pair(5, five);
    pair(8, eight);
    pair(64, many);
    std::printf("round\n");
    std::fflush(stdout);
  }
  std::fprintf(stderr, "%g\n", sink);
}
