// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/io/tensorflow_checkpoints.hpp>

#include <cstdint>

#include <tensorflow/c/c_api.h>

// TensorFlow declares these in a header that also opens a namespace `tensorflow`, beside which ours would be
// ambiguous in a program that uses the namespace tautline.

extern "C" {
struct TF_CheckpointReader;
TF_CheckpointReader* TF_NewCheckpointReader(char const* filename, TF_Status* status);
void TF_DeleteCheckpointReader(TF_CheckpointReader* reader);
int TF_CheckpointReaderHasTensor(TF_CheckpointReader* reader, char const* name);
char const* TF_CheckpointReaderGetVariable(TF_CheckpointReader* reader, int index);
int TF_CheckpointReaderSize(TF_CheckpointReader* reader);
TF_DataType TF_CheckpointReaderGetVariableDataType(TF_CheckpointReader* reader, char const* name);
void TF_CheckpointReaderGetVariableShape(TF_CheckpointReader* reader, char const* name, std::int64_t* dims, int num_dims,
                                         TF_Status* status);
int TF_CheckpointReaderGetVariableNumDims(TF_CheckpointReader* reader, char const* name);
TF_Tensor* TF_CheckpointReaderGetTensor(TF_CheckpointReader* reader, char const* name, TF_Status* status);
}
