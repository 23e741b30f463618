// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <tautline/io/detail/utf8.hpp>

// Messages of protocol buffers, written only. A message is a callable that lists its fields, in the order of their
// numbers, on whatever it is given: it is called with a `proto_size`, which adds up, and then with a `proto_writer`.
//
//     auto const event = [&](auto& out) {
//       out.number(1, wall_time);
//       out.message(5, [&](auto& summary) { summary.text(1, tag); });
//     };
//
// A field of the value 0 or "" is left out, as the format's own libraries do; `fixed`, `boolean`, `element`, `bytes`
// and `doubles` are always written.
// Source: https://protobuf.dev/programming-guides/encoding

TAUTLINE_BEGIN
namespace detail {

constexpr std::size_t varint_size(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}
enum class wire : std::uint32_t { varint = 0, fixed_64 = 1, length = 2, fixed_32 = 5 };
constexpr std::uint32_t tag_of(std::uint32_t field, wire type) { return field << 3 | static_cast<std::uint32_t>(type); }

/// Copies text; each byte that is no part of a UTF-8 character becomes '?': a reader would refuse the whole file.
inline void copy_utf8(char* out, std::string_view text) {
  if (text.empty()) return;
  std::memcpy(out, text.data(), text.size());
  std::size_t ascii = 0;
  while (ascii < text.size() && static_cast<unsigned char>(text[ascii]) < 0x80) ++ascii;
  if (ascii == text.size()) return;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t const length = utf8_length(text, i);
    if (length == 0) out[i] = '?';
    i += length == 0 ? 1 : length;
  }
}

/// Adds up how many bytes a message takes.
class proto_size {
 public:
  constexpr void varint(std::uint32_t field, std::uint64_t value) {
    if (value != 0) bytes_ += varint_size(tag_of(field, wire::varint)) + varint_size(value);
  }
  /// Written even if false: where one of several fields is set, its presence counts.
  constexpr void boolean(std::uint32_t field, bool) { bytes_ += varint_size(tag_of(field, wire::varint)) + 1; }
  constexpr void integer(std::uint32_t field, std::int64_t value) { varint(field, static_cast<std::uint64_t>(value)); }
  constexpr void number(std::uint32_t field, double value) {
    if (std::bit_cast<std::uint64_t>(value) != 0) fixed(field, value);
  }
  constexpr void fixed(std::uint32_t field, double) { bytes_ += varint_size(tag_of(field, wire::fixed_64)) + 8; }
  constexpr void fixed(std::uint32_t field, float) { bytes_ += varint_size(tag_of(field, wire::fixed_32)) + 4; }
  constexpr void text(std::uint32_t field, std::string_view value) {
    if (!value.empty()) bytes(field, value);
  }
  /// A text that is written even if it is empty.
  constexpr void element(std::uint32_t field, std::string_view value) { bytes(field, value); }
  constexpr void bytes(std::uint32_t field, std::string_view value) { payload(field, value.size()); }
  /// `count` doubles, which `at(i)` gives, without tags between them.
  template <class At>
  constexpr void doubles(std::uint32_t field, std::size_t count, At const&) {
    payload(field, 8 * count);
  }
  template <class Message>
  constexpr void message(std::uint32_t field, Message const& fields) {
    proto_size inner;
    fields(inner);
    payload(field, inner.total());
  }
  [[nodiscard]] constexpr std::size_t total() const { return bytes_; }

 private:
  constexpr void payload(std::uint32_t field, std::size_t size) {
    bytes_ += varint_size(tag_of(field, wire::length)) + varint_size(size) + size;
  }
  std::size_t bytes_ = 0;
};

/// Writes a message to memory that has room for it.
class proto_writer {
 public:
  explicit proto_writer(char* at) : at_(at) {}

  void varint(std::uint32_t field, std::uint64_t value) {
    if (value != 0) put_varint(tag_of(field, wire::varint)), put_varint(value);
  }
  void boolean(std::uint32_t field, bool value) { put_varint(tag_of(field, wire::varint)), put_varint(value ? 1 : 0); }
  void integer(std::uint32_t field, std::int64_t value) { varint(field, static_cast<std::uint64_t>(value)); }
  void number(std::uint32_t field, double value) {
    if (std::bit_cast<std::uint64_t>(value) != 0) fixed(field, value);
  }
  void fixed(std::uint32_t field, double value) {
    put_varint(tag_of(field, wire::fixed_64));
    put_little<8>(std::bit_cast<std::uint64_t>(value));
  }
  void fixed(std::uint32_t field, float value) {
    put_varint(tag_of(field, wire::fixed_32));
    put_little<4>(std::bit_cast<std::uint32_t>(value));
  }
  void text(std::uint32_t field, std::string_view value) {
    if (!value.empty()) element(field, value);
  }
  void element(std::uint32_t field, std::string_view value) {
    begin(field, value.size());
    copy_utf8(at_, value);
    at_ += value.size();
  }
  void bytes(std::uint32_t field, std::string_view value) {
    begin(field, value.size());
    if (!value.empty()) std::memcpy(at_, value.data(), value.size());
    at_ += value.size();
  }
  template <class At>
  void doubles(std::uint32_t field, std::size_t count, At const& at) {
    begin(field, 8 * count);
    for (std::size_t i = 0; i < count; ++i) put_little<8>(std::bit_cast<std::uint64_t>(static_cast<double>(at(i))));
  }
  template <class Message>
  void message(std::uint32_t field, Message const& fields) {
    proto_size inner;
    fields(inner);
    begin(field, inner.total());
    fields(*this);
  }

  template <std::size_t Bytes>
  void put_little(std::uint64_t value) {
    if constexpr (std::endian::native == std::endian::little) {  // one store; clang does not make it of eight
      std::memcpy(at_, &value, Bytes);
    } else {
      for (std::size_t i = 0; i < Bytes; ++i) at_[i] = static_cast<char>(value >> (8 * i));
    }
    at_ += Bytes;
  }
  [[nodiscard]] char* position() const { return at_; }

 private:
  void begin(std::uint32_t field, std::size_t size) {
    put_varint(tag_of(field, wire::length));
    put_varint(size);
  }
  void put_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) *at_++ = static_cast<char>(value | 0x80);
    *at_++ = static_cast<char>(value);
  }
  char* at_;
};

}  // namespace detail
TAUTLINE_END
