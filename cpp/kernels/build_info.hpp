// Facts about this build and about the CPU it runs on.
#pragma once

#include <string>

namespace bvdt {

struct BuildInfo {
    std::string compiler;        // its name and version
    bool openmp;                 // without it there is one thread
    std::string openmp_version;  // year and month of the specification, or empty
    int simd_bytes;              // of the registers that the kernels use on this CPU: 16, 32 or 64
    int max_threads;             // that OpenMP would start of its own accord; 1 without it
};

BuildInfo build_info();

}  // namespace bvdt
