# What Debian wants of a package beyond what is installed elsewhere. CPack runs this over the
# folders of the components before it makes packages of them.
set(share "${CPACK_PACKAGING_INSTALL_PREFIX}/share")
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(changelog "\
bloomery (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Version ${CPACK_PACKAGE_VERSION}; its changes are in changelog.gz.

 -- ${CPACK_PACKAGE_CONTACT}  ${now}
")
set(library_overrides "\
# Several libraries that change their soname together.
package-name-doesnt-match-sonames *
# CPack always writes these scripts. The trigger, which is what Debian wants, is there as well.
maintscript-calls-ldconfig *
")

foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(root "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}")
  set(doc "${root}${share}/doc/${package}")
  if(NOT package STREQUAL "bloomery")
    file(RENAME "${root}${share}/doc/bloomery" "${doc}")
  endif()
  file(RENAME "${doc}/CHANGELOG.md" "${doc}/changelog")
  file(WRITE "${doc}/changelog.Debian" "${changelog}")
  if(component STREQUAL "library")
    file(WRITE "${root}${share}/lintian/overrides/${package}" "${library_overrides}")
  endif()
  if(component STREQUAL "redis")
    file(MAKE_DIRECTORY "${root}/etc/redis")
    file(RENAME "${root}${share}/bloomery/redis.conf" "${root}/etc/redis/bloomery.conf")
    file(REMOVE_RECURSE "${root}${share}/bloomery")
  endif()
  file(GLOB texts "${doc}/changelog*" "${root}${share}/man/man1/*.1")
  execute_process(COMMAND gzip -9n ${texts} COMMAND_ERROR_IS_FATAL ANY)

  # The loader looks into these folders without being told.
  file(GLOB binaries "${root}${CPACK_PACKAGING_INSTALL_PREFIX}/bin/*"
                     "${root}${CPACK_PACKAGING_INSTALL_PREFIX}/lib/*/*.so.*.*.*"
                     "${root}${CPACK_PACKAGING_INSTALL_PREFIX}/lib/*/bloomery_sqlite.so"
                     "${root}${CPACK_PACKAGING_INSTALL_PREFIX}/lib/postgresql/*/lib/bloomery.so"
                     "${root}${CPACK_PACKAGING_INSTALL_PREFIX}/lib/python3/dist-packages/bloomery/*.so"
                     "${root}${CPACK_PACKAGING_INSTALL_PREFIX}/lib/redis/modules/*.so")
  foreach(binary ${binaries})
    file(RPATH_REMOVE FILE "${binary}")
    execute_process(COMMAND strip --strip-unneeded --remove-section=.comment "${binary}"
                    COMMAND_ERROR_IS_FATAL ANY)
  endforeach()

  # Whatever the umask is.
  execute_process(COMMAND chmod -R u=rwX,go=rX "${root}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
