// SPDX-License-Identifier: BSL-1.0
// A million steps in real-time mode, with logging, summaries and a saver, on a thread on which every allocation,
// lock and system call is counted. It says the counts; with an argument a hook does what must be seen:
//
//   proof [new|malloc|lock|syscall]
//
// Allocations are seen in malloc and its like, to which operator new goes, locks in pthread_mutex_lock and its like, both
// taken from the C library by this program's own. System calls are seen by the kernel: a seccomp filter on the thread of the
// steps traps every one of them. It cannot be taken away, so that thread only makes the steps; all else is another's.

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>

#include <dlfcn.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <tautline/core.hpp>
#include <tautline/hooks/checkpoint_saver.hpp>
#include <tautline/hooks/off_thread.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/hooks/tensor_logger.hpp>
#include <tautline/io/async_summary_writer.hpp>
#include <tautline/io/background_checkpoints.hpp>
#include <tautline/sessions/static_graph.hpp>

namespace {

struct counts {
  long allocations = 0;
  long locks = 0;
  volatile long system_calls = 0;
};
counts seen;
__attribute__((tls_model("initial-exec"))) thread_local bool watched = false;

template <class Function>
Function* of_c_library(char const* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
// looked up before anything is watched: dlsym itself allocates and locks
int (*real_lock)(pthread_mutex_t*) = nullptr;
int (*real_trylock)(pthread_mutex_t*) = nullptr;
int (*real_wait)(pthread_cond_t*, pthread_mutex_t*) = nullptr;

}  // namespace

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

void* malloc(std::size_t size) noexcept {
  if (watched) ++seen.allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  if (watched) ++seen.allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* before, std::size_t size) noexcept {
  if (watched) ++seen.allocations;
  return __libc_realloc(before, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  if (watched) ++seen.allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** made, std::size_t alignment, std::size_t size) noexcept {
  if (watched) ++seen.allocations;
  *made = __libc_memalign(alignment, size);
  return *made == nullptr ? ENOMEM : 0;
}
void free(void* gone) noexcept {
  if (watched && gone != nullptr) ++seen.allocations;
  __libc_free(gone);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  if (watched) ++seen.locks;
  if (real_lock == nullptr) real_lock = of_c_library<int(pthread_mutex_t*)>("pthread_mutex_lock");
  return real_lock(mutex);
}
int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  if (watched) ++seen.locks;
  if (real_trylock == nullptr) real_trylock = of_c_library<int(pthread_mutex_t*)>("pthread_mutex_trylock");
  return real_trylock(mutex);
}
int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  if (watched) ++seen.locks;
  if (real_wait == nullptr) real_wait = of_c_library<int(pthread_cond_t*, pthread_mutex_t*)>("pthread_cond_wait");
  return real_wait(condition, mutex);
}
}

