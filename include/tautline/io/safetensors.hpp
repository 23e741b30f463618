// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tautline/core/state.hpp>
#include <tautline/io/checkpoint/json.hpp>
#include <tautline/io/file_layer.hpp>

// The file format of safetensors: 8 bytes with the length of a JSON header, the header, the elements. Files written here
// are those of the Python package 0.8, byte for byte; files read here are checked as strictly.

TAUTLINE_BEGIN

struct named_tensor {
  std::string name;
  tensor_view view{};
};
using safetensors_metadata = std::vector<std::pair<std::string, std::string>>;

/// Where everything stands in a file that is about to be written. @see lay_out_safetensors
struct safetensors_layout {
  io_result result{};
  std::string head;                ///< the first bytes of the file: length and header, a multiple of 8 bytes
  std::vector<std::size_t> order;  ///< the tensors' indices as they follow behind it, without gaps
  std::uint64_t data_size = 0;     ///< bytes behind the head
};

namespace detail {

/// Larger ones first, so that everything lies on a multiple of its size; else as the Python package sorts them.
inline int file_rank(element_type type) {
  using enum element_type;
  constexpr element_type order[] = {U64, I64, F64, F32, U32, I32, BF16, F16, U16, I16, I8, U8, BOOL};
  return static_cast<int>(std::find(std::begin(order), std::end(order), type) - std::begin(order));
}

inline bool element_type_from(std::string_view name, element_type& out) {
  for (int i = 0; i <= static_cast<int>(element_type::F64); ++i) {
    out = static_cast<element_type>(i);
    if (name == to_string(out)) return true;
  }
  return false;
}

/// @return false if the size does not fit in 63 bits
inline bool safe_bytes(tensor_view const& view, std::uint64_t& bytes) {
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < view.rank; ++i) {
    if (view.shape[i] < 0 || __builtin_mul_overflow(count, static_cast<std::uint64_t>(view.shape[i]), &count)) return false;
  }
  return !__builtin_mul_overflow(count, size_of(view.type), &bytes) && bytes <= INT64_MAX;
}

}  // namespace detail

/// Decides where tensors stand, and makes the head of the file.
/// **Errors** (in `result`) names that are not unique, not UTF-8, or `__metadata__`.
/// **Source** the format's specification; sorting and padding as in the Python package.
[[nodiscard]] inline safetensors_layout lay_out_safetensors(std::span<named_tensor const> tensors,
                                                            safetensors_metadata const& metadata = {}) {
  safetensors_layout made;
  auto const fail = [&](std::string why) {
    made.result = {error_kind::invalid_argument, std::move(why)};
    return made;
  };
  made.order.resize(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) made.order[i] = i;
  std::sort(made.order.begin(), made.order.end(), [&](std::size_t a, std::size_t b) {
    return tensors[a].name < tensors[b].name;
  });
  for (std::size_t i = 1; i < made.order.size(); ++i) {
    if (tensors[made.order[i]].name == tensors[made.order[i - 1]].name) {
      return fail("two tensors have the name \"" + tensors[made.order[i]].name + "\"");
    }
  }
  std::sort(made.order.begin(), made.order.end(), [&](std::size_t a, std::size_t b) {
    int const rank_a = detail::file_rank(tensors[a].view.type), rank_b = detail::file_rank(tensors[b].view.type);
    return rank_a != rank_b ? rank_a < rank_b : tensors[a].name < tensors[b].name;
  });

  auto header = detail::json_writer::compact();
  header.open('{');
  if (!metadata.empty()) {
    header.key("__metadata__").open('{');
    for (auto const& [name, words] : metadata) header.key(name).value(words);
    header.close('}');
  }
  for (std::size_t const index : made.order) {
    tensor_view const& view = tensors[index].view;
    if (tensors[index].name == "__metadata__") return fail("no tensor can have the name \"__metadata__\"");
    header.key(tensors[index].name).open('{').key("dtype").value(to_string(view.type)).key("shape").open('[');
    for (std::size_t i = 0; i < view.rank; ++i) header.value(view.shape[i]);
    header.close(']').key("data_offsets").open('[').value(made.data_size);
    made.data_size += view.bytes();
    header.value(made.data_size).close(']').close('}');
  }
  std::string text = std::move(header.close('}').text());
  if (!header.valid()) return fail("a name or a word of the metadata is not UTF-8");
  text.append((8 - text.size() % 8) % 8, ' ');
  for (std::size_t i = 0; i < 8; ++i) made.head += static_cast<char>(text.size() >> (8 * i) & 0xff);
  made.head += text;
  return made;
}

