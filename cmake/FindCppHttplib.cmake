# SPDX-License-Identifier: Apache-2.0
# Finds cpp-httplib, which Debian compiles as a library and packages without a CMake config. Gives
# CppHttplib::CppHttplib. The macros are those it was compiled with (cpp-httplib.pc): they decide how
# its structs are laid out.

find_path(CppHttplib_INCLUDE_DIR NAMES httplib.h)
find_library(CppHttplib_LIBRARY NAMES cpp-httplib)
mark_as_advanced(CppHttplib_INCLUDE_DIR CppHttplib_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CppHttplib REQUIRED_VARS CppHttplib_LIBRARY CppHttplib_INCLUDE_DIR)

if(CppHttplib_FOUND AND NOT TARGET CppHttplib::CppHttplib)
  add_library(CppHttplib::CppHttplib UNKNOWN IMPORTED)
  set_target_properties(CppHttplib::CppHttplib PROPERTIES
    IMPORTED_LOCATION "${CppHttplib_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${CppHttplib_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS
      "CPPHTTPLIB_OPENSSL_SUPPORT;CPPHTTPLIB_ZLIB_SUPPORT;CPPHTTPLIB_BROTLI_SUPPORT")
endif()
