# SPDX-License-Identifier: Apache-2.0
# tidemark_headers_alone: every header is compiled as the only include of a generated source, but
# for those whose own source includes them first: that says the same. With TIDEMARK_UNITY it is left
# out of a whole build, where style.changed_headers_compile_alone looks at what is changed;
# './dev campaign' compiles without batches, and so all of it.

file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
  "${PROJECT_SOURCE_DIR}/tidemark/*.h" "${PROJECT_SOURCE_DIR}/workloads/*.h")
set(alone_sources "")
foreach(header IN LISTS headers)
  string(REGEX REPLACE "\\.h$" ".cpp" own_source "${header}")
  if(EXISTS "${PROJECT_SOURCE_DIR}/${own_source}" AND NOT header MATCHES "^tidemark/cli/")
    continue()
  endif()
  set(alone_source "${PROJECT_BINARY_DIR}/headers_alone/${header}.cpp")
  file(CONFIGURE OUTPUT "${alone_source}" CONTENT "#include \"@header@\"\n" @ONLY)
  list(APPEND alone_sources "${alone_source}")
endforeach()

if(alone_sources)
  get_property(rooms GLOBAL PROPERTY TIDEMARK_ROOM_TARGETS)
  add_library(tidemark_headers_alone OBJECT ${alone_sources})
  target_link_libraries(tidemark_headers_alone PRIVATE ${rooms})
  tidemark_warnings(tidemark_headers_alone)
  # Only the front end matters here.
  target_compile_options(tidemark_headers_alone PRIVATE -O0)
  if(TIDEMARK_UNITY)
    set_target_properties(tidemark_headers_alone PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endif()
