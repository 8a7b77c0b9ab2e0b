// Which SIMD levels this build and this CPU have: asked before any of them is loaded.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

NB_MODULE(_cpu, m) {
    m.def("levels", [] {  // the best one first
        nb::list levels;
#ifdef BVDT_X86_LEVELS
        __builtin_cpu_init();
        const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                          __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
        if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl"))
            levels.append("avx512");
        if (avx2) levels.append("avx2");
#endif
        levels.append("baseline");
        return levels;
    });
}
