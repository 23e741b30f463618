// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private

#include <charconv>
#include <concepts>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <tautline/core/finite.hpp>
#include <tautline/io/detail/json_text.hpp>

// Reading JSON strictly, and writing it so that the same values give the same bytes.

TAUTLINE_BEGIN
namespace detail {

/// Writes JSON without a tree: `open('{').key("step").value(3).close('}')`.
class json_writer {
 public:
  /// @param lines the members stand on lines of their own
  json_writer& open(char bracket, bool lines = false) {
    begin_value();
    text_ += bracket;
    levels_.push_back({true, lines});
    return *this;
  }
  json_writer& close(char bracket) {
    bool const lines = levels_.back().lines && !levels_.back().first;
    levels_.pop_back();
    if (lines) new_line();
    text_ += bracket;
    return *this;
  }
  json_writer& key(std::string_view name) {
    value(name);
    text_ += compact_ ? ":" : ": ";
    after_key_ = true;
    return *this;
  }
  json_writer& value(std::string_view words) {
    begin_value();
    valid_ = valid_ && is_utf8(words);
    append_json_text(text_, words);
    return *this;
  }
  json_writer& value(char const* words) { return value(std::string_view(words)); }
  template <std::integral Number>
    requires(!std::same_as<Number, bool>)
  json_writer& value(Number number) {
    begin_value();
    char digits[24];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
    return *this;
  }
  /// The shortest digits that give the same number again; JSON has no NaN and no infinity: they are null.
  json_writer& value(double number) {
    begin_value();
    char digits[40];
    if (!is_finite_number(number)) {
      text_ += "null";
    } else {
      text_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
    }
    return *this;
  }
  [[nodiscard]] std::string& text() { return text_; }
  /// Every string was UTF-8.
  [[nodiscard]] bool valid() const { return valid_; }
  /// Without spaces and lines.
  static json_writer compact() {
    json_writer made;
    made.compact_ = true;
    return made;
  }

 private:
  struct level {
    bool first;
    bool lines;
  };

  void begin_value() {
    if (after_key_) {
      after_key_ = false;
      return;
    }
    if (levels_.empty()) return;
    if (!levels_.back().first) text_ += levels_.back().lines || compact_ ? "," : ", ";
    levels_.back().first = false;
    if (levels_.back().lines) new_line();
  }
  void new_line() {
    text_ += '\n';
    for (level const& each : levels_) text_ += each.lines ? " " : "";
  }

  std::string text_;
  std::vector<level> levels_;
  bool after_key_ = false;
  bool compact_ = false;
  bool valid_ = true;
};

/// Strict: UTF-8, no byte order mark, no zero bytes, no name twice in an object, nothing behind the value.
/// @return false with the reason in `problem`
inline bool parse_json(std::string_view text, nlohmann::json& out, std::string& problem) {
  // the parser takes a zero for the end, and skips a byte order mark
  if (text.find('\0') != std::string_view::npos || text.starts_with("\xef\xbb\xbf")) {
    problem = "it is no JSON";
    return false;
  }
  std::vector<std::set<std::string>> names;
  std::string twice;
  bool is_twice = false;
  auto const watch = [&](int, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    using on = nlohmann::json::parse_event_t;
    if (event == on::object_start) names.emplace_back();
    if (event == on::object_end && !names.empty()) names.pop_back();
    if (event == on::key && !names.empty()) {
      auto const& name = parsed.get_ref<std::string const&>();
      if (!names.back().insert(name).second && !is_twice) is_twice = true, twice = name;
    }
    return true;
  };
  out = nlohmann::json::parse(text.begin(), text.end(), watch, false);
  if (out.is_discarded()) {
    problem = "it is no JSON";
    return false;
  }
  if (is_twice) {
    problem = "the name \"" + twice + "\" stands in it twice";
    return false;
  }
  return true;
}

/// The member of an object, or null.
inline nlohmann::json const* member(nlohmann::json const& object, char const* name) {
  if (!object.is_object()) return nullptr;
  auto const found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}
inline bool get(nlohmann::json const& object, char const* name, std::string& out) {
  nlohmann::json const* const found = member(object, name);
  if (found == nullptr || !found->is_string()) return false;
  out = found->get_ref<std::string const&>();
  return true;
}
/// Whole numbers that are not negative and fit.
inline bool get(nlohmann::json const& found, std::uint64_t& out) {
  if (!found.is_number_unsigned()) return false;
  out = found.get<std::uint64_t>();
  return true;
}
inline bool get(nlohmann::json const& object, char const* name, std::uint64_t& out) {
  nlohmann::json const* const found = member(object, name);
  return found != nullptr && get(*found, out);
}
inline bool get(nlohmann::json const& object, char const* name, std::int64_t& out) {
  nlohmann::json const* const found = member(object, name);
  if (found == nullptr || !found->is_number_integer()) return false;
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > INT64_MAX) return false;
  out = found->get<std::int64_t>();
  return true;
}

/// Eight digits.
inline std::string hex(std::uint32_t number) {
  std::string text(8, '0');
  for (std::size_t i = 8; i-- > 0; number >>= 4) text[i] = "0123456789abcdef"[number & 15];
  return text;
}
inline bool from_hex(std::string_view text, std::uint32_t& out) {
  if (text.size() != 8 || text.find_first_not_of("0123456789abcdef") != std::string_view::npos) return false;
  return std::from_chars(text.data(), text.data() + 8, out, 16).ec == std::errc{};
}

}  // namespace detail
TAUTLINE_END
