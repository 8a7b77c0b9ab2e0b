#include "build_info.hpp"

#include "platform.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace bvdt {
namespace {

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
    return {compiler(), true, number(_OPENMP), BVDT_LEVEL, omp_get_max_threads()};
#else
    return {compiler(), false, "", BVDT_LEVEL, 1};
#endif
}

}  // namespace bvdt
