// What differs between compilers and CPUs, in one place.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__GNUC__)
#define BVDT_INLINE inline __attribute__((always_inline))
#define BVDT_NOINLINE __attribute__((noinline))  // where a loop would lack registers inside another
#else
#define BVDT_INLINE inline
#define BVDT_NOINLINE
#endif

// Before a loop: its sums may be added in any order (reduction), and its turns do not depend on each other.
// MSVC knows neither and would refuse the first.
#define BVDT_PRAGMA(text) _Pragma(#text)
#if defined(_MSC_VER) && !defined(__clang__)
#define BVDT_SIMD_LOOP(...)
#else
#define BVDT_SIMD_LOOP(...) BVDT_PRAGMA(omp simd __VA_ARGS__)
#endif
#if defined(__GNUC__) && !defined(__clang__)
#define BVDT_INDEPENDENT_LOOP BVDT_PRAGMA(GCC ivdep)
// The same of a number of turns known to the compiler, which would write them out one by one instead.
#define BVDT_SHORT_LOOP BVDT_PRAGMA(GCC ivdep) BVDT_PRAGMA(GCC unroll 1)
#else
#define BVDT_INDEPENDENT_LOOP
#define BVDT_SHORT_LOOP
#endif

namespace bvdt {

// Asks for the beginning of a row that is needed soon: the CPU cannot foresee rows in an order of ours.
inline void prefetch_row([[maybe_unused]] const double* row, [[maybe_unused]] int64_t d) {
#ifdef __GNUC__
    for (int64_t j = 0; j < (d < 32 ? d : 32); j += 8) __builtin_prefetch(row + j);
#endif
}

// The same for every line from first to last.
template <typename T>
BVDT_INLINE void prefetch_lines([[maybe_unused]] const T* first, [[maybe_unused]] const T* last) {
#ifdef __GNUC__
    for (; first < last; first += 64 / sizeof(T)) __builtin_prefetch(first);
#endif
}

// The same for a short row that may lie across two cache lines; for_writing: 1 if it will be written.
template <int for_writing, typename T>
BVDT_INLINE void prefetch_ends([[maybe_unused]] const T* row, [[maybe_unused]] int64_t k) {
#ifdef __GNUC__
    __builtin_prefetch(row, for_writing), __builtin_prefetch(row + k - 1, for_writing);
#endif
}

}  // namespace bvdt
