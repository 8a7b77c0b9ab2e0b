// The k nearest centres of every point, approximately (DESIGN 2.9): the best of the chunks that hold the
// point, then, for sparse points, the best among the neighbours of its neighbours. Large dense data:
// cells.cpp.
//
// Lists are (N, k), each row ascending by (divergence, index) and filled up with index −1, divergence +∞.
#include <algorithm>
#include <utility>
#include <vector>

#include "gram.hpp"

namespace bvdt {
namespace {

struct Lists {
    int32_t* index;      // (N, k)
    double* divergence;  // (N, k)
    int64_t k;

    double worst(int64_t i) const { return divergence[(i + 1) * k - 1]; }

    bool holds(int64_t i, int32_t j) const {
        return std::find(index + i * k, index + (i + 1) * k, j) != index + (i + 1) * k;
    }

    // Puts centre j into i's list if it belongs there; equal divergences go by index.
    void offer(int64_t i, int32_t j, double d) {
        int32_t* at = index + i * k;
        double* value = divergence + i * k;
        if (d > value[k - 1] || (d == value[k - 1] && j > at[k - 1] && at[k - 1] >= 0) || holds(i, j)) return;
        int64_t place = k - 1;
        for (; place > 0 && (d < value[place - 1] || (d == value[place - 1] && j < at[place - 1])); --place)
            at[place] = at[place - 1], value[place] = value[place - 1];
        at[place] = j, value[place] = d;
    }
};

Lists lists_of(const MutableMatrix<int32_t>& index, const MutableMatrix<double>& divergence, int64_t n) {
    if (static_cast<int64_t>(index.shape(0)) != n || divergence.shape(0) != index.shape(0) ||
        divergence.shape(1) != index.shape(1) || index.shape(1) < 1)
        throw std::invalid_argument("neighbors: index and divergence must be (N, k), k at least 1");
    return {index.data(), divergence.data(), static_cast<int64_t>(index.shape(1))};
}

void check_offsets(const Vector<double>& u, const Vector<double>& w, int64_t n, int threads) {
    if (static_cast<int64_t>(u.shape(0)) != n || static_cast<int64_t>(w.shape(0)) != n || threads < 1)
        throw std::invalid_argument("neighbors: u and w must have one value a point");
}

// Offers every point all others of its chunk: d_ab = u_a + w_b − ⟨x_a, h_b⟩. A point is in one chunk only.
template <typename Points>
void chunk_neighbors(const Points& points, const Vector<double>& u, const Vector<double>& w,
                     const Vector<int32_t>& order, const Vector<int64_t>& bounds,
                     const MutableMatrix<int32_t>& index, const MutableMatrix<double>& divergence,
                     int threads) {
    Lists lists = lists_of(index, divergence, points.n);
    check_offsets(u, w, points.n, threads);
    const int64_t n_chunks = static_cast<int64_t>(bounds.shape(0)) - 1;
    const int64_t* bound = bounds.data();
    if (n_chunks < 1 || bound[0] < 0 || bound[n_chunks] > static_cast<int64_t>(order.shape(0)))
        throw std::invalid_argument("chunk_neighbors: order and bounds must match the points");
    nb::gil_scoped_release release;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        auto gram = gram_for(points);
#pragma omp for schedule(dynamic)
        for (int64_t c = 0; c < n_chunks; ++c) {
            const int32_t* item = order.data() + bound[c];
            const int64_t size = bound[c + 1] - bound[c];
            gram.compute(points, item, size);
            for (int64_t a = 0; a < size; ++a) {
                const double* inner = gram.value.data() + a * gram.stride;
                const double ua = u.data()[item[a]];
                for (int64_t b = 0; b < size; ++b) {
                    const double d = ua + w.data()[item[b]] - inner[b];
                    if (d <= lists.worst(item[a]) && b != a) lists.offer(item[a], item[b], std::max(d, 0.0));
                }
            }
        }
    }
}

// One point's x spread over the features, so that its product with any centre is one read of the centre.
struct SparseRow {
    const SparsePoints& points;
    std::vector<double> x;
    explicit SparseRow(const SparsePoints& p) : points(p), x(static_cast<size_t>(p.d), 0.0) {}
    void open(int64_t i) {
        for (int64_t e = points.indptr[i]; e < points.indptr[i + 1]; ++e) x[points.indices[e]] = points.x[e];
    }
    void close(int64_t i) {
        for (int64_t e = points.indptr[i]; e < points.indptr[i + 1]; ++e) x[points.indices[e]] = 0;
    }
    double dot(int64_t j) const {
        double sum = 0;
        for (int64_t e = points.indptr[j]; e < points.indptr[j + 1]; ++e)
            sum += x[points.indices[e]] * points.h[e];
        return sum;
    }
};

// Offers every point those that the points in its list list. What is listed is a copy, `listed`, so the order
// of work does not matter.
void join_neighbors(const SparsePoints& points, const Vector<double>& u, const Vector<double>& w,
                    const Matrix<int32_t>& listed, const MutableMatrix<int32_t>& index,
                    const MutableMatrix<double>& divergence, int threads) {
    Lists lists = lists_of(index, divergence, points.n);
    check_offsets(u, w, points.n, threads);
    if (listed.shape(0) != index.shape(0))
        throw std::invalid_argument("join_neighbors: listed must have one row a point");
    const int64_t k = static_cast<int64_t>(listed.shape(1));
    const int32_t* graph = listed.data();
    nb::gil_scoped_release release;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        SparseRow row(points);
        std::vector<int64_t> seen(static_cast<size_t>(points.n), -1);  // last point that met this centre
#pragma omp for schedule(dynamic, 64)
        for (int64_t i = 0; i < points.n; ++i) {
            auto is_new = [&](int32_t j) { return j >= 0 && std::exchange(seen[j], i) != i; };
            seen[i] = i;
            for (int64_t s = 0; s < k; ++s) is_new(graph[i * k + s]);
            row.open(i);
            for (int64_t s = 0; s < k; ++s) {
                const int32_t via = graph[i * k + s];
                for (int64_t t = 0; via >= 0 && t < k; ++t) {
                    const int32_t j = graph[via * k + t];
                    if (!is_new(j)) continue;
                    const double d = std::max(u.data()[i] + w.data()[j] - row.dot(j), 0.0);
                    if (d <= lists.worst(i)) lists.offer(i, j, d);
                }
            }
            row.close(i);
        }
    }
}

}  // namespace

