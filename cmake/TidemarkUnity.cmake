# SPDX-License-Identifier: Apache-2.0
# tidemark_unity(<target>): with TIDEMARK_UNITY, compiles its sources in batches, so that the headers
# they share are read once per batch. Names in unnamed namespaces must then differ within a room.
# Sources with compile options of their own are compiled alone, as ever.

# g++ collects garbage while it compiles, for an eighth of its time. A batch without it takes a fifth
# more memory, 1.5 GB at most.
if(TIDEMARK_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-expand=1000>"
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-heapsize=4000000>")
endif()

function(tidemark_unity target)
  if(TIDEMARK_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 32)
  endif()
endfunction()

# tidemark_room_headers(<target>): with TIDEMARK_UNITY, reads the standard library and fmt from one
# precompiled header that all rooms share. A target with an optimisation level of its own cannot use
# it (DISABLE_PRECOMPILE_HEADERS), nor a source with a processor of its own (SKIP_PRECOMPILE_HEADERS).
function(tidemark_room_headers target)
  if(NOT TIDEMARK_UNITY)
    return()
  endif()
  if(NOT TARGET tidemark_room_headers)
    set(source "${PROJECT_BINARY_DIR}/room_headers.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "// Nothing but the precompiled headers.\n")
    add_library(tidemark_room_headers OBJECT "${source}")
    target_link_libraries(tidemark_room_headers PRIVATE fmt::fmt)
    target_precompile_headers(tidemark_room_headers PRIVATE <algorithm> <filesystem> <functional>
      <map> <memory> <optional> <set> <span> <string> <thread> <vector> <fmt/format.h>)
    tidemark_warnings(tidemark_room_headers)
  endif()
  target_precompile_headers(${target} REUSE_FROM tidemark_room_headers)
endfunction()
