# Debian packages, by `cpack -G DEB` in a build folder of the shared preset; scripts/package does it all.
# A package for each component of Install.cmake; PackageStage.cmake makes what Debian alone wants.
# All libraries are in one package: they have one version, and change their soname together.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The Bloomery authors <bloomery@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL tool library dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_VERBATIM_VARIABLES ON) # the descriptions have quotes
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # or it would be the first line of each of them
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/PackageStage.cmake")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SOURCE bloomery)

# Other packages are found by what the binaries link to; our own by name, since none is installed yet.
set(CPACK_DEBIAN_TOOL_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
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
set(CPACK_DEBIAN_TOOL_DESCRIPTION "Bloom filters of lines, on the command line
${about}

This tool builds such filters from files and pipes, asks them, and combines,
packs and compares them. Other kinds of filter are there for keys that are
removed again, for sets that never change, and for counts.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libbloomery${bloomery_soversion})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${PROJECT_BINARY_DIR}/package/triggers")
file(CONFIGURE OUTPUT package/triggers CONTENT "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "Bloom filters and their family, shared libraries
${about}

These are the libraries that programs which use such filters need to run.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libbloomery-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS libxxhash-dev)
if(BLOOMERY_HAVE_CRYPTO)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", libsodium-dev, libssl-dev")
endif()
if(BLOOMERY_HAVE_TEXT)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", libicu-dev")
endif()
set(CPACK_DEBIAN_DEV_DESCRIPTION "Bloom filters and their family, headers for C++20
${about}

This package has what is needed to compile programs with the library: the
headers, a CMake package, a pkg-config file, documentation and examples.")

include(CPack)
