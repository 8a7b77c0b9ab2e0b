#include "anchor.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "parallel.hpp"

namespace bvdt {
namespace {

// Below this share of its terms a divergence is rounding: the two points count as equal.
constexpr double kNoise = 64 * std::numeric_limits<double>::epsilon();
// Multiplications in one part of a scan; another thread is worth its start for a few parts.
constexpr int64_t kPartWork = 1 << 18;

// ⟨x_i, h⟩ with h dense.
BVDT_INLINE double dot_with(const DensePoints& p, int64_t i, const double* h) {
    return dot<Order::kEightSums>(p.x + i * p.d, h, p.d);
}
BVDT_INLINE double dot_with(const SparsePoints& p, int64_t i, const double* h) {
    double even = 0, odd = 0;
    int64_t e = p.indptr[i];
    const int64_t end = p.indptr[i + 1];
    for (; e + 2 <= end; e += 2) even += p.x[e] * h[p.indices[e]], odd += p.x[e + 1] * h[p.indices[e + 1]];
    if (e < end) even += p.x[e] * h[p.indices[e]];
    return even + odd;
}

inline void prefetch(const DensePoints& p, int64_t i) { prefetch_row(p.x + i * p.d, p.d); }
inline void prefetch(const SparsePoints&, int64_t) {}

// One new anchor's center, ready to be compared.
struct Center {
    const double* h;  // (d,)
    double w;
    int32_t number;
    const double* threshold;
};

// Positions in [begin, end) that Proposition 1 leaves open, without a branch; returns how many.
inline int open_positions(const AnchorState& s, const double* threshold, int64_t begin, int64_t end,
                          int64_t* open) {
    int count = 0;
    for (int64_t i = begin; i < end; ++i) {
        open[count] = i;
        count += !threshold || !(s.distance[i] <= threshold[s.owner[i]]);
    }
    return count;
}

template <typename Points>
BVDT_INLINE Stolen steal(const Points& p, const AnchorState& s, const Center& c, int64_t begin, int64_t end) {
    constexpr int kBatch = 128;
    int64_t open[kBatch];
    Stolen result;
    for (int64_t from = begin; from < end; from += kBatch) {
        const int64_t to = std::min(from + kBatch, end);
        const int count = open_positions(s, c.threshold, from, to, open);
        if (c.threshold)
            for (int k = 0; k < count; ++k) prefetch(p, s.points[open[k]]);
        for (int k = 0; k < count; ++k) {
            const int64_t i = open[k], point = s.points[i];
            const double inner = dot_with(p, point, c.h), u = s.u[point];
            double d = u + c.w - inner;
            if (d <= kNoise * (std::abs(u) + std::abs(c.w) + std::abs(inner))) d = 0;
            if (d < s.distance[i]) s.distance[i] = d, s.owner[i] = c.number;
        }
        for (int64_t i = from; i < to; ++i) result.offer(s.distance[i], i);
        result.evaluations += count;
    }
    return result;
}

// Multiplications in one divergence.
inline int64_t width(const DensePoints& p) { return p.d; }
inline int64_t width(const SparsePoints& p) { return p.indptr[p.n] / std::max<int64_t>(p.n, 1); }

// The center role of one pivot at a time as a dense vector.
struct DenseCenters {
    explicit DenseCenters(const DensePoints&) {}
    const double* put(const DensePoints& p, int64_t i) { return p.h + i * p.d; }
    void clear(const DensePoints&, int64_t) {}
};
struct SparseCenters {
    SpreadRow row;
    explicit SparseCenters(const SparsePoints& p) : row(p.d) {}
    const double* put(const SparsePoints& p, int64_t i) { return row.put(p.h_rows(), i); }
    void clear(const SparsePoints& p, int64_t i) { row.clear(p.h_rows(), i); }
};
DenseCenters centers_for(const DensePoints& p) { return DenseCenters(p); }
SparseCenters centers_for(const SparsePoints& p) { return SparseCenters(p); }

// The anchors of one segment; returns how many. `state` and `pivots` begin at the segment.
template <typename Points, typename Centers>
int32_t grow_segment(const Points& p, Centers& centers, const AnchorState& state, int64_t n, int64_t first,
                     int64_t wanted, int32_t* pivots, int64_t& evaluations) {
    std::fill_n(state.distance, n, std::numeric_limits<double>::infinity());
    int32_t anchor = 0;
    for (int64_t next = first; anchor < wanted && next >= 0; ++anchor) {
        const int64_t point = pivots[anchor] = state.points[next];
        state.distance[next] = 0, state.owner[next] = anchor;
        const Center center{centers.put(p, point), state.w[point], anchor, nullptr};
        const Stolen stolen = steal(p, state, center, 0, n);
        centers.clear(p, point);
        evaluations += stolen.evaluations;
        next = stolen.position;
    }
    return anchor;
}

}  // namespace

template <typename Points>
Stolen anchor_steal(const Points& points, const AnchorState& state, int64_t n, const NewAnchor& anchor,
                    int threads) {
    const int64_t point = state.points[anchor.pivot];
    auto centers = centers_for(points);
    const Center center{centers.put(points, point), state.w[point], anchor.number, anchor.threshold};
    state.distance[anchor.pivot] = 0;  // nothing is nearer: a pivot is its own, even among its equals
    // More parts than threads: parts differ in what they skip, and a thread may be held up.
    const int64_t n_parts = std::clamp<int64_t>(n * width(points) / kPartWork, 1, 64);
    const int team = std::clamp<int>(threads, 1, static_cast<int>((n_parts + 3) / 4));
    std::vector<Stolen> part(static_cast<size_t>(n_parts));
    parallel_for(n_parts, 1, team, [&](int64_t t) {
        part[t] = steal(points, state, center, n * t / n_parts, n * (t + 1) / n_parts);
    });
    state.owner[anchor.pivot] = anchor.number;
    Stolen result;
    for (const Stolen& each : part) result.append(each);
    return result;
}

template <typename Points>
int64_t anchor_grow(const Points& points, const AnchorState& state, const Segments& segments, int32_t* pivots,
                    int32_t* grown, int threads) {
    std::atomic<int64_t> evaluations{0};
    parallel_for(
        segments.count, 8, threads, [&] { return centers_for(points); },
        [&](int64_t k, auto& centers) {
            const int64_t begin = segments.offsets[k], first_pivot = segments.pivot_offsets[k];
            const AnchorState own{state.u, state.w, state.points + begin, state.distance + begin,
                                  state.owner + begin};
            int64_t here = 0;
            grown[k] = grow_segment(points, centers, own, segments.offsets[k + 1] - begin, segments.first[k],
                                    segments.pivot_offsets[k + 1] - first_pivot, pivots + first_pivot, here);
            evaluations += here;
        });
    return evaluations;
}

template Stolen anchor_steal(const DensePoints&, const AnchorState&, int64_t, const NewAnchor&, int);
template Stolen anchor_steal(const SparsePoints&, const AnchorState&, int64_t, const NewAnchor&, int);
template int64_t anchor_grow(const DensePoints&, const AnchorState&, const Segments&, int32_t*, int32_t*,
                             int);
template int64_t anchor_grow(const SparsePoints&, const AnchorState&, const Segments&, int32_t*, int32_t*,
                             int);

}  // namespace bvdt
