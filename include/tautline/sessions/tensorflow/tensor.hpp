// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>

#include <tensorflow/c/tf_tstring.h>

#include <tautline/core/tensor.hpp>
#include <tautline/sessions/tensorflow/status.hpp>

// Values at the boundary: what of C++ is what of TensorFlow.

TAUTLINE_BEGIN
namespace tensorflow {

/// A number of 16 bits as IEEE 754 has it. It converts to float exactly; arithmetic is float's.
struct half {
  std::uint16_t bits = 0;

  constexpr explicit(false) operator float() const {
    std::uint32_t const sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
    std::uint32_t const exponent = (bits >> 10) & 0x1fU;
    std::uint32_t const fraction = bits & 0x3ffU;
    if (exponent == 0) {  // zero, and what is below the smallest normal number
      float const magnitude = static_cast<float>(fraction) * 0x1p-24F;
      return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
    }
    std::uint32_t const widened = exponent == 0x1f ? 0xffU : exponent + 112;
    return std::bit_cast<float>(sign | (widened << 23) | (fraction << 13));
  }
};

/// The upper 16 bits of a float.
struct bfloat16 {
  std::uint16_t bits = 0;

  constexpr explicit(false) operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

// --- element types --------------------------------------------------------------------------------------------------

/// Elements: numbers, `bool`, `half`, `bfloat16`, and strings, which are read as `std::string_view`.
template <class Element>
concept element = (std::is_arithmetic_v<Element> && sizeof(Element) <= 8) || std::same_as<Element, half> ||
                  std::same_as<Element, bfloat16> || std::same_as<Element, std::string_view>;

/// TensorFlow's number for a type of C++.
template <element Element>
inline constexpr TF_DataType data_type_of = [] {
  if constexpr (std::same_as<Element, half>) {
    return TF_HALF;
  } else if constexpr (std::same_as<Element, bfloat16>) {
    return TF_BFLOAT16;
  } else if constexpr (std::same_as<Element, std::string_view>) {
    return TF_STRING;
  } else if constexpr (std::same_as<Element, bool>) {
    return TF_BOOL;
  } else if constexpr (std::is_floating_point_v<Element>) {
    return sizeof(Element) == 4 ? TF_FLOAT : TF_DOUBLE;
  } else if constexpr (sizeof(Element) == 1) {
    return std::is_signed_v<Element> ? TF_INT8 : TF_UINT8;
  } else if constexpr (sizeof(Element) == 2) {
    return std::is_signed_v<Element> ? TF_INT16 : TF_UINT16;
  } else if constexpr (sizeof(Element) == 4) {
    return std::is_signed_v<Element> ? TF_INT32 : TF_UINT32;
  } else {
    return std::is_signed_v<Element> ? TF_INT64 : TF_UINT64;
  }
}();

/// The name that TensorFlow has for an element type; references to one ("float32_ref") are the type itself.
[[nodiscard]] inline char const* name_of_type(TF_DataType type) {
  switch (type % 100) {
    case TF_FLOAT: return "float32";
    case TF_DOUBLE: return "float64";
    case TF_INT32: return "int32";
    case TF_UINT8: return "uint8";
    case TF_INT16: return "int16";
    case TF_INT8: return "int8";
    case TF_STRING: return "string";
    case TF_COMPLEX64: return "complex64";
    case TF_INT64: return "int64";
    case TF_BOOL: return "bool";
    case TF_QINT8: return "qint8";
    case TF_QUINT8: return "quint8";
    case TF_QINT32: return "qint32";
    case TF_BFLOAT16: return "bfloat16";
    case TF_QINT16: return "qint16";
    case TF_QUINT16: return "quint16";
    case TF_UINT16: return "uint16";
    case TF_COMPLEX128: return "complex128";
    case TF_HALF: return "float16";
    case TF_RESOURCE: return "resource";
    case TF_VARIANT: return "variant";
    case TF_UINT32: return "uint32";
    case TF_UINT64: return "uint64";
    default: return "an unknown type";
  }
}

/// The element type by which checkpoints know it; none for strings, complex and quantized numbers, and resources.
[[nodiscard]] constexpr std::optional<element_type> element_type_of(TF_DataType type) {
  switch (type % 100) {
    case TF_FLOAT: return element_type::F32;
    case TF_DOUBLE: return element_type::F64;
    case TF_INT32: return element_type::I32;
    case TF_UINT8: return element_type::U8;
    case TF_INT16: return element_type::I16;
    case TF_INT8: return element_type::I8;
    case TF_INT64: return element_type::I64;
    case TF_BOOL: return element_type::BOOL;
    case TF_BFLOAT16: return element_type::BF16;
    case TF_UINT16: return element_type::U16;
    case TF_HALF: return element_type::F16;
    case TF_UINT32: return element_type::U32;
    case TF_UINT64: return element_type::U64;
    default: return {};
  }
}
/// The other way round.
[[nodiscard]] constexpr TF_DataType data_type_of_element(element_type type) {
  constexpr TF_DataType types[] = {TF_BOOL,   TF_UINT8, TF_INT8,  TF_UINT16, TF_INT16, TF_HALF,  TF_BFLOAT16,
                                   TF_UINT32, TF_INT32, TF_FLOAT, TF_UINT64, TF_INT64, TF_DOUBLE};
  return types[static_cast<std::size_t>(type)];
}

// --- what was fetched -----------------------------------------------------------------------------------------------

/// A tensor that a run gave, where TensorFlow put it: nothing is copied. Elements lie without gaps, the last dimension
/// running fastest. Good until the session's next run; a copy of this object is no copy of the elements.
///
/// @tparam Rank number of dimensions, checked when the session is created and, where the graph does not know it, in
/// each run
template <element Element, int Rank>
  requires(Rank >= 0)
class tensor {
  static constexpr bool is_text = std::same_as<Element, std::string_view>;

