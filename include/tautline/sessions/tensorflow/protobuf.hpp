// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <tautline/core/config.hpp>

// The wire format of protocol buffers, both ways, for the few messages that the C API of TensorFlow takes and gives as
// bytes. Their definitions are read field by field, so no generated code and no library of protocol buffers is needed.
// Source: https://protobuf.dev/programming-guides/encoding

TAUTLINE_BEGIN
namespace tensorflow {

/// How a field is written; groups (3, 4) are refused.
enum class wire_type : std::uint8_t { varint = 0, fixed_64 = 1, bytes = 2, fixed_32 = 5 };

/// Writes a message to a string. Fields of the value 0, false or "" are left out, as the format's own libraries do.
///
///     proto_writer out;
///     out.integer(2, threads);
///     out.message(10, [&](proto_writer& graph_options) { graph_options.boolean(4, true); });
///     use(out.bytes());
///
/// **Cost** a message in a message is moved once more when its length is known.
class proto_writer {
 public:
  void integer(std::uint32_t field, std::int64_t value) {
    if (value != 0) element(field, value);
  }
  void boolean(std::uint32_t field, bool value) { integer(field, value ? 1 : 0); }
  /// Written even if 0: an element of a list.
  void element(std::uint32_t field, std::int64_t value) {
    tag(field, wire_type::varint);
    varint(static_cast<std::uint64_t>(value));
  }
  void number(std::uint32_t field, double value) {
    if (std::bit_cast<std::uint64_t>(value) == 0) return;
    tag(field, wire_type::fixed_64);
    little(std::bit_cast<std::uint64_t>(value), 8);
  }
  void number(std::uint32_t field, float value) {
    if (std::bit_cast<std::uint32_t>(value) == 0) return;
    tag(field, wire_type::fixed_32);
    little(std::bit_cast<std::uint32_t>(value), 4);
  }
  void text(std::uint32_t field, std::string_view value) {
    if (!value.empty()) element(field, value);
  }
  /// Written even if empty: an element of a list, or a message that is there.
  void element(std::uint32_t field, std::string_view value) {
    tag(field, wire_type::bytes);
    varint(value.size());
    bytes_.append(value);
  }
  /// @param fields called with a writer; an empty message is written, too, as its presence counts
  template <class Fields>
    requires std::is_invocable_v<Fields&, proto_writer&>
  void message(std::uint32_t field, Fields&& fields) {
    proto_writer inner;
    fields(inner);
    element(field, std::string_view(inner.bytes_));
  }
  /// Fields that are written already, by another writer or by a library, follow as they are: a later value of one that
  /// is there replaces it, or is merged with it if it is a message.
  void append(std::string_view fields) { bytes_.append(fields); }

  [[nodiscard]] std::string const& bytes() const& { return bytes_; }
  [[nodiscard]] std::string&& bytes() && { return static_cast<std::string&&>(bytes_); }

