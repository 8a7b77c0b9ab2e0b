#include "recurrence.hpp"

#include <algorithm>
#include <cmath>

#ifdef __linux__
#include <unistd.h>
#endif

#include "large.hpp"
#include "parallel.hpp"
#include "platform.hpp"

namespace bvdt {
namespace {

constexpr int64_t kPad =
    8;  // columns are filled up to a multiple of so many, 16 at least: eight alone take as long
constexpr int64_t kAtOnce = 32;         // columns whose sums stay in registers
constexpr int64_t kSoon = 16;           // entries ahead whose rows are asked for
constexpr int64_t kRows = 128;          // per turn of a thread
constexpr int64_t kCached = 1 << 19;    // numbers of all columns
constexpr int64_t kLine = 64;           // bytes: a row of a part's columns, at least
constexpr int64_t kThreaded = 1 << 20;  // multiplications, half a millisecond, from which on threads pay

// Of a core's second cache, bytes.
int64_t core_cache() {
#ifdef _SC_LEVEL2_CACHE_SIZE
    static const int64_t told = sysconf(_SC_LEVEL2_CACHE_SIZE);
    if (told > 0) return told;
#endif
    return 1 << 20;
}

// How many columns of four matrices of n rows a core's cache holds: whole lines, one at least and two at
// most.
template <typename T>
int64_t columns_at_once(int64_t n) {
    constexpr int64_t line = kLine / static_cast<int64_t>(sizeof(T));
    return std::clamp<int64_t>(core_cache() / (4 * std::max<int64_t>(n, 1) * kLine), 1, 2) * line;
}

// All columns, `stride` numbers per row.
struct Step {
    SparseMatrix<float> links;
    const float* scale;  // (N,)
    const float* far;    // Σ_t ω_t·Q_t·C·now
    const float* rest;   // R
    const float* now;    // Y_n
    float* other;        // in Y_(n−1), out Y_(n+1)
    const float *a, *b;  // (stride,)
    float centre, inverse_radius;
    int64_t stride;
    bool cached;  // all of it
};

// Ahead: rows are asked for before they are needed, which takes its time where they are in the cache already.
template <int Count, bool Ahead>
BVDT_INLINE void step_rows(const Step& s, int64_t column, int64_t first, int64_t last) {
    const int64_t end = s.links.indptr[last];
    const float *a = s.a + column, *b = s.b + column;
    const float centre = s.centre, inverse_radius = s.inverse_radius;
    for (int64_t i = first; i < last; ++i) {
        // Two sums in turn: one would wait for itself.
        float sum[Count] = {}, odd[Count] = {};
        const int64_t begin = s.links.indptr[i], behind = s.links.indptr[i + 1];
        const auto add = [&](int64_t e, float* to) {
            if (Ahead && e + kSoon < end)
                prefetch_ends<0>(s.now + s.links.indices[e + kSoon] * s.stride + column, Count);
            const float* const from = s.now + s.links.indices[e] * s.stride + column;
            const float value = s.links.value[e];
            BVDT_SHORT_LOOP
            for (int c = 0; c < Count; ++c) to[c] += value * from[c];
        };
        int64_t e = begin;
        for (; e + 2 <= behind; e += 2) add(e, sum), add(e + 1, odd);
        if (e < behind) add(e, sum);
        BVDT_SHORT_LOOP
        for (int c = 0; c < Count; ++c) sum[c] += odd[c];
        const int64_t at = i * s.stride + column;
        const float scale = s.scale[i];
        const float *far = s.far + at, *rest = s.rest + at, *now = s.now + at;
        float* other = s.other + at;
        BVDT_SHORT_LOOP
        for (int c = 0; c < Count; ++c) {
            const float moved = (sum[c] + scale * far[c] - centre * now[c] + rest[c]) * inverse_radius;
            other[c] = a[c] * moved - b[c] * other[c];
        }
    }
}

template <bool Ahead>
BVDT_INLINE void step_columns(const Step& s, int64_t column, int64_t count, int64_t first, int64_t last) {
    switch (count) {
        case 8:
            return step_rows<8, Ahead>(s, column, first, last);
        case 16:
            return step_rows<16, Ahead>(s, column, first, last);
        case 24:
            return step_rows<24, Ahead>(s, column, first, last);
        case 32:
            return step_rows<32, Ahead>(s, column, first, last);
    }
}

void step_part(const Step& s, int64_t column, int64_t count, int64_t first, int64_t last) {
    if (s.cached)
        step_columns<false>(s, column, count, first, last);
    else
        step_columns<true>(s, column, count, first, last);
}

// Columns first … first + count − 1 of the m of a matrix.
struct SomeColumns {
    int64_t first, count, m;
};

// (rows, m) -> (rows, stride), each column times `by` (m,) if that is given, filled up with zeros.
template <typename T>
LargeVector<float> padded(const T* values, const T* by, int64_t rows, const SomeColumns& some,
                          int64_t stride) {
    LargeVector<float> out(static_cast<size_t>(rows * stride), 0.0f);
    for (int64_t i = 0; values && i < rows; ++i)
        for (int64_t c = 0; c < some.count; ++c) {
            const T value = values[i * some.m + some.first + c];
            out[i * stride + c] = static_cast<float>(by ? value * by[some.first + c] : value);
        }
    return out;
}

void raise_to(const double* values, int64_t m, double* largest) {
    BVDT_INDEPENDENT_LOOP
    for (int64_t c = 0; c < m; ++c)
        largest[c] = std::abs(values[c]) > largest[c] ? std::abs(values[c]) : largest[c];
}

// Powers of 2 that bring each column's largest number, of the start and of R, to between 1/2 and 1.
std::vector<double> units_of(const Recurrence& recurrence, int64_t n) {
    std::vector<double> unit(static_cast<size_t>(recurrence.m), 0.0);
    for (const double* values : {recurrence.start, recurrence.rest})
        for (int64_t i = 0; values && i < n; ++i)
            raise_to(values + i * recurrence.m, recurrence.m, unit.data());
    for (double& size : unit) {
        int exponent = 0;
        if (size > 0 && std::isfinite(size)) std::frexp(size, &exponent);
        size = std::ldexp(1.0, -std::clamp(exponent, -1000, 1000));
    }
    return unit;
}

// far ← Σ_t Q_t·ω_t·C·now; by: (trees, N) ω_t·C
void multiply_trees(const WalkParts& walk, const LargeVector<float>& now, const LargeVector<float>& by,
                    int64_t stride, int threads, LargeVector<float>& one, LargeVector<float>& far) {
    for (size_t t = 0; t < walk.trees.size(); ++t) {
        LargeVector<float>& to = t == 0 ? far : one;
        const float* const diagonal = by.data() + static_cast<int64_t>(t) * walk.links.n;
        walk.trees[t]->apply_single(now.data(), diagonal, to.data(), stride, threads);
        if (t > 0)
            for (size_t e = 0; e < far.size(); ++e) far[e] += one[e];
    }
}

// All numbers of some columns. It is made before threads are: those would begin with new pages of memory, and
// take longer over these than over the steps.
struct Work {
    SomeColumns some;
    int64_t stride;
    LargeVector<float> now, other, rest, a, b, one, far;

