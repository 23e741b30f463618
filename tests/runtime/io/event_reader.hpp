// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "file_support.hpp"

// A reader of event files, from the definition of the format and without a line of the writer's.

namespace reading {

/// CRC-32C bit by bit.
inline std::uint32_t checksum(std::string_view bytes) {
  std::uint32_t rest = 0xffffffffU;
  for (char const each : bytes) {
    rest ^= static_cast<unsigned char>(each);
    for (int bit = 0; bit < 8; ++bit) rest = (rest & 1) != 0 ? (rest >> 1) ^ 0x82f63b78U : rest >> 1;
  }
  rest = ~rest;
  return ((rest >> 15) | (rest << 17)) + 0xa282ead8U;
}

inline std::uint64_t little(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// The messages of a file whose checksums are right; the rest of the first one that is not, or is cut off, is `rest`.
struct records {
  std::vector<std::string> messages;
  std::string rest;
};
inline records split(std::string_view file) {
  records found;
  while (file.size() >= 12) {
    std::uint64_t const length = little(file.substr(0, 8));
    if (little(file.substr(8, 4)) != checksum(file.substr(0, 8)) || file.size() < length + 16) break;
    if (little(file.substr(12 + length, 4)) != checksum(file.substr(12, length))) break;
    found.messages.emplace_back(file.substr(12, length));
    file.remove_prefix(length + 16);
  }
  found.rest = file;
  return found;
}

struct field {
  std::uint64_t number;
  std::uint64_t value = 0;  // of a varint, or of eight or four bytes
  std::string bytes;
};

/// A message, whose fields can be asked for by their numbers.
class message {
 public:
  explicit message(std::string_view bytes) {
    while (!bytes.empty()) {
      std::uint64_t const tag = varint(bytes);
      field found{tag >> 3, 0, {}};
      std::uint64_t const previous = fields_.empty() ? 0 : fields_.back().number;
      CHECK_MESSAGE(found.number >= previous, "fields in the order of their numbers");
      switch (tag & 7) {
        case 0: found.value = varint(bytes); break;
        case 1: found.value = little(take(bytes, 8)); break;
        case 5: found.value = little(take(bytes, 4)); break;
        case 2: found.bytes = take(bytes, varint(bytes)); break;
        default: FAIL("a wire type that nobody writes");
      }
      fields_.push_back(found);
    }
  }
  [[nodiscard]] std::vector<field> all(std::uint64_t number) const {
    std::vector<field> found;
    for (field const& each : fields_) {
      if (each.number == number) found.push_back(each);
    }
    return found;
  }
  [[nodiscard]] bool has(std::uint64_t number) const { return !all(number).empty(); }
  /// The last one counts; what is not there is 0 or "".
  [[nodiscard]] field last(std::uint64_t number) const {
    auto const found = all(number);
    return found.empty() ? field{number, 0, {}} : found.back();
  }
  [[nodiscard]] message in(std::uint64_t number) const { return message(last(number).bytes); }
  [[nodiscard]] std::string text(std::uint64_t number) const { return last(number).bytes; }
  [[nodiscard]] std::int64_t integer(std::uint64_t number) const {
    return static_cast<std::int64_t>(last(number).value);
  }
  [[nodiscard]] double real(std::uint64_t number) const { return std::bit_cast<double>(last(number).value); }
  /// Doubles without tags between them.
  [[nodiscard]] std::vector<double> reals(std::uint64_t number) const {
    std::vector<double> found;
    std::string const bytes = text(number);
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      found.push_back(std::bit_cast<double>(little(std::string_view(bytes).substr(i, 8))));
    }
    return found;
  }

 private:
  static std::string_view take(std::string_view& bytes, std::uint64_t count) {
    REQUIRE(bytes.size() >= count);
    std::string_view const taken = bytes.substr(0, count);
    bytes.remove_prefix(count);
    return taken;
  }
  static std::uint64_t varint(std::string_view& bytes) {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      auto const byte = static_cast<unsigned char>(take(bytes, 1)[0]);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
      REQUIRE(shift < 63);
    }
  }
  std::vector<field> fields_;
};

/// An event with one value, its parts by name.
struct event {
  explicit event(std::string const& bytes)
      : whole(bytes), wall_time(whole.real(1)), step(whole.integer(2)), value(whole.in(5).in(1)), tag(value.text(1)),
        tensor(value.in(8)), metadata(value.in(9)), plugin(metadata.in(1).text(1)) {}
  [[nodiscard]] float scalar() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value.last(2).value));
  }
  [[nodiscard]] std::vector<std::int64_t> shape() const {
    std::vector<std::int64_t> sizes;
    for (field const& each : tensor.in(2).all(2)) sizes.push_back(message(each.bytes).integer(1));
    return sizes;
  }

  message whole;
  double wall_time;
  std::int64_t step;
  message value;
  std::string tag;
  message tensor;
  message metadata;
  std::string plugin;
};

/// The events behind the file's first record.
inline std::vector<event> events(std::string const& file) {
  records const found = split(file_support::contents(file));
  CHECK(found.rest.empty());
  REQUIRE(!found.messages.empty());
  CHECK(message(found.messages[0]).text(3) == "brain.Event:2");
  std::vector<event> read;
  for (std::size_t i = 1; i < found.messages.size(); ++i) read.emplace_back(found.messages[i]);
  return read;
}

}  // namespace reading
