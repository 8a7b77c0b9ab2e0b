// Some columns of a row-major matrix, to and from leaves in the tree's order.
#pragma once

#include <cstdint>

#include "platform.hpp"

namespace bvdt {

constexpr int64_t kAhead = 12;    // rows asked for before they are needed: they lie anywhere
constexpr int64_t kColumns = 32;  // at most this many columns at once, so that the scratch stays in cache

template <typename T>
struct Columns {  // k columns of rows `stride` apart
    T* data;
    int64_t stride, k;

    T* row(int64_t i) const { return data + i * stride; }
};

template <typename T>
BVDT_INLINE void read_row(const Columns<const T>& v, int64_t i, double* to) {
    const T* from = v.row(i);
    for (int64_t c = 0; c < v.k; ++c) to[c] = from[c];
}

template <typename T>
BVDT_INLINE void write_row(const double* from, const Columns<T>& out, int64_t i) {
    T* to = out.row(i);
    for (int64_t c = 0; c < out.k; ++c) to[c] = static_cast<T>(from[c]);
}

template <typename T>
BVDT_NOINLINE void gather(Columns<const T> v, const int32_t* order, int64_t n, double* to) {
    if (v.k == 1 && v.stride == 1) {
        for (int64_t j = 0; j < n; ++j) to[j] = v.data[order[j]];
        return;
    }
    for (int64_t j = 0; j < n; ++j, to += v.k) {
        if (j + kAhead < n) prefetch_ends<0>(v.row(order[j + kAhead]), v.k);
        read_row(v, order[j], to);
    }
}

template <typename T>
BVDT_NOINLINE void scatter(const double* from, const int32_t* order, int64_t n, Columns<T> out) {
    if (out.k == 1 && out.stride == 1) {
        for (int64_t j = 0; j < n; ++j) out.data[order[j]] = static_cast<T>(from[j]);
        return;
    }
    for (int64_t j = 0; j < n; ++j, from += out.k) {
        if (j + kAhead < n) prefetch_ends<1>(out.row(order[j + kAhead]), out.k);
        write_row(from, out, order[j]);
    }
}

// multiply(columns of v, columns of out), at most kColumns at a time; both (N, columns).
template <typename T, typename Multiply>
void in_column_batches(const T* v, T* out, int64_t columns, const Multiply& multiply) {
    for (int64_t j = 0; j < columns; j += kColumns) {
        const int64_t k = columns - j < kColumns ? columns - j : kColumns;
        multiply(Columns<const T>{v + j, columns, k}, Columns<T>{out + j, columns, k});
    }
}

}  // namespace bvdt
