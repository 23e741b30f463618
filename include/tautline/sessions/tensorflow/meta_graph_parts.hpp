// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow/meta_graph.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tautline/sessions/tensorflow/protobuf.hpp>

TAUTLINE_BEGIN
namespace tensorflow {

/// A variable, as it stands in the collections `variables`, `trainable_variables` and the like. The names are those of
/// tensors ("w:0") and ops ("w/Assign"); a resource variable's value is read through its snapshot.
struct variable_def {
  std::string variable_name, initial_value_name, initializer_name, snapshot_name;
  bool is_resource = false, trainable = false;
  std::string full_name{};  ///< of the variable of which this is a part; empty if it is whole
  std::vector<std::int64_t> full_shape{}, var_offset{}, var_shape{};  ///< of a part only
};

/// The ops by which a graph saves and restores its variables.
struct saver_def {
  std::string filename_tensor_name, save_tensor_name, restore_op_name;
  std::int32_t max_to_keep = 0;
  bool sharded = false;
  float keep_checkpoint_every_n_hours = 0;
  enum format : std::uint8_t { legacy = 0, v1 = 1, v2 = 2 } version = legacy;
};

/// A list under a name (`graph_keys`), in which Python keeps what belongs to the graph.
struct collection_def {
  enum kind : std::uint8_t { none, node_list, bytes_list, int64_list, float_list, any_list };
  std::string key;
  kind holds = none;
  std::vector<std::string>
      strings{};  ///< of nodes: names of tensors or ops; of bytes: what they are depends on the key
  std::vector<std::int64_t> integers{};
  std::vector<float> floats{};
};

/// One input or output of a signature.
struct tensor_info {
  std::string key;         ///< its name in the signature
  std::string name{};      ///< the tensor's name in the graph; empty if it is sparse
  std::int32_t dtype = 0;  ///< the value of TF_DataType
  bool unknown_rank = true;
  std::vector<std::int64_t> shape{};               ///< -1: any
  std::string values{}, indices{}, dense_shape{};  ///< the three tensors of a sparse one
};

/// A way to call the graph: names for what goes in and what comes out.
struct signature_def {
  std::string key, method_name{};
  std::vector<tensor_info> inputs{}, outputs{};
};

/// A file that the graph needs: its path is to be fed to the tensor when the main op is run.
struct asset_file_def {
  std::string tensor_name, filename;
};

namespace detail {

inline void read_saver(proto_reader& in, saver_def& to) {
  switch (in.field()) {
    case 1:
      to.filename_tensor_name = in.bytes();
      break;
    case 2:
      to.save_tensor_name = in.bytes();
      break;
    case 3:
      to.restore_op_name = in.bytes();
      break;
    case 4:
      to.max_to_keep = static_cast<std::int32_t>(in.integer());
      break;
    case 5:
      to.sharded = in.boolean();
      break;
    case 6:
      to.keep_checkpoint_every_n_hours = in.float32();
      break;
    case 7:
      if (auto const version = in.integer(); version >= 0 && version <= 2) {
        to.version = static_cast<saver_def::format>(version);
      } else {
        in.fail();
      }
      break;
    default:
      break;
  }
}
inline void read_collection(std::string_view key, proto_reader& in, collection_def& to) {
  to.key = key;
  while (in.next()) {
    if (in.field() > 5) continue;
    to.holds = static_cast<collection_def::kind>(in.field());
    in.message([&](proto_reader& list) {
      if (list.field() != 1) return;
      switch (to.holds) {
        case collection_def::int64_list:
          list.integers([&](std::int64_t value) { to.integers.push_back(value); });
          break;
        case collection_def::float_list:
          list.floats([&](float value) { to.floats.push_back(value); });
          break;
        default:
          to.strings.emplace_back(list.bytes());
      }
    });
  }
}
inline void read_tensor(proto_reader& in, tensor_info& to) {
  switch (in.field()) {
    case 1:
      to.name = in.bytes();
      break;
    case 2:
      to.dtype = static_cast<std::int32_t>(in.integer());
      break;
    case 3:
      to.unknown_rank = false;
      in.message([&](proto_reader& shape) {
        if (shape.field() == 2)
          shape.message([&, &size = to.shape.emplace_back()](proto_reader& dim) {
            if (dim.field() == 1) size = dim.integer();
          });
        if (shape.field() == 3) to.unknown_rank = shape.boolean();
      });
      break;
    case 4:
      in.message([&](proto_reader& sparse) {
        if (sparse.field() == 1) to.values = sparse.bytes();
        if (sparse.field() == 2) to.indices = sparse.bytes();
        if (sparse.field() == 3) to.dense_shape = sparse.bytes();
      });
      break;
    default:
      break;
  }
}
inline void read_signature(std::string_view key, proto_reader& in, signature_def& to) {
  to.key = key;
  while (in.next()) {
    if (in.field() == 3) to.method_name = in.bytes();
    if (in.field() != 1 && in.field() != 2) continue;
    in.entry([&](std::string_view name, proto_reader& info) {
      auto& one = (in.field() == 1 ? to.inputs : to.outputs).emplace_back();
      one.key = name;
      while (info.next()) read_tensor(info, one);
    });
  }
}
/// @param in stands on an AssetFileDef
inline void read_asset(proto_reader& in, asset_file_def& to) {
  in.message([&](proto_reader& asset) {
    if (asset.field() == 2) to.filename = asset.bytes();
    if (asset.field() != 1) return;
    asset.message([&](proto_reader& info) {
      if (info.field() == 1) to.tensor_name = info.bytes();
    });
  });
}
/// @param bytes of a google.protobuf.Any
inline bool read_asset_in_any(std::string_view bytes, asset_file_def& to) {
  return read_message(bytes, [&](proto_reader& in) {
    if (in.field() == 2) read_asset(in, to);
  });
}
inline bool read_variable(std::string_view bytes, variable_def& to) {
  return read_message(bytes, [&](proto_reader& in) {
    switch (in.field()) {
      case 1:
        to.variable_name = in.bytes();
        break;
      case 2:
        to.initializer_name = in.bytes();
        break;
      case 3:
        to.snapshot_name = in.bytes();
        break;
      case 4:
        in.message([&](proto_reader& slice) {
          if (slice.field() == 1) to.full_name = slice.bytes();
          if (slice.field() == 2) slice.integers([&](std::int64_t value) { to.full_shape.push_back(value); });
          if (slice.field() == 3) slice.integers([&](std::int64_t value) { to.var_offset.push_back(value); });
          if (slice.field() == 4) slice.integers([&](std::int64_t value) { to.var_shape.push_back(value); });
        });
        break;
      case 5:
        to.is_resource = in.boolean();
        break;
      case 6:
        to.initial_value_name = in.bytes();
        break;
      case 7:
        to.trainable = in.boolean();
        break;
      default:
        break;
    }
  });
}

}  // namespace detail
}  // namespace tensorflow
TAUTLINE_END
