# SPDX-License-Identifier: Apache-2.0
# tidemark_room(): one room (folder) becomes one target. The link graph is the architecture.

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/cmake/rooms.txt")
file(STRINGS "${PROJECT_SOURCE_DIR}/cmake/rooms.txt" TIDEMARK_ROOMS REGEX "^[a-z]")

# Adds a room's folder if it is there. The binary folder avoids `<build>/tidemark`, which is the
# executable.
function(tidemark_add_room_directory folder room)
  if(EXISTS "${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt")
    add_subdirectory(${folder} rooms/${room})
  endif()
endfunction()

# Sets <out> to the rooms that <room> may use.
function(tidemark_rooms_above room out)
  set(above "")
  foreach(candidate IN LISTS TIDEMARK_ROOMS)
    if(candidate STREQUAL room)
      break()
    endif()
    list(APPEND above ${candidate})
    if(room STREQUAL "workloads" AND candidate STREQUAL "session")
      break()
    endif()
  endforeach()
  if(room STREQUAL "cli")
    list(APPEND above workloads)
  endif()
  set(${out} ${above} PARENT_SCOPE)
endfunction()

# tidemark_room(<name> [USES <rooms above>...] [LINK <external targets>...])
# Builds tidemark_<name> (alias tidemark::<name>) from every source below the current folder, and
# tidemark_<name>_tests from every *_test.cpp. Without USES, all rooms above are linked.
function(tidemark_room name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES;LINK")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "room ${name}: unknown argument '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT name IN_LIST TIDEMARK_ROOMS AND NOT name STREQUAL "workloads")
    message(FATAL_ERROR "room ${name} has no place in cmake/rooms.txt")
  endif()

  tidemark_rooms_above(${name} above)
  if(NOT DEFINED arg_USES)
    set(arg_USES ${above})
  endif()
  set(used_targets "")
  foreach(used IN LISTS arg_USES)
    if(NOT used IN_LIST above)
      message(FATAL_ERROR "room ${name} uses ${used}, which is not above it")
    endif()
    if(TARGET tidemark_${used})
      list(APPEND used_targets tidemark_${used})
    endif()
  endforeach()

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  set(test_sources ${sources})
  list(FILTER test_sources INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(_test|/test_main|/main)\\.cpp$")

  set(target tidemark_${name})
  if(sources)
    set(scope PUBLIC)
    add_library(${target} STATIC ${sources})
    tidemark_warnings(${target})
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(tidemark::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope}
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_link_libraries(${target} ${scope} ${used_targets} ${arg_LINK})
  set_property(GLOBAL APPEND PROPERTY TIDEMARK_ROOM_TARGETS ${target})

  if(name STREQUAL "cli" AND EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/main.cpp")
    add_executable(tidemark "${CMAKE_CURRENT_SOURCE_DIR}/main.cpp")
    tidemark_warnings(tidemark)
    target_link_libraries(tidemark PRIVATE ${target})
    set_target_properties(tidemark PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  endif()
  if(TIDEMARK_BUILD_TESTS AND test_sources)
    tidemark_test_executable(${name} SOURCES ${test_sources} LINK ${target})
  endif()
endfunction()

# tidemark_all: every library room but the command line, exported as tidemark::tidemark.
function(tidemark_umbrella)
  get_property(targets GLOBAL PROPERTY TIDEMARK_ROOM_TARGETS)
  list(REMOVE_ITEM targets tidemark_cli tidemark_workloads)
  add_library(tidemark_all INTERFACE)
  add_library(tidemark::tidemark ALIAS tidemark_all)
  set_target_properties(tidemark_all PROPERTIES EXPORT_NAME tidemark)
  target_link_libraries(tidemark_all INTERFACE ${targets})
  set_property(GLOBAL PROPERTY TIDEMARK_LIBRARY_TARGETS ${targets} tidemark_all)
endfunction()
