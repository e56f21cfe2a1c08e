// SPDX-License-Identifier: Apache-2.0
// For code that writes records, in a kernel or in a thread: recorders of spans, of marks and
// counters, of frames, and the records themselves. Includes nothing of the host that drains them;
// who starts and ends a recording includes tidemark/recording.h or tidemark/recording.cuh.
#pragma once

#include "tidemark/base/needs_cpp20.h"

#include "tidemark/record/event_recorder.h"
#include "tidemark/record/frame_writer.h"
#include "tidemark/record/recorder.h"
#include "tidemark/schema/task_span.h"
#include "tidemark/schema/user_event.h"
