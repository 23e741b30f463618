// SPDX-License-Identifier: BSL-1.0
#include <string>

#include <boost/crc.hpp>
#include <doctest/doctest.h>

#include <tautline/io/crc32c.hpp>

using tautline::crc32c;
using tautline::crc32c_joined;

namespace {
std::uint32_t by_boost(std::string const& bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> sum;
  sum.process_bytes(bytes.data(), bytes.size());
  return sum.checksum();
}
std::uint32_t of(std::string const& bytes) { return crc32c(bytes.data(), bytes.size()); }
std::uint32_t by_table(std::string const& bytes) {
  return ~tautline::detail::crc32c_by_table(~0U, reinterpret_cast<unsigned char const*>(bytes.data()), bytes.size());
}
}  // namespace

TEST_CASE("the checksum is that of boost, by instruction and by table, for each length and each beginning") {
  std::string bytes;
  std::uint32_t state = 1;
  for (int i = 0; i < 300; ++i) {
    for (std::string const& part : {bytes, bytes.substr(bytes.size() / 3)}) {
      CHECK(of(part) == by_boost(part));
      CHECK(by_table(part) == by_boost(part));
    }
    state = state * 1664525 + 1013904223;
    bytes += static_cast<char>(state >> 24);
  }
}

TEST_CASE("it is known for some bytes") {
  CHECK(of("123456789") == 0xe3069283U);
  CHECK(of("") == 0);
  CHECK(of(std::string(32, '\0')) == 0x8a9136aaU);    // RFC 3720, B.4
  CHECK(of(std::string(32, '\xff')) == 0x62a8ab43U);  // likewise
}

TEST_CASE("it can be continued, and joined") {
  std::string const bytes = "the quick brown fox jumps over the lazy dog";
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    std::string const front = bytes.substr(0, cut);
    std::string const back = bytes.substr(cut);
    CHECK(crc32c(back.data(), back.size(), of(front)) == of(bytes));
    CHECK(crc32c_joined(of(front), of(back), back.size()) == of(bytes));
  }
}
