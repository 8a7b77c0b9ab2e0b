// Nearest centres by cells: see kernels/cell_store.hpp and kernels/cell_search.hpp.
#include "../kernels/cell_joins.hpp"
#include "../kernels/cell_search.hpp"
#include "arrays.hpp"

#include <nanobind/stl/pair.h>

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

// Links of the lists `listed`, by the cells' order; `before` has no rows on the first pass.
struct PlacedLinks {
    CellLinks links;
    PlacedPoints points;
};

PlacedLinks make_links(const Cells& self, const Matrix<int32_t>& listed, const Matrix<int32_t>& before,
                       int threads) {
    nb::gil_scoped_release release;
    check_threads(threads);
    const int64_t n = self.store.points.n, k = columns(listed);
    require(1 <= k && k <= kLongestList, "listed needs 1 to ", kLongestList, " columns; it has ", k);
    check_matrix("listed", rows(listed), k, n, k);
    check_indices("listed", listed.data(), n * k, n, threads, -1);
    if (rows(before) > 0) {
        check_matrix("before", rows(before), columns(before), n, k);
        check_indices("before", before.data(), n * k, n, threads, -1);
    }
    return {{self.store, listed.data(), rows(before) > 0 ? before.data() : nullptr, k, threads},
            {self.store, threads}};
}

void join(const Cells& self, const PlacedLinks& links, int64_t first, int64_t last, int64_t pairs,
          MutableMatrix<int32_t> index, MutableMatrix<double> divergence, int threads) {
    nb::gil_scoped_release release;
    check_threads(threads);
    const int64_t n = self.store.points.n, n_cells = self.store.n, k = columns(index);
    require(k >= 1, "index needs at least 1 column; it has ", k);
    check_matrix("index", rows(index), k, n, k);
    check_indices("index", index.data(), n * k, n, threads, -1);
    check_matrix("divergence", rows(divergence), columns(divergence), n, k);
    require(links.links.n() == n && links.links.n_cells() == n_cells, "links needs those of ", n,
            " points in ", n_cells, " cells; it has ", links.links.n(), " in ", links.links.n_cells());
    require(0 <= first && first <= last && last <= n_cells, "first and last need cells in 0…", n_cells,
            "; they are ", first, " and ", last);
    require(pairs > k, "pairs needs more than the ", k, " neighbours sought; it is ", pairs);
    join_cells(self.store, links.links, links.points, {first, last}, pairs,
               {index.data(), divergence.data(), k}, threads);
}

// Lists of other rows, lifted alike, or of some of the cells' own: own[i] is the centre that row i is, or −1.
void search_rows(const Cells& self, Matrix<double> x, Matrix<double> h, Vector<double> u, Vector<int32_t> own,
                 Vector<int32_t> order, Vector<int64_t> bounds, Vector<int32_t> home, int64_t pairs,
                 MutableMatrix<int32_t> index, MutableMatrix<double> divergence, int threads) {
    nb::gil_scoped_release release;
    check_threads(threads);
    const DensePoints points = dense_points(x, h);
    const int64_t k = columns(index), n_groups = rows(bounds) - 1;
    require(points.d == self.store.points.d, "X needs ", self.store.points.d,
            " columns, as the cells; it has ", points.d);
    check_finite("X", points.x, points.n * points.d, threads);
    if (points.h != points.x) check_finite("H", points.h, points.n * points.d, threads);
    check_length("u", rows(u), points.n, "point");
    check_length("own", rows(own), points.n, "point");
    require(k >= 1, "index needs at least 1 column; it has ", k);
    check_matrix("index", rows(index), k, points.n, k);
    check_matrix("divergence", rows(divergence), columns(divergence), points.n, k);
    check_distinct("order", order.data(), rows(order), points.n);
    check_offsets("bounds", bounds.data(), rows(bounds), {0, rows(order), false}, true);
    check_length("home", rows(home), n_groups, "group");
    check_indices("home", home.data(), n_groups, self.store.n);
    require(pairs > k, "pairs needs more than the ", k, " neighbours sought; it is ", pairs);
    search_cells(self.store, {points, u.data(), own.data()},
                 {order.data(), bounds.data(), home.data(), n_groups}, pairs,
                 {index.data(), divergence.data(), k}, threads);
}

// h̄ above x̄, (2d·n,), and ⟨x̄, h̄⟩, (n,): copies.
std::pair<NewVector<double>, NewVector<double>> means(const Cells& self) {
    std::vector<double> turned = self.store.turned, own = self.store.self;
    return {to_numpy(std::move(turned)), to_numpy(std::move(own))};
}

}  // namespace

void register_cells(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<PlacedLinks>(m, "CellLinks");
    nb::class_<Cells>(m, "Cells")
        .def("__init__", &make_cells, "x"_a, "h"_a, "u"_a, "w"_a, "order"_a, "bounds"_a, "threads"_a)
        .def("search", &search, "first"_a, "last"_a, "pairs"_a, "index"_a.noconvert(),
             "divergence"_a.noconvert(), "threads"_a)
        .def("search_rows", &search_rows, "x"_a, "h"_a, "u"_a, "own"_a, "order"_a, "bounds"_a, "home"_a,
             "pairs"_a, "index"_a.noconvert(), "divergence"_a.noconvert(), "threads"_a)
        .def("links", &make_links, "listed"_a, "before"_a, "threads"_a)
        .def("join", &join, "links"_a, "first"_a, "last"_a, "pairs"_a, "index"_a.noconvert(),
             "divergence"_a.noconvert(), "threads"_a)
        .def("means", &means);
}

}  // namespace bvdt
