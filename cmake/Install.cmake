# Installs what was built, as components, which `cmake --install --component` and the Debian
# packages of Package.cmake choose from:
#   tool     the program, its manual and completions, the unit of its node
#   server   the unit that serves filters with it, and the page if the preset web has built it
#   library  the shared libraries: that of the C interface, and the others unless they are static
#   redis    the Redis module
#   python   the Python package, where Debian's Python looks; only when it is asked for by name
#   sqlite   the extension for SQLite
#   web      that page alone
#   postgresql  the extension for PostgreSQL, where the server looks; only when asked for by name
#   dev      headers, static libraries, CMake package, pkg-config file, documentation of the library
# Whatever is installed brings its licence.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/bloomery")

list(TRANSFORM bloomery_parts PREPEND bloomery_ OUTPUT_VARIABLE libraries)
list(REVERSE libraries) # what uses another comes before it: the order that static linking needs
list(APPEND libraries bloomery_core)

list(TRANSFORM bloomery_backends PREPEND bloomery_ OUTPUT_VARIABLE backends)

set(bloomery_c_part)
if(BLOOMERY_C)
  set(bloomery_c_part c)
  list(PREPEND libraries bloomery_c)
endif()
install(TARGETS ${libraries} bloomery_all ${backends} EXPORT bloomeryTargets
  LIBRARY COMPONENT library NAMELINK_COMPONENT dev
  ARCHIVE COMPONENT dev
  FILE_SET HEADERS COMPONENT dev)
install(EXPORT bloomeryTargets NAMESPACE bloomery:: DESTINATION "${package_dir}" COMPONENT dev)
configure_package_config_file(cmake/bloomeryConfig.cmake.in
  "${PROJECT_BINARY_DIR}/cmake/bloomeryConfig.cmake" INSTALL_DESTINATION "${package_dir}")
# The same promise as the soname: 0.y releases replace only themselves.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
else()
  set(compatibility SameMajorVersion)
endif()
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/bloomeryConfigVersion.cmake"
  COMPATIBILITY ${compatibility})
install(FILES
  "${PROJECT_BINARY_DIR}/cmake/bloomeryConfig.cmake"
  "${PROJECT_BINARY_DIR}/cmake/bloomeryConfigVersion.cmake"
  cmake/FindXXHashHeader.cmake
  DESTINATION "${package_dir}" COMPONENT dev)

# pkg-config: one file for each library, and bloomery.pc for all of them. A static library needs its
# dependencies on every link line, a shared one only says that it has them. Paths are relative to
# the file, so the prefix can be moved or chosen at install.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR
           BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" OUTPUT_VARIABLE pc_includedir)
function(install_pkg_config name libs cflags requires foreign)
  set(pc_name ${name})
  set(pc_libs "${libs}")
  set(pc_cflags "${cflags}")
  set(pc_requires "${requires}")
  set(pc_requires_private)
  if(BUILD_SHARED_LIBS)
    set(pc_requires_private "${foreign}")
  else()
    string(APPEND pc_requires " ${foreign}")
  endif()
  configure_file(cmake/bloomery.pc.in "${PROJECT_BINARY_DIR}/cmake/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/cmake/${name}.pc"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT dev)
