// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <tautline/core/config.hpp>

// What a value looks like from outside: its elements, its shape, its bytes. Checkpoints, descriptions of graphs and
// copies of variables rest on this, whatever the value's class is.

TAUTLINE_BEGIN

/// What the elements of a tensor are. The names are those of safetensors.
enum class element_type : std::uint8_t { BOOL, U8, I8, U16, I16, F16, BF16, U32, I32, F32, U64, I64, F64 };

[[nodiscard]] constexpr char const* to_string(element_type type) {
  constexpr char const* names[] = {"BOOL", "U8",  "I8",  "U16", "I16", "F16", "BF16",
                                   "U32",  "I32", "F32", "U64", "I64", "F64"};
  return names[static_cast<std::size_t>(type)];
}
/// Bytes of one element.
[[nodiscard]] constexpr std::size_t size_of(element_type type) {
  constexpr std::uint8_t sizes[] = {1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 8, 8, 8};
  return sizes[static_cast<std::size_t>(type)];
}
[[nodiscard]] constexpr bool is_floating(element_type type) {
  return type == element_type::F16 || type == element_type::BF16 || type == element_type::F32 ||
         type == element_type::F64;
}

/// A tensor where it is: elements without gaps, the last dimension running fastest (C order). Nothing is owned.
struct tensor_view {
  static constexpr std::size_t max_rank = 8;

  element_type type = element_type::U8;
  std::uint8_t rank = 0;
  std::int64_t shape[max_rank]{};  ///< the first `rank` are used; a scalar has rank 0
  void* data = nullptr;

  [[nodiscard]] constexpr std::size_t element_count() const {
    std::size_t count = 1;
    for (std::size_t i = 0; i < rank; ++i) count *= static_cast<std::size_t>(shape[i]);
    return count;
  }
  [[nodiscard]] constexpr std::size_t bytes() const { return element_count() * size_of(type); }
  /// The same element type and shape; the data may differ.
  [[nodiscard]] constexpr bool same_form(tensor_view const& other) const {
    if (type != other.type || rank != other.rank) return false;
    for (std::size_t i = 0; i < rank; ++i) {
      if (shape[i] != other.shape[i]) return false;
    }
    return true;
  }
};

/// How the values of a class are seen as a tensor. Known already: numbers, bools, enumerations, `std::byte`, arrays of
/// these, everything with `data()` and `size()` (std::array, std::vector, std::span), nested as deep as sizes are fixed,
/// and matrices with `rows()`, `cols()` and `IsRowMajor` as Eigen's. For a class of your own:
///
///     template <> struct tautline::tensor_traits<my_matrix> {
///       static constexpr element_type type = element_type::F32;
///       static constexpr std::uint8_t rank = 2;
///       static void* data(my_matrix& m) { return m.begin(); }
///       static void shape(my_matrix const& m, std::int64_t* out) { out[0] = m.height(); out[1] = m.width(); }
///     };
///
/// With `static bool resize(my_matrix&, std::int64_t const* shape)` a checkpoint may change the shape.
template <class Value>
struct tensor_traits;

/// Values that can be seen as a tensor.
template <class Value>
concept tensor_value = requires(Value& value, Value const& seen, std::int64_t* shape) {
  { tensor_traits<Value>::type } -> std::convertible_to<element_type>;
  { tensor_traits<Value>::rank } -> std::convertible_to<std::uint8_t>;
  { tensor_traits<Value>::data(value) } -> std::convertible_to<void*>;
  tensor_traits<Value>::shape(seen, shape);
};

namespace detail {

template <class Type>
consteval element_type element_type_of() {
  if constexpr (std::is_same_v<Type, bool>) {
    return element_type::BOOL;
  } else if constexpr (std::is_enum_v<Type>) {
    return element_type_of<std::underlying_type_t<Type>>();
  } else if constexpr (std::is_floating_point_v<Type>) {
    return sizeof(Type) == 4 ? element_type::F32 : element_type::F64;
  } else if constexpr (sizeof(Type) == 1) {
    return std::is_signed_v<Type> ? element_type::I8 : element_type::U8;
  } else if constexpr (sizeof(Type) == 2) {
    return std::is_signed_v<Type> ? element_type::I16 : element_type::U16;
  } else if constexpr (sizeof(Type) == 4) {
    return std::is_signed_v<Type> ? element_type::I32 : element_type::U32;
  } else {
    return std::is_signed_v<Type> ? element_type::I64 : element_type::U64;
  }
}

/// Numbers of a width that the same program has everywhere; `long double` is none.
template <class Type>
concept plain_number = (std::is_arithmetic_v<Type> && sizeof(Type) <= 8) || std::is_enum_v<Type>;

template <class Value>
concept contiguous = requires(Value& value, Value const& seen) {
  { seen.size() } -> std::convertible_to<std::size_t>;
  requires std::is_pointer_v<std::remove_cvref_t<decltype(value.data())>>;
  requires !std::is_const_v<std::remove_pointer_t<std::remove_cvref_t<decltype(value.data())>>>;
};
template <class Value>
using element_of = std::remove_pointer_t<std::remove_cvref_t<decltype(std::declval<Value&>().data())>>;

template <class Value>
concept matrix_like = contiguous<Value> && requires(Value const& seen) {
  { Value::IsRowMajor } -> std::convertible_to<bool>;
  { seen.rows() } -> std::convertible_to<std::int64_t>;
  { seen.cols() } -> std::convertible_to<std::int64_t>;
};

/// An element that may repeat without gaps: its shape is that of every object, and it holds nothing but its elements.
template <class Value>
concept fixed_tensor = tensor_value<Value> && requires {
  requires tensor_traits<Value>::is_fixed;
  requires sizeof(Value) == tensor_traits<Value>::fixed_count * size_of(tensor_traits<Value>::type);
};

}  // namespace detail

