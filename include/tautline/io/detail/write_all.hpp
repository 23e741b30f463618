// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private

#include <cerrno>
#include <cstddef>

#include <unistd.h>

#include <tautline/core/config.hpp>

TAUTLINE_BEGIN
namespace detail {

/// Writes to a descriptor, also where the system takes a part only, or a signal comes between.
/// @param done gets how many bytes were written, after an error too
/// @return 0 or the value of `errno`
inline int write_all(int descriptor, char const* data, std::size_t size, std::size_t& done) {
  for (done = 0; done < size;) {
    auto const count = ::write(descriptor, data + done, size - done);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0) {
      return EIO;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace detail
TAUTLINE_END
