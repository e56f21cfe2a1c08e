# SPDX-License-Identifier: Apache-2.0
# Finds the external libraries. Nothing is downloaded; `./dev` installs the Debian packages.

find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
find_package(RapidJSON REQUIRED)
find_package(xxHash REQUIRED)
find_package(ZLIB REQUIRED)
find_package(CLI11 REQUIRED)
find_package(CppHttplib REQUIRED)
find_package(Protozero REQUIRED)
find_package(TBB QUIET)  # only to measure beside; without it `bench runtime` has no reference
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# A test that cannot be built is missed by nobody, so this is an error.
if(TIDEMARK_BUILD_TESTS)
  foreach(package GTest Protobuf)
    find_package(${package} QUIET)
    if(NOT ${package}_FOUND)
      message(FATAL_ERROR "tidemark: the tests need ${package} (`./dev test` installs it); without "
        "tests: -DTIDEMARK_BUILD_TESTS=OFF")
    endif()
  endforeach()
endif()
