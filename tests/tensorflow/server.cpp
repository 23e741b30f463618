// SPDX-License-Identifier: BSL-1.0
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <tautline/sessions/tensorflow/server.hpp>

#include <doctest/doctest.h>

#include "files.hpp"

using namespace tautline::tensorflow;

namespace {

/// A socket that listens on a port of its own.
class taken_port {
 public:
  taken_port() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    socklen_t size = sizeof address;
    REQUIRE(bind(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(listen(socket_, 1) == 0);
    REQUIRE(getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  taken_port(taken_port const&) = delete;
  taken_port& operator=(taken_port const&) = delete;
  ~taken_port() { close(socket_); }
  [[nodiscard]] std::string address() const { return "localhost:" + std::to_string(port_); }

 private:
  int socket_ = socket(AF_INET, SOCK_STREAM, 0);
  int port_ = 0;
};

bool holds(char const* text, std::string const& part) { return std::string(text).find(part) != std::string::npos; }

}  // namespace

TEST_CASE("descriptions are the bytes that Python writes") {
  CHECK(session_config{.intra_op_threads = 2,
                       .inter_op_threads = -1,
                       .use_per_session_threads = true,
                       .allow_soft_placement = true,
                       .log_device_placement = true,
                       .device_filters = {"/job:ps", "/job:worker/task:1"},
                       .operation_timeout_in_ms = 3000,
                       .isolate_session_state = true,
                       .disable_optimizer = true,
                       .more = "\x88\x01\x01"}  // share_cluster_devices_in_session
            .bytes() == files::contents("config.pb"));
  CHECK(session_config{}.bytes().empty());
  cluster const all{{"ps", {"localhost:2222"}}, {"worker", {"localhost:2223", "localhost:2224"}}};
  cluster const small{{"ps", {"localhost:2222"}}, {"worker", {"localhost:2223"}}};
  CHECK(small.server_def("worker", 1, {.intra_op_threads = 1}) == files::contents("server.pb"));
  CHECK(all.address("worker", 1) == "localhost:2224");
  CHECK(all.address("worker", 2).empty());
  CHECK(all.address("chief", 0).empty());
}

TEST_CASE("a process that the cluster does not have is an error with its name") {
  cluster const all{{"ps", {"localhost:2222"}}};
  server const none(all, "worker", 3);
  CHECK(none.status().kind == tautline::error_kind::invalid_argument);
  CHECK(std::string(none.status().message) == "the cluster has no /job:worker/task:3");
  CHECK(none.target().empty());
  CHECK(server().target().empty());
  CHECK(server().status().ok());
}

TEST_CASE("a port that is taken is an error with the address") {
  taken_port const port;
  server const none(cluster{{"ps", {port.address()}}}, "ps", 0);
  CHECK_FALSE(none.status().ok());
  CHECK_MESSAGE(holds(none.status().message, "/job:ps/task:0 at " + port.address()), none.status().message);
  CHECK(none.handle() == nullptr);
}

TEST_CASE("a protocol that is none is an error") {
  server const none(cluster{{"ps", {"localhost:0"}}}, "ps", 0, {}, "carrier pigeon");
  CHECK_FALSE(none.status().ok());
  CHECK_MESSAGE(holds(none.status().message, "carrier pigeon"), none.status().message);
}

TEST_CASE("a server has a target, and stays behind without harm") {
  std::string address;
  { address = taken_port().address(); }
  server one(cluster{{"worker", {address}}}, "worker", 0);  // deleted, it would end the process
  REQUIRE_MESSAGE(one.status().ok(), one.status().message);
  CHECK(one.target() == "grpc://127.0.0.1" + address.substr(address.find(':')));
}
