// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <limits>
#include <set>
#include <sys/resource.h>
#include <vector>

#include <tautline/io/any_summary_writer.hpp>
#include <tautline/io/event_file.hpp>

#include "event_reader.hpp"

using reading::event;
using tautline::byte_buffer;
using tautline::event_encoder;
using tautline::event_file;
using tautline::event_file_options;
using tautline::step_number;
using tautline::training_outcome;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A clock that the test sets.
event_file_options at(double& time) {
  return {.clock = [&time] { return time; }};
}
std::string hex(std::string_view bytes) {
  std::string out;
  for (char const each : bytes) {
    out += "0123456789abcdef"[static_cast<unsigned char>(each) >> 4];
    out += "0123456789abcdef"[each & 15];
  }
  return out;
}
/// What `add` adds to a file.
template <class Add>
std::vector<event> added(Add add) {
  file_support::folder const folder;
  double time = 1234.5;
  event_file file(folder.path(), at(time));
  add(file);
  file.close();
  return reading::events(file.path());
}
/// Runs `act`, which must meet an error. @return what the file says of it
template <class Act>
std::string refused(event_file& file, Act act) {
#if TAUTLINE_EXCEPTIONS
  try {
    act();
  } catch (std::system_error const& problem) {
    CHECK(problem.code() == file.error());
    return problem.what();
  }
  FAIL("no error");
  return {};
#else
  act();
  CHECK(!file.status().ok());
  return file.status().message;
#endif
}
bool contains(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

/// Files of this process cannot grow beyond some bytes: the nearest thing to a full disk that needs no root.
struct file_size_limit {
  explicit file_size_limit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before);
    rlimit now = before;
    now.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  file_size_limit(file_size_limit const&) = delete;
  ~file_size_limit() { ::setrlimit(RLIMIT_FSIZE, &before); }
  rlimit before{};
};

}  // namespace

TEST_CASE("one record, byte by byte") {
  byte_buffer out;
  event_encoder(out).scalar(1700000000.5, "train/loss", 0.1, 300);
  // as Google's own library for Python serializes the same event, framed by TensorBoard
  CHECK(hex(out.view()) == "2100000000000000017becf60900002040fc54d94110ac022a130a110a0a747261696e2f6c6f737315cd"
                           "cccc3d2e3967e5");
}

TEST_CASE("a file begins with its version, and is there at once") {
  file_support::folder const folder;
  double time = 1700000000.25;
  event_file const file(folder / "a/b", at(time));
  reading::records const found = reading::split(file_support::contents(file.path()));
  REQUIRE(found.messages.size() == 1);
  reading::message const first(found.messages[0]);
  CHECK(first.real(1) == time);
  CHECK(first.text(3) == "brain.Event:2");
}

TEST_CASE("scalars are rounded to the nearest float, zeros and what is not finite included") {
  std::vector<double> const values{0.0,       -0.0,      0.1,
                                   1e30,      -1e-45,    0x1.fffffep127,
                                   infinity,  -infinity, std::numeric_limits<double>::quiet_NaN()};
  auto const read = added([&](event_file& file) {
    for (std::size_t i = 0; i < values.size(); ++i) file.add_scalar("loss", values[i], static_cast<step_number>(i));
    file.add_scalar("loss", 1e300, 10);
    file.add_scalar("loss", -1e300, 11);
  });
  REQUIRE(read.size() == values.size() + 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    CHECK(read[i].tag == "loss");
    CHECK(read[i].wall_time == 1234.5);
    CHECK(read[i].step == static_cast<step_number>(i));
    CHECK(read[i].value.has(2));
    CHECK(std::bit_cast<std::uint32_t>(read[i].scalar()) == std::bit_cast<std::uint32_t>(static_cast<float>(values[i])));
  }
  CHECK(read[values.size()].scalar() == infinity);  // beyond the greatest float
  CHECK(read[values.size() + 1].scalar() == -infinity);
}

