// SPDX-License-Identifier: Apache-2.0
// For the *.cu of a program of tasks, compiled by nvcc: register_cuda_units<W>() before
// tidemark_main, and `-p cuda` runs the workload. Link tidemark::cli of a package that was built
// with CUDA: find_package(tidemark REQUIRED COMPONENTS cuda).
#pragma once

#include "tidemark/base/needs_cpp20.h"

#include "tidemark/cli/tidemark_main.h"
#include "tidemark/device/cuda/cuda_units.cuh"
