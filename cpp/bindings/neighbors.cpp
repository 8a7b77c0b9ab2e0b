// The neighbor search: see kernels/ivf.hpp, nn_descent.hpp, postings.hpp and top_k.hpp.
#include "../kernels/ivf.hpp"
#include "../kernels/nn_descent.hpp"
#include "../kernels/parallel.hpp"
#include "../kernels/postings.hpp"

#include "arrays.hpp"

#include <nanobind/stl/pair.h>

#include <algorithm>

namespace bvdt {
namespace {

using Indices = MutableMatrix<int32_t>;
using Divergences = MutableMatrix<double>;

NeighborLists checked_lists(const Indices& index, const Divergences& divergence, int64_t n) {
    const int64_t k = columns(index);
    require(k >= 1, "index needs at least 1 column; it has ", k);
    check_matrix("index", rows(index), k, n, k);
    check_matrix("divergence", rows(divergence), columns(divergence), n, k);
    return {index.data(), divergence.data(), k};
}

void check_dense(const DensePoints& points, int threads) {
    check_finite("X", points.x, points.n * points.d, threads);
    if (points.h != points.x) check_finite("H", points.h, points.n * points.d, threads);
}

ExactPoints checked_exact(const Matrix<double>& x, const Matrix<double>& h, const Vector<double>& u,
                          const Vector<double>& w) {
    require(columns(x) == columns(h), "X and H need one number of columns; they have ", columns(x), " and ",
            columns(h));
    check_length("u", rows(u), rows(x), "row");
    check_length("w", rows(w), rows(h), "point");
    return {x.data(), h.data(), u.data(), w.data(), columns(x)};
}

// The lists and the arrays that they look up values in.
struct Ivf {
    Matrix<double> x, h;
    Vector<double> u, w;
    InvertedLists lists;
};

InvertedLists checked_ivf(const Matrix<double>& x, const Matrix<double>& h, const Vector<double>& u,
                          const Vector<double>& w, const Vector<int32_t>& order,
                          const Vector<int64_t>& bounds, int threads) {
    check_threads(threads);
    const DensePoints points = dense_points(x, h);
    check_dense(points, threads);
    check_length("u", rows(u), points.n, "point");
    check_length("w", rows(w), points.n, "point");
    check_length("order", rows(order), points.n, "point");
    check_distinct("order", order.data(), points.n, points.n);
    check_offsets("bounds", bounds.data(), rows(bounds), {0, points.n, true}, false);
    return {points, u.data(), w.data(), order.data(), bounds.data(), rows(bounds) - 1, threads};
}

void make_ivf(Ivf* self, Matrix<double> x, Matrix<double> h, Vector<double> u, Vector<double> w,
              Vector<int32_t> order, Vector<int64_t> bounds, int threads) {
    auto lists = [&] {
        ReleasedGil release;
        return checked_ivf(x, h, u, w, order, bounds, threads);
    }();
    new (self) Ivf{std::move(x), std::move(h), std::move(u), std::move(w), std::move(lists)};
}

// Lists of rows lifted as the indexed points; own[i] is the indexed point that row i is, or −1.
void search_ivf(const Ivf& self, Matrix<double> x, Matrix<double> h, Vector<double> u, Vector<int32_t> own,
                Vector<int32_t> order, Vector<int64_t> bounds, Vector<int32_t> assigned, int64_t n_candidates,
                int64_t n_reranked, bool is_bound, Matrix<double> exact_x, Matrix<double> exact_h,
                Vector<double> exact_u, Vector<double> exact_w, Indices index, Divergences divergence,
                int threads) {
    ReleasedGil release;
    check_threads(threads);
    const DensePoints points = dense_points(x, h);
    const int64_t n_groups = rows(bounds) - 1, n = self.lists.points.n;
    require(points.d == self.lists.points.d, "X needs ", self.lists.points.d,
            " columns, as the lists; it has ", points.d);
    check_dense(points, threads);
    check_length("u", rows(u), points.n, "point");
    check_length("own", rows(own), points.n, "point");
    const NeighborLists found = checked_lists(index, divergence, points.n);
    check_distinct("order", order.data(), rows(order), points.n);
    check_offsets("bounds", bounds.data(), rows(bounds), {0, rows(order), false}, true);
    check_length("assigned", rows(assigned), n_groups, "group");
    check_indices("assigned", assigned.data(), n_groups, self.lists.n);
    require(n_reranked >= found.k, "rerank needs at least the ", found.k, " neighbors sought; it is ",
            n_reranked);
    require(n_candidates > n_reranked, "n_candidates needs more than the ", n_reranked,
            " that are re-ranked; it is ", n_candidates);
    const ExactPoints exact = checked_exact(exact_x, exact_h, exact_u, exact_w);
    check_matrix("exact_x", rows(exact_x), columns(exact_x), points.n, exact.d);
    check_matrix("exact_h", rows(exact_h), columns(exact_h), n, exact.d);
    search_lists(self.lists,
                 {points, u.data(), own.data(), order.data(), bounds.data(), assigned.data(), n_groups},
                 {n_candidates, std::min(n_reranked, n), is_bound, exact}, found, threads);
}

// Whom the points of lists first … last − 1 are likely to list, in any order, −1 after them.
void ivf_candidates(const Ivf& self, int64_t first, int64_t last, int64_t n_candidates, Indices index,
                    int threads) {
    ReleasedGil release;
    check_threads(threads);
    const InvertedLists& lists = self.lists;
    const int64_t width = columns(index);
    require(width >= 1, "index needs at least 1 column; it has ", width);
    check_matrix("index", rows(index), width, lists.points.n, width);
    require(0 <= first && first <= last && last <= lists.n, "first and last need lists in 0…", lists.n,
            "; they are ", first, " and ", last);
    require(n_candidates > width, "n_candidates needs more than the ", width, " sought; it is ",
            n_candidates);
    std::vector<int32_t> assigned(static_cast<size_t>(last - first));
    for (size_t g = 0; g < assigned.size(); ++g)
        assigned[g] = static_cast<int32_t>(first) + static_cast<int32_t>(g);
    const Queries queries{lists.points,           lists.u,         nullptr,     lists.order(),
                          lists.bounds() + first, assigned.data(), last - first};
    list_candidates(lists, queries, n_candidates, width, index.data(), threads);
}

// h̄ above x̄, (2d·n,), and ⟨x̄, h̄⟩, (n,): copies.
std::pair<NewVector<double>, NewVector<double>> ivf_means(const Ivf& self) {
    std::vector<double> turned = self.lists.turned, own = self.lists.self;
    return {to_numpy(std::move(turned)), to_numpy(std::move(own))};
}

// Lists that grow by NN-descent.
template <typename Rows>
struct Descent {
    Rows points;
    GrowingLists lists;
    Places places;

