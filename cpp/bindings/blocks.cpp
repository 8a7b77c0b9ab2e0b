// Block divergences and inner products of pairs: see kernels/block_divergences.hpp.
#include "../kernels/block_divergences.hpp"

#include "arrays.hpp"

namespace bvdt {
namespace {

struct TreeArrays {
    Vector<double> u, w;
    Vector<int32_t> size, order;

    NodeLevels checked(int64_t n_points, const MutableVector<double>& out, int threads) const {
        check_threads(threads);
        check_length("U", rows(u), rows(size), "node");
        check_length("W", rows(w), rows(size), "node");
        check_length("out", rows(out), rows(size), "node");
        const int64_t n = check_sizes(size.data(), rows(size), threads);
        require(n == n_points, "X needs one row per point of the tree, ", n, "; it has ", n_points);
        check_length("order", rows(order), n, "point");
        check_distinct("order", order.data(), n, n);
        return {u.data(), w.data(), size.data(), nullptr, order.data(), rows(size)};
    }
};

void coarsest_dense(Matrix<double> x, Matrix<double> h, Vector<double> u, Vector<double> w,
                    Vector<int32_t> size, Vector<int32_t> order, MutableVector<double> out, int threads) {
    ReleasedGil release;
    const DensePoints points = dense_points(x, h);
    coarsest_divergences(points, TreeArrays{u, w, size, order}.checked(points.n, out, threads), out.data(),
                         threads);
}

void coarsest_sparse(Vector<int64_t> indptr, Vector<int32_t> indices, Vector<double> x, Vector<double> h,
                     int64_t d, Vector<double> u, Vector<double> w, Vector<int32_t> size,
                     Vector<int32_t> start, Vector<int32_t> order, MutableVector<double> out, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const SparsePoints points = Csr{indptr, indices, x, h, d}.checked(threads);
    NodeLevels nodes = TreeArrays{u, w, size, order}.checked(points.n, out, threads);
    check_length("start", rows(start), rows(size), "node");
    check_starts(size.data(), start.data(), rows(size));
    nodes.start = start.data();
    coarsest_divergences(points, nodes, out.data(), threads);
}

RowPairs checked_pairs(const Vector<int32_t>& a, const Vector<int32_t>& b, const MutableVector<double>& out,
                       int64_t n_a, int64_t n_b, int threads) {
    check_length("b", rows(b), rows(a), "pair");
    check_length("out", rows(out), rows(a), "pair");
    check_indices("a", a.data(), rows(a), n_a, threads);
    check_indices("b", b.data(), rows(b), n_b, threads);
    return {a.data(), b.data(), rows(a)};
}

void pair_dots_dense(Matrix<double> x, Matrix<double> h, Vector<int32_t> a, Vector<int32_t> b,
                     MutableVector<double> out, int threads) {
    ReleasedGil release;
    check_threads(threads);
    require(columns(x) == columns(h), "X and H need one number of columns; they have ", columns(x), " and ",
            columns(h));
    const RowPairs pairs = checked_pairs(a, b, out, rows(x), rows(h), threads);
    pair_dots(x.data(), h.data(), columns(x), pairs, out.data(), threads);
}

void pair_dots_sparse(Vector<int64_t> x_indptr, Vector<int32_t> x_indices, Vector<double> x,
                      Vector<int64_t> h_indptr, Vector<int32_t> h_indices, Vector<double> h, int64_t d,
                      Vector<int32_t> a, Vector<int32_t> b, MutableVector<double> out, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const SparsePoints x_points = Csr{x_indptr, x_indices, x, x, d}.checked(threads);
    const SparsePoints h_points = Csr{h_indptr, h_indices, h, h, d}.checked(threads);
    const RowPairs pairs = checked_pairs(a, b, out, x_points.n, h_points.n, threads);
    pair_dots(x_points.x_rows(), h_points.h_rows(), pairs, out.data(), threads);
}

}  // namespace

void register_blocks(nb::module_& m) {
    using namespace nb::literals;
    m.def("coarsest_dense", &coarsest_dense, "x"_a, "h"_a, "U"_a, "W"_a, "size"_a, "order"_a,
          "out"_a.noconvert(), "threads"_a);
    m.def("coarsest_sparse", &coarsest_sparse, "indptr"_a, "indices"_a, "x"_a, "h"_a, "d"_a, "U"_a, "W"_a,
          "size"_a, "start"_a, "order"_a, "out"_a.noconvert(), "threads"_a);
    m.def("pair_dots_dense", &pair_dots_dense, "x"_a, "h"_a, "a"_a, "b"_a, "out"_a.noconvert(), "threads"_a);
    m.def("pair_dots_sparse", &pair_dots_sparse, "x_indptr"_a, "x_indices"_a, "x"_a, "h_indptr"_a,
          "h_indices"_a, "h"_a, "d"_a, "a"_a, "b"_a, "out"_a.noconvert(), "threads"_a);
}

}  // namespace bvdt
