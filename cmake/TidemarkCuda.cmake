# SPDX-License-Identifier: Apache-2.0
# tidemark_cuda_compile: nvcc compiles tests/cuda/*.cu, so that device headers never drift.
# Nothing is run: no GPU is needed.

file(GLOB cuda_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/cuda/*.cu")
if(NOT cuda_sources OR NOT TIDEMARK_CUDA OR TIDEMARK_SANITIZE OR TIDEMARK_BUILD_FUZZERS)
  return()
endif()

# nvcc is often installed without being on PATH.
set(ENV{PATH} "$ENV{PATH}:/usr/local/cuda/bin")
set(ENV{CUDAARCHS} 90)
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  if(TIDEMARK_CUDA STREQUAL "AUTO")
    return()
  endif()
  message(FATAL_ERROR "TIDEMARK_CUDA=${TIDEMARK_CUDA}, but no working nvcc was found")
endif()
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know C++20 for nvcc.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()

get_property(libraries GLOBAL PROPERTY TIDEMARK_LIBRARY_TARGETS)
add_library(tidemark_cuda_compile OBJECT ${cuda_sources})
set_target_properties(tidemark_cuda_compile PROPERTIES
  CUDA_ARCHITECTURES 90
  CUDA_STANDARD 20
  CUDA_STANDARD_REQUIRED ON)
target_link_libraries(tidemark_cuda_compile PRIVATE ${libraries})
target_compile_options(tidemark_cuda_compile PRIVATE -Xcompiler=-Wall,-Wextra)
