// Growing anchors, Eq. (7): one new anchor steals, by the lifted divergence alone, the points nearer to its
// pivot than to their own. The threshold of Eq. (23), which needs φ*, comes in as an array.
#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "core.hpp"
#include "points.hpp"

namespace bvdt {
namespace {

// Below this share of its terms a divergence is rounding: the two points count as equal.
constexpr double kNoise = 64 * std::numeric_limits<double>::epsilon();
// Multiplications in one part of a scan; another thread is worth its start for a few parts.
constexpr int64_t kPartWork = 1 << 18;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Segment {
    const double* u;          // (n,), of all points
    const int32_t* points;    // the segment's points
    double* distance;         // of each to its anchor's pivot
    int32_t* owner;           // its anchor
    const double* threshold;  // of each anchor against the new one; nullptr: no pruning
};

struct Stolen {
    double farthest = 0;
    int64_t position = -1;  // of the farthest point; −1 when every point equals its pivot
    int64_t evaluations = 0;

    void offer(double distance, int64_t i) {
        if (distance > farthest) farthest = distance, position = i;
    }
    // Later positions come second, so that ties go to the lowest whatever the number of threads.
    void append(const Stolen& later) {
        offer(later.farthest, later.position);
        evaluations += later.evaluations;
    }
};

// ⟨x_i, h⟩ with h dense; eight running sums, so that the loop vectorises in one fixed order.
inline double dot(const DensePoints& p, int64_t i, const double* h) {
    const double* x = p.x + i * p.d;
    double sum[8] = {};
    int64_t j = 0;
    for (; j + 8 <= p.d; j += 8)
        for (int k = 0; k < 8; ++k) sum[k] += x[j + k] * h[j + k];
    double rest = 0;
    for (; j < p.d; ++j) rest += x[j] * h[j];
    return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7])) + rest;
}

inline double dot(const SparsePoints& p, int64_t i, const double* h) {
    double even = 0, odd = 0;
    int64_t e = p.indptr[i];
    const int64_t end = p.indptr[i + 1];
    for (; e + 2 <= end; e += 2) even += p.x[e] * h[p.indices[e]], odd += p.x[e + 1] * h[p.indices[e + 1]];
    if (e < end) even += p.x[e] * h[p.indices[e]];
    return even + odd;
}

inline void prefetch(const DensePoints& p, int64_t i) { prefetch_row(p.x + i * p.d, p.d); }
inline void prefetch(const SparsePoints&, int64_t) {}

// Positions in [begin, end) that Proposition 1 leaves open, without a branch; returns how many.
inline int open_positions(const Segment& s, int64_t begin, int64_t end, int64_t* open) {
    int count = 0;
    for (int64_t i = begin; i < end; ++i) {
        open[count] = i;
        count += !s.threshold || !(s.distance[i] <= s.threshold[s.owner[i]]);
    }
    return count;
}

template <typename Points>
inline Stolen steal_range(const Points& p, const double* h, double w, int32_t anchor, const Segment& s,
                          int64_t begin, int64_t end) {
    constexpr int kBlock = 128;
    int64_t open[kBlock];
    Stolen result;
    for (int64_t from = begin; from < end; from += kBlock) {
        const int64_t to = std::min(from + kBlock, end);
        const int count = open_positions(s, from, to, open);
        if (s.threshold)
            for (int k = 0; k < count; ++k) prefetch(p, s.points[open[k]]);
        for (int k = 0; k < count; ++k) {
            const int64_t i = open[k], point = s.points[i];
            const double inner = dot(p, point, h), u = s.u[point];
            double d = u + w - inner;
            if (d <= kNoise * (std::abs(u) + std::abs(w) + std::abs(inner))) d = 0;
            if (d < s.distance[i]) s.distance[i] = d, s.owner[i] = anchor;
        }
        for (int64_t i = from; i < to; ++i) result.offer(s.distance[i], i);
        result.evaluations += count;
    }
    return result;
}

BVDT_SIMD Stolen steal(const DensePoints& p, const double* h, double w, int32_t anchor, const Segment& s,
                       int64_t begin, int64_t end) {
    return steal_range(p, h, w, anchor, s, begin, end);
}
BVDT_SIMD Stolen steal(const SparsePoints& p, const double* h, double w, int32_t anchor, const Segment& s,
                       int64_t begin, int64_t end) {
    return steal_range(p, h, w, anchor, s, begin, end);
}

// Multiplications in one divergence.
inline int64_t width(const DensePoints& p) { return p.d; }
inline int64_t width(const SparsePoints& p) { return p.indptr[p.n] / std::max<int64_t>(p.n, 1); }

