// SPDX-License-Identifier: Apache-2.0
// For a program that reads runs: opens a run directory and walks the records and frames of every
// lane. examples/read_run is a whole program.
#pragma once

#include "tidemark/base/needs_cpp20.h"

#include "tidemark/run/for_each_frame.h"
#include "tidemark/run/run_capture.h"
#include "tidemark/schema/stream_registry.h"
