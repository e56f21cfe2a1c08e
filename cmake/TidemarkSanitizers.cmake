# SPDX-License-Identifier: Apache-2.0
# Applies TIDEMARK_SANITIZE and, for fuzzers, coverage instrumentation to the whole build.

set(tidemark_sanitize "${TIDEMARK_SANITIZE}")
if(NOT tidemark_sanitize MATCHES "^(|address|undefined|address,undefined|thread)$")
  message(FATAL_ERROR "TIDEMARK_SANITIZE='${tidemark_sanitize}': want address,undefined or thread")
endif()
if(TIDEMARK_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "TIDEMARK_BUILD_FUZZERS needs clang++ (-DCMAKE_CXX_COMPILER=clang++)")
  endif()
  set(tidemark_sanitize "fuzzer-no-link,address,undefined")
endif()

if(tidemark_sanitize)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${tidemark_sanitize}>"
    "$<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>")
  add_link_options("-fsanitize=${tidemark_sanitize}")
  if(tidemark_sanitize MATCHES "undefined")
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=undefined>")
    # ASan ends a program that follows a null pointer or leaves an object, too: these two look at
    # every access a second time, which is a fifth of what the build takes.
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null,object-size>")
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options("-fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/cmake/sanitize_ignorelist.txt")
    # As g++ says it.
    if(tidemark_sanitize MATCHES "address")
      add_compile_definitions(__SANITIZE_ADDRESS__=1)
    elseif(tidemark_sanitize MATCHES "thread")
      add_compile_definitions(__SANITIZE_THREAD__=1)
    endif()
  endif()
endif()
