# SPDX-License-Identifier: Apache-2.0
# Finds protozero, which is headers only. Gives Protozero::Protozero.

find_path(Protozero_INCLUDE_DIR NAMES protozero/pbf_writer.hpp)
mark_as_advanced(Protozero_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Protozero REQUIRED_VARS Protozero_INCLUDE_DIR)

if(Protozero_FOUND AND NOT TARGET Protozero::Protozero)
  add_library(Protozero::Protozero INTERFACE IMPORTED)
  set_target_properties(Protozero::Protozero PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${Protozero_INCLUDE_DIR}")
endif()
