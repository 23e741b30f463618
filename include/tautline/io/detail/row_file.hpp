// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/io/jsonl_file.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>

#include <tautline/core/state.hpp>
#include <tautline/io/detail/io_failure.hpp>
#include <tautline/io/detail/line_text.hpp>
#include <tautline/io/detail/output_file.hpp>

TAUTLINE_BEGIN

/// What a new training does with a file of rows that is there already. A resumed one goes on at its place in any case.
enum class existing_file : std::uint8_t {
  append,      ///< its rows stay, new ones stand behind them
  start_over,  ///< it is emptied when the first row is written
};

/// How a file of rows is written.
struct row_options {
  existing_file existing = existing_file::append;
  std::uint32_t flush_every = 1;  ///< rows that are handed to the operating system at once
  bool sync = false;  ///< whether a checkpoint waits until the disk has all rows: a power cut then loses none of them
};

namespace detail {

/// Names that a reader can tell apart: none is empty, none is there twice, none is that of the column of steps.
template <fixed_string... Columns>
consteval bool good_columns() {
  char const* names[] = {"step", name_of<Columns>...};
  for (std::size_t i = 0; i < sizeof...(Columns) + 1; ++i) {
    if (*names[i] == 0) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (same_text(names[i], names[j])) return false;
    }
  }
  return true;
}

template <std::size_t Columns, class... Values>
consteval bool check_row() {
  static_assert(sizeof...(Values) == Columns,
                "tautline: a row has one value for each column of its file. Mend: write(step, values...) with as many "
                "values as the file has names; std::nullopt stands for one that is not there");
  static_assert((is_cell<Values> && ...),
                "tautline: a column takes numbers, bools, text, and std::optional of these. Mend: write one of them, or "
                "the elements of a range as columns of their own");
  return sizeof...(Values) == Columns && (is_cell<Values> && ...);
}

/// What JSONL and CSV files have in common: whole lines at the end of a file, and a position to come back to.
class row_file {
 public:
  row_file(row_file&&) noexcept = default;
  row_file& operator=(row_file&&) = delete;
  ~row_file() {
    std::error_code ignored;
    if (file_.is_open()) file_.write(buffer_, ignored);
  }

  /// Hands all rows to the operating system. It does not wait for the disk.
  void flush() {
    if (!buffer_.empty()) (void)write_out();
  }
  /// Writes the rest and closes the file; rows that are written afterwards are an error.
  void close() {
    if (!file_.is_open()) return;
    std::error_code problem;
    position_ += file_.write(buffer_, problem);
    buffer_.clear();
    std::error_code const closing = file_.close();
    (void)failure_.check(problem ? problem : closing, "cannot write ", file_.path());
  }

  /// Bytes in the file, all rows so far included: these are flushed first.
  [[nodiscard]] std::int64_t position() {
    flush();
    return position_;
  }
  /// Cuts off everything behind a position that `position()` has told, in this process or another one.
  /// **Errors** the file is shorter, begins with another header, or has no line end there: it is not the file that the
  /// position belongs to. Nothing is cut then.
  void rewind_to(std::int64_t position) {
    buffer_.clear();
    rows_ = 0;
    if (file_.is_regular()) {
      std::int64_t const size = file_.size();
      if (position < 0 || size < position) {
        return refuse(" has " + std::to_string(size) + " bytes, but the training that is resumed had written " +
                      std::to_string(position) + ". Mend: put the file back that belongs to the checkpoint");
      }
      if (position > 0) {
        if (file_.read(position - 1, 1) != "\n") {
          return refuse(" has no line end at byte " + std::to_string(position) +
                        ", where the training that is resumed had one: it is another file, or was changed. Mend: put the "
                        "file back that belongs to the checkpoint");
        }
        if (!check_header()) return;
      }
      if (size > position && !failure_.check(file_.cut(position), "cannot cut ", file_.path())) return;
    }
    position_ = position;
    synced_ = -1;
    started_ = true;
  }

  /// What a checkpoint keeps: the position, after all rows have been flushed.
  auto state() {
    flush();
    // it is asked several times for one checkpoint
    if (how_.sync && file_.is_open() && position_ != synced_ &&
        failure_.check(file_.sync(), "cannot write ", file_.path())) {
      synced_ = position_;
    }
    return fields{field<"position">(position_)};
  }
  /// Called when `state()` has been restored: cuts off what was written behind it. A hook that has the file as a part
  /// passes it on: `void after_restore() { rows_.after_restore(); }`.
  void after_restore() { rewind_to(position_); }

