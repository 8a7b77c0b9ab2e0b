// Facts about this build.
#pragma once

#include <string>

namespace bvdt {

struct BuildInfo {
    std::string compiler;        // its name and version
    bool openmp;                 // without it there is one thread
    std::string openmp_version;  // year and month of the specification, or empty
    std::string simd;            // level that the kernels are compiled for: baseline, avx2 or avx512
    int max_threads;             // that OpenMP would start of its own accord; 1 without it
};

BuildInfo build_info();

}  // namespace bvdt