endfunction()
set(core_cflags)
if(NOT XXHASH_INCLUDE_DIR IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
  set(core_cflags "-I${XXHASH_INCLUDE_DIR}")
endif()
set(thread_flag)
if(NOT BUILD_SHARED_LIBS)
  set(thread_flag " -pthread")
endif()
install_pkg_config(bloomery-core "-lbloomery_core${thread_flag}" "${core_cflags}" "" "")
set(crypto_foreign "libsodium libcrypto")
set(text_foreign "icu-uc")
set(all_parts)
foreach(part ${bloomery_parts})
  string(TOUPPER ${part} upper)
  set(cflags)
  if(part MATCHES "^(crypto|text)$")
    set(cflags "-DBLOOMERY_HAS_${upper}=1")
  endif()
  set(needs bloomery-core)
  if(part MATCHES "^(measure|text)$")
    set(needs bloomery-lookup)
  elseif(part STREQUAL "route")
    set(needs bloomery-exchange)
  endif()
  install_pkg_config(bloomery-${part} "-lbloomery_${part}" "${cflags}" ${needs} "${${part}_foreign}")
  string(APPEND all_parts " bloomery-${part}")
endforeach()
install_pkg_config(bloomery "" "" "bloomery-core${all_parts}" "")
if(BLOOMERY_C)
  install_pkg_config(bloomery-c "-lbloomery" "" "" "")
endif()

set(components dev)
if(BUILD_SHARED_LIBS OR BLOOMERY_C)
  list(APPEND components library)
endif()
if(BLOOMERY_HAVE_PYTHON)
  list(APPEND components python)
  install(TARGETS bloomery_python LIBRARY
          DESTINATION lib/python3/dist-packages/bloomery COMPONENT python EXCLUDE_FROM_ALL)
  install(FILES ${bloomery_python_files}
          DESTINATION lib/python3/dist-packages/bloomery COMPONENT python EXCLUDE_FROM_ALL)
endif()
if(BLOOMERY_TOOL)
  list(APPEND components tool)
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR
             BASE_DIRECTORY "${CMAKE_INSTALL_FULL_BINDIR}" OUTPUT_VARIABLE rpath)
  set_target_properties(bloomery_tool PROPERTIES INSTALL_RPATH "$ORIGIN/${rpath}")
  install(TARGETS bloomery_tool RUNTIME COMPONENT tool)
  file(GLOB pages CONFIGURE_DEPENDS man/*.1)
  install(FILES ${pages} DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT tool)

  # Where systemd looks on every distribution, whatever the library folder is; the unit names the
  # prefix's program.
  if(BLOOMERY_HAVE_CRYPTO AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    install(CODE "
      set(CMAKE_INSTALL_FULL_BINDIR \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
      configure_file(\"${PROJECT_SOURCE_DIR}/cmake/bloomery-node.service.in\"
                     \"${PROJECT_BINARY_DIR}/cmake/bloomery-node.service\" @ONLY)" COMPONENT tool)
    install(FILES "${PROJECT_BINARY_DIR}/cmake/bloomery-node.service" DESTINATION lib/systemd/system COMPONENT tool)
  endif()

  if(BLOOMERY_HAVE_SERVE)
    list(APPEND components server)
    install(CODE "
      set(CMAKE_INSTALL_FULL_BINDIR \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
      configure_file(\"${PROJECT_SOURCE_DIR}/cmake/bloomery-server.service.in\"
                     \"${PROJECT_BINARY_DIR}/cmake/bloomery-server.service\" @ONLY)" COMPONENT server)
    install(FILES "${PROJECT_BINARY_DIR}/cmake/bloomery-server.service" DESTINATION lib/systemd/system
            COMPONENT server)
  endif()

  # The tool prints its completions; one for another machine does not run here.
  if(NOT CMAKE_CROSSCOMPILING)
    set(completions "${PROJECT_BINARY_DIR}/completions")
    file(MAKE_DIRECTORY "${completions}")
    add_custom_command(TARGET bloomery_tool POST_BUILD VERBATIM
      COMMAND bloomery_tool completion bash > "${completions}/bloomery"
      COMMAND bloomery_tool completion zsh > "${completions}/_bloomery"
      COMMAND bloomery_tool completion fish > "${completions}/bloomery.fish")
    install(FILES "${completions}/bloomery"
            DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT tool)
    install(FILES "${completions}/_bloomery" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" COMPONENT tool)
    install(FILES "${completions}/bloomery.fish"
            DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" COMPONENT tool)
  endif()
endif()
if(BLOOMERY_HAVE_REDIS)
  list(APPEND components redis)
  # Not LIBDIR: Debian's unit of the server lets it load modules from /usr/lib alone, whatever the
  # architecture. And the server loads no module that is not executable, which libraries are not on
  # Debian.
  install(TARGETS bloomery_module LIBRARY DESTINATION lib/redis/modules COMPONENT redis
          PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  install(FILES apps/redis/bloomery.conf DESTINATION "${CMAKE_INSTALL_DATADIR}/bloomery" RENAME redis.conf
          COMPONENT redis)
endif()
if(BLOOMERY_HAVE_SQLITE_EXTENSION)
  list(APPEND components sqlite)
  # Where the loader looks, so that `.load bloomery_sqlite` finds it.
  install(TARGETS bloomery_sqlite_extension LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT sqlite)
endif()
if(BLOOMERY_HAVE_POSTGRESQL)
  list(APPEND components postgresql)
  # These places are the server's, whatever the prefix. Only when asked for by name: they may belong
  # to root.
  install(TARGETS bloomery_postgresql LIBRARY
          DESTINATION "${bloomery_pg_pkglibdir}" COMPONENT postgresql EXCLUDE_FROM_ALL)
  install(FILES ${bloomery_postgresql_scripts}
          DESTINATION "${bloomery_pg_sharedir}/extension" COMPONENT postgresql EXCLUDE_FROM_ALL)
endif()
foreach(component ${components})
  install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" RENAME copyright
          COMPONENT ${component})
  install(FILES README.md CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DOCDIR}"
          COMPONENT ${component})
endforeach()
# README.md links to these.
install(DIRECTORY docs examples DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT dev)

set(BLOOMERY_PAGE "${PROJECT_SOURCE_DIR}/build/web/page" CACHE PATH
    "The page that the preset web has built (docs/web.md), to install if it is there")
foreach(component web server) # alone, and with what serves it
  install(DIRECTORY "${BLOOMERY_PAGE}/" DESTINATION "${CMAKE_INSTALL_DATADIR}/bloomery/web" COMPONENT ${component}
          OPTIONAL)
endforeach()
