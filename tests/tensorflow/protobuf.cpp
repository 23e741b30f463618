// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <tautline/sessions/tensorflow/protobuf.hpp>

#include <doctest/doctest.h>

using tautline::tensorflow::proto_reader;
using tautline::tensorflow::proto_writer;
using tautline::tensorflow::read_message;
using tautline::tensorflow::wire_type;
using namespace std::literals;

namespace {

/// A message with a field of each kind.
std::string of_all_kinds() {
  proto_writer out;
  out.integer(1, 300);
  out.integer(2, -1);
  out.boolean(3, true);
  out.number(4, 0.5);
  out.number(5, 0.25F);
  out.text(16, "words");
  out.message(17, [](proto_writer& inner) {
    inner.text(1, "key");
    inner.message(2, [](proto_writer& value) { value.integer(1, 7); });
  });
  out.element(18, "\x01\xac\x02"sv);  // a list of 1 and 300 in one piece
  out.element(18, 5);
  return std::move(out).bytes();
}

struct all_kinds {
  std::int64_t integer = 0, negative = 0, inner = 0;
  bool boolean = false;
  double number = 0;
  float small_number = 0;
  std::string text, key;
  std::vector<std::int64_t> list;
};
bool read(std::string_view bytes, all_kinds& to) {
  return read_message(bytes, [&](proto_reader& in) {
    switch (in.field()) {
      case 1: to.integer = in.integer(); break;
      case 2: to.negative = in.integer(); break;
      case 3: to.boolean = in.boolean(); break;
      case 4: to.number = in.float64(); break;
      case 5: to.small_number = in.float32(); break;
      case 16: to.text = in.bytes(); break;
      case 17:
        in.entry([&](std::string_view key, proto_reader& value) {
          to.key = key;
          while (value.next()) to.inner = value.integer();
        });
        break;
      case 18: in.integers([&](std::int64_t one) { to.list.push_back(one); }); break;
      default: break;
    }
  });
}

}  // namespace

TEST_CASE("bytes are those of the format's specification") {
  proto_writer out;
  out.integer(1, 150);
  out.text(2, "testing");
  CHECK(out.bytes() == "\x08\x96\x01\x12\x07testing"sv);
  proto_writer far;
  far.integer(0x1fffffff, -1);
  CHECK(far.bytes() == "\xf8\xff\xff\xff\x0f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv);
}

TEST_CASE("what is zero or empty is left out, but for an element") {
  proto_writer out;
  out.integer(1, 0);
  out.boolean(2, false);
  out.number(3, 0.0);
  out.number(3, 0.0F);
  out.text(4, "");
  CHECK(out.bytes().empty());
  out.number(3, -0.0);
  CHECK(out.bytes() == "\x19\0\0\0\0\0\0\0\x80"sv);
  proto_writer list;
  list.element(1, 0);
  list.element(2, "");
  list.message(3, [](proto_writer&) {});
  CHECK(list.bytes() == "\x08\0\x12\0\x1a\0"sv);
}

TEST_CASE("each kind of field is read as it was written") {
  all_kinds got;
  REQUIRE(read(of_all_kinds(), got));
  CHECK(got.integer == 300);
  CHECK(got.negative == -1);
  CHECK(got.boolean);
  CHECK(got.number == 0.5);
  CHECK(got.small_number == 0.25F);
  CHECK(got.text == "words");
  CHECK(got.key == "key");
  CHECK(got.inner == 7);
  CHECK(got.list == std::vector<std::int64_t>{1, 300, 5});
}

TEST_CASE("a message is refused unless it ends where a field of it ends") {
  std::string const whole = of_all_kinds();
  std::vector<std::size_t> ends{0};
  {
    proto_reader in(whole);
    // the ends of fields, told by reading what remains
    for (std::size_t i = 1; i <= whole.size(); ++i) {
      proto_reader part(std::string_view(whole).substr(0, i));
      while (part.next()) {
      }
      if (!part.failed()) ends.push_back(i);
    }
  }
  CHECK(ends.size() == 10);
  for (std::size_t i = 0; i <= whole.size(); ++i) {
    all_kinds got;
    std::string const cut = whole.substr(0, i);  // memory of its own: a read past its end is seen
    bool const ok = read(cut, got);
    CHECK(ok == (std::find(ends.begin(), ends.end(), i) != ends.end()));
  }
}

TEST_CASE("a damaged message is read or refused, and nothing outside of it is read") {
  std::string const whole = of_all_kinds();
  int refused = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (int value = 0; value < 256; ++value) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(value);
      all_kinds got;
      refused += read(damaged, got) ? 0 : 1;
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("a field that is asked for as something else is a failure") {
  auto const failed = [](auto&& ask) {
    proto_writer out;
    out.integer(1, 1);
    out.text(2, "x");
    proto_reader in(out.bytes());
    in.next();
    ask(in);
    return in.failed() && !in.next();
  };
  CHECK(failed([](proto_reader& in) { CHECK(in.bytes().empty()); }));
  CHECK(failed([](proto_reader& in) { CHECK(in.float64() == 0); }));
  CHECK(failed([](proto_reader& in) { CHECK(in.float32() == 0); }));
  CHECK(failed([](proto_reader& in) { in.message([](proto_reader&) {}); }));
  CHECK_FALSE(failed([](proto_reader& in) { CHECK(in.integer() == 1); }));
}

TEST_CASE("no message: field 0, groups, numbers of more than 64 bits, lengths past the end") {
  auto const ok = [](std::string_view bytes) { return read_message(bytes, [](proto_reader&) {}); };
  CHECK(ok("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv));
  CHECK_FALSE(ok("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"sv));
  CHECK_FALSE(ok("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"sv));
  CHECK_FALSE(ok("\x00\x01"sv));
  CHECK_FALSE(ok("\x0b\x0c"sv));
  CHECK_FALSE(ok("\x0f"sv));
  CHECK_FALSE(ok("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x"sv));
  CHECK_FALSE(ok("\x12\x02x"sv));
}

TEST_CASE("a list in one piece that is cut within an element is refused") {
  proto_reader in("\x0a\x02\x01\x80"sv);
  REQUIRE(in.next());
  std::vector<std::int64_t> got;
  in.integers([&](std::int64_t one) { got.push_back(one); });
  CHECK(in.failed());
  CHECK(got == std::vector<std::int64_t>{1});
  proto_reader floats("\x0a\x05\0\0\x80\x3f\0"sv);
  REQUIRE(floats.next());
  std::vector<float> numbers;
  floats.floats([&](float one) { numbers.push_back(one); });
  CHECK(floats.failed());
  CHECK(numbers == std::vector<float>{1});
}
