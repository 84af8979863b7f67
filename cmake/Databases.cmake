# Extensions of databases, in C on the C interface: bloomery_sqlite.so, which SQLite loads from one
# file, and PostgreSQL's extension, which `cmake --install --component postgresql` puts where the
# server looks. Where libraries are static they have the C interface inside; else they are linked to
# libbloomery.so, as a distribution wants it.
set(BLOOMERY_SQLITE_EXTENSION AUTO CACHE STRING
    "Build the extension for SQLite (needs its headers): ON, OFF or AUTO, which means if found")
set(BLOOMERY_POSTGRESQL AUTO CACHE STRING
    "Build the extension for PostgreSQL (needs the server's headers): ON, OFF or AUTO, which means if found")
set_property(CACHE BLOOMERY_SQLITE_EXTENSION BLOOMERY_POSTGRESQL PROPERTY STRINGS AUTO ON OFF)

# Says whether an extension is built, and why not.
function(decide_extension result option found what package)
  set(wanted ${${option}})
  # The fuzzers' flags are for clang++ alone.
  if(wanted STREQUAL "AUTO" AND (CMAKE_CROSSCOMPILING OR CMAKE_CXX_FLAGS MATCHES "fuzzer"))
    set(wanted OFF)
  endif()
  if(wanted AND NOT found)
    if(NOT wanted STREQUAL "AUTO")
      message(FATAL_ERROR "${option} is ON but ${what} were not found (Debian: ${package})")
    endif()
    message(STATUS "${option}: left out, since ${what} were not found")
    set(wanted OFF)
  endif()
  if(wanted)
    set(${result} ON PARENT_SCOPE)
  else()
    set(${result} OFF PARENT_SCOPE)
  endif()
endfunction()

# add_extension(TARGET FOLDER): apps/FOLDER/*.c, with the sanitizers that the library has.
function(add_extension target folder)
  file(GLOB sources CONFIGURE_DEPENDS apps/sql/*.c apps/${folder}/*.c)
  add_library(${target} MODULE ${sources})
  target_include_directories(${target} PRIVATE apps include)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS}")
  target_compile_options(${target} PRIVATE ${flags} -Wall -Wextra -Wshadow -Wundef -Wformat=2
    -Wno-format-nonliteral $<$<CONFIG:Release>:-O2> $<$<BOOL:${BLOOMERY_WERROR}>:-Werror>)
  if(BUILD_SHARED_LIBS)
    target_link_libraries(${target} PRIVATE bloomery_c m)
  else()
    target_link_libraries(${target} PRIVATE bloomery_c_objects bloomery_core m)
  endif()
  target_link_options(${target} PRIVATE "LINKER:--version-script=${PROJECT_SOURCE_DIR}/apps/${folder}/exports.map")
  set_target_properties(${target} PROPERTIES
    PREFIX ""
    SUFFIX .so
    C_STANDARD 99
    LINKER_LANGUAGE CXX
    LINK_DEPENDS "${PROJECT_SOURCE_DIR}/apps/${folder}/exports.map"
    INSTALL_RPATH ""
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
endfunction()

# ---- SQLite -------------------------------------------------------------------------------------

find_path(BLOOMERY_SQLITE_EXTENSION_INCLUDE sqlite3ext.h)
mark_as_advanced(BLOOMERY_SQLITE_EXTENSION_INCLUDE)
decide_extension(BLOOMERY_HAVE_SQLITE_EXTENSION BLOOMERY_SQLITE_EXTENSION "${BLOOMERY_SQLITE_EXTENSION_INCLUDE}"
                 "SQLite's headers" libsqlite3-dev)
if(BLOOMERY_HAVE_SQLITE_EXTENSION)
  enable_language(C)
  add_extension(bloomery_sqlite_extension sqlite)
  target_include_directories(bloomery_sqlite_extension SYSTEM PRIVATE "${BLOOMERY_SQLITE_EXTENSION_INCLUDE}")
  set_target_properties(bloomery_sqlite_extension PROPERTIES OUTPUT_NAME bloomery_sqlite)
endif()

# ---- PostgreSQL ---------------------------------------------------------------------------------

# Where the server looks is what its own pg_config says. The headers may also lie in
# build/postgresql-headers: scripts/setup unpacks them there, since Debian's package of them wants a
# whole compiler beside it.
find_program(BLOOMERY_PG_CONFIG pg_config HINTS /usr/lib/postgresql/15/bin NO_CMAKE_INSTALL_PREFIX)
mark_as_advanced(BLOOMERY_PG_CONFIG)
set(found_server_headers)
if(BLOOMERY_PG_CONFIG)
  foreach(what pkglibdir sharedir includedir-server bindir)
    execute_process(COMMAND "${BLOOMERY_PG_CONFIG}" --${what} OUTPUT_VARIABLE bloomery_pg_${what}
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endforeach()
  find_path(BLOOMERY_POSTGRESQL_INCLUDE postgres.h NO_DEFAULT_PATH
            PATHS "${bloomery_pg_includedir-server}" "${PROJECT_SOURCE_DIR}/build/postgresql-headers${bloomery_pg_includedir-server}")
  mark_as_advanced(BLOOMERY_POSTGRESQL_INCLUDE)
  set(found_server_headers "${BLOOMERY_POSTGRESQL_INCLUDE}")
endif()
decide_extension(BLOOMERY_HAVE_POSTGRESQL BLOOMERY_POSTGRESQL "${found_server_headers}"
                 "PostgreSQL's headers" postgresql-server-dev-15)
if(BLOOMERY_HAVE_POSTGRESQL)
  enable_language(C)
  add_extension(bloomery_postgresql postgresql)
  target_include_directories(bloomery_postgresql SYSTEM PRIVATE "${BLOOMERY_POSTGRESQL_INCLUDE}")
  # Macros of the server's headers declare in the middle of blocks, and hide names within each
  # other.
  target_compile_options(bloomery_postgresql PRIVATE -fno-strict-aliasing -fwrapv)
  set_target_properties(bloomery_postgresql PROPERTIES
    OUTPUT_NAME bloomery C_EXTENSIONS ON LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/postgresql")
  file(GLOB bloomery_postgresql_scripts CONFIGURE_DEPENDS
       "${PROJECT_SOURCE_DIR}/apps/postgresql/bloomery.control" "${PROJECT_SOURCE_DIR}/apps/postgresql/bloomery--*.sql")
endif()
