// SPDX-License-Identifier: BSL-1.0
#include <tautline/core.hpp>

#include <tensorflow/c/c_api.h>

#include <cstdio>

int main() {
  std::printf("tautline %d.%d with TensorFlow %s\n", TAUTLINE_VERSION_MAJOR, TAUTLINE_VERSION_MINOR, TF_Version());
  return TF_Version()[0] == '2' ? 0 : 1;
}