    void begin(const Matrix<int32_t>& given, int threads) {
        const int64_t n = points.n(), k = lists.k();
        check_matrix("given", rows(given), columns(given), n, k);
        check_indices("given", given.data(), n * k, n, threads, -1);
        begin_lists(points, lists, places, given.data(), threads);
    }
};

struct DenseDescent : Descent<DenseRows> {};

struct SparseDescent : Descent<SparsePlaces> {
    Csr csr;  // that the places refer to, as to u and w
    Vector<double> u, w;
};

GrowingLists checked_growing(int64_t n, int64_t k, int64_t n_forward) {
    require(n <= kMostPlaces, "lists need at most ", kMostPlaces, " points; there are ", n);
    require(1 <= k && k <= std::min(n, kLongestList), "given needs 1 to ", std::min(n, kLongestList),
            " columns; it has ", k);
    require(n_forward >= 1, "n_forward needs at least 1; it is ", n_forward);
    return {n, k, n_forward};
}

void make_dense(DenseDescent* self, const Ivf& ivf, Matrix<int32_t> given, int64_t n_forward, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const int64_t n = ivf.lists.points.n;
    GrowingLists lists = checked_growing(n, columns(given), n_forward);
    DenseDescent made{{DenseRows(ivf.lists, threads), std::move(lists), {ivf.lists.order(), n}}};
    made.begin(given, threads);
    new (self) DenseDescent{std::move(made)};
}

void make_sparse(SparseDescent* self, Vector<int64_t> indptr, Vector<int32_t> indices, Vector<double> x,
                 Vector<double> h, int64_t d, Vector<double> u, Vector<double> w, Vector<int32_t> order,
                 Matrix<int32_t> given, int64_t n_forward, int threads) {
    Csr csr{std::move(indptr), std::move(indices), std::move(x), std::move(h), d};
    auto made = [&] {
        ReleasedGil release;
        check_threads(threads);
        const SparsePoints points = csr.checked(threads);
        check_length("u", rows(u), points.n, "point");
        check_length("w", rows(w), points.n, "point");
        check_length("order", rows(order), points.n, "point");
        check_distinct("order", order.data(), points.n, points.n);
        GrowingLists lists = checked_growing(points.n, columns(given), n_forward);
        Descent<SparsePlaces> descent{SparsePlaces(points, u.data(), w.data(), order.data()),
                                      std::move(lists),
                                      {order.data(), points.n}};
        descent.begin(given, threads);
        return descent;
    }();
    new (self) SparseDescent{std::move(made), std::move(csr), std::move(u), std::move(w)};
}

template <typename Kind>
void link(Kind& self, int threads) {
    ReleasedGil release;
    check_threads(threads);
    self.lists.link(threads);
}

template <typename Kind>
void join(Kind& self, int64_t first, int64_t last, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const int64_t n = self.lists.n();
    require(0 <= first && first <= last && last <= n, "first and last need places in 0…", n, "; they are ",
            first, " and ", last);
    join_lists(self.points, self.lists, first, last, threads);
}

// The lists of some points, −1 after the last, and estimates of their divergences, ascending.
template <typename Kind>
void read(const Kind& self, Vector<int32_t> chosen, Indices index, Divergences estimate, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const int64_t count = rows(chosen), k = self.lists.k();
    check_indices("chosen", chosen.data(), count, self.lists.n());
    check_matrix("index", rows(index), columns(index), count, k);
    check_matrix("estimate", rows(estimate), columns(estimate), count, k);
    parallel_for(
        count, 256, threads, [&] { return std::vector<float>(static_cast<size_t>(k)); },
        [&](int64_t r, std::vector<float>& value) {
            const int64_t p = self.places.place[static_cast<size_t>(chosen.data()[r])];
            int32_t* const to = index.data() + r * k;
            self.lists.read(p, to, value.data());
            for (int64_t s = 0; s < k; ++s) {
                estimate.data()[r * k + s] = self.points.divergence(p, value[static_cast<size_t>(s)]);
                if (to[s] >= 0) to[s] = self.places.order[static_cast<size_t>(to[s])];
            }
        });
}

// The k best of each row's candidates by the divergence itself; −1 after the last candidate.
void rerank_all(Matrix<double> x, Matrix<double> h, Vector<double> u, Vector<double> w,
                Matrix<int32_t> candidates, Matrix<double> estimates, bool is_bound, Indices index,
                Divergences divergence, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const ExactPoints points = checked_exact(x, h, u, w);
    const int64_t n = rows(x), width = columns(candidates);
    check_matrix("candidates", rows(candidates), width, n, width);
    check_matrix("estimates", rows(estimates), columns(estimates), n, width);
    check_indices("candidates", candidates.data(), n * width, rows(h), threads, -1);
    const NeighborLists lists = checked_lists(index, divergence, n);
    parallel_for(
        n, 64, threads, [] { return std::vector<Candidate>(); },
        [&](int64_t i, std::vector<Candidate>& found) {
            found.clear();
            for (int64_t s = i * width; s < (i + 1) * width && candidates.data()[s] >= 0; ++s)
                found.emplace_back(estimates.data()[s], candidates.data()[s]);
            rerank(points, i, found, is_bound, lists.row(i));
        });
}

// The inverted index and the arrays that it reads.
struct Inverted {
    Csr csr;
    Vector<double> w;
    Postings postings;
};

void make_postings(Inverted* self, Vector<int64_t> indptr, Vector<int32_t> indices, Vector<double> x,
                   Vector<double> h, int64_t d, Vector<double> w, int threads) {
    Csr csr{std::move(indptr), std::move(indices), std::move(x), std::move(h), d};
    auto postings = [&] {
        ReleasedGil release;
        check_threads(threads);
        const SparsePoints points = csr.checked(threads);
        check_length("w", rows(w), points.n, "point");
        return Postings(points, w.data());
    }();
    new (self) Inverted{std::move(csr), std::move(w), std::move(postings)};
}

// Offers the chosen rows' lists what their rare features lead to; own[i] is the point that row i is, or −1.
void search_postings(const Inverted& self, Vector<int64_t> indptr, Vector<int32_t> indices, Vector<double> x,
                     Vector<double> u, Vector<int32_t> own, Vector<int32_t> chosen, int64_t n_postings,
                     int64_t n_reranked, Indices index, Divergences divergence, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const SparsePoints queries = Csr{indptr, indices, x, x, self.csr.d}.checked(threads);
    check_length("u", rows(u), queries.n, "row");
    check_length("own", rows(own), queries.n, "row");
    check_distinct("chosen", chosen.data(), rows(chosen), queries.n);
    require(n_postings >= 1, "n_postings needs at least 1; it is ", n_postings);
    require(n_reranked >= 1, "rerank needs at least 1; it is ", n_reranked);
    const NeighborLists lists = checked_lists(index, divergence, queries.n);
    self.postings.search({queries.x_rows(), u.data(), own.data(), chosen.data(), rows(chosen)}, n_postings,
                         n_reranked, lists, threads);
}

void search_chunks(Vector<int64_t> indptr, Vector<int32_t> indices, Vector<double> x, Vector<double> h,
                   int64_t d, Vector<double> u, Vector<double> w, Vector<int32_t> order,
                   Vector<int64_t> bounds, Indices index, Divergences divergence, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const SparsePoints points = Csr{indptr, indices, x, h, d}.checked(threads);
    check_length("u", rows(u), points.n, "point");
    check_length("w", rows(w), points.n, "point");
    const NeighborLists lists = checked_lists(index, divergence, points.n);
    check_distinct("order", order.data(), rows(order), points.n);
    check_offsets("bounds", bounds.data(), rows(bounds), {0, rows(order), false}, true);
    compare_chunks(points, u.data(), w.data(), {order.data(), bounds.data(), rows(bounds) - 1}, lists,
                   threads);
}

template <typename Kind>
nb::class_<Kind> register_descent(nb::module_& m, const char* name) {
    using namespace nb::literals;
    return nb::class_<Kind>(m, name)
        .def("link", &link<Kind>, "threads"_a)
        .def("join", &join<Kind>, "first"_a, "last"_a, "threads"_a)
        .def("read", &read<Kind>, "chosen"_a, "index"_a.noconvert(), "estimate"_a.noconvert(), "threads"_a);
}

}  // namespace

void register_neighbors(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Ivf>(m, "InvertedLists")
        .def("__init__", &make_ivf, "x"_a, "h"_a, "u"_a, "w"_a, "order"_a, "bounds"_a, "threads"_a)
        .def("search", &search_ivf, "x"_a, "h"_a, "u"_a, "own"_a, "order"_a, "bounds"_a, "assigned"_a,
             "n_candidates"_a, "rerank"_a, "is_bound"_a, "exact_x"_a, "exact_h"_a, "exact_u"_a, "exact_w"_a,
             "index"_a.noconvert(), "divergence"_a.noconvert(), "threads"_a)
        .def("candidates", &ivf_candidates, "first"_a, "last"_a, "n_candidates"_a, "index"_a.noconvert(),
             "threads"_a)
        .def("means", &ivf_means)
        .def_prop_ro("reach", [](const Ivf&) { return kReach; });
    register_descent<DenseDescent>(m, "DenseDescent")
        .def("__init__", &make_dense, "lists"_a, "given"_a, "n_forward"_a, "threads"_a);
    register_descent<SparseDescent>(m, "SparseDescent")
        .def("__init__", &make_sparse, "indptr"_a, "indices"_a, "x"_a, "h"_a, "d"_a, "u"_a, "w"_a, "order"_a,
             "given"_a, "n_forward"_a, "threads"_a);
    nb::class_<Inverted>(m, "Postings")
        .def("__init__", &make_postings, "indptr"_a, "indices"_a, "x"_a, "h"_a, "d"_a, "w"_a, "threads"_a)
        .def("search", &search_postings, "indptr"_a, "indices"_a, "x"_a, "u"_a, "own"_a, "chosen"_a,
             "n_postings"_a, "rerank"_a, "index"_a.noconvert(), "divergence"_a.noconvert(), "threads"_a);
    m.def("compare_chunks", &search_chunks, "indptr"_a, "indices"_a, "x"_a, "h"_a, "d"_a, "u"_a, "w"_a,
          "order"_a, "bounds"_a, "index"_a.noconvert(), "divergence"_a.noconvert(), "threads"_a);
    m.def("rerank", &rerank_all, "x"_a, "h"_a, "u"_a, "w"_a, "candidates"_a, "estimates"_a, "is_bound"_a,
          "index"_a.noconvert(), "divergence"_a.noconvert(), "threads"_a);
}

}  // namespace bvdt
