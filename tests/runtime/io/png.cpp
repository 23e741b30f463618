// SPDX-License-Identifier: BSL-1.0
#include <tautline/io/png.hpp>
// the program has a copy of its own
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

#include <numeric>
#include <string_view>

#include <doctest/doctest.h>

using tautline::png_of;

#if !defined(INCLUDE_STB_IMAGE_WRITE_H) || !defined(STB_IMAGE_WRITE_IMPLEMENTATION) || defined(STB_IMAGE_WRITE_STATIC)
#error "the program's own macros are lost"
#endif

namespace {

std::vector<std::uint8_t> pixels_for(int width, int height, int channels) {
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(width * height * channels));
  std::iota(pixels.begin(), pixels.end(), std::uint8_t{0});
  return pixels;
}
std::uint32_t big(std::vector<std::uint8_t> const& bytes, std::size_t at) {
  return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 | std::uint32_t{bytes[at + 2]} << 8 |
         bytes[at + 3];
}

}  // namespace

TEST_CASE("a PNG file has the size and the colours that were asked for") {
  int const colour_types[] = {0, 0, 4, 2, 6};
  for (int channels = 1; channels <= 4; ++channels) {
    auto const png = png_of(5, 3, channels, pixels_for(5, 3, channels));
    REQUIRE(png.size() > 33);
    CHECK(std::vector<std::uint8_t>(png.begin(), png.begin() + 8) ==
          std::vector<std::uint8_t>{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'});
    CHECK(big(png, 16) == 5);
    CHECK(big(png, 20) == 3);
    CHECK(png[24] == 8);
    CHECK(png[25] == colour_types[channels]);
    CHECK(std::string_view(reinterpret_cast<char const*>(png.data()) + png.size() - 8, 4) == "IEND");
  }
}

TEST_CASE("sizes that do not fit are refused") {
  auto const refused = [](int width, int height, int channels, std::size_t bytes) {
    std::vector<std::uint8_t> const pixels(bytes);
#if TAUTLINE_EXCEPTIONS
    CHECK_THROWS_AS((void)png_of(width, height, channels, pixels), tautline::invalid_argument_error);
#else
    CHECK(png_of(width, height, channels, pixels).empty());
#endif
  };
  refused(2, 2, 1, 3);
  refused(2, 2, 1, 5);
  refused(0, 2, 1, 0);
  refused(2, -2, 1, 0);
  refused(2, 2, 0, 0);
  refused(2, 2, 5, 20);
  refused(1 << 30, 1 << 30, 4, 0);
}

TEST_CASE("the program's own copy works") {
  int size = 0;
  auto const pixels = pixels_for(4, 4, 3);
  auto const take = [](void* into, void*, int count) { *static_cast<int*>(into) = count; };
  CHECK(::stbi_write_png_to_func(take, &size, 4, 4, 3, pixels.data(), 12) == 1);
  CHECK(size == static_cast<int>(png_of(4, 4, 3, pixels).size()));
}
