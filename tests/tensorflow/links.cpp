// SPDX-License-Identifier: BSL-1.0
// The chain itself: a program finds the C library that the build was given, and a session of it computes.
#include <cstring>
#include <string_view>

#include <doctest/doctest.h>
#include <tensorflow/c/c_api.h>

#include <tautline/version.hpp>

TEST_CASE("the library is that of the package beside whose folder it is") {
#ifdef EXPECTED_TENSORFLOW
  CHECK(std::string_view{TF_Version()} == EXPECTED_TENSORFLOW);
#endif
  CHECK(std::string_view{TF_Version()}.substr(0, 2) == "2.");
}

namespace {

TF_Output constant(TF_Graph* graph, char const* name, float value, TF_Status* status) {
  TF_Tensor* const tensor = TF_AllocateTensor(TF_FLOAT, nullptr, 0, sizeof value);
  std::memcpy(TF_TensorData(tensor), &value, sizeof value);
  TF_OperationDescription* const made = TF_NewOperation(graph, "Const", name);
  TF_SetAttrTensor(made, "value", tensor, status);
  TF_SetAttrType(made, "dtype", TF_FLOAT);
  TF_DeleteTensor(tensor);
  return {TF_FinishOperation(made, status), 0};
}

}  // namespace

TEST_CASE("a session computes, and gives back all that it took") {
  TF_Status* const status = TF_NewStatus();
  TF_Graph* const graph = TF_NewGraph();
  TF_OperationDescription* const made = [&] {
    TF_Output const a = constant(graph, "a", 2, status);
    TF_Output const b = constant(graph, "b", 3, status);
    TF_OperationDescription* const add = TF_NewOperation(graph, "AddV2", "sum");
    TF_AddInput(add, a);
    TF_AddInput(add, b);
    return add;
  }();
  TF_Output const sum{TF_FinishOperation(made, status), 0};
  TF_SessionOptions* const options = TF_NewSessionOptions();
  TF_Session* const session = TF_NewSession(graph, options, status);
  TF_DeleteSessionOptions(options);

  TF_Tensor* result = nullptr;
  TF_SessionRun(session, nullptr, nullptr, nullptr, 0, &sum, &result, 1, nullptr, 0, nullptr, status);
  CHECK(TF_GetCode(status) == TF_OK);
  REQUIRE(result != nullptr);
  CHECK(*static_cast<float const*>(TF_TensorData(result)) == 5);

  TF_DeleteTensor(result);
  TF_CloseSession(session, status);
  TF_DeleteSession(session, status);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
}
