// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow/ops.hpp>

#include <concepts>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <tautline/core/tensor.hpp>
#include <tautline/sessions/tensorflow/status.hpp>
#include <tautline/sessions/tensorflow/tensor.hpp>

// What nodes are made with, beside other nodes: shapes, constants, attributes.

TAUTLINE_BEGIN
namespace tensorflow {

/// The shape of a value in a graph: `{}` is a scalar, `{-1, 64}` any number of rows of 64.
class shape {
 public:
  template <std::integral... Sizes>
  // NOLINTNEXTLINE(google-explicit-constructor): {-1, 64} is how a shape is written
  shape(Sizes... sizes) : sizes_{static_cast<std::int64_t>(sizes)...} {}
  explicit shape(std::vector<std::int64_t> sizes) : sizes_(std::move(sizes)) {}
  /// Not even the rank is known.
  [[nodiscard]] static shape unknown() {
    shape made;
    made.known_ = false;
    return made;
  }

  [[nodiscard]] bool has_rank() const { return known_; }
  /// -1 if it is not known, as the C API has it.
  [[nodiscard]] int rank() const { return known_ ? static_cast<int>(sizes_.size()) : -1; }
  /// -1 where a size is not known.
  [[nodiscard]] std::vector<std::int64_t> const& sizes() const { return sizes_; }
  [[nodiscard]] std::int64_t operator[](std::size_t i) const { return sizes_[i]; }
  /// Of a shape whose sizes are all known; -1 otherwise.
  [[nodiscard]] std::int64_t element_count() const {
    std::int64_t count = known_ ? 1 : -1;
    for (auto const size : sizes_) count = size < 0 || count < 0 ? -1 : count * size;
    return count;
  }
  friend bool operator==(shape const&, shape const&) = default;

