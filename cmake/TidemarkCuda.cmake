# SPDX-License-Identifier: Apache-2.0
# Finds nvcc. With it, TIDEMARK_HAVE_CUDA is true and the rooms' *.cu are compiled; the runtime is
# linked statically, so that a binary needs only the driver.

# tidemark_cuda_usage(<target> <scope>): what *.cu that include a room's headers are compiled with,
# in this build and in any that links the room. Also where this build has no CUDA itself.
function(tidemark_cuda_usage target scope)
  # CMake 3.25 knows no C++20 for nvcc. A target that asks for a later standard keeps it.
  set(is_later "$<VERSION_GREATER:0$<TARGET_PROPERTY:CUDA_STANDARD>,20>")
  target_compile_options(${target} ${scope}
    "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<NOT:${is_later}>>:-std=c++20>"
    # With it a core dump of a GPU names source lines; the code is the same. -G says more.
    "$<$<AND:$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>,$<NOT:$<CONFIG:Debug>>>:-lineinfo>"
    # A function that the host may call, too, calls what only a GPU has, or only the host: in
    # templates, never reached.
    "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-diag-suppress=20011,20013,20014,20015>")
  # fmt 9 believes that nvcc knows no constexpr, and then fails to compile as C++20.
  target_compile_definitions(${target} ${scope} "$<$<COMPILE_LANGUAGE:CUDA>:FMT_USE_CONSTEXPR=1>")
endfunction()

set(TIDEMARK_HAVE_CUDA FALSE)
if(NOT TIDEMARK_CUDA OR TIDEMARK_SANITIZE OR TIDEMARK_BUILD_FUZZERS)
  return()
endif()

# nvcc is often installed without being on PATH.
set(ENV{PATH} "$ENV{PATH}:/usr/local/cuda/bin")
if(NOT CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "GPU architectures to compile for")
endif()
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
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
include(TidemarkCudaToolkit)
if(NOT CUDAToolkit_FOUND)
  message(FATAL_ERROR "nvcc is there, but the CUDA toolkit beside it was not found")
endif()
set(TIDEMARK_HAVE_CUDA TRUE)

# tidemark_cuda_sources(<target> <files>...): adds *.cu to a target.
function(tidemark_cuda_sources target)
  target_sources(${target} PRIVATE ${ARGN})
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wno-missing-field-initializers>")
  target_link_libraries(${target} PUBLIC CUDA::cudart_static)
endfunction()
