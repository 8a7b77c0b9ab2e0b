// Anchors: see kernels/anchor.hpp.
#include "../kernels/anchor.hpp"

#include "arrays.hpp"

namespace bvdt {
namespace {

struct Given {  // one value per point; then one per point in play
    Vector<double> u, w;
    Vector<int32_t> points;
    MutableVector<double> distance;
    MutableVector<int32_t> owner;

    AnchorState checked(int64_t n) const {
        check_length("u", rows(u), n, "point");
        check_length("w", rows(w), n, "point");
        check_length("distance", rows(distance), rows(points), "point in play");
        check_length("owner", rows(owner), rows(points), "point in play");
        check_indices("points", points.data(), rows(points), n);
        return {u.data(), w.data(), points.data(), distance.data(), owner.data()};
    }
};

// The points in play alone: their rows are all that will be read.
void check_rows(const DensePoints&, int64_t, const Given&, int) {}
void check_rows(const SparsePoints& points, int64_t nnz, const Given& given, int threads) {
    check_csr_rows(points.h_rows(), nnz, given.points.data(), rows(given.points), threads);
}

template <typename Points>
nb::tuple steal(const Points& points, int64_t nnz, const Given& given, const Vector<double>& threshold,
                int64_t pivot, int32_t anchor, int threads) {
    Stolen stolen;
    {
        ReleasedGil release;
        check_threads(threads);
        const AnchorState state = given.checked(points.n);
        const int64_t n = rows(given.points), n_older = rows(threshold);
        require(pivot >= 0 && pivot < n, "pivot needs a position in points, 0…", n - 1, "; it is ", pivot);
        if (n_older > 0) check_indices("owner", state.owner, n, n_older);
        check_rows(points, nnz, given, threads);
        stolen = anchor_steal(points, state, n, {pivot, anchor, n_older > 0 ? threshold.data() : nullptr},
                              threads);
    }
    return nb::make_tuple(stolen.evaluations, stolen.position);
}

struct Wanted {
    Vector<int64_t> offsets, first, pivot_offsets;
    MutableVector<int32_t> pivots, grown;

    Segments checked(int64_t n) const {
        const int64_t count = rows(first);
        check_length("offsets", rows(offsets), count + 1, "segment, and one more");
        check_length("pivot_offsets", rows(pivot_offsets), count + 1, "segment, and one more");
        check_length("grown", rows(grown), count, "segment");
        if (count == 0) return {offsets.data(), first.data(), pivot_offsets.data(), 0};
        check_offsets("offsets", offsets.data(), count + 1, {0, n, false}, false);
        check_offsets("pivot_offsets", pivot_offsets.data(), count + 1, {0, rows(pivots), false}, false);
        for (int64_t k = 0; k < count; ++k) {
            const int64_t length = offsets.data()[k + 1] - offsets.data()[k];
            require(first.data()[k] >= 0 && first.data()[k] < length, "first[", k,
                    "] needs a position in its segment, 0…", length - 1, "; it is ", first.data()[k]);
        }
        return {offsets.data(), first.data(), pivot_offsets.data(), count};
    }
};

template <typename Points>
int64_t grow(const Points& points, int64_t nnz, const Given& given, const Wanted& wanted, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const AnchorState state = given.checked(points.n);
    const Segments segments = wanted.checked(rows(given.points));
    check_rows(points, nnz, given, threads);
    return anchor_grow(points, state, segments, wanted.pivots.data(), wanted.grown.data(), threads);
}

using I32 = Vector<int32_t>;
using I64 = Vector<int64_t>;
using F64 = Vector<double>;
using MutableF64 = MutableVector<double>;
using MutableI32 = MutableVector<int32_t>;

}  // namespace

void register_anchor(nb::module_& m) {
    using namespace nb::literals;
    m.def(
        "anchor_steal",
        [](Matrix<double> x, Matrix<double> h, F64 u, F64 w, I32 points, MutableF64 distance,
           MutableI32 owner, F64 threshold, int64_t pivot, int32_t anchor, int threads) {
            return steal(dense_points(x, h), 0, {u, w, points, distance, owner}, threshold, pivot, anchor,
                         threads);
        },
        "x"_a, "h"_a, "u"_a, "w"_a, "points"_a, "distance"_a.noconvert(), "owner"_a.noconvert(),
        "threshold"_a, "pivot"_a, "anchor"_a, "threads"_a);
    m.def(
        "anchor_steal",
        [](I64 indptr, I32 indices, F64 x, F64 h, int64_t d, F64 u, F64 w, I32 points, MutableF64 distance,
           MutableI32 owner, F64 threshold, int64_t pivot, int32_t anchor, int threads) {
            const Csr csr{indptr, indices, x, h, d};
            return steal(csr.shaped(), csr.nnz(), {u, w, points, distance, owner}, threshold, pivot, anchor,
                         threads);
        },
        "indptr"_a, "indices"_a, "x"_a, "h"_a, "d"_a, "u"_a, "w"_a, "points"_a, "distance"_a.noconvert(),
        "owner"_a.noconvert(), "threshold"_a, "pivot"_a, "anchor"_a, "threads"_a);
    m.def(
        "anchor_grow",
        [](Matrix<double> x, Matrix<double> h, F64 u, F64 w, I32 points, MutableF64 distance,
           MutableI32 owner, I64 offsets, I64 first, I64 pivot_offsets, MutableI32 pivots, MutableI32 grown,
           int threads) {
            return grow(dense_points(x, h), 0, {u, w, points, distance, owner},
                        {offsets, first, pivot_offsets, pivots, grown}, threads);
        },
        "x"_a, "h"_a, "u"_a, "w"_a, "points"_a, "distance"_a.noconvert(), "owner"_a.noconvert(), "offsets"_a,
        "first"_a, "pivot_offsets"_a, "pivots"_a.noconvert(), "grown"_a.noconvert(), "threads"_a);
    m.def(
        "anchor_grow",
        [](I64 indptr, I32 indices, F64 x, F64 h, int64_t d, F64 u, F64 w, I32 points, MutableF64 distance,
           MutableI32 owner, I64 offsets, I64 first, I64 pivot_offsets, MutableI32 pivots, MutableI32 grown,
           int threads) {
            const Csr csr{indptr, indices, x, h, d};
            return grow(csr.shaped(), csr.nnz(), {u, w, points, distance, owner},
                        {offsets, first, pivot_offsets, pivots, grown}, threads);
        },
        "indptr"_a, "indices"_a, "x"_a, "h"_a, "d"_a, "u"_a, "w"_a, "points"_a, "distance"_a.noconvert(),
        "owner"_a.noconvert(), "offsets"_a, "first"_a, "pivot_offsets"_a, "pivots"_a.noconvert(),
        "grown"_a.noconvert(), "threads"_a);
}

}  // namespace bvdt
