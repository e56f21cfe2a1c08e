// SPDX-License-Identifier: Apache-2.0
// For a program that records its own CUDA kernels, compiled by nvcc. Link tidemark::tidemark of a
// package that was built with CUDA: find_package(tidemark REQUIRED COMPONENTS cuda).
#pragma once

#include "tidemark/base/needs_cpp20.h"

#include "tidemark/record.h"
#include "tidemark/session/cuda_recording.cuh"
