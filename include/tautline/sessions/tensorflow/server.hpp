// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tensorflow/c/c_api.h>

#include <tautline/sessions/tensorflow/outcome.hpp>
#include <tautline/sessions/tensorflow/protobuf.hpp>
#include <tautline/sessions/tensorflow/session_config.hpp>

TAUTLINE_BEGIN
namespace tensorflow {

/// The processes of one kind: `{"worker", {"host0:2222", "host1:2222"}}`; the task of each is its place in the list.
struct job {
  std::string name;
  std::vector<std::string> addresses;
};

/// The processes that train together.
///
///     tensorflow::cluster const cluster{{"ps", {"localhost:2222"}}, {"worker", {"localhost:2223", "localhost:2224"}}};
///     tensorflow::server server(cluster, "worker", 0);
class cluster {
 public:
  cluster() = default;
  cluster(std::initializer_list<job> jobs) : jobs_(jobs) {}
  explicit cluster(std::vector<job> jobs) : jobs_(std::move(jobs)) {}

  [[nodiscard]] std::vector<job> const& jobs() const { return jobs_; }
  /// Empty if there is no such process.
  [[nodiscard]] std::string address(std::string_view name, std::size_t index) const {
    for (auto const& one : jobs_) {
      if (one.name == name && index < one.addresses.size()) return one.addresses[index];
    }
    return {};
  }

  /// The ServerDef of one process, as TF_NewServer takes it. Parameters as those of a `server`.
  [[nodiscard]] std::string server_def(std::string_view name, std::size_t index, session_config const& config = {},
                                       std::string_view protocol = "grpc") const {
    proto_writer out;
    out.message(1, [&](proto_writer& all) {
      for (auto const& one : jobs_) {
        all.message(1, [&](proto_writer& fields) {
          fields.text(1, one.name);
          for (std::size_t i = 0; i < one.addresses.size(); ++i) {
            fields.message(2, [&](proto_writer& task) {
              task.element(1, static_cast<std::int64_t>(i));
              task.element(2, one.addresses[i]);
            });
          }
        });
      }
    });
    out.text(2, name);
    out.integer(3, static_cast<std::int64_t>(index));
    if (auto const bytes = config.bytes(); !bytes.empty()) out.element(4, bytes);
    out.text(5, protocol);
    return static_cast<proto_writer&&>(out).bytes();
  }

 private:
  std::vector<job> jobs_;
};

/// This process's part of a cluster: TensorFlow's own server, in threads of this process.
///
///     tensorflow::server server(cluster, "ps", 0);
///     if (!server.status().ok()) return report(server.status().message);
///     server.join();               // a parameter server: serves until the process is ended
///
/// **Errors** in `status()`, each with the process's name and address: no such process in the cluster, the port is
/// taken, no such protocol.
/// **Life** a server of gRPC that has been started cannot be stopped: TF_ServerStop answers UNIMPLEMENTED ("Clean
/// shutdown is not currently implemented"), TF_DeleteServer then aborts the process. So the destructor leaves it
/// behind: it serves, and holds its port, until the process ends. Make one in a process.
/// **Thread-safety** one thread makes and destroys it; sessions on its target may be made from any.
class server {
 public:
  server() = default;  ///< none
  /// Makes and starts it. @param name, index which of the cluster's processes this is: `"worker", 0`
  /// @param config as that of a session, of the whole server
  /// @param protocol "grpc", or another that this TensorFlow has
  server(cluster const& all, std::string_view name, std::size_t index, session_config const& config = {},
         std::string_view protocol = "grpc") {
    std::string const address = all.address(name, index);
    who_ = "/job:" + std::string(name) + "/task:" + std::to_string(index) + " at " + address;
    if (address.empty()) {
      failed_ = {error_kind::invalid_argument,
                 "the cluster has no /job:" + std::string(name) + "/task:" + std::to_string(index)};
      return;
    }
    std::string const bytes = all.server_def(name, index, config, protocol);
    call("cannot be made", [&](TF_Status* to) { server_.reset(TF_NewServer(bytes.data(), bytes.size(), to)); });
    if (!failed_.ok()) {
      server_.reset();
      return;
    }
    call("cannot be started", [&](TF_Status* to) { TF_ServerStart(server_.get(), to); });
  }

  /// View of words of this object.
  [[nodiscard]] tautline::status status() const { return failed_.status(); }
  /// "grpc://127.0.0.1:2222", for the sessions of this process; empty if there is no server.
  ///
  /// It is not written as the cluster has it: then TensorFlow would call its server directly, and no deadline would
  /// end the making of a session while a machine of the cluster is missing, nor the closing of one while a machine
  /// goes away.
  [[nodiscard]] std::string target() const {
    std::string const own = server_ ? TF_ServerTarget(server_.get()) : "";
    std::string_view const start = "grpc://";
    auto const colon = own.rfind(':');
    return own.starts_with(start) ? std::string(start) + "127.0.0.1" + own.substr(colon) : own;
  }
  [[nodiscard]] TF_Server* handle() const { return server_.get(); }

  /// Waits until the server stops: in the case of gRPC for ever.
  tautline::status join() {
    if (server_) call("failed", [&](TF_Status* to) { TF_ServerJoin(server_.get(), to); });
    return failed_.status();
  }

 private:
  struct left_behind {
    TF_Server* server;
    left_behind* before;
  };
  static inline std::atomic<left_behind*> last_left_behind{nullptr};
  using status_pointer = std::unique_ptr<TF_Status, void (*)(TF_Status*)>;
  struct remove {
    void operator()(TF_Server* given) const {
      status_pointer const stopped(TF_NewStatus(), &TF_DeleteStatus);
      TF_ServerStop(given, stopped.get());
      if (TF_GetCode(stopped.get()) == TF_OK) return TF_DeleteServer(given);
      // TensorFlow would end the process. Where this is kept, tools see that it is no leak.
      auto* const kept = new left_behind{given, last_left_behind.load()};
      while (!last_left_behind.compare_exchange_weak(kept->before, kept)) {
      }
    }
  };
  template <class Call>
  void call(char const* what, Call&& made) {
    status_pointer const status(TF_NewStatus(), &TF_DeleteStatus);
    made(status.get());
    if (TF_GetCode(status.get()) == TF_OK) return;
    failed_ = {error_kind::error, "the server " + who_ + ' ' + what + ": " + TF_Message(status.get())};
  }

  std::unique_ptr<TF_Server, remove> server_;
  outcome failed_{};
  std::string who_;
};

}  // namespace tensorflow
TAUTLINE_END
