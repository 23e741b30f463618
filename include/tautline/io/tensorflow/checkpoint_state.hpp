// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/io/tensorflow_checkpoints.hpp>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <tautline/core/config.hpp>

// The file `checkpoint` beside the checkpoints of a tf.train.Saver: a CheckpointState as text.

TAUTLINE_BEGIN
namespace tensorflow {

/// Which checkpoints a folder has: paths without the endings of their files, relative to the folder or absolute.
struct checkpoint_state {
  std::string latest{};            ///< empty: none
  std::vector<std::string> all{};  ///< the oldest first; `latest` is the last one
};

namespace detail {

inline void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (char const each : text) {
    auto const code = static_cast<unsigned char>(each);
    if (each == '"' || each == '\\') {
      out += '\\', out += each;
    } else if (code < 0x20 || code == 0x7f) {
      char octal[8];
      std::snprintf(octal, sizeof octal, "\\%03o", code);
      out += octal;
    } else {
      out += each;
    }
  }
  out += '"';
}

/// What stands between quotes, from `at` on, which is moved behind the closing one. @return false if it is no such
/// thing
inline bool read_quoted(std::string_view text, std::size_t& at, std::string& out) {
  out.clear();
  if (at >= text.size() || (text[at] != '"' && text[at] != '\'')) return false;
  char const quote = text[at++];
  while (at < text.size() && text[at] != quote && text[at] != '\n') {
    if (text[at] != '\\') {
      out += text[at++];
      continue;
    }
    if (++at >= text.size()) return false;
    constexpr std::string_view letters = "nrtabfv", meant = "\n\r\t\a\b\f\v";
    if (text[at] >= '0' && text[at] <= '7') {
      int code = 0;
      for (int digits = 0; digits < 3 && at < text.size() && text[at] >= '0' && text[at] <= '7'; ++digits) {
        code = code * 8 + (text[at++] - '0');
      }
      out += static_cast<char>(code);
    } else {
      std::size_t const known = letters.find(text[at]);
      out += known == std::string_view::npos ? text[at] : meant[known];
      ++at;
    }
  }
  if (at >= text.size() || text[at] != quote) return false;
  ++at;
  return true;
}

}  // namespace detail

/// As Python writes it.
[[nodiscard]] inline std::string write_checkpoint_state(checkpoint_state const& state) {
  std::string text = "model_checkpoint_path: ";
  detail::append_quoted(text, state.latest);
  text += '\n';
  for (std::string const& each : state.all) {
    text += "all_model_checkpoint_paths: ";
    detail::append_quoted(text, each);
    text += '\n';
  }
  return text;
}

/// Fields of other names are skipped. @return false if the text is none, or says of no latest one
[[nodiscard]] inline bool read_checkpoint_state(std::string_view text, checkpoint_state& state) {
  state = {};
  constexpr std::string_view spaces = " \t\r\n";
  for (std::size_t at = text.find_first_not_of(spaces); at != std::string_view::npos;
       at = text.find_first_not_of(spaces, at)) {
    std::size_t const colon = text.find(':', at);
    if (colon == std::string_view::npos) return false;
    std::string_view const name = text.substr(at, colon - at);
    at = text.find_first_not_of(spaces, colon + 1);
    if (at == std::string_view::npos) return false;
    if (text[at] != '"' && text[at] != '\'') {  // a number
      at = text.find_first_of(spaces, at);
      if (at == std::string_view::npos) break;
      continue;
    }
    std::string value;
    if (!detail::read_quoted(text, at, value)) return false;
    if (name == "model_checkpoint_path") state.latest = value;
    if (name == "all_model_checkpoint_paths") state.all.push_back(value);
  }
  if (state.latest.empty()) return false;
  // Python puts it last, too, if it stands elsewhere
  std::erase(state.all, state.latest);
  state.all.push_back(state.latest);
  return true;
}

}  // namespace tensorflow
TAUTLINE_END
