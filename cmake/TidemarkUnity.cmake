# SPDX-License-Identifier: Apache-2.0
# tidemark_unity(<target>): with TIDEMARK_UNITY, compiles its sources in batches, so that the headers
# they share are read once per batch. Names in unnamed namespaces must then differ within a room.
# Sources with compile options of their own are compiled alone, as ever.

function(tidemark_unity target)
  if(TIDEMARK_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
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