/// A file that has been read: tensors that look into its memory.
class safetensors_file {
 public:
  /// Checks bytes that are in memory already and outlive this object. What the Python package refuses is refused, and
  /// names that stand twice; so are element types that `element_type` does not know, and more than 8 dimensions.
  /// **Errors** `result` says what is wrong.
  [[nodiscard]] static safetensors_file of(std::byte* data, std::size_t size) {
    safetensors_file made;
    made.result_.message = made.parse(data, size);
    if (!made.result_.message.empty()) made.result_.kind = error_kind::invalid_argument;
    return made;
  }
  /// The same for bytes that become this object's own.
  [[nodiscard]] static safetensors_file of(aligned_bytes bytes) {
    safetensors_file made = of(bytes.data(), bytes.size());
    made.owned_ = std::move(bytes);
    return made;
  }
  template <file_layer Files = posix_files>
  [[nodiscard]] static safetensors_file read(std::string const& path, Files files = {}) {
    aligned_bytes bytes;
    if (int const code = files.read(path.c_str(), bytes); code != 0) {
      safetensors_file made;
      made.result_ = {error_kind::error, path + " cannot be read: " + std::strerror(code)};
      return made;
    }
    safetensors_file made = of(std::move(bytes));
    if (!made.result_.ok()) made.result_.message = path + ": " + made.result_.message;
    return made;
  }

  [[nodiscard]] io_result const& result() const { return result_; }
  /// In the order of the data. They are aligned to their elements where the file is (ours are, and Python's); copy the
  /// bytes where that is not sure.
  [[nodiscard]] std::span<named_tensor const> tensors() const { return tensors_; }
  [[nodiscard]] safetensors_metadata const& metadata() const { return metadata_; }
  /// @return null if there is none of the name
  [[nodiscard]] tensor_view const* find(std::string_view name) const {
    for (named_tensor const& each : tensors_) {
      if (each.name == name) return &each.view;
    }
    return nullptr;
  }
  /// Bytes before the data.
  [[nodiscard]] std::size_t head_size() const { return head_size_; }

 private:
  static constexpr std::uint64_t max_header = 100'000'000;  // as in the Python package

