# The Python package on the C interface: python/bloomery in the build folder, to import from there.
# The extension is written against Python's limited API, so that one file serves 3.11 and all later
# versions. Where libraries are static it has the C interface inside, as a wheel wants it; else it
# is linked to libbloomery.so, as a distribution wants it.
if(NOT BLOOMERY_PYTHON_PACKAGE)
  return()
endif()
# Debian's own python3 before others on PATH: its headers are a Debian package.
find_program(BLOOMERY_PYTHON_FOR_HEADERS python3 HINTS /usr/bin
             DOC "The Python whose headers the extension is compiled with")
set(python_include)
if(BLOOMERY_PYTHON_FOR_HEADERS AND NOT CMAKE_CROSSCOMPILING)
  execute_process(COMMAND "${BLOOMERY_PYTHON_FOR_HEADERS}" -c
    "import sys, sysconfig; print(sysconfig.get_path('include') if sys.version_info >= (3, 11) else '')"
    OUTPUT_VARIABLE python_include OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT EXISTS "${python_include}/Python.h")
  if(NOT BLOOMERY_PYTHON_PACKAGE STREQUAL "AUTO")
    message(FATAL_ERROR "BLOOMERY_PYTHON_PACKAGE is ON but the headers of Python 3.11 or newer were not found "
                        "(Debian: python3-dev)")
  endif()
  message(STATUS "the Python package is left out: Python's headers were not found")
  return()
endif()
set(BLOOMERY_HAVE_PYTHON ON)

file(GLOB sources CONFIGURE_DEPENDS python/src/*.cpp)
add_library(bloomery_python MODULE ${sources})
compile_in_batches(bloomery_python 8)
target_include_directories(bloomery_python SYSTEM PRIVATE "${python_include}")
target_compile_features(bloomery_python PRIVATE cxx_std_20)
# Calls into Python without a stop in between: one of them is a tenth of what `in` takes.
target_compile_options(bloomery_python PRIVATE -fno-plt)
target_compile_definitions(bloomery_python PRIVATE Py_LIMITED_API=0x030B0000 PY_SSIZE_T_CLEAN)
if(BUILD_SHARED_LIBS)
  target_link_libraries(bloomery_python PRIVATE bloomery_c)
else()
  target_include_directories(bloomery_python PRIVATE include)
  target_link_libraries(bloomery_python PRIVATE bloomery_c_objects bloomery_core)
endif()
target_link_libraries(bloomery_python PRIVATE bloomery_app_warnings)
target_link_options(bloomery_python PRIVATE "LINKER:--version-script=${PROJECT_SOURCE_DIR}/python/src/exports.map")
set(package_folder "${PROJECT_BINARY_DIR}/python/bloomery")
set_target_properties(bloomery_python PROPERTIES
  OUTPUT_NAME _core
  PREFIX ""
  SUFFIX .abi3.so
  CXX_EXTENSIONS OFF
  CXX_VISIBILITY_PRESET hidden
  LINK_DEPENDS "${PROJECT_SOURCE_DIR}/python/src/exports.map"
  LIBRARY_OUTPUT_DIRECTORY "${package_folder}")

# The rest is copied beside it, again whenever it changes.
file(GLOB bloomery_python_files CONFIGURE_DEPENDS python/bloomery/*.py python/bloomery/*.pyi python/bloomery/py.typed)
foreach(file ${bloomery_python_files})
  cmake_path(GET file FILENAME name)
  configure_file("${file}" "${package_folder}/${name}" COPYONLY)
endforeach()
