// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/io/detail/row_file.hpp>
#include <tautline/io/summary_writer.hpp>

TAUTLINE_BEGIN

/// A file with a JSON object on each line. With names it has rows, whose columns are fixed by its type:
///
///     jsonl_file<"loss", "accuracy"> rows("run.jsonl");
///     rows.write(100, 0.25, 0.91);                       // {"step":100,"loss":0.25,"accuracy":0.91}
///
/// Without names it is a summary writer, for tags that are known at run time only:
///
///     jsonl_file<> scalars("run.jsonl");
///     scalars.add_scalar("loss", 0.25, 100);             // {"step":100,"tag":"loss","value":0.25}
///
/// Values are numbers, bools, text, and `std::optional` of these (null if empty). A number has the shortest digits that
/// read back as the same one; NaN is null, infinities are the strings "Infinity" and "-Infinity", as JSON has no word
/// for them.
///
/// **Resume** As a part of a hook's state (`fields{field<"rows">(rows_)}`) it flushes all rows when a checkpoint is
/// taken, and cuts off what was written behind it when the checkpoint is restored: the file of a training that was
/// killed and resumed has the bytes of one that was not. A line that a kill tore off is cut off before the next one.
/// **Errors** of the system are a `std::system_error` that names the file, a file that does not belong to the restored
/// position is an `invalid_argument_error`; with `-fno-exceptions` both are `status()`. Rows that could not be written
/// are kept and tried again before the next one, which is dropped and counted if that fails too.
/// **Cost** a system call for every `flush_every` rows, no allocation after the first ones.
/// **Thread-safety** one thread at a time, and one object for a file.
template <fixed_string... Columns>
class jsonl_file : public detail::row_file {
  static_assert(detail::good_columns<Columns...>(),
                "tautline: the columns of a file have names that differ from each other and from \"step\". Mend: give "
                "each column a name of its own");

 public:
  explicit jsonl_file(std::string path, row_options how = {}) : row_file(std::move(path), how, {}) {}

  /// A row, one value for each column.
  template <class... Values>
    requires(sizeof...(Columns) > 0)
  void write(step_number step, Values const&... values) {
    if constexpr (detail::check_row<sizeof...(Columns), std::decay_t<Values const&>...>()) {
      row([&](std::string& line) {
        line += "{\"step\":";
        detail::append_finite(line, step);
        ((line += ',', detail::append_json_text(line, name_of<Columns>), line += ':',
          detail::append_cell<detail::json_cells, std::decay_t<Values const&>>(line, values)),
         ...);
        line += '}';
      });
    }
  }

  /// A value with its tag.
  void add_scalar(std::string_view tag, double value, step_number step)
    requires(sizeof...(Columns) == 0)
  {
    row([&](std::string& line) {
      line += "{\"step\":";
      detail::append_finite(line, step);
      line += ",\"tag\":";
      detail::append_json_text(line, tag);
      line += ",\"value\":";
      detail::append_cell<detail::json_cells>(line, value);
      line += '}';
    });
  }
};

static_assert(summary_writer<jsonl_file<>>);

TAUTLINE_END
