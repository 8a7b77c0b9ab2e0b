// Facts about the build.
#include "../kernels/build_info.hpp"

#include <nanobind/stl/string.h>

#include "arrays.hpp"

#ifndef BVDT_VERSION
#define BVDT_VERSION "unknown"
#endif

namespace bvdt {

void register_build(nb::module_& m) {
    m.def("build_info", [] {
        const BuildInfo info = build_info();
        nb::dict facts;
        facts["version"] = BVDT_VERSION;
        facts["compiler"] = info.compiler;
        facts["openmp"] = info.openmp;
        facts["openmp_version"] = info.openmp_version;
        facts["simd"] = info.simd;
        facts["max_threads"] = info.max_threads;
        return facts;
    });
}

}  // namespace bvdt