    Work(const WalkParts& walk, const Recurrence& recurrence, const SomeColumns& columns, const double* unit)
        : some(columns), stride(std::max(2 * kPad, (some.count + kPad - 1) / kPad * kPad)) {
        const int64_t n = walk.links.n, steps = recurrence.steps;
        const float* const none = nullptr;
        now = padded(recurrence.start, unit, n, some, stride);
        rest = padded(recurrence.rest, unit, n, some, stride);
        a = padded(recurrence.a, none, steps, some, stride);
        b = padded(recurrence.b, none, steps, some, stride);
        other.assign(now.size(), 0.0f), far.resize(now.size());
        one.resize(walk.trees.size() > 1 ? now.size() : 0);
    }
};

void recur_some(const WalkParts& walk, const Recurrence& recurrence, const LargeVector<float>& by,
                bool cached, Work& work, const double* unit, double* y, int threads) {
    auto& [some, stride, now, other, rest, a, b, one, far] = work;
    const int64_t n = walk.links.n;
    int64_t step = 0;
    if (!recurrence.start && recurrence.steps > 0) {  // from 0 on: the first step needs no product
        for (int64_t i = 0; i < n; ++i)
            for (int64_t c = 0; c < stride; ++c)
                now[i * stride + c] = a[c] * rest[i * stride + c] / recurrence.radius;
        step = 1;
    }
    for (; step < recurrence.steps; ++step) {
        multiply_trees(walk, now, by, stride, threads, one, far);
        const Step s{walk.links,
                     walk.scale,
                     far.data(),
                     rest.data(),
                     now.data(),
                     other.data(),
                     a.data() + step * stride,
                     b.data() + step * stride,
                     recurrence.centre,
                     1 / recurrence.radius,
                     stride,
                     cached};
        parallel_stretches(n, kRows, threads, [&](int64_t first, int64_t last) {
            for (int64_t j = 0; j < stride; j += kAtOnce)
                step_part(s, j, std::min(kAtOnce, stride - j), first, last);
        });
        std::swap(now, other);
    }
    for (int64_t i = 0; i < n; ++i)
        for (int64_t c = 0; c < some.count; ++c)
            y[i * some.m + some.first + c] = static_cast<double>(now[i * stride + c]) / unit[some.first + c];
}

}  // namespace

// Parts of the columns, as below: what is read again and again stays in a core's cache.
void multiply_walk(const ExactWalkParts& walk, const double* v, double* out, int64_t m, int threads) {
    const int64_t n = walk.links.n, each = columns_at_once<double>(n);
    struct Part {
        LargeVector<double> own, scaled, near, far;
    };
    const auto room = [&] {
        const size_t size = static_cast<size_t>(n * std::min(each, m));
        return Part{LargeVector<double>(size), LargeVector<double>(size), LargeVector<double>(size),
                    LargeVector<double>(size)};
    };
    if (walk.links.indptr[n] * m < kThreaded) threads = 1;
    parallel_for<BriefTeam>((m - 1) / each + 1, 1, threads, room, [&](int64_t part, Part& work) {
        const int64_t first = part * each, count = std::min(each, m - first);
        for (int64_t i = 0; i < n; ++i)
            for (int64_t c = 0; c < count; ++c) {
                const double value = v[i * m + first + c];
                work.own[i * count + c] = value, work.scaled[i * count + c] = walk.scale[i] * value;
            }
        multiply_sparse(walk.links, work.own.data(), work.near.data(), count, 1);
        for (size_t t = 0; t < walk.trees.size(); ++t) {
            walk.trees[t]->apply(work.scaled.data(), work.far.data(), count, false, 1);
            for (int64_t i = 0; i < n; ++i) {
                const double by = walk.share[t] * walk.scale[i];
                for (int64_t c = i * count; c < (i + 1) * count; ++c) work.near[c] += by * work.far[c];
            }
        }
        for (int64_t i = 0; i < n; ++i) std::copy_n(work.near.data() + i * count, count, out + i * m + first);
    });
}

// Columns do not need each other. Where all are few, a thread takes as many as its core's cache holds through
// all steps; else threads share the rows of every step.
void recur(const WalkParts& walk, const Recurrence& recurrence, double* y, int threads) {
    const int64_t m = recurrence.m;
    const int64_t n = walk.links.n;
    const bool cached = n * m <= kCached;
    const int64_t least = kLine / static_cast<int64_t>(sizeof(float));
    const int64_t parts_of_a_line = (m - 1) / least + 1, fewer = (m - 1) / columns_at_once<float>(n) + 1;
    const int64_t parts = cached ? std::max(fewer, std::min<int64_t>(threads, parts_of_a_line)) : 1;
    const int inside = cached ? 1 : threads;
    LargeVector<float> by;  // (trees, N) ω_t·C
    for (const float share : walk.share)
        for (int64_t i = 0; i < walk.links.n; ++i) by.push_back(share * walk.scale[i]);
    const std::vector<double> unit = units_of(recurrence, n);
    std::vector<Work> work;
    for (int64_t part = 0; part < parts; ++part) {
        const int64_t first = part * m / parts, last = (part + 1) * m / parts;
        work.emplace_back(walk, recurrence, SomeColumns{first, last - first, m}, unit.data());
    }
    parallel_for<BriefTeam>(parts, 1, threads, [&](int64_t part) {
        recur_some(walk, recurrence, by, cached, work[part], unit.data(), y, inside);
    });
}

}  // namespace bvdt
