# SPDX-License-Identifier: Apache-2.0
# Finds the external libraries. Nothing is downloaded; `./dev` installs the Debian packages.

find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
find_package(RapidJSON REQUIRED)
find_package(xxHash REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Protozero REQUIRED)
find_package(TBB QUIET)  # only to measure beside; without it `bench runtime` has no reference
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

if(TIDEMARK_BUILD_TESTS)
  find_package(GTest QUIET)
  if(NOT GTest_FOUND)
    message(NOTICE "tidemark: GoogleTest not found, the tests are not built")
    set(TIDEMARK_BUILD_TESTS OFF)
  endif()
endif()
