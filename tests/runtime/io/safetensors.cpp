// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <tautline/io/crc32c.hpp>
#include <tautline/io/safetensors.hpp>

#include "training.hpp"

using namespace tautline;
using namespace io_test;

namespace {

std::string packed(std::string const& header, std::string const& data = {}) {
  std::string made;
  for (std::size_t i = 0; i < 8; ++i) made += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return made + header + data;
}
/// Why a file with these bytes is refused; empty if it is not.
std::string verdict(std::string bytes) {
  return safetensors_file::of(reinterpret_cast<std::byte*>(bytes.data()), bytes.size()).result().message;
}

}  // namespace

TEST_CASE("CRC-32C: the known values, by table, by instruction, in pieces and joined") {
  CHECK(crc32c("123456789", 9) == 0xe3069283);
  CHECK(crc32c("", 0) == 0);
  std::string const zeros(32, '\0'), ones(32, '\xff');
  CHECK(crc32c(zeros.data(), 32) == 0x8a9136aa);  // RFC 3720, B.4
  CHECK(crc32c(ones.data(), 32) == 0x62a8ab43);
  std::string text;
  for (unsigned i = 0; i < 300; ++i) text += static_cast<char>(i * i + 7 * i);
  for (std::size_t size = 0; size < text.size(); ++size) {
    auto const* const bytes = reinterpret_cast<unsigned char const*>(text.data());
    std::uint32_t const whole = crc32c(text.data(), size);
    CHECK(~detail::crc32c_by_table(~0U, bytes, size) == whole);
    if (detail::crc32c_has_instruction()) CHECK(~detail::crc32c_by_instruction(~0U, bytes, size) == whole);
    std::size_t const cut = size / 3;
    std::uint32_t const first = crc32c(text.data(), cut);
    CHECK(crc32c(text.data() + cut, size - cut, first) == whole);
    CHECK(crc32c_joined(first, crc32c(text.data() + cut, size - cut), size - cut) == whole);
  }
}

TEST_CASE("the head is a multiple of eight bytes, larger elements come first, names are in order") {
  double d = 1;
  float f = 2;
  bool b = true;
  std::uint8_t u = 3;
  for (std::size_t length = 0; length < 10; ++length) {
    std::vector<named_tensor> const tensors{{std::string(length, 'x') + "b", view_tensor(b)}, {"f2", view_tensor(f)},
                                            {"d", view_tensor(d)},     {"f1", view_tensor(f)},
                                            {"u", view_tensor(u)}};
    safetensors_layout const layout = lay_out_safetensors(tensors);
    REQUIRE(layout.result.ok());
    CHECK(layout.head.size() % 8 == 0);
    CHECK(layout.order == std::vector<std::size_t>{2, 3, 1, 4, 0});
    CHECK(layout.data_size == 18);
  }
}

TEST_CASE("names that cannot be are refused when writing") {
  float f = 2;
  auto const said = [&](char const* a, char const* b) {
    std::vector<named_tensor> const tensors{{a, view_tensor(f)}, {b, view_tensor(f)}};
    return lay_out_safetensors(tensors).result.message;
  };
  CHECK(said("a", "b") == "");
  CHECK(said("a", "a") == "two tensors have the name \"a\"");
  CHECK(said("a", "__metadata__") == "no tensor can have the name \"__metadata__\"");
  for (char const* bad : {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80"}) {
    CHECK(said("a", bad) == "a name or a word of the metadata is not UTF-8");
  }
  CHECK(said("\xc3\xa4", "\xf0\x9f\x98\x80 \xe2\x82\xac") == "");
}

TEST_CASE("what is written is read, into memory that is aligned") {
  scratch folder;
  double d[2]{1, 2};
  float f[3]{3, 4, 5};
  std::vector<named_tensor> const tensors{{"f", view_tensor(f)}, {"d", view_tensor(d)}};
  for (int twice = 0; twice < 2; ++twice) REQUIRE(write_safetensors(folder / "a", tensors, {{"k", "v"}}).ok());
  safetensors_file const file = safetensors_file::read(folder / "a");
  REQUIRE(file.result().ok());
  CHECK(file.metadata() == safetensors_metadata{{"k", "v"}});
  REQUIRE(file.tensors().size() == 2);
  tensor_view const of_d = file.tensors()[0].view, of_f = file.tensors()[1].view;  // larger elements first
  CHECK(file.find("d") == &file.tensors()[0].view);
  CHECK(of_d.same_form(view_tensor(d)));
  CHECK(std::memcmp(of_d.data, d, sizeof d) == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(of_d.data) % 8 == 0);
  CHECK(std::memcmp(of_f.data, f, sizeof f) == 0);
  CHECK(file.find("g") == nullptr);
  CHECK(safetensors_file::read(folder / "b").result().message == folder / "b" + " cannot be read: No such file or directory");
  CHECK(write_safetensors(folder / "b/c", tensors).message == folder / "b/c" + " cannot be written: No such file or directory");
}

TEST_CASE("what is wrong with a file is said") {
  auto const one = [](char const* type, char const* shape, char const* offsets) {
    return std::string(R"({"a":{"dtype":")") + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
  };
  std::string const data(8, 'x');
  CHECK(verdict(packed(one("F32", "[2]", "[0,8]"), data)) == "");
  CHECK(verdict(packed(one("F32", "[2]", "[0,8]"), data + "x")) == "there are bytes behind its data");
  CHECK(verdict(packed(one("F32", "[2]", "[0,8]"), "1234567")) == "it ends within the data of \"a\"");
  CHECK(verdict(packed(one("F32", "[3]", "[0,8]"), data)) == "the data of \"a\" have not the size of its shape and type");
  CHECK(verdict(packed(one("F32", "[1]", "[4,8]"), data)) == "the data of \"a\" do not begin where others end");
  CHECK(verdict(packed(one("F8_E5M2", "[8]", "[0,8]"), data)) ==
        "\"a\" has the element type F8_E5M2, which is not known here");
  CHECK(verdict(packed(one("F32", "[1,1,1,1,1,1,1,1,2]", "[0,8]"), data)) == "\"a\" has more than 8 dimensions");
  CHECK(verdict(packed(one("F32", "[4611686018427387904,4]", "[0,0]"))) ==
        "the data of \"a\" have not the size of its shape and type");
  CHECK(verdict(packed(one("F32", "[-1]", "[0,8]"), data)) == "\"a\" has a shape that is none");
  CHECK(verdict(packed(one("F32", "[2]", "[8,0]"), data)) == "\"a\" has data_offsets that are none");
  CHECK(verdict(packed(R"({"a":1})")) == "\"a\" has no dtype");
  CHECK(verdict(packed(R"({"__metadata__":{"a":1}})")) == "the metadata \"a\" are no string");
  CHECK(verdict(packed(R"({"__metadata__":{"a":"1","a":"1"}})")) ==
        "its header is damaged: the name \"a\" stands in it twice");
  CHECK(verdict(packed("[]")) == "its header is no JSON object");
  CHECK(verdict(packed("{")) == "its header is damaged: it is no JSON");
  CHECK(verdict("1234567") == "it is shorter than 8 bytes");
  CHECK(verdict(packed("{}").substr(0, 9)) == "it ends within its header");
  CHECK(verdict(std::string(8, '\x7f')) == "its header is too large");
  CHECK(verdict(packed(std::string(100'000, '[') + std::string(100'000, ']'))) == "its header is no JSON object");
}
