// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/io/detail/row_file.hpp>
#include <tautline/io/summary_writer.hpp>

TAUTLINE_BEGIN

/// A CSV file (RFC 4180, lines that end in "\n") with a header. With names its columns are fixed by its type, so that no
/// row can have others:
///
///     csv_file<"loss", "accuracy"> rows("run.csv");      // step,loss,accuracy
///     rows.write(100, 0.25, 0.91);                       // 100,0.25,0.91
///
/// Without names it is a summary writer in long form, for tags that are known at run time only:
///
///     csv_file<> scalars("run.csv");                     // step,tag,value
///     scalars.add_scalar("loss", 0.25, 100);             // 100,loss,0.25
///
/// Values are numbers, bools, text, and `std::optional` of these (an empty cell if empty). A number has the shortest
/// digits that read back as the same one; the others are `nan`, `inf` and `-inf`. Line ends within a text become spaces.
///
/// The header is written once, before the first row of an empty file. **Errors** besides those of `jsonl_file`: a file
/// to be added to has another header; the message names the column in which they differ.
/// **Resume**, **Cost**, **Thread-safety** as with `jsonl_file`.
/// @see jsonl_file
template <fixed_string... Columns>
class csv_file : public detail::row_file {
  static_assert(detail::good_columns<Columns...>(),
                "tautline: the columns of a file have names that differ from each other and from \"step\". Mend: give "
                "each column a name of its own");

 public:
  explicit csv_file(std::string path, row_options how = {}) : row_file(std::move(path), how, header()) {}

  /// A row, one value for each column.
  template <class... Values>
    requires(sizeof...(Columns) > 0)
  void write(step_number step, Values const&... values) {
    if constexpr (detail::check_row<sizeof...(Columns), std::decay_t<Values const&>...>()) {
      row([&](std::string& line) {
        detail::append_finite(line, step);
        ((line += ',', detail::append_cell<detail::csv_cells, std::decay_t<Values const&>>(line, values)), ...);
      });
    }
  }

  /// A value with its tag.
  void add_scalar(std::string_view tag, double value, step_number step)
    requires(sizeof...(Columns) == 0)
  {
    row([&](std::string& line) {
      detail::append_finite(line, step);
      line += ',';
      detail::append_csv_text(line, tag);
      line += ',';
      detail::append_cell<detail::csv_cells>(line, value);
    });
  }

 private:
  static std::string header() {
    std::string line = "step";
    if constexpr (sizeof...(Columns) == 0) {
      line += ",tag,value";
    } else {
      ((line += ',', detail::append_csv_text(line, name_of<Columns>)), ...);
    }
    return line;
  }
};

static_assert(summary_writer<csv_file<>>);

TAUTLINE_END