 private:
  void tag(std::uint32_t field, wire_type type) {
    varint(std::uint64_t{field} << 3 | static_cast<std::uint64_t>(type));
  }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  void little(std::uint64_t value, int count) {
    for (int i = 0; i < count; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
  }

  std::string bytes_;
};

/// Goes through the fields of a message, which it does not own.
///
///     for (proto_reader in(bytes); in.next();) {
///       if (in.field() == 2) threads = in.integer();    // what nobody looks at is skipped
///     }
///
/// **Errors** `failed()`: it was cut short, is no message, or a field was asked for as something that it is not;
/// `next()` is false from then on, and what is read is 0 or empty. Whatever the bytes are, nothing outside of them is
/// read.
/// **Cost** no allocation.
class proto_reader {
 public:
  explicit proto_reader(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  /// @return false at the end, or after a failure
  bool next() {
    if (failed_ || at_ == end_) return false;
    std::uint64_t const tag = varint();
    std::uint64_t const number = tag >> 3;
    type_ = static_cast<wire_type>(tag & 7);
    if (failed_ || number == 0 || number > 0x1fffffff) return fail();
    field_ = static_cast<std::uint32_t>(number);
    switch (type_) {
      case wire_type::varint:
        value_ = varint();
        break;
      case wire_type::fixed_64:
        value_ = little(8);
        break;
      case wire_type::fixed_32:
        value_ = little(4);
        break;
      case wire_type::bytes: {
        std::uint64_t const size = varint();
        if (failed_ || size > static_cast<std::uint64_t>(end_ - at_)) return fail();
        bytes_ = {at_, static_cast<std::size_t>(size)};
        at_ += size;
        break;
      }
      default:
        return fail();
    }
    return !failed_;
  }

  [[nodiscard]] std::uint32_t field() const { return field_; }
  [[nodiscard]] wire_type type() const { return type_; }
  [[nodiscard]] bool failed() const { return failed_; }
  /// For a reader who finds what cannot be. @return false
  bool fail() {
    failed_ = true;
    at_ = end_;
    return false;
  }

  // the field's value, as what it is to be
  [[nodiscard]] std::int64_t integer() { return is(wire_type::varint) ? static_cast<std::int64_t>(value_) : 0; }
  [[nodiscard]] bool boolean() { return integer() != 0; }
  [[nodiscard]] double float64() { return is(wire_type::fixed_64) ? std::bit_cast<double>(value_) : 0; }
  [[nodiscard]] float float32() {
    return is(wire_type::fixed_32) ? std::bit_cast<float>(static_cast<std::uint32_t>(value_)) : 0;
  }
  [[nodiscard]] std::string_view bytes() { return is(wire_type::bytes) ? bytes_ : std::string_view(); }

  /// A message: calls `visit(reader)` for each field of it.
  template <class Visit>
  void message(Visit&& visit) {
    proto_reader inner(bytes());
    while (!failed_ && inner.next()) visit(inner);
    if (inner.failed_) fail();
  }
  /// An entry of a map from strings to messages: calls `visit(key, reader of the message)` once.
  template <class Visit>
  void entry(Visit&& visit) {
    std::string_view key, value;
    message([&](proto_reader& in) {
      if (in.field() == 1) key = in.bytes();
      if (in.field() == 2) value = in.bytes();
    });
    proto_reader inner(value);
    if (!failed_) visit(key, inner);
    if (inner.failed_) fail();
  }
  /// A list of integers, or a part of one: in one piece, as it is usually written, or element by element.
  template <class Visit>
  void integers(Visit&& visit) {
    if (type_ == wire_type::varint) return visit(integer());
    proto_reader inner(bytes());
    while (!inner.failed_ && inner.at_ != inner.end_) {
      if (auto const value = static_cast<std::int64_t>(inner.varint()); !inner.failed_) visit(value);
    }
    if (inner.failed_) fail();
  }
  /// Likewise numbers of 32 bits.
  template <class Visit>
  void floats(Visit&& visit) {
    if (type_ == wire_type::fixed_32) return visit(float32());
    proto_reader inner(bytes());
    while (!inner.failed_ && inner.at_ != inner.end_) {
      auto const bits = static_cast<std::uint32_t>(inner.little(4));
      if (!inner.failed_) visit(std::bit_cast<float>(bits));
    }
    if (inner.failed_) fail();
  }

 private:
  [[nodiscard]] bool is(wire_type wanted) { return !failed_ && (type_ == wanted || fail()); }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at_ == end_) break;
      auto const byte = static_cast<unsigned char>(*at_++);
      if (shift == 63 && byte > 1) break;  // more than 64 bits
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    fail();
    return 0;
  }
  std::uint64_t little(int count) {
    if (end_ - at_ < count) return fail(), 0;
    std::uint64_t value = 0;
    for (int i = 0; i < count; ++i) value |= std::uint64_t{static_cast<unsigned char>(*at_++)} << (8 * i);
    return value;
  }

  char const* at_;
  char const* end_;
  std::uint64_t value_ = 0;
  std::string_view bytes_;
  std::uint32_t field_ = 0;
  wire_type type_ = wire_type::varint;
  bool failed_ = false;
};

/// Calls `visit(reader)` for each field of a message. @return false if the bytes are none
template <class Visit>
[[nodiscard]] bool read_message(std::string_view bytes, Visit&& visit) {
  proto_reader in(bytes);
  while (in.next()) visit(in);
  return !in.failed();
}

}  // namespace tensorflow
TAUTLINE_END
