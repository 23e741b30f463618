// SPDX-License-Identifier: BSL-1.0
// A task of a cluster in a process of its own, so that it can be killed.
//
//   conformance_task SERVER_DEF     in hexadecimal; writes a line when it answers, and ends with whoever started it

#include <signal.h>
#include <sys/prctl.h>
#include <tensorflow/c/c_api.h>
#include <unistd.h>

#include <cstdio>
#include <string>

int main(int count, char** arguments) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (count != 2) return 2;
  std::string definition;
  for (char const* at = arguments[1]; at[0] != 0 && at[1] != 0; at += 2) {
    definition += static_cast<char>(std::stoi(std::string(at, 2), nullptr, 16));
  }
  TF_Status* const status = TF_NewStatus();
  TF_Server* const server = TF_NewServer(definition.data(), definition.size(), status);
  if (TF_GetCode(status) == TF_OK) TF_ServerStart(server, status);
  std::printf("%s\n", TF_GetCode(status) == TF_OK ? "ready" : TF_Message(status));
  std::fflush(stdout);
  if (TF_GetCode(status) == TF_OK) pause();
}
