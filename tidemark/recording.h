// SPDX-License-Identifier: Apache-2.0
// For a program that records its own threads: starts a recording, opens lanes, ends it. Link
// tidemark::tidemark.
#pragma once

#include "tidemark/base/needs_cpp20.h"

#include "tidemark/record.h"
#include "tidemark/session/recording.h"