 public:
  /// To hooks that keep values: what they would keep is gone with the next run.
  static constexpr bool points_elsewhere = true;
  using value_type = Element;
  static constexpr int rank = Rank;

  constexpr tensor() = default;
  constexpr explicit tensor(TF_Tensor const* from) : tensor_(from) {}

  [[nodiscard]] std::size_t size() const {
    return tensor_ == nullptr ? 0 : static_cast<std::size_t>(TF_TensorElementCount(tensor_));
  }
  [[nodiscard]] bool empty() const { return size() == 0; }
  /// The length of one dimension. Precondition: `dimension < rank`.
  [[nodiscard]] std::int64_t shape(int dimension) const { return tensor_ == nullptr ? 0 : TF_Dim(tensor_, dimension); }

  [[nodiscard]] Element const* data() const
    requires(!is_text)
  {
    return tensor_ == nullptr ? nullptr : static_cast<Element const*>(TF_TensorData(tensor_));
  }
  [[nodiscard]] Element const* begin() const
    requires(!is_text)
  {
    return data();
  }
  [[nodiscard]] Element const* end() const
    requires(!is_text)
  {
    return data() + size();
  }
  /// By the place in memory.
  [[nodiscard]] Element operator[](std::size_t place) const {
    if constexpr (is_text) {
      auto const* const texts = static_cast<TF_TString const*>(TF_TensorData(tensor_));
      return {TF_StringGetDataPointer(texts + place), TF_StringGetSize(texts + place)};
    } else {
      return data()[place];
    }
  }