// The centre role of one pivot at a time as a dense vector.
struct DenseCentre {
    explicit DenseCentre(const DensePoints&) {}
    const double* set(const DensePoints& p, int64_t i) { return p.h + i * p.d; }
    void clear(const DensePoints&, int64_t) {}
};
struct SparseCentre {
    std::vector<double> buffer;
    explicit SparseCentre(const SparsePoints& p) : buffer(p.d) {}
    const double* set(const SparsePoints& p, int64_t i) {
        for (int64_t e = p.indptr[i]; e < p.indptr[i + 1]; ++e) buffer[p.indices[e]] = p.h[e];
        return buffer.data();
    }
    void clear(const SparsePoints& p, int64_t i) {
        for (int64_t e = p.indptr[i]; e < p.indptr[i + 1]; ++e) buffer[p.indices[e]] = 0;
    }
};

struct State {
    MutableVector<double> distance;
    MutableVector<int32_t> owner;
};

void check_points(int64_t n, const Vector<double>& u, const Vector<double>& w, const Vector<int32_t>& points,
                  const State& state) {
    if (static_cast<int64_t>(u.shape(0)) != n || static_cast<int64_t>(w.shape(0)) != n)
        throw std::invalid_argument("u and w must have one entry a point");
    if (state.distance.shape(0) != points.shape(0) || state.owner.shape(0) != points.shape(0))
        throw std::invalid_argument("distance and owner must have the length of points");
}

void check_range(const int32_t* index, int64_t begin, int64_t end, int64_t limit, const char* name) {
    bool valid = true;  // without an early exit the loop vectorises
    for (int64_t i = begin; i < end; ++i) valid &= static_cast<uint32_t>(index[i]) < limit;
    if (!valid) throw std::invalid_argument(std::string(name) + " must hold valid indices");
}

// One new anchor against one segment, threads over its points.
template <typename Centre, typename Points>
nb::tuple anchor_steal(const Points& p, const Vector<double>& u, const Vector<double>& w,
                       const Vector<int32_t>& points, const State& state, const Vector<double>& threshold,
                       int64_t pivot, int32_t anchor, int num_threads) {
    check_points(p.n, u, w, points, state);
    const int64_t n = static_cast<int64_t>(points.shape(0));
    if (pivot < 0 || pivot >= n) throw std::invalid_argument("pivot must be a position in points");
    check_range(points.data(), 0, n, p.n, "points");
    if (threshold.shape(0)) check_range(state.owner.data(), 0, n, threshold.shape(0), "owner");
    const int64_t point = points.data()[pivot];
    const Segment segment{u.data(), points.data(), state.distance.data(), state.owner.data(),
                          threshold.shape(0) ? threshold.data() : nullptr};
    Stolen result;
    {
        nb::gil_scoped_release release;
        Centre centre(p);
        const double* h = centre.set(p, point);
        segment.distance[pivot] = 0;  // nothing is nearer: a pivot is its own, even among its equals
        // More parts than threads: parts differ in what they skip, and a thread may be held up.
        const int64_t parts = std::clamp<int64_t>(n * width(p) / kPartWork, 1, 64);
        const int threads = std::clamp<int>(num_threads, 1, static_cast<int>((parts + 3) / 4));
        std::vector<Stolen> part(parts);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
        for (int64_t t = 0; t < parts; ++t)
            part[t] = steal(p, h, w.data()[point], anchor, segment, n * t / parts, n * (t + 1) / parts);
        segment.owner[pivot] = anchor;
        for (const Stolen& each : part) result.append(each);
    }
    return nb::make_tuple(result.evaluations, result.position);
}

struct Segments {
    Vector<int64_t> offsets;        // (S + 1,) into points
    Vector<int64_t> first;          // (S,) position of the first pivot within its segment
    Vector<int64_t> pivot_offsets;  // (S + 1,) into pivots; their differences are the anchors wanted
};

void check_segments(int64_t n, const Vector<int32_t>& points, const Segments& s, int64_t n_pivots,
                    int64_t n_grown) {
    const auto count = static_cast<int64_t>(s.first.shape(0));
    if (static_cast<int64_t>(s.offsets.shape(0)) != count + 1 ||
        static_cast<int64_t>(s.pivot_offsets.shape(0)) != count + 1 || n_grown != count)
        throw std::invalid_argument(
            "offsets, first, pivot_offsets and grown must describe the same segments");
    const int64_t *offset = s.offsets.data(), *pivot = s.pivot_offsets.data();
    if (offset[0] < 0 || offset[count] > static_cast<int64_t>(points.shape(0)) || pivot[0] < 0 ||
        pivot[count] > n_pivots)
        throw std::invalid_argument("offsets must stay within points, pivot_offsets within pivots");
    for (int64_t k = 0; k < count; ++k)
        if (offset[k + 1] <= offset[k] || pivot[k + 1] <= pivot[k] || s.first.data()[k] < 0 ||
            s.first.data()[k] >= offset[k + 1] - offset[k])
            throw std::invalid_argument("segments need points, anchors, and a first pivot within them");
    check_range(points.data(), offset[0], offset[count], n, "points");
}