TEST_CASE("steps of any size, and tags as they are") {
  std::vector<step_number> const steps{0, 1, 127, 128, 1 << 30, std::numeric_limits<step_number>::max(), -1};
  std::vector<std::string> const tags{"a/b/c", "/", "", "x y", "größe", std::string(3000, 't')};
  auto const read = added([&](event_file& file) {
    for (step_number const step : steps) file.add_scalar("s", 1, step);
    for (std::string const& tag : tags) file.add_scalar(tag, 1, 1);
  });
  REQUIRE(read.size() == steps.size() + tags.size());
  for (std::size_t i = 0; i < steps.size(); ++i) CHECK(read[i].step == steps[i]);
  for (std::size_t i = 0; i < tags.size(); ++i) CHECK(read[steps.size() + i].tag == tags[i]);
}

TEST_CASE("bytes that are no UTF-8 do not make a file unreadable") {
  // cut off, a lone continuation, overlong, a surrogate, beyond the last character; and what is right stays
  std::vector<std::pair<std::string, std::string>> const cases{
      {"a\xc3", "a?"}, {"\x80z", "?z"}, {"\xc0\x80", "??"}, {"\xed\xa0\x80", "???"}, {"\xf4\x90\x80\x80", "????"},
      {"\xe0\x80\x80", "???"}, {"\xe2\x82", "??"}, {"€\xff😀é", "€?😀é"}, {"\xf0\x90\x80\x80", "\xf0\x90\x80\x80"}};
  auto const read = added([&](event_file& file) {
    for (auto const& each : cases) file.add_scalar(each.first, 1, 1), file.add_text("t", each.first, 1);
  });
  REQUIRE(read.size() == 2 * cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CHECK(read[2 * i].tag == cases[i].second);
    CHECK(read[2 * i + 1].tensor.text(8) == cases[i].second);
  }
}

TEST_CASE("histograms are rows of left edge, right edge and count") {
  auto const read = added([](event_file& file) {
    std::vector<float> const weights{0, 1, 2, 3, 3, 3};
    tautline::histogram const made = file.add_histogram("weights", weights, 5);
    CHECK(made.finite == 6);
    (void)file.add_histogram("empty", std::vector<double>{}, 6);
    (void)file.add_histogram("bad", std::array{1.0, infinity, std::nan("")}, 7);
    (void)file.add_histogram("counted", tautline::histogram_of(weights, 3), 8);
    float matrix[2][2] = {{1, 2}, {3, 5}};
    (void)file.add_histogram("matrix", tautline::view_tensor(matrix), 9);
  });
  REQUIRE(read.size() == 6);
  CHECK(read[0].plugin == "histograms");
  CHECK(read[0].metadata.integer(4) == 2);  // DATA_CLASS_TENSOR
  CHECK(read[0].shape() == std::vector<std::int64_t>{30, 3});
  auto const rows = read[0].tensor.reals(6);
  REQUIRE(rows.size() == 90);
  CHECK(rows[0] == 0);
  CHECK(rows[1] == rows[3]);
  CHECK(rows[2] == 1);
  CHECK(rows[88] == 3);
  CHECK(rows[89] == 3);
  CHECK(read[1].shape() == std::vector<std::int64_t>{0, 3});
  CHECK(read[1].tensor.has(6));
  CHECK(read[1].tensor.reals(6).empty());
  CHECK(read[2].shape() == std::vector<std::int64_t>{1, 3});
  CHECK(read[3].tag == "bad/not_finite");
  CHECK(read[3].step == 7);
  CHECK(read[3].scalar() == 2);
  CHECK(read[4].tensor.reals(6) == std::vector<double>{0, 1, 1, 1, 2, 1, 2, 3, 4});
  CHECK(read[5].tensor.reals(6).back() == 1);
}

TEST_CASE("texts and images are tensors of strings") {
  auto const read = added([](event_file& file) {
    file.add_text("notes", "# title\n* <b>", 3);
    file.add_text("notes", "", 4);
    file.add_image("digits/0", std::string("\x89PNG\0\xff", 6), 28, 14, 7);
  });
  REQUIRE(read.size() == 3);
  CHECK(read[0].plugin == "text");
  CHECK(read[0].metadata.integer(4) == 2);
  CHECK(read[0].tensor.integer(1) == 7);  // DT_STRING
  CHECK(read[0].tensor.text(8) == "# title\n* <b>");
  CHECK(read[1].tensor.all(8).size() == 1);
  CHECK(read[2].plugin == "images");
  CHECK(read[2].metadata.integer(4) == 3);  // DATA_CLASS_BLOB_SEQUENCE
  CHECK(read[2].shape() == std::vector<std::int64_t>{3});
  auto const strings = read[2].tensor.all(8);
  REQUIRE(strings.size() == 3);
  CHECK(strings[0].bytes == "28");
  CHECK(strings[1].bytes == "14");
  CHECK(strings[2].bytes == std::string("\x89PNG\0\xff", 6));
}

