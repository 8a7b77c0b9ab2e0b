// What every kernel file shares: array types, the points' two storages, threads.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

// One binary runs well on old and new CPUs: the loader picks the clone the CPU supports.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define BVDT_CLONES
#endif
#if defined(BVDT_CLONES) && __GNUC__ >= 12
#define BVDT_SIMD __attribute__((target_clones("avx512f", "arch=x86-64-v3", "default")))  // v3: AVX2 and FMA
#elif defined(BVDT_CLONES)
#define BVDT_SIMD __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define BVDT_SIMD
#endif

namespace bvdt {
namespace nb = nanobind;

template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using MutableVector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using MutableMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

inline void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

// Asks for the beginning of a row that is needed soon: the CPU cannot foresee rows in an order of ours.
inline void prefetch_row([[maybe_unused]] const double* row, [[maybe_unused]] int64_t d) {
#ifdef __GNUC__
    for (int64_t j = 0; j < (d < 32 ? d : 32); j += 8) __builtin_prefetch(row + j);
#endif
}

// Hands a vector's memory to NumPy.
template <typename T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return {kept->data(), {kept->size()}, owner};
}

void register_anchor(nb::module_& m);
void register_blocks(nb::module_& m);
void register_curve(nb::module_& m);
void register_optimum(nb::module_& m);
void register_product(nb::module_& m);
void register_product_column(nb::module_& m);
void register_split(nb::module_& m);
void register_ward(nb::module_& m);
void register_merges(nb::module_& m);
void register_neighbors(nb::module_& m);
void register_cells(nb::module_& m);

}  // namespace bvdt