void register_neighbors(nb::module_& m) {
    using namespace nb::literals;
    using Lists1 = MutableMatrix<int32_t>;
    using Lists2 = MutableMatrix<double>;
    auto chunks_dense = [](Matrix<double> x, Matrix<double> h, Vector<double> u, Vector<double> w,
                           Vector<int32_t> order, Vector<int64_t> bounds, Lists1 index, Lists2 divergence,
                           int threads) {
        chunk_neighbors(dense_points(x, h), u, w, order, bounds, index, divergence, threads);
    };
    auto chunks_sparse = [](Vector<int64_t> indptr, Vector<int32_t> indices, Vector<double> x,
                            Vector<double> h, int64_t d, Vector<double> u, Vector<double> w,
                            Vector<int32_t> order, Vector<int64_t> bounds, Lists1 index, Lists2 divergence,
                            int threads) {
        chunk_neighbors(sparse_points(indptr, indices, x, h, d), u, w, order, bounds, index, divergence,
                        threads);
    };
    m.def("chunk_neighbors", chunks_dense, "x"_a, "h"_a, "u"_a, "w"_a, "order"_a, "bounds"_a,
          "index"_a.noconvert(), "divergence"_a.noconvert(), "threads"_a);
    m.def("chunk_neighbors", chunks_sparse, "indptr"_a, "indices"_a, "x"_a, "h"_a, "d"_a, "u"_a, "w"_a,
          "order"_a, "bounds"_a, "index"_a.noconvert(), "divergence"_a.noconvert(), "threads"_a);
    auto join_sparse = [](Vector<int64_t> indptr, Vector<int32_t> indices, Vector<double> x, Vector<double> h,
                          int64_t d, Vector<double> u, Vector<double> w, Matrix<int32_t> listed, Lists1 index,
                          Lists2 divergence, int threads) {
        join_neighbors(sparse_points(indptr, indices, x, h, d), u, w, listed, index, divergence, threads);
    };
    m.def("join_neighbors", join_sparse, "indptr"_a, "indices"_a, "x"_a, "h"_a, "d"_a, "u"_a, "w"_a,
          "listed"_a, "index"_a.noconvert(), "divergence"_a.noconvert(), "threads"_a);
}

}  // namespace bvdt
