// Nearest centres by cells: see kernels/cell_store.hpp and kernels/cell_search.hpp.
#include "../kernels/cell_joins.hpp"
#include "../kernels/cell_search.hpp"
#include "../kernels/exact_ranking.hpp"
#include "../kernels/parallel.hpp"
#include "arrays.hpp"

#include <nanobind/stl/pair.h>

#include <algorithm>

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
        ReleasedGil release;
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
    ReleasedGil release;
    check_threads(threads);
    const int64_t k = check_search(self, first, last, pairs, index);
    check_matrix("divergence", rows(divergence), columns(divergence), self.store.points.n, k);
    search_cells(self.store, {first, last}, pairs, {index.data(), divergence.data(), k}, threads);
}

// Lists of the cells' points that fill up pass by pass; refers to nothing of the cells but a copy of their
// order.
struct FillingLists {
    PlacedPoints points;
    PlacedLists lists;
    std::vector<int32_t> order;  // (N,)
    double scale;
    int64_t n_cells, n_begun;  // cells

    void check_begun() const {
        require(n_begun == n_cells, "lists of ", n_cells, " cells need to be begun; those of ", n_begun,
                " are");
    }
};

FillingLists make_lists(const Cells& self, int64_t k, int64_t n_links, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const CellStore& store = self.store;
    const int64_t n = store.points.n;
    require(n <= kMostPlaces, "lists need at most ", kMostPlaces, " points; there are ", n);
    require(1 <= k && k <= std::min(n, kLongestList), "k needs 1 to ", std::min(n, kLongestList), "; it is ",
            k);
    require(n_links >= 1, "n_links needs at least 1; it is ", n_links);
    return {PlacedPoints(store, threads),
            PlacedLists(n, k, n_links),
            {store.order(), store.order() + n},
            store.scale(),
            store.n,
            0};
}

// The next cells' lists, with whom estimates tell to be near.
void begin_lists(const Cells& self, FillingLists& lists, int64_t first, int64_t last, int64_t pairs,
                 int threads) {
    ReleasedGil release;
    check_threads(threads);
    const int64_t n = self.store.points.n, n_cells = self.store.n, k = lists.lists.k();
    require(lists.lists.n() == n && lists.n_cells == n_cells, "lists need to be of these ", n, " points");
    require(first == lists.n_begun && first <= last && last <= n_cells, "first and last need cells in ",
            lists.n_begun, "…", n_cells, "; they are ", first, " and ", last);
    require(pairs > k, "pairs needs more than the ", k, " neighbours sought; it is ", pairs);
    begin_places(self.store, lists.points, lists.lists, {first, last}, pairs, threads);
    lists.n_begun = last;
}

void link(FillingLists& self, int threads) {
    ReleasedGil release;
    check_threads(threads);
    self.check_begun();
    self.lists.link(threads);
}

void join(FillingLists& self, int64_t first, int64_t last, int threads) {
    ReleasedGil release;
    check_threads(threads);
    require(0 <= first && first <= last && last <= self.lists.n(), "first and last need places in 0…",
            self.lists.n(), "; they are ", first, " and ", last);
    self.check_begun();
    join_places(self.points, self.lists, first, last, threads);
}

// What point i lists, and estimates that no divergence is below but for its own rounding, (k,) each.
void read_list(const FillingLists& self, int64_t i, float* value, int32_t* index, double* estimate) {
    const int64_t p = self.points.place(i);
    self.lists.read(p, index, value);
    for (int64_t s = 0; s < self.lists.k(); ++s) {
        index[s] = index[s] < 0 ? -1 : self.order[index[s]];
        estimate[s] = (static_cast<double>(self.points.part(p)) + value[s]) / self.scale;
    }
}

