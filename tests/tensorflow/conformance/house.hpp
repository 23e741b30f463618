// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tensorflow/c/c_api.h>

#include "drawing.hpp"

/// What stands around the sessions of a play: the servers, the troubles that come over them, and the seam where the calls
/// of the C API pass on their way to TensorFlow (`--wrap`), so that the trace has what really goes there.
namespace conformance {

/// Before the graph of a play is made: a server without sessions and variables, if the scenario needs one.
/// @param[out] target of the session: empty for the engine in this process
scene set_the_scene(world& played, std::string& target);

/// Something failed: a task that was killed is started again, as whoever runs a cluster does. To close a session may wait
/// for it.
void mend();

/// A session has been made, which is about to be initialised: the counters of the play go into it, and a trouble that the
/// scenario orders for this making comes. @return an error of the session
TF_Code begin_making(world& played, TF_Graph* graph, TF_Session* session, std::string& message);

}  // namespace conformance
