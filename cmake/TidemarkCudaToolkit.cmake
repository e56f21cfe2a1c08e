# SPDX-License-Identifier: Apache-2.0
# find_package(CUDAToolkit), in this build and in that of a user. The module of CMake 3.25 stops at a
# toolkit without nvToolsExt (CUDA 13) where a project asks for CMake 3.25 or later, so it sees 3.24.

set(tidemark_minimum_version "${CMAKE_MINIMUM_REQUIRED_VERSION}")
set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
find_package(CUDAToolkit QUIET)
set(CMAKE_MINIMUM_REQUIRED_VERSION "${tidemark_minimum_version}")
unset(tidemark_minimum_version)