TEST_CASE("hyperparameters have a beginning and an end") {
  auto const read = added([](event_file& file) {
    file.add_hparams({{"rate", 0.0}, {"depth", 3}, {"nesterov", false}, {"optimizer", "sgd"}, {"note", std::string()}},
                     {"test/accuracy"});
    file.add_hparams({{"rate", 0.5F}});
    file.end_hparams(training_outcome::failure);
  });
  REQUIRE(read.size() == 4);
  for (event const& each : read) CHECK(each.plugin == "hparams");
  auto const content = [&](std::size_t i) { return read[i].metadata.in(1).in(2); };
  CHECK(read[0].tag == "_hparams_/experiment");
  auto const infos = content(0).in(2).all(4);
  REQUIRE(infos.size() == 5);
  CHECK(reading::message(infos[0].bytes).integer(4) == 3);  // DATA_TYPE_FLOAT64
  CHECK(reading::message(infos[2].bytes).integer(4) == 2);  // DATA_TYPE_BOOL
  CHECK(reading::message(infos[3].bytes).integer(4) == 1);  // DATA_TYPE_STRING
  CHECK(content(0).in(2).in(5).in(1).text(2) == "test/accuracy");
  CHECK(read[1].tag == "_hparams_/session_start_info");
  auto const values = content(1).in(3).all(1);
  REQUIRE(values.size() == 5);
  auto const value = [&](std::size_t i) { return reading::message(values[i].bytes).in(2); };
  CHECK(reading::message(values[0].bytes).text(1) == "rate");
  CHECK(value(0).has(2));  // also where it is zero, false or empty
  CHECK(value(0).real(2) == 0);
  CHECK(value(1).real(2) == 3);
  CHECK(value(2).has(4));
  CHECK(value(2).integer(4) == 0);
  CHECK(value(3).text(3) == "sgd");
  CHECK(value(4).has(3));
  CHECK(content(1).in(3).real(5) == 1234.5);
  CHECK(read[2].tag == "_hparams_/session_start_info");  // no metrics: no experiment
  CHECK(read[3].tag == "_hparams_/session_end_info");
  CHECK(content(3).in(4).integer(1) == 2);
}

TEST_CASE("a graph is nodes with inputs, and shapes where they have one") {
  using tautline::node_info;
  using tautline::training_state;
  static char const* const inputs[] = {"w", "x"};
  training_state::functions const how{
      [](void*, void*, training_state::item_visit) {},
      [](void* core, void* visitor, training_state::node_visit visit) {
        auto& weights = *static_cast<std::array<std::array<float, 3>, 2>*>(core);
        visit(visitor, node_info{.name = "w", .kind = "variable", .has_form = true, .form = tautline::view_tensor(weights)});
        visit(visitor, node_info{.name = "loss", .kind = "op", .inputs = inputs, .input_count = 2});
      }};
  std::array<std::array<float, 3>, 2> weights{};
  auto const read = added([&](event_file& file) {
    file.add_graph(training_state(&weights, how, 0));
    file.add_graph_def("bytes");
  });
  REQUIRE(read.size() == 2);
  auto const nodes = read[0].whole.in(4).all(1);
  REQUIRE(nodes.size() == 2);
  reading::message const variable(nodes[0].bytes);
  reading::message const loss(nodes[1].bytes);
  CHECK(variable.text(1) == "w");
  CHECK(variable.text(2) == "variable");
  auto const attributes = variable.all(5);
  REQUIRE(attributes.size() == 3);
  CHECK(reading::message(attributes[1].bytes).text(1) == "dtype");
  CHECK(reading::message(attributes[1].bytes).in(2).integer(6) == 1);  // DT_FLOAT
  reading::message const shape = reading::message(attributes[2].bytes).in(2).in(7);
  REQUIRE(shape.all(2).size() == 2);
  CHECK(reading::message(shape.all(2)[0].bytes).integer(1) == 2);
  CHECK(reading::message(shape.all(2)[1].bytes).integer(1) == 3);
  REQUIRE(loss.all(3).size() == 2);
  CHECK(loss.all(3)[0].bytes == "w");
  CHECK(loss.all(3)[1].bytes == "x");
  CHECK(loss.all(5).empty());
  CHECK(read[1].whole.text(4) == "bytes");
}

