#include "build_info.hpp"

#include "platform.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace bvdt {
namespace {

// The loader picks among these as it does among the kernels' clones.
#ifdef BVDT_CLONES
__attribute__((target("avx512f"))) int simd_bytes() { return 64; }
__attribute__((target("avx2,fma"))) int simd_bytes() { return 32; }
__attribute__((target("default"))) int simd_bytes() { return 16; }
#else
int simd_bytes() { return 16; }
#endif

std::string number(int value) { return std::to_string(value); }

std::string compiler() {
#if defined(__clang__)
    return "Clang " + number(__clang_major__) + "." + number(__clang_minor__) + "." +
           number(__clang_patchlevel__);
#elif defined(__GNUC__)
    return "GCC " + number(__GNUC__) + "." + number(__GNUC_MINOR__) + "." + number(__GNUC_PATCHLEVEL__);
#elif defined(_MSC_VER)
    return "MSVC " + number(_MSC_VER / 100) + "." + number(_MSC_VER % 100);
#else
    return "unknown";
#endif
}

}  // namespace

BuildInfo build_info() {
#ifdef _OPENMP
    return {compiler(), true, number(_OPENMP), simd_bytes(), omp_get_max_threads()};
#else
    return {compiler(), false, "", simd_bytes(), 1};
#endif
}

}  // namespace bvdt