  std::string parse(std::byte* data, std::size_t size) {
    if (size < 8) return "it is shorter than 8 bytes";
    std::uint64_t length = 0;
    for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<std::uint64_t>(data[i]);
    if (length > max_header) return "its header is too large";
    if (length > size - 8) return "it ends within its header";
    head_size_ = 8 + static_cast<std::size_t>(length);
    nlohmann::json header;
    std::string problem;
    std::string_view const text(reinterpret_cast<char const*>(data) + 8, static_cast<std::size_t>(length));
    if (!detail::parse_json(text, header, problem)) return "its header is damaged: " + problem;
    if (!header.is_object()) return "its header is no JSON object";

    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    for (auto const& [name, entry] : header.items()) {
      problem = name == "__metadata__" ? take_metadata(entry) : take_tensor(name, entry, ranges);
      if (!problem.empty()) return problem;
    }
    std::vector<std::size_t> order(ranges.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return ranges[a] < ranges[b]; });
    std::vector<named_tensor> sorted;
    std::uint64_t at = 0;
    for (std::size_t const index : order) {
      if (ranges[index].first != at) return "the data of \"" + tensors_[index].name + "\" do not begin where others end";
      tensors_[index].view.data = data + head_size_ + at;
      at = ranges[index].second;
      if (at > size - head_size_) return "it ends within the data of \"" + tensors_[index].name + "\"";
      sorted.push_back(std::move(tensors_[index]));
    }
    tensors_ = std::move(sorted);
    if (at != size - head_size_) return "there are bytes behind its data";
    return {};
  }

  std::string take_metadata(nlohmann::json const& entry) {
    if (!entry.is_object()) return "its metadata are no JSON object";
    for (auto const& [name, words] : entry.items()) {
      if (!words.is_string()) return "the metadata \"" + name + "\" are no string";
      metadata_.emplace_back(name, words.get_ref<std::string const&>());
    }
    return {};
  }

  std::string take_tensor(std::string const& name, nlohmann::json const& entry,
                          std::vector<std::pair<std::uint64_t, std::uint64_t>>& ranges) {
    named_tensor made{name};
    std::string type;
    if (!detail::get(entry, "dtype", type)) return "\"" + name + "\" has no dtype";
    if (!detail::element_type_from(type, made.view.type)) {
      return "\"" + name + "\" has the element type " + type + ", which is not known here";
    }
    nlohmann::json const* const shape = detail::member(entry, "shape");
    if (shape == nullptr || !shape->is_array()) return "\"" + name + "\" has no shape";
    if (shape->size() > tensor_view::max_rank) return "\"" + name + "\" has more than 8 dimensions";
    for (nlohmann::json const& extent : *shape) {
      std::uint64_t count = 0;
      if (!detail::get(extent, count) || count > INT64_MAX) return "\"" + name + "\" has a shape that is none";
      made.view.shape[made.view.rank++] = static_cast<std::int64_t>(count);
    }
    nlohmann::json const* const offsets = detail::member(entry, "data_offsets");
    std::uint64_t begin = 0, end = 0, bytes = 0;
    if (offsets == nullptr || !offsets->is_array() || offsets->size() != 2 || !detail::get((*offsets)[0], begin) ||
        !detail::get((*offsets)[1], end) || end < begin) {
      return "\"" + name + "\" has data_offsets that are none";
    }
    if (!detail::safe_bytes(made.view, bytes) || bytes != end - begin) {
      return "the data of \"" + name + "\" have not the size of its shape and type";
    }
    tensors_.push_back(std::move(made));
    ranges.emplace_back(begin, end);
    return {};
  }

  io_result result_{};
  std::vector<named_tensor> tensors_;
  safetensors_metadata metadata_;
  std::size_t head_size_ = 0;
  aligned_bytes owned_;
};

/// Writes one file in place: for exports. What must survive a crash goes through a `checkpoint_store`.
template <file_layer Files = posix_files>
[[nodiscard]] io_result write_safetensors(std::string const& path, std::span<named_tensor const> tensors,
                                          safetensors_metadata const& metadata = {}, Files files = {}) {
  safetensors_layout const layout = lay_out_safetensors(tensors, metadata);
  if (!layout.result.ok()) return layout.result;
  int handle = -1;
  int code = files.create(path.c_str(), handle);
  if (code == EEXIST) {
    code = files.remove(path.c_str());
    if (code == 0) code = files.create(path.c_str(), handle);
  }
  if (code == 0) {
    code = files.write(handle, layout.head.data(), layout.head.size());
    for (std::size_t const index : layout.order) {
      tensor_view const& view = tensors[index].view;
      if (code == 0 && view.bytes() != 0) code = files.write(handle, view.data, view.bytes());
    }
    int const closed = files.close(handle);
    if (code == 0) code = closed;
  }
  if (code != 0) return {error_kind::error, path + " cannot be written: " + std::strerror(code)};
  return {};
}

TAUTLINE_END