 private:
  TF_Tensor const* tensor_ = nullptr;
};

namespace detail {

template <class>
inline constexpr bool is_tensor = false;
template <class Element, int Rank>
inline constexpr bool is_tensor<tensor<Element, Rank>> = true;

/// What may be fetched as: an element, or a tensor of elements.
template <class Type>
concept fetched_type = element<Type> || is_tensor<Type>;

template <class Type>
inline constexpr TF_DataType fetched_data_type = data_type_of<Type>;
template <class Element, int Rank>
inline constexpr TF_DataType fetched_data_type<tensor<Element, Rank>> = data_type_of<Element>;
template <class Type>
inline constexpr int fetched_rank = 0;
template <class Element, int Rank>
inline constexpr int fetched_rank<tensor<Element, Rank>> = Rank;

/// Whether every value of one type is one of the other: a scalar may be asked for as the wider one.
constexpr bool widens(TF_DataType from, TF_DataType to) {
  auto const is_int = [](TF_DataType type) { return type == TF_INT8 || type == TF_INT16 || type == TF_INT32; };
  auto const is_unsigned = [](TF_DataType type) { return type == TF_UINT8 || type == TF_UINT16 || type == TF_UINT32; };
  switch (to) {
    case TF_DOUBLE:
      return from == TF_FLOAT || from == TF_HALF || from == TF_BFLOAT16 || is_int(from) || is_unsigned(from);
    case TF_FLOAT: return from == TF_HALF || from == TF_BFLOAT16;
    case TF_INT64: return is_int(from) || is_unsigned(from);
    case TF_INT32: return from == TF_INT8 || from == TF_INT16 || from == TF_UINT8 || from == TF_UINT16;
    case TF_UINT64: return is_unsigned(from);
    default: return false;
  }
}

/// Calls `visit(zero)` with a zero of the number type that an element type is.
/// @return false, without a call, for types that are none of C++'s numbers: `half` and `bfloat16`, `bool`, strings,
/// and others
template <class Visit>
bool visit_number_type(TF_DataType type, Visit const& visit) {
  switch (type) {
    case TF_FLOAT: return visit(float{}), true;
    case TF_DOUBLE: return visit(double{}), true;
    case TF_INT8: return visit(std::int8_t{}), true;
    case TF_INT16: return visit(std::int16_t{}), true;
    case TF_INT32: return visit(std::int32_t{}), true;
    case TF_INT64: return visit(std::int64_t{}), true;
    case TF_UINT8: return visit(std::uint8_t{}), true;
    case TF_UINT16: return visit(std::uint16_t{}), true;
    case TF_UINT32: return visit(std::uint32_t{}), true;
    case TF_UINT64: return visit(std::uint64_t{}), true;
    default: return false;
  }
}

/// The scalar at an address, as another type that can hold it; zero if it is no number.
template <class To>
To widened(TF_DataType from, void const* at) {
  To result{};
  auto const read = [&](auto value) {
    std::memcpy(&value, at, sizeof value);
    if constexpr (std::is_arithmetic_v<decltype(value)>) {
      result = static_cast<To>(value);
    } else {
      result = static_cast<To>(static_cast<float>(value));
    }
  };
  if (from == TF_HALF) {
    read(half{});
  } else if (from == TF_BFLOAT16) {
    read(bfloat16{});
  } else {
    visit_number_type(from, read);
  }
  return result;
}

/// A tensor of strings: its memory holds objects of TensorFlow's, which frees them with it.
inline tensor_handle new_text_tensor(std::int64_t const* shape, int rank, std::size_t count) {
  tensor_handle made(TF_AllocateTensor(TF_STRING, shape, rank, count * sizeof(TF_TString)));
  if (made == nullptr) return made;
  auto* const texts = static_cast<TF_TString*>(TF_TensorData(made.get()));
  for (std::size_t i = 0; i < count; ++i) TF_StringInit(texts + i);
  return made;
}
inline void store_text(TF_Tensor* into, std::size_t place, std::string_view text) {
  TF_StringCopy(static_cast<TF_TString*>(TF_TensorData(into)) + place, text.data(), text.size());
}

/// A value of a run as the program reads it; a zero or an empty tensor where there is none.
template <fetched_type Type>
Type read_value(TF_Tensor const* from) {
  if constexpr (is_tensor<Type>) {
    return Type(from);
  } else if constexpr (std::same_as<Type, std::string_view>) {
    return from == nullptr ? Type{} : tensor<std::string_view, 0>(from)[0];
  } else {
    if (from == nullptr) return Type{};
    if (TF_TensorType(from) == data_type_of<Type>) [[likely]] return *static_cast<Type const*>(TF_TensorData(from));
    if constexpr (std::is_arithmetic_v<Type> && !std::same_as<Type, bool>) {
      return widened<Type>(TF_TensorType(from), TF_TensorData(from));
    }
    return Type{};
  }
}

}  // namespace detail
}  // namespace tensorflow

/// Stock hooks look at fetched tensors as at any other.
template <tensorflow::element Element, int Rank>
  requires(!std::same_as<Element, std::string_view>)
struct tensor_traits<tensorflow::tensor<Element, Rank>> {
  static constexpr element_type type = *tensorflow::element_type_of(tensorflow::data_type_of<Element>);
  static constexpr std::uint8_t rank = Rank;
  static constexpr bool is_fixed = false;
  static void* data(tensorflow::tensor<Element, Rank>& value) { return const_cast<Element*>(value.data()); }
  static void shape(tensorflow::tensor<Element, Rank> const& value, std::int64_t* out) {
    for (int i = 0; i < Rank; ++i) out[i] = value.shape(i);
  }
};

namespace detail {
template <class Number, element_type Type>
struct short_float_traits {
  static constexpr element_type type = Type;
  static constexpr std::uint8_t rank = 0;
  static constexpr bool is_fixed = true;
  static constexpr std::size_t fixed_count = 1;
  static constexpr void* data(Number& value) { return &value; }
  static constexpr void shape(Number const&, std::int64_t*) {}
  static constexpr void fixed_shape(std::int64_t*) {}
};
}  // namespace detail
template <>
struct tensor_traits<tensorflow::half> : detail::short_float_traits<tensorflow::half, element_type::F16> {};
template <>
struct tensor_traits<tensorflow::bfloat16> : detail::short_float_traits<tensorflow::bfloat16, element_type::BF16> {};

TAUTLINE_END
