// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <cmath>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <tautline/core/error.hpp>

// stb_image_write becomes a part of this translation unit, in a namespace of ours, and its macros are those of before
// when it is through: a program may have a copy of its own, in front of this header or behind it. What it includes
// stands above. Its functions have internal linkage, and so has png_of.
#pragma push_macro("INCLUDE_STB_IMAGE_WRITE_H")
#pragma push_macro("STB_IMAGE_WRITE_IMPLEMENTATION")
#pragma push_macro("STB_IMAGE_WRITE_STATIC")
#pragma push_macro("STBI_WRITE_NO_STDIO")
#pragma push_macro("STBIWDEF")
#pragma push_macro("STBIW_MALLOC")
#pragma push_macro("STBIW_REALLOC")
#pragma push_macro("STBIW_FREE")
#pragma push_macro("STBIW_REALLOC_SIZED")
#pragma push_macro("STBIW_MEMMOVE")
#pragma push_macro("STBIW_ASSERT")
#pragma push_macro("STBIW_UCHAR")
#pragma push_macro("STBIW_ZLIB_COMPRESS")
#pragma push_macro("STBIW_CRC32")
#undef INCLUDE_STB_IMAGE_WRITE_H
#undef STB_IMAGE_WRITE_IMPLEMENTATION
#undef STB_IMAGE_WRITE_STATIC
#undef STBI_WRITE_NO_STDIO
#undef STBIWDEF
#undef STBIW_MALLOC
#undef STBIW_REALLOC
#undef STBIW_FREE
#undef STBIW_REALLOC_SIZED
#undef STBIW_MEMMOVE
#undef STBIW_ASSERT
#undef STBIW_UCHAR
#undef STBIW_ZLIB_COMPRESS
#undef STBIW_CRC32
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#define STBIWDEF [[maybe_unused]] static

TAUTLINE_BEGIN
namespace detail::stb {
#include <stb/stb_image_write.h>
}  // namespace detail::stb
TAUTLINE_END

#undef INCLUDE_STB_IMAGE_WRITE_H
#undef STB_IMAGE_WRITE_IMPLEMENTATION
#undef STB_IMAGE_WRITE_STATIC
#undef STBI_WRITE_NO_STDIO
#undef STBIWDEF
#undef STBIW_MALLOC
#undef STBIW_REALLOC
#undef STBIW_FREE
#undef STBIW_REALLOC_SIZED
#undef STBIW_MEMMOVE
#undef STBIW_ASSERT
#undef STBIW_UCHAR
#undef STBIW_ZLIB_COMPRESS
#undef STBIW_CRC32
#undef stbiw__sbraw
#undef stbiw__sbm
#undef stbiw__sbn
#undef stbiw__sbneedgrow
#undef stbiw__sbmaybegrow
#undef stbiw__sbgrow
#undef stbiw__sbpush
#undef stbiw__sbcount
#undef stbiw__sbfree
#undef stbiw__zlib_flush
#undef stbiw__zlib_add
#undef stbiw__zlib_huffa
#undef stbiw__zlib_huff1
#undef stbiw__zlib_huff2
#undef stbiw__zlib_huff3
#undef stbiw__zlib_huff4
#undef stbiw__zlib_huff
#undef stbiw__zlib_huffb
#undef stbiw__ZHASH
#undef stbiw__wpng4
#undef stbiw__wp32
#undef stbiw__wptag
#undef stbiw__max
#pragma pop_macro("INCLUDE_STB_IMAGE_WRITE_H")
#pragma pop_macro("STB_IMAGE_WRITE_IMPLEMENTATION")
#pragma pop_macro("STB_IMAGE_WRITE_STATIC")
#pragma pop_macro("STBI_WRITE_NO_STDIO")
#pragma pop_macro("STBIWDEF")
#pragma pop_macro("STBIW_MALLOC")
#pragma pop_macro("STBIW_REALLOC")
#pragma pop_macro("STBIW_FREE")
#pragma pop_macro("STBIW_REALLOC_SIZED")
#pragma pop_macro("STBIW_MEMMOVE")
#pragma pop_macro("STBIW_ASSERT")
#pragma pop_macro("STBIW_UCHAR")
#pragma pop_macro("STBIW_ZLIB_COMPRESS")
#pragma pop_macro("STBIW_CRC32")

TAUTLINE_BEGIN

/// Pixels as the bytes of a PNG file.
///
///     std::vector<std::uint8_t> const png = png_of(28, 28, 1, pixels);
///     events.add_image("digits/first", png, 28, 28, step);
///
/// @param channels 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA
/// @param pixels rows from the top, width * height * channels bytes
/// **Errors** `invalid_argument_error` for sizes that do not fit each other, or of more than 512 MiB; with
/// `-fno-exceptions` nothing is returned.
/// **Cost** about 50 ns a byte at -O2; allocates.
[[nodiscard]] static inline std::vector<std::uint8_t> png_of(int width, int height, int channels,
                                                             std::span<std::uint8_t const> pixels) {
  std::vector<std::uint8_t> png;
  constexpr std::int64_t most = 1 << 29;  // stb_image_write counts with int
  bool const sound = width > 0 && height > 0 && channels >= 1 && channels <= 4 && width <= most && height <= most &&
                     (std::int64_t{width} * channels + 1) <= most / height &&
                     pixels.size() == static_cast<std::size_t>(width) * static_cast<std::size_t>(height) *
                                          static_cast<std::size_t>(channels);
  auto const take = [](void* into, void* data, int size) {
    auto const* const bytes = static_cast<std::uint8_t const*>(data);
    static_cast<std::vector<std::uint8_t>*>(into)->assign(bytes, bytes + size);
  };
  if (!sound || detail::stb::stbi_write_png_to_func(take, &png, width, height, channels, pixels.data(), 0) == 0) {
#if TAUTLINE_EXCEPTIONS
    throw invalid_argument_error("png_of: width, height and channels do not fit the pixels, or there is no memory");
#endif
  }
  return png;
}

TAUTLINE_END
