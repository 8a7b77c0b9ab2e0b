// Nearest centres by cells: see kernels/cell_store.hpp and kernels/cell_search.hpp.
#include "../kernels/cell_joins.hpp"
#include "../kernels/cell_search.hpp"
#include "../kernels/parallel.hpp"
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

// The length of the lists.
int64_t check_search(const Cells& self, int64_t first, int64_t last, int64_t pairs,
                     const MutableMatrix<int32_t>& index) {
    const int64_t n_cells = self.store.n, k = columns(index);
    require(k >= 1, "index needs at least 1 column; it has ", k);
    check_matrix("index", rows(index), k, self.store.points.n, k);
    require(0 <= first && first <= last && last <= n_cells, "first and last need cells in 0…", n_cells,
            "; they are ", first, " and ", last);
    require(pairs > k, "pairs needs more than the ", k, " neighbours sought; it is ", pairs);
    return k;
}

void search(const Cells& self, int64_t first, int64_t last, int64_t pairs, MutableMatrix<int32_t> index,
            MutableMatrix<double> divergence, int threads) {
    nb::gil_scoped_release release;
    check_threads(threads);
    const int64_t k = check_search(self, first, last, pairs, index);
    check_matrix("divergence", rows(divergence), columns(divergence), self.store.points.n, k);
    search_cells(self.store, {first, last}, pairs, {index.data(), divergence.data(), k}, threads);
}

// As search, but by estimates, rows in the order of the cells: who is likely to be near.
void search_likely(const Cells& self, int64_t first, int64_t last, int64_t pairs,
                   MutableMatrix<int32_t> index, int threads) {
    nb::gil_scoped_release release;
    check_threads(threads);
    const int64_t k = check_search(self, first, last, pairs, index);
    likely_neighbors(self.store, {first, last}, pairs, k, index.data(), threads);
}

// Lists of the cells' points that fill up pass by pass; refers to nothing of the cells but a copy of their
// order.
struct FillingLists {
    PlacedPoints points;
    PlacedLists lists;
    std::vector<int32_t> order, place;  // (N,) of a place; of a point
    double scale;
};

FillingLists make_lists(const Cells& self, const Matrix<int32_t>& listed, int64_t n_links, int threads) {
    nb::gil_scoped_release release;
    check_threads(threads);
    const CellStore& store = self.store;
    const int64_t n = store.points.n, k = columns(listed);
    require(n <= kMostPlaces, "lists need at most ", kMostPlaces, " points; there are ", n);
    require(1 <= k && k <= kLongestList, "listed needs 1 to ", kLongestList, " columns; it has ", k);
    check_matrix("listed", rows(listed), k, n, k);
    check_indices("listed", listed.data(), n * k, n, threads, -1);
    require(n_links >= 1, "n_links needs at least 1; it is ", n_links);
    PlacedPoints points(store, threads);
    PlacedLists lists(store, points, listed.data(), k, n_links, threads);
    std::vector<int32_t> order(store.order(), store.order() + n), place(order.size());
    for (int64_t p = 0; p < n; ++p) place[order[p]] = static_cast<int32_t>(p);
    return {std::move(points), std::move(lists), std::move(order), std::move(place), store.scale()};
}

void link(FillingLists& self, int threads) {
    nb::gil_scoped_release release;
    check_threads(threads);
    self.lists.link(threads);
}

void join(FillingLists& self, int64_t first, int64_t last, int threads) {
    nb::gil_scoped_release release;
    check_threads(threads);
    require(0 <= first && first <= last && last <= self.lists.n(), "first and last need places in 0…",
            self.lists.n(), "; they are ", first, " and ", last);
    join_places(self.points, self.lists, first, last, threads);
}

// Of some points: whom they list, and estimates that no divergence is below but for its own rounding.
void read(const FillingLists& self, const Vector<int32_t>& chosen, MutableMatrix<int32_t> index,
          MutableMatrix<double> estimate, int threads) {
    nb::gil_scoped_release release;
    check_threads(threads);
    const int64_t count = rows(chosen), k = self.lists.k();
    check_indices("rows", chosen.data(), count, self.lists.n(), threads);
    check_matrix("index", rows(index), columns(index), count, k);
    check_matrix("estimate", rows(estimate), columns(estimate), count, k);
    parallel_for(
        count, 256, threads, [&] { return std::vector<float>(static_cast<size_t>(k)); },
        [&](int64_t r, std::vector<float>& value) {
            const int64_t p = self.place[chosen.data()[r]];
            int32_t* to = index.data() + r * k;
            self.lists.read(p, to, value.data());
            for (int64_t s = 0; s < k; ++s) {
                to[s] = to[s] < 0 ? -1 : self.order[to[s]];
                estimate.data()[r * k + s] =
                    (static_cast<double>(self.points.part(p)) + value[s]) / self.scale;
            }
        });
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
    nb::class_<FillingLists>(m, "CellLists")
        .def("link", &link, "threads"_a)
        .def("join", &join, "first"_a, "last"_a, "threads"_a)
        .def("read", &read, "rows"_a, "index"_a.noconvert(), "estimate"_a.noconvert(), "threads"_a);
    nb::class_<Cells>(m, "Cells")
        .def("__init__", &make_cells, "x"_a, "h"_a, "u"_a, "w"_a, "order"_a, "bounds"_a, "threads"_a)
        .def("search", &search, "first"_a, "last"_a, "pairs"_a, "index"_a.noconvert(),
             "divergence"_a.noconvert(), "threads"_a)
        .def("search_likely", &search_likely, "first"_a, "last"_a, "pairs"_a, "index"_a.noconvert(),
             "threads"_a)
        .def("search_rows", &search_rows, "x"_a, "h"_a, "u"_a, "own"_a, "order"_a, "bounds"_a, "home"_a,
             "pairs"_a, "index"_a.noconvert(), "divergence"_a.noconvert(), "threads"_a)
        .def("lists", &make_lists, "listed"_a, "n_links"_a, "threads"_a)
        .def("means", &means)
        .def_prop_ro("by_bytes", [](const Cells& self) { return !self.store.bytes.empty(); });
}

}  // namespace bvdt
