// Nearest centres from chunks and from neighbours of neighbours: see kernels/neighbors.hpp.
#include "../kernels/neighbors.hpp"
#include "../kernels/exact_ranking.hpp"
#include "../kernels/joins.hpp"
#include "../kernels/postings.hpp"

#include "arrays.hpp"

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

Levels checked_levels(const Vector<double>& u, const Vector<double>& w, int64_t n) {
    check_length("u", rows(u), n, "point");
    check_length("w", rows(w), n, "point");
    return {u.data(), w.data()};
}

template <typename Points>
void offer_chunks(const Points& points, const Vector<double>& u, const Vector<double>& w,
                  const Vector<int32_t>& order, const Vector<int64_t>& bounds, const Indices& index,
                  const Divergences& divergence, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const Levels levels = checked_levels(u, w, points.n);
    const NeighborLists lists = checked_lists(index, divergence, points.n);
    check_distinct("order", order.data(), rows(order), points.n);
    check_offsets("bounds", bounds.data(), rows(bounds), {0, rows(order), false}, true);
    chunk_neighbors(points, levels, {order.data(), bounds.data(), rows(bounds) - 1}, lists, threads);
}

// One pass over the links of `listed`; `before` has no rows on the first pass.
void join(const SparsePoints& points, const Vector<double>& u, const Vector<double>& w,
          const Matrix<int32_t>& listed, const Matrix<int32_t>& before, const Vector<int32_t>& visited,
          const Indices& index, const Divergences& divergence, int threads, bool both_ways) {
    ReleasedGil release;
    check_threads(threads);
    const Levels levels = checked_levels(u, w, points.n);
    const NeighborLists lists = checked_lists(index, divergence, points.n);
    const int64_t k = columns(listed);
    check_matrix("listed", rows(listed), k, points.n, k);
    check_indices("listed", listed.data(), points.n * k, points.n, threads, -1);
    if (rows(before) > 0) {
        check_matrix("before", rows(before), columns(before), points.n, k);
        check_indices("before", before.data(), points.n * k, points.n, threads, -1);
    }
    check_distinct("visited", visited.data(), rows(visited), points.n);
    check_indices("index", index.data(), points.n * lists.k, points.n, threads, -1);
    require(listed.data() != index.data(), "listed needs to be a copy of index; it is the same array");
    const ListLinks links =
        links_of(listed.data(), rows(before) > 0 ? before.data() : nullptr, points.n, k, threads, both_ways);
    join_links(points, levels, links, visited.data(), rows(visited), lists, threads);
}

void search_postings(Vector<int64_t> indptr, Vector<int32_t> indices, Vector<double> x, Vector<double> h,
                     int64_t d, Vector<double> u, Vector<double> w, Vector<int32_t> visited, int64_t budget,
                     int64_t candidates, Indices index, Divergences divergence, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const SparsePoints points = Csr{indptr, indices, x, h, d}.checked(threads);
    const Levels levels = checked_levels(u, w, points.n);
    const NeighborLists lists = checked_lists(index, divergence, points.n);
    check_distinct("visited", visited.data(), rows(visited), points.n);
    require(budget >= 1, "budget needs at least 1 posting; it is ", budget);
    require(candidates >= 1, "candidates needs at least 1 centre; it is ", candidates);
    Postings(points).search(levels, visited.data(), rows(visited), {budget, candidates}, lists, threads);
}

// The k best of each row's candidates, by divergences in double precision; index −1 and +∞ in the lists
// before.
void rank(Matrix<double> x, Matrix<double> h, Vector<double> u, Vector<double> w, Vector<int32_t> order,
          Matrix<int32_t> candidates, Matrix<double> estimates, bool is_bound, Indices index,
          Divergences divergence, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const int64_t n = rows(x), width = columns(candidates);
    require(columns(x) == columns(h), "X and H need one number of columns; they have ", columns(x), " and ",
            columns(h));
    check_length("u", rows(u), n, "row");
    check_length("w", rows(w), rows(h), "centre");
    check_matrix("candidates", rows(candidates), width, n, width);
    check_matrix("estimates", rows(estimates), columns(estimates), n, width);
    check_indices("candidates", candidates.data(), n * width, rows(h), threads, -1);
    check_distinct("order", order.data(), rows(order), n);
    const NeighborLists lists = checked_lists(index, divergence, n);
    rank_exactly({x.data(), h.data(), u.data(), w.data(), columns(x)},
                 {candidates.data(), estimates.data(), width, is_bound}, order.data(), rows(order), lists,
                 threads);
}

}  // namespace

void register_neighbors(nb::module_& m) {
    using namespace nb::literals;
    m.def(
        "chunk_neighbors",
        [](Matrix<double> x, Matrix<double> h, Vector<double> u, Vector<double> w, Vector<int32_t> order,
           Vector<int64_t> bounds, Indices index, Divergences divergence, int threads) {
            offer_chunks(dense_points(x, h), u, w, order, bounds, index, divergence, threads);
        },
        "x"_a, "h"_a, "u"_a, "w"_a, "order"_a, "bounds"_a, "index"_a.noconvert(), "divergence"_a.noconvert(),
        "threads"_a);
    m.def(
        "chunk_neighbors",
        [](Vector<int64_t> indptr, Vector<int32_t> indices, Vector<double> x, Vector<double> h, int64_t d,
           Vector<double> u, Vector<double> w, Vector<int32_t> order, Vector<int64_t> bounds, Indices index,
           Divergences divergence, int threads) {
            check_threads(threads);
            offer_chunks(Csr{indptr, indices, x, h, d}.checked(threads), u, w, order, bounds, index,
                         divergence, threads);
        },
        "indptr"_a, "indices"_a, "x"_a, "h"_a, "d"_a, "u"_a, "w"_a, "order"_a, "bounds"_a,
        "index"_a.noconvert(), "divergence"_a.noconvert(), "threads"_a);
    m.def(
        "join_neighbors",
        [](Vector<int64_t> indptr, Vector<int32_t> indices, Vector<double> x, Vector<double> h, int64_t d,
           Vector<double> u, Vector<double> w, Matrix<int32_t> listed, Matrix<int32_t> before,
           Vector<int32_t> visited, Indices index, Divergences divergence, int threads, bool both_ways) {
            check_threads(threads);
            join(Csr{indptr, indices, x, h, d}.checked(threads), u, w, listed, before, visited, index,
                 divergence, threads, both_ways);
        },
        "indptr"_a, "indices"_a, "x"_a, "h"_a, "d"_a, "u"_a, "w"_a, "listed"_a, "before"_a, "visited"_a,
        "index"_a.noconvert(), "divergence"_a.noconvert(), "threads"_a, "both_ways"_a = true);
    m.def("posting_neighbors", &search_postings, "indptr"_a, "indices"_a, "x"_a, "h"_a, "d"_a, "u"_a, "w"_a,
          "visited"_a, "budget"_a, "candidates"_a, "index"_a.noconvert(), "divergence"_a.noconvert(),
          "threads"_a);
    m.def("rank_exactly", &rank, "x"_a, "h"_a, "u"_a, "w"_a, "order"_a, "candidates"_a, "estimates"_a,
          "is_bound"_a, "index"_a.noconvert(), "divergence"_a.noconvert(), "threads"_a);
}

}  // namespace bvdt
