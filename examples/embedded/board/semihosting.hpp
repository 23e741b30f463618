// SPDX-License-Identifier: BSL-1.0
//
// What a debugger or an emulator does for the program: text, the command line, the exit code.

#pragma once

#include <cstddef>
#include <cstdint>

namespace board {

inline std::uintptr_t semihosting(std::uintptr_t operation, void const* parameters) {
  register std::uintptr_t r0 asm("r0") = operation;
  register void const* r1 asm("r1") = parameters;
  asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

/// Writes a text that ends with a zero.
inline void print(char const* words) { semihosting(0x04, words); }

/// Ends the emulator with this exit code.
[[noreturn]] inline void exit(int code) {
  std::uintptr_t const parameters[] = {0x20026, static_cast<std::uintptr_t>(code)};
  for (;;) semihosting(0x20, parameters);
}

/// The words that the emulator was given by `-semihosting-config arg=…`, joined by blanks.
inline void command_line(char* buffer, std::size_t size) {
  struct {
    char* buffer;
    std::size_t size;
  } const parameters{buffer, size};
  if (semihosting(0x15, &parameters) != 0) *buffer = 0;
}

/// The number behind `name=` in the command line; `otherwise` if there is none.
inline std::uint32_t option(char const* name, std::uint32_t otherwise) {
  char words[160];
  command_line(words, sizeof words);
  for (char const* at = words; *at != 0; ++at) {
    if (at != words && at[-1] != ' ') continue;
    char const* seen = at;
    char const* wanted = name;
    while (*wanted != 0 && *seen == *wanted) ++seen, ++wanted;
    if (*wanted != 0 || *seen != '=') continue;
    std::uint32_t number = 0;
    for (++seen; *seen >= '0' && *seen <= '9'; ++seen) number = number * 10 + static_cast<std::uint32_t>(*seen - '0');
    return number;
  }
  return otherwise;
}

}  // namespace board