template <detail::plain_number Value>
struct tensor_traits<Value> {
  static constexpr element_type type = detail::element_type_of<Value>();
  static constexpr std::uint8_t rank = 0;
  static constexpr bool is_fixed = true;
  static constexpr std::size_t fixed_count = 1;
  static constexpr void* data(Value& value) { return &value; }
  static constexpr void shape(Value const&, std::int64_t*) {}
  static constexpr void fixed_shape(std::int64_t*) {}
};

template <detail::fixed_tensor Element, std::size_t Count>
struct tensor_traits<Element[Count]> {
  static constexpr element_type type = tensor_traits<Element>::type;
  static constexpr std::uint8_t rank = tensor_traits<Element>::rank + 1;
  static constexpr bool is_fixed = true;
  static constexpr std::size_t fixed_count = Count * tensor_traits<Element>::fixed_count;
  static constexpr void* data(Element (&value)[Count]) { return tensor_traits<Element>::data(value[0]); }
  static constexpr void shape(Element const (&)[Count], std::int64_t* out) { fixed_shape(out); }
  static constexpr void fixed_shape(std::int64_t* out) {
    out[0] = static_cast<std::int64_t>(Count);
    tensor_traits<Element>::fixed_shape(out + 1);
  }
};

template <detail::contiguous Value>
  requires(detail::fixed_tensor<detail::element_of<Value>> && !detail::matrix_like<Value>)
struct tensor_traits<Value> {
  using element = detail::element_of<Value>;
  static constexpr element_type type = tensor_traits<element>::type;
  static constexpr std::uint8_t rank = tensor_traits<element>::rank + 1;
  /// std::array and its like: the elements lie in the object. An aggregate of a pointer and a size looks the same, but has
  /// no size that is known as a constant.
  static constexpr bool is_fixed =
      std::is_trivially_copyable_v<Value> && std::is_aggregate_v<Value> && requires { std::tuple_size<Value>::value; };
  static constexpr std::size_t fixed_count =
      sizeof(Value) / sizeof(element) * tensor_traits<element>::fixed_count;
  static constexpr void* data(Value& value) { return value.data(); }
  static constexpr void shape(Value const& value, std::int64_t* out) {
    out[0] = static_cast<std::int64_t>(value.size());
    tensor_traits<element>::fixed_shape(out + 1);
  }
  static constexpr void fixed_shape(std::int64_t* out)
    requires(is_fixed)
  {
    out[0] = static_cast<std::int64_t>(sizeof(Value) / sizeof(element));
    tensor_traits<element>::fixed_shape(out + 1);
  }
  static constexpr bool resize(Value& value, std::int64_t const* wanted)
    requires requires { value.resize(std::size_t{}); }
  {
    std::int64_t inner[tensor_view::max_rank]{};
    tensor_traits<element>::fixed_shape(inner);
    for (std::size_t i = 0; i + 1 < rank; ++i) {
      if (inner[i] != wanted[i + 1]) return false;
    }
    value.resize(static_cast<std::size_t>(wanted[0]));
    return true;
  }
};

template <detail::matrix_like Value>
  requires(detail::plain_number<detail::element_of<Value>>)
struct tensor_traits<Value> {
  static constexpr element_type type = detail::element_type_of<detail::element_of<Value>>();
  static constexpr std::uint8_t rank = 2;
  static constexpr bool is_fixed = false;
  static void* data(Value& value) { return value.data(); }
  /// As it lies in memory: a matrix stored by columns is seen transposed.
  static void shape(Value const& value, std::int64_t* out) {
    out[Value::IsRowMajor ? 0 : 1] = static_cast<std::int64_t>(value.rows());
    out[Value::IsRowMajor ? 1 : 0] = static_cast<std::int64_t>(value.cols());
  }
};

/// The value as a tensor. **Cost** a few stores.
template <tensor_value Value>
[[nodiscard]] constexpr tensor_view view_tensor(Value& value) {
  static_assert(tensor_traits<Value>::rank <= tensor_view::max_rank,
                "tautline: a tensor has at most 8 dimensions. Mend: see this value as one with fewer");
  tensor_view view;
  view.type = tensor_traits<Value>::type;
  view.rank = tensor_traits<Value>::rank;
  tensor_traits<Value>::shape(value, view.shape);
  view.data = tensor_traits<Value>::data(value);
  return view;
}

TAUTLINE_END
