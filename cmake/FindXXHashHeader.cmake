# Finds xxhash.h. Bloomery compiles it inline, so only the header is needed, never the library.
# Installed beside bloomeryConfig.cmake, because our own headers include it.
find_path(XXHASH_INCLUDE_DIR xxhash.h DOC "Folder of xxhash.h")
mark_as_advanced(XXHASH_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(XXHashHeader
  REQUIRED_VARS XXHASH_INCLUDE_DIR
  REASON_FAILURE_MESSAGE
    "bloomery needs xxhash.h 0.8 or newer (Debian: libxxhash-dev). If it is in an unusual place, set XXHASH_INCLUDE_DIR")

if(XXHashHeader_FOUND AND NOT TARGET XXHash::header)
  add_library(XXHash::header INTERFACE IMPORTED)
  target_include_directories(XXHash::header INTERFACE "${XXHASH_INCLUDE_DIR}")
endif()