TEST_CASE("a restart is marked with the step that comes next, twice the first time") {
  auto const read = added([](event_file& file) {
    file.mark_restart(100);
    file.mark_restart(50);
  });
  REQUIRE(read.size() == 3);
  CHECK(read[0].step == 101);
  CHECK(read[1].step == 101);
  CHECK(read[2].step == 51);
  for (event const& each : read) CHECK(each.whole.in(7).integer(1) == 1);  // SessionLog.START
}

TEST_CASE("each file has a name of its own, which sorts behind those that are there") {
  file_support::folder const folder;
  double time = 1700000000.75;
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) {
    if (i == 6) time = 1600000000;  // a clock that was set back
    if (i == 9) time = 1800000000;
    event_file_options how = at(time);
    if (i % 2 == 1) how.suffix = "eval";
    names.push_back(std::filesystem::path(event_file(folder.path(), how).path()).filename().string());
    CHECK(names.back().ends_with(".eval") == (i % 2 == 1));
  }
  CHECK(names[0].starts_with("events.out.tfevents.1700000000."));
  CHECK(names[9].starts_with("events.out.tfevents.1800000000."));
  CHECK(std::is_sorted(names.begin(), names.end()));
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
  CHECK(contains(names[0], "." + std::to_string(::getpid()) + "."));
}

TEST_CASE("a time of few digits is padded, other files do not count") {
  file_support::folder const folder;
  std::ofstream(folder / "events.out.tfevents.99999999999.host") << "x";
  std::ofstream(folder / "other.1900000000") << "x";
  double time = 42;
  event_file const file(folder.path(), at(time));
  CHECK(contains(file.path(), "events.out.tfevents.0000000042."));
}

TEST_CASE("what is added is written when the buffer is full, when it is late, and when one says so") {
  file_support::folder const folder;
  double time = 1000;
  event_file_options how = at(time);
  how.buffer_bytes = 200;
  how.flush_seconds = 5;
  event_file file(folder.path(), how);
  auto const written = [&] { return reading::split(file_support::contents(file.path())).messages.size() - 1; };
  for (int i = 0; i < 5; ++i) {
    file.add_scalar("loss", i, i);
    CHECK(written() == 0);
  }
  file.add_scalar("loss", 5, 5);  // the five before it are more than 200 bytes
  CHECK(written() == 5);
  time = 1004;
  file.add_scalar("loss", 6, 6);
  CHECK(written() == 5);
  time = 1005.5;
  file.add_scalar("loss", 7, 7);
  CHECK(written() == 7);
  time = 900;
  file.add_scalar("loss", 8, 8);  // set back
  CHECK(written() == 8);
  file.flush();
  CHECK(written() == 9);
  file.add_scalar("loss", 9, 9);
  std::string const path = file.path();
  event_file moved(std::move(file));
  moved.add_scalar("loss", 10, 10);
  file = std::move(moved);
  file.add_scalar("loss", 11, 11, 77.5);
  file = event_file(folder.path(), how);  // writes the rest of the old one
  auto const read = reading::events(path);
  REQUIRE(read.size() == 12);
  for (std::size_t i = 0; i < read.size(); ++i) CHECK(read[i].step == static_cast<step_number>(i));
  CHECK(read[11].wall_time == 77.5);
}

TEST_CASE("records made elsewhere are appended as they are") {
  auto const read = added([](event_file& file) {
    byte_buffer made;
    event_encoder(made).scalar(5, "a", 1, 1);
    event_encoder(made).scalar(6, "b", 2, 2);
    file.add_scalar("first", 0, 0);
    file.append(made);
  });
  REQUIRE(read.size() == 3);
  CHECK(read[1].wall_time == 5);
  CHECK(read[2].tag == "b");
}

