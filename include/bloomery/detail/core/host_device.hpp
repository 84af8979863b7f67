// A function that both the processor and a GPU run: the mark that CUDA's compiler wants. Other
// compilers see nothing.
#pragma once

#if defined(__CUDACC__)
#define BLOOMERY_HOST_DEVICE __host__ __device__
#else
#define BLOOMERY_HOST_DEVICE
#endif
