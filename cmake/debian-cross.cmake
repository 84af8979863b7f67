# Debian's cross compilers and qemu's user mode, for the processor that the toolchain file named.
set(CMAKE_SYSTEM_NAME Linux)
set(triple ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu)
set(CMAKE_CXX_COMPILER ${triple}-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${CMAKE_SYSTEM_PROCESSOR} -L /usr/${triple})

# Never take a library or header of the build machine...
set(CMAKE_FIND_ROOT_PATH /usr/${triple})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# ...but for xxhash.h, which suits every processor. It is copied out of /usr/include, since all of
# that folder on the search path would bring the build machine's C library with it.
set(XXHASH_INCLUDE_DIR "${CMAKE_BINARY_DIR}/xxhash")
file(COPY /usr/include/xxhash.h DESTINATION "${XXHASH_INCLUDE_DIR}")