// The same of some points.
void read(const FillingLists& self, const Vector<int32_t>& chosen, MutableMatrix<int32_t> index,
          MutableMatrix<double> estimate, int threads) {
    ReleasedGil release;
    check_threads(threads);
    self.check_begun();
    const int64_t count = rows(chosen), k = self.lists.k();
    check_indices("rows", chosen.data(), count, self.lists.n(), threads);
    check_matrix("index", rows(index), columns(index), count, k);
    check_matrix("estimate", rows(estimate), columns(estimate), count, k);
    parallel_for(
        count, 256, threads, [&] { return std::vector<float>(static_cast<size_t>(k)); },
        [&](int64_t r, std::vector<float>& value) {
            read_list(self, chosen.data()[r], value.data(), index.data() + r * k, estimate.data() + r * k);
        });
}

// The best of every list by the divergence itself, of the points as they were lifted.
void rank(const FillingLists& self, const Matrix<double>& x, const Matrix<double>& h, const Vector<double>& u,
          const Vector<double>& w, bool is_bound, MutableMatrix<int32_t> index,
          MutableMatrix<double> divergence, int threads) {
    ReleasedGil release;
    check_threads(threads);
    self.check_begun();
    const DensePoints points = dense_points(x, h);
    const int64_t n = self.lists.n(), width = self.lists.k(), k = columns(index);
    require(points.n == n, "X needs ", n, " rows, as there are lists; it has ", points.n);
    check_length("u", rows(u), n, "point");
    check_length("w", rows(w), n, "point");
    check_matrix("index", rows(index), k, n, k);
    check_matrix("divergence", rows(divergence), columns(divergence), n, k);
    require(k >= 1, "index needs at least 1 column; it has ", k);
    const RowsAndCentres both{points.x, points.h, u.data(), w.data(), points.d};
    const NeighborLists lists{index.data(), divergence.data(), k};
    struct List {
        std::vector<float> value;
        std::vector<int32_t> index;
        std::vector<double> estimate;
    };
    const size_t room = static_cast<size_t>(width);
    parallel_for(
        n, 256, threads,
        [&] { return List{std::vector<float>(room), std::vector<int32_t>(room), std::vector<double>(room)}; },
        [&](int64_t p, List& list) {
            const int64_t i = self.order[p];
            read_list(self, i, list.value.data(), list.index.data(), list.estimate.data());
            const int64_t count = std::find(list.index.begin(), list.index.end(), -1) - list.index.begin();
            rank_row(both, i, list.index.data(), list.estimate.data(), count, is_bound, list_of(lists, i));
        });
}

// Lists of other rows, lifted alike, or of some of the cells' own: own[i] is the centre that row i is, or −1.
void search_rows(const Cells& self, Matrix<double> x, Matrix<double> h, Vector<double> u, Vector<int32_t> own,
                 Vector<int32_t> order, Vector<int64_t> bounds, Vector<int32_t> home, int64_t pairs,
                 MutableMatrix<int32_t> index, MutableMatrix<double> divergence, int threads) {
    ReleasedGil release;
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
        .def("read", &read, "rows"_a, "index"_a.noconvert(), "estimate"_a.noconvert(), "threads"_a)
        .def("rank", &rank, "x"_a, "h"_a, "u"_a, "w"_a, "is_bound"_a, "index"_a.noconvert(),
             "divergence"_a.noconvert(), "threads"_a);
    nb::class_<Cells>(m, "Cells")
        .def("__init__", &make_cells, "x"_a, "h"_a, "u"_a, "w"_a, "order"_a, "bounds"_a, "threads"_a)
        .def("search", &search, "first"_a, "last"_a, "pairs"_a, "index"_a.noconvert(),
             "divergence"_a.noconvert(), "threads"_a)
        .def("search_rows", &search_rows, "x"_a, "h"_a, "u"_a, "own"_a, "order"_a, "bounds"_a, "home"_a,
             "pairs"_a, "index"_a.noconvert(), "divergence"_a.noconvert(), "threads"_a)
        .def("lists", &make_lists, "k"_a, "n_links"_a, "threads"_a)
        .def("begin", &begin_lists, "lists"_a, "first"_a, "last"_a, "pairs"_a, "threads"_a)
        .def("means", &means)
        .def_prop_ro("reach", [](const Cells&) { return kReach; });
}

}  // namespace bvdt
