# Warnings for our own targets only: they never reach the programs that link us.
add_library(bloomery_warnings INTERFACE)
target_compile_options(bloomery_warnings INTERFACE
  -Wall -Wextra -Wpedantic
  -Wconversion -Wsign-conversion
  -Wold-style-cast -Wcast-align -Wcast-qual
  -Wnon-virtual-dtor -Woverloaded-virtual -Wextra-semi
  -Wundef -Wformat=2 -Wimplicit-fallthrough
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wduplicated-branches -Wlogical-op>
  # g++ 12 warns of overlap in every "text" + std::string (GCC bug 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  # In a batch of sources a name may hide one of the source before, and g++ takes them all for
  # headers.
  $<$<NOT:$<BOOL:${BLOOMERY_UNITY}>>:-Wshadow>
  $<$<AND:$<BOOL:${BLOOMERY_UNITY}>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>
  $<$<BOOL:${BLOOMERY_WERROR}>:-Werror>)

# For the tool and the module: in batches a local name that hides another one is warned of, though
# not one that hides what another source has.
add_library(bloomery_app_warnings INTERFACE)
target_link_libraries(bloomery_app_warnings INTERFACE bloomery_warnings)
target_compile_options(bloomery_app_warnings INTERFACE
  $<$<AND:$<BOOL:${BLOOMERY_UNITY}>,$<CXX_COMPILER_ID:GNU>>:-Wshadow=local>)