namespace {

using namespace tautline;

/// The trapped call is not made; it says that there is no such call.
void on_trap(int, siginfo_t*, void* context) {
  seen.system_calls = seen.system_calls + 1;
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  machine.gregs[REG_RAX] = -ENOSYS;
#elif defined(__aarch64__)
  machine.regs[0] = static_cast<unsigned long long>(-ENOSYS);
#endif
}

/// From here on every system call of this thread is trapped, but for those that end the handler and the thread.
bool trap_system_calls() {
  struct sigaction act {};
  act.sa_sigaction = &on_trap;
  act.sa_flags = SA_SIGINFO | SA_NODEFER;
  if (sigaction(SIGSYS, &act, nullptr) != 0) return false;
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_rt_sigreturn, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog const program{sizeof filter / sizeof *filter, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// Writes numbers as they come, on whatever thread.
struct file_writer {
  std::FILE* file;
  long written = 0;
  void add_scalar(std::string_view tag, double value, step_number step, double time = 0) {
    std::fprintf(file, "%.3f %lld %.*s %g\n", time, static_cast<long long>(step), static_cast<int>(tag.size()), tag.data(), value);
    ++written;
  }
};

/// Summaries from within a step.
template <class Writer>
struct summaries {
  static constexpr bool real_time = true;
  static constexpr bool stateless = true;
  Writer* to;
  every_steps trigger{100};
  auto before_run(auto& ctx) const noexcept { return ask_if(ctx.due(), fetch<"loss">); }
  void after_run(auto& ctx, auto const& values) const noexcept {
    (void)to->try_add_scalar("loss", static_cast<double>(values[fetch<"loss">]), ctx.step());
  }
};

enum class breach { none, by_new, by_malloc, by_lock, by_system_call };

/// Does what no hook may.
struct breaker {
  static constexpr bool real_time = true;  // a lie
  static constexpr bool stateless = true;
  breach how;
  every_steps trigger{1000};
  void after_run(auto& ctx) const noexcept {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    if (!ctx.due()) return;
    if (how == breach::by_new) delete new volatile int(1);
    if (how == breach::by_malloc) {
      void* volatile made = std::malloc(8);
      std::free(made);
    }
    if (how == breach::by_lock) pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex);
    if (how == breach::by_system_call) (void)getppid();
  }
};

constexpr long steps = 1'000'000;

}  // namespace

int main(int count, char** words) {
  std::string_view const word = count > 1 ? words[1] : "";
  breach const how = word == "new"       ? breach::by_new
                     : word == "malloc"  ? breach::by_malloc
                     : word == "lock"    ? breach::by_lock
                     : word == "syscall" ? breach::by_system_call
                                         : breach::none;
  std::FILE* const log = std::tmpfile();
  std::FILE* const curves = std::tmpfile();
  if (log == nullptr || curves == nullptr) return 2;
  long lines = 0;
  file_writer inner{curves};
  async_summary_writer out(inner, {.background = {.capacity = 16384}});
  std::filesystem::path const folder =
      std::filesystem::temp_directory_path() / ("tautline-realtime-" + std::to_string(getpid()));
  real_time_checkpoints store(folder.string());
  auto graph = static_graph{}
                   .variable<"w">(0.0F)
                   .op<"loss", "w">([](float w) { return (w - 3) * (w - 3); })
                   .update<"train", "w">([](float& w) { w += 0.001F * (3 - w); });
  auto sink = [&](std::string_view line) {
    std::fprintf(log, "%.*s\n", static_cast<int>(line.size()), line.data());
    ++lines;
  };
  auto session = monitored(graph, options{real_time{}}, stop_at_step{steps}, breaker{how},
                           off_thread{tensor_logger<"loss">{every_steps{100}, {.log = sink}}, {.capacity = 16384}},
                           summaries<decltype(out)>{&out}, checkpoint_saver{store, every_steps{steps / 20}});
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex);

  std::atomic<int> made{0};
  std::thread stepping([&] {
    std::free(std::malloc(64));  // the heap of this thread, so that an allocation is that and no system call
    if (!trap_system_calls()) {
      made = 2;
      return;
    }
    watched = true;
    (void)session.run_to_completion(target<"train">);
    watched = false;
    made = 1;
    syscall(__NR_exit, 0);
  });
  stepping.join();
  if (made != 1) {
    std::puts("seccomp is not allowed here");
    return 77;
  }
  counts const then = seen;
  session.close();
  auto const dropped = session.hook<off_thread<tensor_logger<"loss">>>().dropped();
  background_report const report = out.join(std::chrono::seconds(20));
  auto const saved = session.hook<checkpoint_saver<real_time_checkpoints, every_steps>>().saved();
  std::filesystem::remove_all(folder);
  std::printf("saved %lld left_out %lld ", static_cast<long long>(saved), static_cast<long long>(store.left_out()));
  std::printf("steps %lld allocations %ld locks %ld system_calls %ld lines %ld curve %ld dropped %lld\n",
              static_cast<long long>(session.completed_steps()), then.allocations, then.locks, static_cast<long>(then.system_calls),
              lines, inner.written, static_cast<long long>(dropped + report.dropped + report.lost));
  std::fclose(log);
  std::fclose(curves);
}
