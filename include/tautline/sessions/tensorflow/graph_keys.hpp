// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

#include <tautline/core/config.hpp>

TAUTLINE_BEGIN
namespace tensorflow {

/// The names of the collections in which Python TensorFlow keeps what belongs to a graph.
/// **Source** tf.GraphKeys and tf.saved_model of TensorFlow 2.21; the values are part of the files.
namespace graph_keys {
inline constexpr std::string_view global_variables = "variables";
inline constexpr std::string_view local_variables = "local_variables";
inline constexpr std::string_view metric_variables = "metric_variables";
inline constexpr std::string_view model_variables = "model_variables";
inline constexpr std::string_view trainable_variables = "trainable_variables";
inline constexpr std::string_view moving_average_variables = "moving_average_variables";
inline constexpr std::string_view global_step = "global_step";
inline constexpr std::string_view init_op = "init_op";
inline constexpr std::string_view local_init_op = "local_init_op";
inline constexpr std::string_view ready_op = "ready_op";
inline constexpr std::string_view ready_for_local_init_op = "ready_for_local_init_op";
inline constexpr std::string_view summary_op = "summary_op";
inline constexpr std::string_view train_op = "train_op";
inline constexpr std::string_view summaries = "summaries";
inline constexpr std::string_view losses = "losses";
inline constexpr std::string_view regularization_losses = "regularization_losses";
inline constexpr std::string_view update_ops = "update_ops";
inline constexpr std::string_view table_initializers = "table_initializer";
inline constexpr std::string_view queue_runners = "queue_runners";
inline constexpr std::string_view savers = "savers";
inline constexpr std::string_view asset_filepaths = "asset_filepaths";
inline constexpr std::string_view saved_model_main_op = "saved_model_main_op";
inline constexpr std::string_view saved_model_train_op = "saved_model_train_op";
inline constexpr std::string_view saved_model_assets = "saved_model_assets";
inline constexpr std::string_view legacy_init_op = "legacy_init_op";
}  // namespace graph_keys

/// Signatures that are none: by them a SavedModel names ops.
namespace signature_keys {
inline constexpr std::string_view init_op = "__saved_model_init_op";
inline constexpr std::string_view train_op = "__saved_model_train_op";
}  // namespace signature_keys

}  // namespace tensorflow
TAUTLINE_END
