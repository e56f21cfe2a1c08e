// SPDX-License-Identifier: Apache-2.0
// For a program of tasks: kernels, orchestrations, workloads, and tidemark_main, which puts the
// whole command line around them. Link tidemark::cli.
#pragma once

#include "tidemark/base/needs_cpp20.h"

#include "tidemark/cli/tidemark_main.h"