TEST_CASE("a file that cannot be made is an error that names the place") {
  file_support::folder const folder;
  std::ofstream(folder / "file") << "x";
  for (std::string const below : {"file", "file/run"}) {
    auto const place = folder / below;
#if TAUTLINE_EXCEPTIONS
    try {
      event_file const file(place);
      FAIL("no error");
    } catch (std::system_error const& problem) {
      CHECK(problem.code() == std::errc::not_a_directory);
      CHECK(contains(problem.what(), place));
    }
#else
    event_file file(place);
    CHECK(file.error() == std::errc::not_a_directory);
    CHECK(contains(file.status().message, place));
    file.add_scalar("loss", 1, 1);
    CHECK(file.dropped() == 1);
#endif
  }
}

TEST_CASE("a disk that is full for a while costs only what was added meanwhile") {
  file_support::folder const folder;
  double time = 1000;
  event_file_options how = at(time);
  how.buffer_bytes = 1000;
  event_file file(folder.path(), how);
  step_number accepted = 0;
  std::uint64_t refusals = 0;
  {
    file_size_limit const full(500);
    for (int i = 0; i < 200; ++i) {
#if TAUTLINE_EXCEPTIONS
      try {
        file.add_scalar("loss", 1, accepted);
        ++accepted;
      } catch (std::system_error const&) {
        ++refusals;
      }
#else
      file.add_scalar("loss", 1, accepted);
      if (file.dropped() > refusals) {
        ++refusals;
      } else {
        ++accepted;
      }
#endif
    }
    CHECK(accepted < 45);  // what the file and the buffer hold
    CHECK(file.dropped() == refusals);
    CHECK(file.error() == std::errc::file_too_large);
    CHECK(std::filesystem::file_size(file.path()) == 500);  // in the middle of a record
    std::string const words = refused(file, [&] { file.flush(); });
    CHECK(contains(words, file.path()));
    CHECK(contains(words, std::make_error_code(std::errc::file_too_large).message()));
  }
  file.flush();
  CHECK(file.status().ok());
  file.add_scalar("later", 1, 1);
  file.close();
  auto const read = reading::events(file.path());
  REQUIRE(read.size() == static_cast<std::size_t>(accepted) + 1);
  for (step_number i = 0; i < accepted; ++i) CHECK(read[static_cast<std::size_t>(i)].step == i);
  CHECK(read.back().tag == "later");
}

TEST_CASE("a file or folder that is gone is noticed at the next write") {
  file_support::folder const folder;
  event_file file(folder / "run");
  file.add_scalar("loss", 1, 1);
  std::filesystem::remove_all(folder / "run");
  CHECK(contains(refused(file, [&] { file.flush(); }), file.path()));
  CHECK(file.error() == std::errc::no_such_file_or_directory);
  (void)refused(file, [&] { file.close(); });
  file.flush();  // nothing is left that could be lost
}

TEST_CASE("after close what is added is an error, and closing again is none") {
  file_support::folder const folder;
  event_file file(folder.path());
  file.close();
  file.close();
  file.flush();
  CHECK(file.status().ok());
  (void)refused(file, [&] { file.add_scalar("loss", 1, 1); });
  CHECK(file.error() == std::errc::bad_file_descriptor);
  CHECK(file.dropped() == 1);
}

TEST_CASE("a file cut off anywhere has all whole records") {
  file_support::folder const folder;
  event_file file(folder.path());
  for (int i = 1; i <= 3; ++i) file.add_scalar("loss", i, i);
  file.close();
  std::string const whole = file_support::contents(file.path());
  std::size_t const record = (whole.size() - file_support::contents(event_file(folder.path()).path()).size()) / 3;
  for (std::size_t cut = 0; cut < 3 * record; ++cut) {
    auto const found = reading::split(std::string_view(whole).substr(0, whole.size() - cut));
    CHECK(found.messages.size() == 4 - (cut + record - 1) / record);
  }
}

TEST_CASE("it is a writer of logging hooks") {
  file_support::folder const folder;
  event_file file(folder.path());
  tautline::any_summary_writer const writer = file;
  writer.add_scalar("loss", 2, 3);
  file.close();
  CHECK(reading::events(file.path()).at(0).scalar() == 2);
}
