// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <unistd.h>

#include <doctest/doctest.h>

#include <tautline/core/error.hpp>

namespace file_support {

/// A folder of its own, gone at the end.
class folder {
 public:
  folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tautline-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  folder(folder const&) = delete;
  ~folder() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string operator/(std::string const& name) const { return path_ + "/" + name; }
  [[nodiscard]] std::string const& path() const { return path_; }
  [[nodiscard]] int entries() const {
    return static_cast<int>(std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator()));
  }

 private:
  std::string path_;
};

inline std::string contents(std::string const& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}
inline void put(std::string const& path, std::string const& text) { std::ofstream(path, std::ios::binary) << text; }

/// What goes wrong in `body`, which is given nothing: what is thrown where exceptions are on.
template <class Body>
std::string thrown_by(Body body) {
#if TAUTLINE_EXCEPTIONS
  try {
    body();
  } catch (std::exception const& error) {
    return error.what();
  }
  return "";
#else
  body();
  return "";
#endif
}

/// What a sink says about what `body` does with it: thrown, or in its status.
template <class Sink, class Body>
std::string problem_of(Sink& sink, Body body) {
  std::string const thrown = thrown_by([&] { body(sink); });
  if (TAUTLINE_EXCEPTIONS != 0) CHECK(thrown.empty() == sink.status().ok());
  return thrown.empty() ? sink.status().message : thrown;
}

/// What is said when a sink is made.
template <class Sink, class... Words>
std::string problem_of_making(Words const&... words) {
  std::string said;
  std::string const thrown = thrown_by([&] {
    Sink sink(words...);
    said = sink.status().message;
  });
  return thrown.empty() ? said : thrown;
}

inline bool contains(std::string const& text, std::string const& words) { return text.find(words) != std::string::npos; }

/// The process has no more rights than anybody while this lives.
class as_nobody {
 public:
  as_nobody() : was_(::geteuid()) {
    if (was_ == 0) CHECK(::seteuid(65534) == 0);
  }
  as_nobody(as_nobody const&) = delete;
  ~as_nobody() {
    if (was_ == 0) CHECK(::seteuid(0) == 0);
  }

 private:
  uid_t was_;
};

}  // namespace file_support
