// SPDX-License-Identifier: BSL-1.0
#include "house.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

extern "C" {
TF_Session* __real_TF_NewSession(TF_Graph*, TF_SessionOptions const*, TF_Status*);
void __real_TF_DeleteSession(TF_Session*, TF_Status*);
void __real_TF_SessionRun(TF_Session*, TF_Buffer const*, TF_Output const*, TF_Tensor* const*, int, TF_Output const*,
                          TF_Tensor**, int, TF_Operation const* const*, int, TF_Buffer*, TF_Status*);
}

namespace conformance {
namespace {

struct deletes_status {
  void operator()(TF_Status* status) const { TF_DeleteStatus(status); }
};
struct a_status : std::unique_ptr<TF_Status, deletes_status> {
  a_status() : unique_ptr(TF_NewStatus()) {}
};

[[noreturn]] void give_up(char const* what, char const* why) {
  std::fprintf(stderr, "the play cannot go on: %s: %s\n", what, why);
  std::_Exit(3);
}

// --- servers ------------------------------------------------------------------------------------------------------

/// A field of a protobuf message: its number, and bytes.
std::string field(int number, std::string const& bytes) {
  std::string made(1, static_cast<char>(number << 3 | 2));
  std::size_t length = bytes.size();
  for (; length > 127; length >>= 7) made += static_cast<char>(length | 128);
  return made + static_cast<char>(length) + bytes;
}
std::string field(int number, char value) { return {static_cast<char>(number << 3), value}; }

/// A ServerDef: job "play" with a task for each port, this one being the task of that number.
std::string server_definition(std::vector<int> const& ports, int task) {
  std::string job = field(1, "play");
  for (std::size_t i = 0; i < ports.size(); ++i) {
    job += field(2, field(1, static_cast<char>(i)) + field(2, "localhost:" + std::to_string(ports[i])));
  }
  return field(1, field(1, job)) + field(2, "play") + field(3, static_cast<char>(task)) + field(5, "grpc");
}
int free_port() {
  int const made = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (bind(made, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      getsockname(made, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    give_up("a port", "none is free");
  }
  close(made);
  return ntohs(address.sin_port);
}

/// A server in this process, and another task of its cluster in another one, which can be killed.
class cluster {
 public:
  explicit cluster(bool has_other) {
    ports_.push_back(free_port());
    if (has_other) ports_.push_back(free_port());
    std::string const definition = server_definition(ports_, 0);
    a_status const status;
    TF_Server* const server = TF_NewServer(definition.data(), definition.size(), status.get());
    if (TF_GetCode(status.get()) == TF_OK) TF_ServerStart(server, status.get());
    if (TF_GetCode(status.get()) != TF_OK) give_up("a server", TF_Message(status.get()));
    target_ = TF_ServerTarget(server);  // the server stays until the process ends: it cannot be stopped
    start_other();
  }
  cluster(cluster const&) = delete;
  cluster& operator=(cluster const&) = delete;
  ~cluster() { kill_other(); }

  [[nodiscard]] std::string const& target() const { return target_; }

  void start_other() {
    if (ports_.size() < 2 || other_ != 0) return;
    char path[4096];
    ssize_t const length = readlink("/proc/self/exe", path, sizeof path - 1);
    std::string program(path, static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
    program = program.substr(0, program.rfind('/')) + "/conformance_task";
    std::string hexadecimal;
    for (char const each : server_definition(ports_, 1)) {
      char digits[3];
      std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(static_cast<unsigned char>(each)));
      hexadecimal += digits;
    }
    int ends[2];
    if (pipe(ends) != 0) give_up("another task", "no pipe");
    other_ = fork();
    if (other_ == 0) {
      dup2(ends[1], 1);
      close(ends[0]);
      execl(program.c_str(), program.c_str(), hexadecimal.c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    std::string said;
    for (char each = 0; read(ends[0], &each, 1) == 1 && each != '\n';) said += each;
    close(ends[0]);
    if (said != "ready") give_up(program.c_str(), said.c_str());
  }
  void kill_other() {
    if (other_ == 0) return;
    kill(other_, SIGKILL);
    waitpid(other_, nullptr, 0);
    other_ = 0;
  }
  /// Closes all sessions of the server. @param clears their variables, too
  void reset(bool clears) const {
    a_status const status;
    TF_SessionOptions* const options = TF_NewSessionOptions();
    TF_SetTarget(options, target_.c_str());
    char const* none[] = {"no such container"};
    TF_Reset(options, none, clears ? 0 : 1, status.get());
    TF_DeleteSessionOptions(options);
    if (TF_GetCode(status.get()) != TF_OK) give_up("TF_Reset", TF_Message(status.get()));
  }

 private:
  std::vector<int> ports_;
  std::string target_;
  pid_t other_ = 0;
};

// --- the play in progress -----------------------------------------------------------------------------------------

bool has_kind(std::vector<ordered_failure> const& list, error_kind kind) {
  return std::any_of(list.begin(), list.end(), [&](ordered_failure const& one) { return one.raises.kind == kind; });
}

struct {
  world* played = nullptr;
  cluster* servers = nullptr;  ///< null: the engine in this process
  long open_sessions = 0;
  std::unique_ptr<cluster> alone, of_two;
} now;

constexpr TF_Code code_of(error_kind kind) {
  switch (kind) {
    case error_kind::out_of_range: return TF_OUT_OF_RANGE;
    case error_kind::aborted: return TF_ABORTED;
    case error_kind::unavailable: return TF_UNAVAILABLE;
    case error_kind::internal: return TF_INTERNAL;
    case error_kind::invalid_argument: return TF_INVALID_ARGUMENT;
    case error_kind::cancelled: return TF_CANCELLED;
    default: return TF_FAILED_PRECONDITION;
  }
}

/// What comes over a session from outside, so that its next run fails with this error.
void trouble(error_kind kind, bool keeps_state) {
  if (kind == error_kind::aborted) now.servers->reset(!keeps_state);
  if (kind == error_kind::unavailable) now.servers->kill_other();
}

/// The names of operations, sorted by bytes.
std::string joined(TF_Output const* outputs, int count) {
  std::vector<std::string> found;
  for (int i = 0; i < count; ++i) found.emplace_back(TF_OperationName(outputs[i].oper));
  std::sort(found.begin(), found.end());
  std::string words;
  for (std::string const& name : found) words += words.empty() ? name : "," + name;
  return words;
}

void finish(world& played) {
  if (now.open_sessions != 0) played.complain("%ld sessions of TensorFlow have not been deleted", now.open_sessions);
  now.played = nullptr;
}

}  // namespace

scene set_the_scene(world& played, std::string& target) {
  if (now.played != nullptr && now.open_sessions != 0) played.complain("a play began with sessions of another one");
  scenario const& script = played.script;
  now.played = &played;
  now.open_sessions = 0;
  played.finish = &finish;
  bool const of_two = has_kind(script.run_failures, error_kind::unavailable) || has_kind(script.make_failures, error_kind::unavailable);
  bool const alone = has_kind(script.run_failures, error_kind::aborted) || has_kind(script.make_failures, error_kind::aborted) ||
                     script.keeps_state;
  if (!of_two && !alone) {
    now.servers = nullptr;
    return {};
  }
  std::unique_ptr<cluster>& chosen = of_two ? now.of_two : now.alone;
  if (chosen == nullptr) chosen = std::make_unique<cluster>(of_two);
  now.servers = chosen.get();
  now.servers->start_other();
  now.servers->reset(true);
  target = now.servers->target();
  return {.device = "/job:play/task:0", .other_device = of_two ? "/job:play/task:1" : ""};
}

void mend() {
  if (now.servers != nullptr) now.servers->start_other();
}

TF_Code begin_making(world& played, TF_Graph* graph, TF_Session* session, std::string& message) {
  played.taken = 0;
  auto const whole = [](std::int64_t value) {
    TF_Tensor* const held = TF_AllocateTensor(TF_INT64, nullptr, 0, sizeof value);
    *static_cast<std::int64_t*>(TF_TensorData(held)) = value;
    return held;
  };
  TF_Output const into[] = {{TF_GraphOperationByName(graph, "play/raw_run_is"), 0},
                            {TF_GraphOperationByName(graph, "play/attempt_is"), 0}};
  TF_Tensor* const values[] = {whole(played.raw_runs), whole(played.attempts)};
  TF_Operation const* const set = TF_GraphOperationByName(graph, "play/set");
  a_status const status;
  __real_TF_SessionRun(session, nullptr, into, values, 2, nullptr, nullptr, 0, &set, 1, nullptr, status.get());
  for (TF_Tensor* const each : values) TF_DeleteTensor(each);
  message = TF_Message(status.get());
  trouble(failure_at(played.script.make_failures, played.attempts).kind, played.script.keeps_state);
  return TF_GetCode(status.get());
}

}  // namespace conformance

// --- the seam -----------------------------------------------------------------------------------------------------

using namespace conformance;

extern "C" {

TF_Session* __wrap_TF_NewSession(TF_Graph* graph, TF_SessionOptions const* options, TF_Status* status) {
  TF_Session* const made = __real_TF_NewSession(graph, options, status);
  if (made != nullptr) ++now.open_sessions;
  return made;
}

void __wrap_TF_DeleteSession(TF_Session* session, TF_Status* status) {
  --now.open_sessions;
  __real_TF_DeleteSession(session, status);
}

/// A run with the target "train" is a raw run; all others (reading, initialising) are the library's own.
void __wrap_TF_SessionRun(TF_Session* session, TF_Buffer const* options, TF_Output const* feeds, TF_Tensor* const* fed,
                          int feed_count, TF_Output const* fetches, TF_Tensor** fetched, int fetch_count,
                          TF_Operation const* const* targets, int target_count, TF_Buffer* metadata, TF_Status* status) {
  auto const run = [&] {
    __real_TF_SessionRun(session, options, feeds, fed, feed_count, fetches, fetched, fetch_count, targets, target_count, metadata,
                         status);
  };
  bool const is_step = std::any_of(targets, targets + target_count, [](TF_Operation const* each) {
    return std::string_view(TF_OperationName(const_cast<TF_Operation*>(each))) == "train";
  });
  if (!is_step) return run();
  world& played = *now.played;
  scenario const& script = played.script;
  ++played.raw_runs;
  played.ticks += 10;
  std::string const names = joined(fetches, fetch_count);
  std::string const given = joined(feeds, feed_count);
  played.trace("run %ld%s%s%s%s", played.raw_runs, names.empty() ? "" : " fetch=", names.c_str(),
               given.empty() ? "" : " feed=", given.c_str());
  if (played.raw_runs > 10 * script.max_runs + 1000) {
    played.complain("the loop does not end");
    return TF_SetStatus(status, TF_INTERNAL, "the loop does not end");
  }
  failure const ordered = failure_at(script.run_failures, played.raw_runs);
  trouble(ordered.kind, script.keeps_state);
  if (ordered.kind == error_kind::cancelled) {
    // the run waits in a queue, or is about to
    std::thread closes([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      a_status const closed;
      TF_CloseSession(session, closed.get());
    });
    run();
    closes.join();
  } else {
    run();
  }
  TF_Code const code = TF_GetCode(status);
  bool const at_the_end = script.input_length >= 0 && played.taken == script.input_length;
  TF_Code const wanted = ordered.kind != error_kind::none ? code_of(ordered.kind) : at_the_end ? TF_OUT_OF_RANGE : TF_OK;
  if (code != wanted) {
    played.complain("raw run %ld ended with code %d instead of %d: %s", played.raw_runs, code, wanted, TF_Message(status));
  }
  if (code != TF_OK) return;
  ++played.taken;
  ++played.good_runs;
}

}  // extern "C"