 private:
  bool known_ = true;
  std::vector<std::int64_t> sizes_;
};

namespace detail {

template <class Type>
concept string_like = std::convertible_to<Type const&, std::string_view>;

/// Numbers that are one element each, and strings.
template <class Type>
concept graph_element = string_like<Type> || requires {
  requires tensor_traits<Type>::rank == 0;
};

template <graph_element Type>
[[nodiscard]] consteval TF_DataType graph_type() {
  if constexpr (string_like<Type>) {
    return TF_STRING;
  } else {
    return data_type_of_element(tensor_traits<Type>::type);
  }
}

}  // namespace detail

/// The value of a constant: a number, a string, or an array of either; it is copied once, into TensorFlow's memory.
///
///     constant_value{2.5f}   constant_value{std::vector{1, 2, 3}}   constant_value{std::vector{1.f, 2.f, 3.f, 4.f},
///     {2, 2}}
class constant_value {
 public:
  /// Numbers, arrays, and matrices as Eigen's: whatever tautline sees as a tensor.
  template <tensor_value Value>
  requires(!detail::string_like<Value>)
      // NOLINTNEXTLINE(google-explicit-constructor): ops.constant(2.5f)
      constant_value(Value const& value) {
    auto const seen = view_tensor(const_cast<Value&>(value));  // it is only read
    take(data_type_of_element(seen.type), shape(std::vector<std::int64_t>(seen.shape, seen.shape + seen.rank)),
         seen.data, seen.bytes());
  }
  template <tensor_value Element>
  requires(tensor_traits<Element>::rank == 0) constant_value(std::span<Element const> elements, shape const& form) {
    take(detail::graph_type<Element>(), form, elements.data(), elements.size_bytes(), elements.size());
  }
  template <tensor_value Element>
  requires(tensor_traits<Element>::rank == 0) constant_value(std::vector<Element> const& elements, shape const& form)
      : constant_value(std::span<Element const>(elements), form) {}
  // NOLINTNEXTLINE(google-explicit-constructor): ops.constant("a name")
  constant_value(std::string_view text) { take_strings(&text, 1, {}); }
  // NOLINTNEXTLINE(google-explicit-constructor)
  constant_value(std::string const& text) : constant_value(std::string_view(text)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  constant_value(char const* text) : constant_value(std::string_view(text)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  constant_value(std::vector<std::string> const& texts) : constant_value(texts, shape(texts.size())) {}
  constant_value(std::vector<std::string> const& texts, shape const& form) {
    std::vector<std::string_view> const seen(texts.begin(), texts.end());
    take_strings(seen.data(), seen.size(), form);
  }

  /// `value` in each of the elements of `form`, as an element of type `type`: a number of C++, or `bool`. Empty for
  /// others.
  [[nodiscard]] static constant_value filled(TF_DataType type, shape const& form, double value) {
    constant_value made;
    auto const count = form.element_count() < 0 ? 0 : static_cast<std::size_t>(form.element_count());
    auto fill = [&]<class Element>(Element element) {
      std::vector<Element> const elements(count, element);
      made.take(type, form, elements.data(), count * sizeof(Element), count);
    };
    auto const fill_as = [&]<class Element>(Element) { fill(static_cast<Element>(value)); };
    if (!detail::visit_number_type(type, fill_as) && type == TF_BOOL) fill(static_cast<unsigned char>(value != 0));
    return made;
  }

  /// Null if the elements do not fill the shape.
  [[nodiscard]] TF_Tensor* handle() const { return tensor_.get(); }

 private:
  constant_value() = default;

  static constexpr std::size_t as_many_as_fit = static_cast<std::size_t>(-1);

  void take(TF_DataType type, shape const& form, void const* from, std::size_t bytes,
            std::size_t count = as_many_as_fit) {
    if (count != as_many_as_fit && form.element_count() != static_cast<std::int64_t>(count)) return;
    tensor_ = tensor_handle(TF_AllocateTensor(type, form.sizes().data(), form.rank(), bytes));
    if (bytes != 0) std::memcpy(TF_TensorData(tensor_.get()), from, bytes);
  }
  void take_strings(std::string_view const* texts, std::size_t count, shape const& form) {
    if (form.element_count() != static_cast<std::int64_t>(count)) return;
    tensor_ = detail::new_text_tensor(form.sizes().data(), form.rank(), count);
    for (std::size_t i = 0; i < count; ++i) detail::store_text(tensor_.get(), i, texts[i]);
  }

  std::shared_ptr<TF_Tensor> tensor_;  // shared: attributes are copied
};

/// An attribute of a node: `{"keep_dims", true}`, `{"T", TF_FLOAT}`, `{"shape", shape{2, 3}}`, `{"value",
/// constant_value{…}}`. Which type an attribute has is said by the definition of the op; a whole number is taken as an
/// int, one with a point as a float.
class attribute {
 public:
  template <class Value>
  attribute(std::string_view name, Value value) : name_(name), value_(held(std::move(value))) {}

  [[nodiscard]] std::string const& name() const { return name_; }

  /// **Errors** a tensor that has no value: the shape is not filled.
  [[nodiscard]] bool set(TF_OperationDescription* node) const {
    return std::visit([&](auto const& value) { return set_one(node, value); }, value_);
  }

 private:
  using int_list = std::vector<std::int64_t>;
  using held_value = std::variant<bool, std::int64_t, float, std::string, TF_DataType, shape, constant_value, int_list,
                                  std::vector<TF_DataType>, std::vector<shape>, std::vector<float>>;

  template <class Value>
  static held_value held(Value value) {
    if constexpr (std::is_same_v<Value, bool>) {
      return held_value(std::in_place_type<bool>, value);
    } else if constexpr (std::is_integral_v<Value>) {
      return held_value(std::in_place_type<std::int64_t>, static_cast<std::int64_t>(value));
    } else if constexpr (std::is_floating_point_v<Value>) {
      return held_value(std::in_place_type<float>, static_cast<float>(value));
    } else if constexpr (detail::string_like<Value>) {
      return held_value(std::in_place_type<std::string>, std::string_view(value));
    } else {
      return held_value(std::in_place_type<Value>, std::move(value));
    }
  }

  [[nodiscard]] char const* key() const { return name_.c_str(); }
  template <class Value>
  bool set_one(TF_OperationDescription* node, Value const& value) const {
    if constexpr (std::is_same_v<Value, bool>) {
      TF_SetAttrBool(node, key(), value ? 1 : 0);
    } else if constexpr (std::is_same_v<Value, std::int64_t>) {
      TF_SetAttrInt(node, key(), value);
    } else if constexpr (std::is_same_v<Value, float>) {
      TF_SetAttrFloat(node, key(), value);
    } else if constexpr (std::is_same_v<Value, std::string>) {
      TF_SetAttrString(node, key(), value.data(), value.size());
    } else if constexpr (std::is_same_v<Value, TF_DataType>) {
      TF_SetAttrType(node, key(), value);
    } else if constexpr (std::is_same_v<Value, shape>) {
      TF_SetAttrShape(node, key(), value.sizes().data(), value.rank());
    } else if constexpr (std::is_same_v<Value, constant_value>) {
      if (value.handle() == nullptr) return false;
      status_handle const status = new_status();
      TF_SetAttrTensor(node, key(), value.handle(), status.get());
      return TF_GetCode(status.get()) == TF_OK;
    } else if constexpr (std::is_same_v<Value, int_list>) {
      TF_SetAttrIntList(node, key(), value.data(), static_cast<int>(value.size()));
    } else if constexpr (std::is_same_v<Value, std::vector<TF_DataType>>) {
      TF_SetAttrTypeList(node, key(), value.data(), static_cast<int>(value.size()));
    } else if constexpr (std::is_same_v<Value, std::vector<float>>) {
      TF_SetAttrFloatList(node, key(), value.data(), static_cast<int>(value.size()));
    } else {
      std::vector<std::int64_t const*> sizes;
      std::vector<int> ranks;
      for (shape const& one : value) sizes.push_back(one.sizes().data()), ranks.push_back(one.rank());
      TF_SetAttrShapeList(node, key(), sizes.data(), ranks.data(), static_cast<int>(value.size()));
    }
    return true;
  }

  std::string name_;
  held_value value_;
};

}  // namespace tensorflow
TAUTLINE_END