  [[nodiscard]] std::string const& path() const { return file_.path(); }
  /// What the last attempt met, with a message that names the file, good until the next attempt.
  [[nodiscard]] tautline::status status() const { return failure_.status(); }
  /// Rows that were dropped because earlier ones could not be written.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 protected:
  /// @param header a line without its end, which stands first in the file; empty: there is none
  row_file(std::string path, row_options how, std::string header) : how_(how), header_(std::move(header)) {
    if (!failure_.check(file_.open(std::move(path), O_RDWR), "cannot open ", file_.path())) return;
    buffer_.reserve(4096);
    if (how_.existing == existing_file::append && file_.is_regular()) {
      position_ = end_of_lines();
      if (position_ > 0) (void)check_header();
    }
  }

  /// One row: `write(std::string& line)` appends it.
  template <class Write>
  void row(Write write) {
    if (!ready()) return;
    if (position_ == 0 && buffer_.empty() && !header_.empty()) buffer_.append(header_).push_back('\n');
    write(buffer_);
    buffer_.push_back('\n');
    if (++rows_ >= how_.flush_every) (void)write_out();
  }

 private:
  /// The header counts as written as soon as the file has bytes, so a file of another kind is never added to.
  [[nodiscard]] bool check_header() {
    if (header_.empty()) return true;
    std::string const first = file_.read(0, 65536);
    std::string const found = first.substr(0, first.find('\n'));
    if (found == header_) return true;
    refuse(": " + difference(found, header_) + ". Mend: write to another file, or with the same columns");
    return false;
  }
  /// This is not our file: it stays as it is.
  TAUTLINE_COLD void refuse(std::string words) {
    (void)file_.close();
    failure_.refuse(shown_path(file_.path()) + words);
  }
  static std::string difference(std::string_view found, std::string_view own) {
    auto const shown = [](std::string_view text) { return '"' + std::string(text.substr(0, 60)) + '"'; };
    for (std::size_t number = 1;; ++number) {
      auto const cut = [](std::string_view& rest) {
        std::size_t const comma = rest.find(',');
        std::string_view const cell = rest.substr(0, comma);
        rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
        return cell;
      };
      std::string const place = "column " + std::to_string(number) + " of the file is ";
      if (found.empty()) {
        return "the file has no column " + std::to_string(number) + ", which is " + shown(cut(own)) + " here";
      }
      std::string_view const theirs = cut(found);
      if (own.empty()) return place + shown(theirs) + ", which is not written here";
      std::string_view const ours = cut(own);
      if (theirs != ours) return place + shown(theirs) + ", here it is " + shown(ours);
    }
  }

  /// Behind the last line end: what stands there was torn off by a kill.
  [[nodiscard]] std::int64_t end_of_lines() const {
    constexpr std::int64_t block = 4096;
    for (std::int64_t end = file_.size(); end > 0;) {
      std::int64_t const begin = end > block ? end - block : 0;
      std::size_t const found = file_.read(begin, static_cast<std::size_t>(end - begin)).rfind('\n');
      if (found != std::string::npos) return begin + static_cast<std::int64_t>(found) + 1;
      end = begin;
    }
    return 0;
  }

  bool ready() {
    return (started_ && file_.is_open() && !failure_.failed()) || write_before();
  }
  /// Before the first row the file is cut to what it is to hold; after an error the older rows are tried again.
  TAUTLINE_COLD bool write_before() {
    ++dropped_;  // unless this is well
    if (!file_.is_open()) {
      if (!failure_.repeat()) {
        (void)failure_.check(std::make_error_code(std::errc::bad_file_descriptor), "cannot write ", file_.path());
      }
      return false;
    }
    if (!started_ && file_.size() > position_ && !failure_.check(file_.cut(position_), "cannot cut ", file_.path())) {
      return false;
    }
    started_ = true;
    if (!write_out()) return false;
    --dropped_;
    return true;
  }
  bool write_out() {
    std::error_code problem;
    position_ += file_.write(buffer_, problem);
    rows_ = 0;
    return failure_.check(problem, "cannot write ", file_.path());
  }

  row_options how_;
  std::string header_;
  output_file file_;
  std::string buffer_;
  io_failure failure_;
  std::int64_t position_ = 0;  ///< bytes that the file has
  std::int64_t synced_ = -1;   ///< the position at the last sync
  std::uint64_t dropped_ = 0;
  std::uint32_t rows_ = 0;  ///< in the buffer
  bool started_ = false;    ///< the file has been cut to its place
};

}  // namespace detail
TAUTLINE_END
