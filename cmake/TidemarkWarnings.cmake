# SPDX-License-Identifier: Apache-2.0
# tidemark_warnings(<target> [TEST]): warning flags, never exported to users of the library.

function(tidemark_warnings target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TEST" "" "")
  set(flags -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual -Wundef
    -Wvla -Wextra-semi -Wimplicit-fallthrough -Wformat=2
    # A designated initialiser leaves out what has a sensible zero.
    -Wno-missing-field-initializers)
  if(NOT arg_TEST)
    list(APPEND flags -Wconversion)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND flags -Wduplicated-cond -Wlogical-op)
    if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      list(APPEND flags -Wno-restrict)  # g++ 12 warns about std::string operator+.
    endif()
  endif()
  if(TIDEMARK_WERROR)
    list(APPEND flags -Werror)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # Flow-based warnings change with the optimiser: shown, but no verdict.
      list(APPEND flags -Wno-error=array-bounds -Wno-error=maybe-uninitialized
        -Wno-error=stringop-overflow -Wno-error=stringop-overread)
    endif()
  endif()
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${flags}>")
endfunction()
