// Nearest centres by cells: see kernels/cell_store.hpp and kernels/cell_search.hpp.
#include "../kernels/cell_search.hpp"
#include "arrays.hpp"

namespace bvdt {
namespace {

// The packed cells and the arrays that they look up values in; positions are the store's own copies.
struct Cells {
    Matrix<double> x, h;
    Vector<double> u, w;
    CellStore store;
};

CellStore checked_store(const Matrix<double>& x, const Matrix<double>& h, const Vector<double>& u,
                        const Vector<double>& w, const Vector<int32_t>& order, const Vector<int64_t>& bounds,
                        int threads) {
    check_threads(threads);
    const DensePoints points = dense_points(x, h);
    check_finite("X", points.x, points.n * points.d, threads);
    if (points.h != points.x) check_finite("H", points.h, points.n * points.d, threads);
    check_length("u", rows(u), points.n, "point");
    check_length("w", rows(w), points.n, "point");
    check_length("order", rows(order), points.n, "point");
    check_distinct("order", order.data(), points.n, points.n);
    check_offsets("bounds", bounds.data(), rows(bounds), {0, points.n, true}, false);
    return {points, u.data(), w.data(), order.data(), bounds.data(), rows(bounds) - 1, threads};
}

void make_cells(Cells* self, Matrix<double> x, Matrix<double> h, Vector<double> u, Vector<double> w,
                Vector<int32_t> order, Vector<int64_t> bounds, int threads) {
    auto store = [&] {
        nb::gil_scoped_release release;
        return checked_store(x, h, u, w, order, bounds, threads);
    }();
    new (self) Cells{std::move(x), std::move(h), std::move(u), std::move(w), std::move(store)};
}

void search(const Cells& self, int64_t first, int64_t last, int64_t pairs, MutableMatrix<int32_t> index,
            MutableMatrix<double> divergence, int threads) {
    nb::gil_scoped_release release;
    check_threads(threads);
    const int64_t n = self.store.points.n, n_cells = self.store.n, k = columns(index);
    require(k >= 1, "index needs at least 1 column; it has ", k);
    check_matrix("index", rows(index), k, n, k);
    check_matrix("divergence", rows(divergence), columns(divergence), n, k);
    require(0 <= first && first <= last && last <= n_cells, "first and last need cells in 0…", n_cells,
            "; they are ", first, " and ", last);
    require(pairs > k, "pairs needs more than the ", k, " neighbours sought; it is ", pairs);
    search_cells(self.store, {first, last}, pairs, {index.data(), divergence.data(), k}, threads);
}

}  // namespace

void register_cells(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Cells>(m, "Cells")
        .def("__init__", &make_cells, "x"_a, "h"_a, "u"_a, "w"_a, "order"_a, "bounds"_a, "threads"_a)
        .def("search", &search, "first"_a, "last"_a, "pairs"_a, "index"_a.noconvert(),
             "divergence"_a.noconvert(), "threads"_a);
}

}  // namespace bvdt
