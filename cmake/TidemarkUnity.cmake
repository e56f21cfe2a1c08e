# SPDX-License-Identifier: Apache-2.0
# tidemark_unity(<target>): with TIDEMARK_UNITY, compiles its sources in batches, so that the headers
# they share are read once per batch. Names in unnamed namespaces must then differ within a room.
# Sources with compile options of their own are compiled alone, as ever.

function(tidemark_unity target)
  if(TIDEMARK_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()
