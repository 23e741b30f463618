// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow.hpp>

#include <concepts>
#include <cstdint>
#include <cstring>
#include <ranges>
#include <string_view>
#include <type_traits>

#include <tautline/sessions/tensorflow/tensor.hpp>

// What is fed: a value of C++, copied once into a tensor of TensorFlow's.

TAUTLINE_BEGIN
namespace tensorflow {
namespace detail {

template <class Value>
concept text_like = std::convertible_to<Value const&, std::string_view> && !std::is_null_pointer_v<Value>;
template <class Value>
concept texts_like = !text_like<Value> && std::ranges::sized_range<Value const> &&
                     text_like<std::remove_cvref_t<std::ranges::range_reference_t<Value const>>>;
template <class Value>
concept number_like = std::is_arithmetic_v<Value> && sizeof(Value) <= 8;

/// What may be fed: numbers, strings, arrays, vectors and ranges of strings, everything that is a `tensor_value`.
template <class Value>
concept feedable = text_like<Value> || texts_like<Value> || tensor_value<std::remove_const_t<Value>>;

/// The element type of a value as it is; a number's own, which may be converted.
template <feedable Value>
consteval TF_DataType fed_data_type() {
  if constexpr (text_like<Value> || texts_like<Value>) {
    return TF_STRING;
  } else {
    return data_type_of_element(tensor_traits<std::remove_const_t<Value>>::type);
  }
}
template <feedable Value>
consteval int fed_rank() {
  if constexpr (text_like<Value>) {
    return 0;
  } else if constexpr (texts_like<Value>) {
    return 1;
  } else {
    return tensor_traits<std::remove_const_t<Value>>::rank;
  }
}

/// Whether a fed value can stand for an element type of the graph: the same one, and a single number for every other
/// kind of number that does not lose its fraction.
template <feedable Value>
constexpr bool may_be_fed(TF_DataType wanted) {
  constexpr TF_DataType given = fed_data_type<Value>();
  if (given == wanted) return true;
  if constexpr (number_like<Value> && !std::same_as<Value, bool>) {
    bool const to_float = wanted == TF_FLOAT || wanted == TF_DOUBLE;
    bool const to_int = wanted == TF_INT8 || wanted == TF_INT16 || wanted == TF_INT32 || wanted == TF_INT64 ||
                        wanted == TF_UINT8 || wanted == TF_UINT16 || wanted == TF_UINT32 || wanted == TF_UINT64;
    return to_float || (std::is_integral_v<Value> && to_int);
  } else {
    return false;
  }
}

/// A number as one of another type; where that is no number, as it is.
template <class Number>
void store_number(void* at, TF_DataType type, Number value) {
  auto const store = [&]<class To>(To) {
    To const converted = static_cast<To>(value);
    std::memcpy(at, &converted, sizeof converted);
  };
  if (!visit_number_type(type, store)) store(value);
}

/// Whether a number is in the graph's element type what it is here: 300 is no int8, 1e300 no float.
template <feedable Value>
bool number_fits([[maybe_unused]] Value const& value, [[maybe_unused]] TF_DataType wanted) {
  if constexpr (number_like<Value> && !std::same_as<Value, bool>) {
    bool fits = true;
    visit_number_type(wanted, [&]<class To>(To) {
      if constexpr (std::is_integral_v<Value> && std::is_integral_v<To>) {
        To const there = static_cast<To>(value);
        fits = static_cast<Value>(there) == value && (value < Value{}) == (there < To{});
      } else if constexpr (std::is_floating_point_v<Value> && std::is_floating_point_v<To>) {
        fits = value - value != 0 || static_cast<To>(value) - static_cast<To>(value) == 0;
      }
    });
    return fits;
  } else {
    return true;
  }
}

/// The value as a tensor of TensorFlow's: one copy, one allocation. @param wanted the graph's element type, one that
/// `may_be_fed`
template <feedable Value>
tensor_handle to_tensor(Value const& value, TF_DataType wanted) {
  if constexpr (text_like<Value>) {
    tensor_handle made = new_text_tensor(nullptr, 0, 1);
    store_text(made.get(), 0, value);
    return made;
  } else if constexpr (texts_like<Value>) {
    auto const count = static_cast<std::size_t>(std::ranges::size(value));
    auto const shape = static_cast<std::int64_t>(count);
    tensor_handle made = new_text_tensor(&shape, 1, count);
    std::size_t place = 0;
    for (auto const& each : value) store_text(made.get(), place++, each);
    return made;
  } else if constexpr (number_like<Value>) {
    tensor_handle made(TF_AllocateTensor(wanted, nullptr, 0, TF_DataTypeSize(wanted)));
    store_number(TF_TensorData(made.get()), wanted, value);
    return made;
  } else {
    tensor_view const seen = view_tensor(const_cast<std::remove_const_t<Value>&>(value));
    tensor_handle made(TF_AllocateTensor(wanted, seen.shape, seen.rank, seen.bytes()));
    if (seen.bytes() > 0) std::memcpy(TF_TensorData(made.get()), seen.data, seen.bytes());
    return made;
  }
}

}  // namespace detail
}  // namespace tensorflow
TAUTLINE_END