// All anchors of many small segments without pruning, threads over segments.
template <typename Centre, typename Points>
int64_t anchor_grow(const Points& p, const Vector<double>& u, const Vector<double>& w,
                    const Vector<int32_t>& points, const State& state, const Segments& s,
                    const MutableVector<int32_t>& pivots, const MutableVector<int32_t>& grown,
                    int num_threads) {
    check_points(p.n, u, w, points, state);
    check_segments(p.n, points, s, static_cast<int64_t>(pivots.shape(0)),
                   static_cast<int64_t>(grown.shape(0)));
    const auto count = static_cast<int64_t>(s.first.shape(0));
    int64_t evaluations = 0;
    nb::gil_scoped_release release;
#pragma omp parallel num_threads(std::max(1, num_threads)) reduction(+ : evaluations)
    {
        Centre centre(p);
#pragma omp for schedule(dynamic, 8)
        for (int64_t k = 0; k < count; ++k) {
            const int64_t begin = s.offsets.data()[k], n = s.offsets.data()[k + 1] - begin;
            int32_t* pivot = pivots.data() + s.pivot_offsets.data()[k];
            const int64_t wanted = s.pivot_offsets.data()[k + 1] - s.pivot_offsets.data()[k];
            const Segment segment{u.data(), points.data() + begin, state.distance.data() + begin,
                                  state.owner.data() + begin, nullptr};
            std::fill_n(segment.distance, n, kInfinity);
            int64_t next = s.first.data()[k];
            int32_t anchor = 0;
            for (; anchor < wanted && next >= 0; ++anchor) {
                const int64_t point = pivot[anchor] = segment.points[next];
                segment.distance[next] = 0, segment.owner[next] = anchor;
                const Stolen stolen = steal(p, centre.set(p, point), w.data()[point], anchor, segment, 0, n);
                centre.clear(p, point);
                evaluations += stolen.evaluations;
                next = stolen.position;
            }
            grown.data()[k] = anchor;
        }
    }
    return evaluations;
}

}  // namespace

void register_anchor(nb::module_& m) {
    using I32 = Vector<int32_t>;
    using I64 = Vector<int64_t>;
    using F64 = Vector<double>;
    m.def("anchor_steal",
          [](Matrix<double> x, Matrix<double> h, F64 u, F64 w, I32 points, MutableVector<double> distance,
             MutableVector<int32_t> owner, F64 threshold, int64_t pivot, int32_t anchor, int num_threads) {
              return anchor_steal<DenseCentre>(dense_points(x, h), u, w, points, {distance, owner}, threshold,
                                               pivot, anchor, num_threads);
          });
    m.def("anchor_steal", [](I64 indptr, I32 indices, F64 x, F64 h, int64_t d, F64 u, F64 w, I32 points,
                             MutableVector<double> distance, MutableVector<int32_t> owner, F64 threshold,
                             int64_t pivot, int32_t anchor, int num_threads) {
        return anchor_steal<SparseCentre>(sparse_points(indptr, indices, x, h, d), u, w, points,
                                          {distance, owner}, threshold, pivot, anchor, num_threads);
    });
    m.def("anchor_grow",
          [](Matrix<double> x, Matrix<double> h, F64 u, F64 w, I32 points, MutableVector<double> distance,
             MutableVector<int32_t> owner, I64 offsets, I64 first, I64 pivot_offsets,
             MutableVector<int32_t> pivots, MutableVector<int32_t> grown, int num_threads) {
              return anchor_grow<DenseCentre>(dense_points(x, h), u, w, points, {distance, owner},
                                              {offsets, first, pivot_offsets}, pivots, grown, num_threads);
          });
    m.def("anchor_grow", [](I64 indptr, I32 indices, F64 x, F64 h, int64_t d, F64 u, F64 w, I32 points,
                            MutableVector<double> distance, MutableVector<int32_t> owner, I64 offsets,
                            I64 first, I64 pivot_offsets, MutableVector<int32_t> pivots,
                            MutableVector<int32_t> grown, int num_threads) {
        return anchor_grow<SparseCentre>(sparse_points(indptr, indices, x, h, d), u, w, points,
                                         {distance, owner}, {offsets, first, pivot_offsets}, pivots, grown,
                                         num_threads);
    });
}

}  // namespace bvdt
