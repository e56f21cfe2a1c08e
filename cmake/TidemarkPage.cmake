# SPDX-License-Identifier: Apache-2.0
# tidemark_page(<target>): puts the page's bundle (viewer/dist, committed) into a room, as it is, by the
# assembler. Nothing of Node is needed.

function(tidemark_page target)
  set(folder "${PROJECT_SOURCE_DIR}/viewer/dist")
  set(TIDEMARK_PAGE_FILES "${folder}/page.html" "${folder}/viewer.js" "${folder}/viewer.css")
  foreach(file IN LISTS TIDEMARK_PAGE_FILES)
    if(NOT EXISTS "${file}")
      message(FATAL_ERROR "tidemark: ${file} is missing; it is a part of the checkout")
    endif()
  endforeach()
  # Their checksums are in the policy of a single file: a change configures again.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${TIDEMARK_PAGE_FILES}")
  file(SHA256 "${folder}/viewer.js" TIDEMARK_SCRIPT_SHA256)
  file(SHA256 "${folder}/viewer.css" TIDEMARK_STYLE_SHA256)
  set(TIDEMARK_PAGE_FOLDER "${folder}")
  set(source "${CMAKE_CURRENT_BINARY_DIR}/page_bundle.cpp")
  configure_file("${PROJECT_SOURCE_DIR}/tidemark/serve/page_bundle.cpp.in" "${source}" @ONLY)
  set_source_files_properties("${source}" PROPERTIES
    OBJECT_DEPENDS "${TIDEMARK_PAGE_FILES}"
    SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE "${source}")
endfunction()
