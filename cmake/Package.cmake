# Debian packages, by `cpack -G DEB` in a build folder of the shared preset; scripts/package does it
# all. A package for each component of Install.cmake; PackageStage.cmake makes what Debian alone
# wants. All libraries are in one package: they have one version, and change their soname together.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The Bloomery authors <bloomery@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL tool library dev)
if(BLOOMERY_HAVE_SERVE)
  list(APPEND CPACK_COMPONENTS_ALL server)
endif()
if(BLOOMERY_HAVE_PYTHON)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
if(BLOOMERY_HAVE_SQLITE_EXTENSION)
  list(APPEND CPACK_COMPONENTS_ALL sqlite)
endif()
if(BLOOMERY_HAVE_POSTGRESQL)
  list(APPEND CPACK_COMPONENTS_ALL postgresql)
endif()
if(BLOOMERY_HAVE_REDIS)
  list(APPEND CPACK_COMPONENTS_ALL redis)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_VERBATIM_VARIABLES ON) # the descriptions have quotes
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # or it would be the first line of each of them
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/PackageStage.cmake")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SOURCE bloomery)

# Other packages are found by what the binaries link to; our own by name, since none is installed
# yet.
set(CPACK_DEBIAN_TOOL_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_REDIS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}")
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_COMPONENT_TOOL_DEPENDS library)
set(CPACK_COMPONENT_DEV_DEPENDS library)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")

set(about "A Bloom filter keeps a set in about ten bits a key and answers whether a
key is in it with \"surely not\" or \"probably\", where the second is wrong at
a rate that its maker chooses.")

set(CPACK_DEBIAN_TOOL_PACKAGE_NAME bloomery)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION utils)
if(BLOOMERY_HAVE_CURL)
  set(CPACK_DEBIAN_TOOL_PACKAGE_DEPENDS "libcurl4 (>= 7.85)") # loaded, not linked to
endif()
set(CPACK_DEBIAN_TOOL_DESCRIPTION "Bloom filters of lines, on the command line
${about}

This tool builds such filters from files and pipes, asks them, and combines,
packs and compares them. Other kinds of filter are there for keys that are
removed again, for sets that never change, and for counts.")

# A unit, and nobody's business until it is enabled: the tool is in its own package.
set(CPACK_DEBIAN_SERVER_PACKAGE_NAME bloomery-server)
set(CPACK_DEBIAN_SERVER_PACKAGE_SECTION web)
set(CPACK_COMPONENT_SERVER_DEPENDS tool)
set(CPACK_DEBIAN_SERVER_DESCRIPTION "Bloom filters over HTTP, as a service
${about}

This service gives the filters of /srv/filters to clients: whole, by their
changes, or asked. It runs as a user of its own, in a sandbox, once it is
enabled: systemctl enable --now bloomery-server")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libbloomery${bloomery_soversion})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${PROJECT_BINARY_DIR}/package/triggers")
file(CONFIGURE OUTPUT package/triggers CONTENT "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "Bloom filters and their family, shared libraries
${about}

These are the libraries that programs which use such filters need to run.")

# Python compiles what it imports; the package's own scripts do that once, and clean up.
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-bloomery)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.11)")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-numpy, python3-pandas, python3-matplotlib")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_PYTHON_DEPENDS library)
file(CONFIGURE OUTPUT package/postinst CONTENT "#!/bin/sh
set -e
if [ \"$1\" = configure ] && command -v py3compile >/dev/null; then py3compile -p python3-bloomery; fi
" @ONLY)
file(CONFIGURE OUTPUT package/prerm CONTENT "#!/bin/sh
set -e
if command -v py3clean >/dev/null; then py3clean -p python3-bloomery; fi
" @ONLY)
file(CHMOD "${PROJECT_BINARY_DIR}/package/postinst" "${PROJECT_BINARY_DIR}/package/prerm"
     PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
    "${PROJECT_BINARY_DIR}/package/postinst;${PROJECT_BINARY_DIR}/package/prerm")
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "Bloom filters and their family, for Python
${about}

This package has such filters for Python, with the interface of a set, in
bulk from lists and arrays, and in the files of the command-line tool.")

set(CPACK_DEBIAN_SQLITE_PACKAGE_NAME bloomery-sqlite)
set(CPACK_DEBIAN_SQLITE_PACKAGE_SECTION database)
set(CPACK_DEBIAN_SQLITE_PACKAGE_ENHANCES sqlite3)
set(CPACK_DEBIAN_SQLITE_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_SQLITE_DEPENDS library)
set(CPACK_DEBIAN_SQLITE_DESCRIPTION "Bloom filters and their family, for SQLite
${about}

This extension has such filters as blobs: made by aggregates, combined, and
asked in WHERE. In the shell it is loaded with .load bloomery_sqlite.")

set(CPACK_DEBIAN_POSTGRESQL_PACKAGE_NAME postgresql-15-bloomery)
set(CPACK_DEBIAN_POSTGRESQL_PACKAGE_SECTION database)
set(CPACK_DEBIAN_POSTGRESQL_PACKAGE_DEPENDS postgresql-15)
set(CPACK_DEBIAN_POSTGRESQL_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_POSTGRESQL_DEPENDS library)
set(CPACK_DEBIAN_POSTGRESQL_DESCRIPTION "Bloom filters and their family, for PostgreSQL 15
${about}

This extension has such filters as values: made by aggregates in parallel,
combined, asked in WHERE, and shipped to another server before a join.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libbloomery-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS libxxhash-dev)
if(BLOOMERY_HAVE_CRYPTO)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", libsodium-dev, libssl-dev")
endif()
if(BLOOMERY_HAVE_TEXT)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", libicu-dev")
endif()
set(CPACK_DEBIAN_DEV_DESCRIPTION "Bloom filters and their family, headers for C++20 and C
${about}

This package has what is needed to compile programs with the library: the
headers, a CMake package, a pkg-config file, documentation and examples.")

# The module carries its own core, so it depends on the server alone. PackageStage.cmake puts its
# settings into /etc.
set(CPACK_DEBIAN_REDIS_PACKAGE_NAME redis-bloomery)
set(CPACK_DEBIAN_REDIS_PACKAGE_SECTION database)
set(CPACK_DEBIAN_REDIS_PACKAGE_DEPENDS "redis-server (>= 5:7.0)")
set(CPACK_DEBIAN_REDIS_PACKAGE_CONTROL_EXTRA "${PROJECT_BINARY_DIR}/package/conffiles")
file(CONFIGURE OUTPUT package/conffiles CONTENT "/etc/redis/bloomery.conf\n")
set(CPACK_DEBIAN_REDIS_DESCRIPTION "Bloom filters and their family, module for Redis
${about}

This module gives a Redis server the commands BF, CF, CMS, TOPK and TDIGEST,
and reads the data of RedisBloom. It is loaded by a line in the server's
configuration, loadmodule /usr/lib/redis/modules/bloomery.so, and has its
settings in /etc/redis/bloomery.conf.")

include(CPack)
