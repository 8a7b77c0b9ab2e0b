// Ward trees: see kernels/split.hpp, ward.hpp and merges.hpp.
#include "../kernels/ward.hpp"

#include <nanobind/stl/optional.h>

#include <limits>

#include "../kernels/merges.hpp"
#include "../kernels/split.hpp"
#include "arrays.hpp"

namespace bvdt {
namespace {

struct Levels {  // one entry per level
    const Vector<double>& smallest_side;
    const Vector<int64_t>& seed;
};

template <typename Points>
nb::tuple split(const Points& points, const Vector<double>& weight, const MutableVector<int32_t>& order,
                const Vector<int64_t>& bounds, int64_t cap, const Levels& levels, int threads) {
    SplitBounds result;
    {
        ReleasedGil release;
        check_threads(threads);
        check_length("weight", rows(weight), points.n, "point");
        check_weights(weight.data(), points.n, threads);
        check_length("order", rows(order), points.n, "point");
        check_indices("order", order.data(), points.n, points.n, threads);
        check_offsets("bounds", bounds.data(), rows(bounds), {0, points.n, true}, false);
        require(cap >= 1, "cap needs at least 1; it is ", cap);
        const int64_t n_levels = rows(levels.seed);
        check_length("smallest_side", rows(levels.smallest_side), n_levels, "level");
        check_shares("smallest_side", levels.smallest_side.data(), n_levels, 0.5);
        result = split_levels(points, {weight.data(), order.data(), bounds.data(), rows(bounds) - 1},
                              {cap, levels.smallest_side.data(), levels.seed.data(), n_levels}, threads);
    }
    return nb::make_tuple(to_numpy(std::move(result.bounds)), result.levels);
}

// The rows of the chunks at hand alone, which are few when a caller goes from slice to slice.
void check_rows(const DensePoints&, int64_t, const int32_t*, int64_t, int) {}
void check_rows(const SparsePoints& points, int64_t nnz, const int32_t* order, int64_t count, int threads) {
    check_csr_rows(points.x_rows(), nnz, order, count, threads);
}

template <typename Points>
void ward(const Points& points, int64_t nnz, const Vector<double>& weight, const Vector<int32_t>& order,
          const Vector<int64_t>& bounds, const MutableMatrix<int32_t>& pairs,
          const MutableVector<double>& costs, int threads, const WardNear& near = {}) {
    ReleasedGil release;
    check_threads(threads);
    check_offsets("bounds", bounds.data(), rows(bounds), {0, rows(order), false}, false);
    const int64_t n_chunks = rows(bounds) - 1, first = bounds.data()[0];
    const int64_t count = bounds.data()[n_chunks] - first, n_merges = count - n_chunks;
    check_indices("order", order.data() + first, count, points.n, threads);
    check_rows(points, nnz, order.data() + first, count, threads);
    check_length("weight", rows(weight), points.n, "point");
    check_weights(weight.data(), points.n, threads);
    check_matrix("pairs", rows(pairs), columns(pairs), n_merges, 2);
    check_length("costs", rows(costs), n_merges, "merge");
    ward_chunks(points, {weight.data(), order.data(), bounds.data(), n_chunks, near},
                {pairs.data(), costs.data()}, threads);
}

WardNear checked_near(const std::optional<Matrix<int32_t>>& near, const std::optional<Vector<double>>& limit,
                      int64_t n) {
    if (!near || !limit) return {};
    const int64_t k = columns(*near);
    check_matrix("near", rows(*near), k, n, k);
    check_indices("near", near->data(), n * k, n, 1, -1);
    check_length("limit", rows(*limit), n, "point");
    return {near->data(), limit->data(), k};
}

nb::tuple merge_items(Matrix<int32_t> pairs, Vector<double> costs, Vector<int32_t> order,
                      Vector<int64_t> bounds, int64_t count, MutableVector<int32_t> cluster,
                      int32_t first_new, MutableMatrix<int32_t> linkage, MutableVector<int32_t> group,
                      int threads) {
    AppliedMerges applied;
    {
        ReleasedGil release;
        check_threads(threads);
        const int64_t n = rows(cluster), n_chunks = rows(bounds) - 1, n_merges = n - n_chunks;
        check_offsets("bounds", bounds.data(), rows(bounds), {0, n, true}, false);
        check_matrix("pairs", rows(pairs), columns(pairs), n_merges, 2);
        check_length("costs", rows(costs), n_merges, "merge");
        check_length("order", rows(order), n, "item");
        check_length("group", rows(group), n, "item");
        require(count >= 1, "count needs at least 1; it is ", count);
        require(rows(linkage) >= n_merges && columns(linkage) == 2, "linkage needs 2 columns and ", n_merges,
                " rows or more; it has ", columns(linkage), " and ", rows(linkage));
        require(first_new >= 0 && n_merges <= std::numeric_limits<int32_t>::max() - first_new,
                "first_new needs a number ≥ 0 with room for ", n_merges, " more; it is ", first_new);
        check_permutation("order", order.data(), n, threads);
        check_indices("cluster", cluster.data(), n, first_new, threads);
        check_pairs(pairs.data(), bounds.data(), n_chunks, threads);
        const Merges merges{pairs.data(), costs.data(), order.data(), bounds.data(), n_chunks};
        const double most = kth_smallest(costs.data(), n_merges, count, threads);
        applied =
            apply_merges(merges, most, {cluster.data(), group.data(), n}, first_new, linkage.data(), threads);
    }
    return nb::make_tuple(applied.count, to_numpy(std::move(applied.cluster)));
}

int64_t order_tree(Matrix<int32_t> linkage, MutableVector<int32_t> size, MutableVector<int32_t> order,
                   MutableVector<int32_t> left, MutableVector<int32_t> right, MutableVector<int32_t> parent,
                   MutableVector<int32_t> start, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const int64_t n = rows(linkage) + 1;
    check_matrix("linkage", n - 1, columns(linkage), n - 1, 2);
    require(n <= std::numeric_limits<int32_t>::max() / 2, "linkage needs fewer merges; it has ", n - 1);
    check_length("size", rows(size), 2 * n - 1, "node");
    check_length("order", rows(order), n, "point");
    check_length("left", rows(left), 2 * n - 1, "node");
    check_length("right", rows(right), 2 * n - 1, "node");
    check_length("parent", rows(parent), 2 * n - 1, "node");
    check_length("start", rows(start), 2 * n - 1, "node");
    check_linkage(linkage.data(), n - 1, threads);
    const TreeArrays tree{order.data(), size.data(), left.data(), right.data(), parent.data(), start.data()};
    return pre_order(linkage.data(), n - 1, tree, threads);
}

int64_t depth(Vector<int32_t> size) {
    ReleasedGil release;
    check_sizes(size.data(), rows(size), 1);
    return tree_depth(size.data(), rows(size));
}

Groups checked_groups(const Vector<double>& weight, const Vector<int32_t>& group, int64_t n, int64_t n_groups,
                      int threads) {
    check_threads(threads);
    check_length("weight", rows(weight), n, "point");
    check_weights(weight.data(), n, threads);
    check_length("group", rows(group), n, "point");
    require(n_groups >= 1 && n_groups <= n, "n_groups needs 1…", n, "; it is ", n_groups);
    check_indices("group", group.data(), n, n_groups, threads);
    return {weight.data(), group.data(), n_groups};
}

void dense_means(Matrix<double> x, Vector<double> weight, Vector<int32_t> group, MutableMatrix<double> means,
                 MutableVector<double> total, int threads) {
    ReleasedGil release;
    const Groups groups = checked_groups(weight, group, rows(x), rows(means), threads);
    check_matrix("means", rows(means), columns(means), rows(means), columns(x));
    check_length("total", rows(total), rows(means), "group");
    group_means(x.data(), rows(x), columns(x), groups, means.data(), total.data(), threads);
}

nb::tuple sparse_means(Vector<int64_t> indptr, Vector<int32_t> indices, Vector<double> x, Vector<double> h,
                       int64_t d, Vector<double> weight, Vector<int32_t> group, int64_t n_groups,
                       int threads) {
    SparseMeans means;
    {
        ReleasedGil release;
        check_threads(threads);
        const SparsePoints points = Csr{indptr, indices, x, h, d}.checked(threads);
        means = group_means(points, checked_groups(weight, group, points.n, n_groups, threads), threads);
    }
    return nb::make_tuple(to_numpy(std::move(means.indptr)), to_numpy(std::move(means.indices)),
                          to_numpy(std::move(means.x)), to_numpy(std::move(means.h)));
}

void register_split(nb::module_& m) {
    using namespace nb::literals;
    m.def(
        "split_levels",
        [](Matrix<double> x, Matrix<double> h, Vector<double> weight, MutableVector<int32_t> order,
           Vector<int64_t> bounds, int64_t cap, Vector<double> smallest_side, Vector<int64_t> seed,
           int threads) {
            return split(dense_points(x, h), weight, order, bounds, cap, {smallest_side, seed}, threads);
        },
        "x"_a, "h"_a, "weight"_a, "order"_a.noconvert(), "bounds"_a, "cap"_a, "smallest_side"_a, "seed"_a,
        "threads"_a);
    m.def(
        "split_levels",
        [](Vector<int64_t> indptr, Vector<int32_t> indices, Vector<double> x, Vector<double> h, int64_t d,
           Vector<double> weight, MutableVector<int32_t> order, Vector<int64_t> bounds, int64_t cap,
           Vector<double> smallest_side, Vector<int64_t> seed, int threads) {
            check_threads(threads);
            return split(Csr{indptr, indices, x, h, d}.checked(threads), weight, order, bounds, cap,
                         {smallest_side, seed}, threads);
        },
        "indptr"_a, "indices"_a, "x"_a, "h"_a, "d"_a, "weight"_a, "order"_a.noconvert(), "bounds"_a, "cap"_a,
        "smallest_side"_a, "seed"_a, "threads"_a);
}

void register_chunks(nb::module_& m) {
    using namespace nb::literals;
    m.def(
        "ward_chunks",
        [](Matrix<double> x, Matrix<double> h, Vector<double> weight, Vector<int32_t> order,
           Vector<int64_t> bounds, MutableMatrix<int32_t> pairs, MutableVector<double> costs, int threads,
           std::optional<Matrix<int32_t>> near, std::optional<Vector<double>> limit) {
            const DensePoints points = dense_points(x, h);
            ward(points, 0, weight, order, bounds, pairs, costs, threads,
                 checked_near(near, limit, points.n));
        },
        "x"_a, "h"_a, "weight"_a, "order"_a, "bounds"_a, "pairs"_a.noconvert(), "costs"_a.noconvert(),
        "threads"_a, "near"_a.none() = nb::none(), "limit"_a.none() = nb::none());
    m.def(
        "ward_chunks",
        [](Vector<int64_t> indptr, Vector<int32_t> indices, Vector<double> x, Vector<double> h, int64_t d,
           Vector<double> weight, Vector<int32_t> order, Vector<int64_t> bounds, MutableMatrix<int32_t> pairs,
           MutableVector<double> costs, int threads) {
            const Csr csr{indptr, indices, x, h, d};
            ward(csr.shaped(), csr.nnz(), weight, order, bounds, pairs, costs, threads);
        },
        "indptr"_a, "indices"_a, "x"_a, "h"_a, "d"_a, "weight"_a, "order"_a, "bounds"_a,
        "pairs"_a.noconvert(), "costs"_a.noconvert(), "threads"_a);
}

}  // namespace

void register_ward(nb::module_& m) {
    using namespace nb::literals;
    register_split(m);
    register_chunks(m);
    m.def("apply_merges", &merge_items, "pairs"_a, "costs"_a, "order"_a, "bounds"_a, "count"_a,
          "cluster"_a.noconvert(), "first_new"_a, "linkage"_a.noconvert(), "group"_a.noconvert(),
          "threads"_a);
    m.def("pre_order", &order_tree, "linkage"_a, "size"_a.noconvert(), "order"_a.noconvert(),
          "left"_a.noconvert(), "right"_a.noconvert(), "parent"_a.noconvert(), "start"_a.noconvert(),
          "threads"_a);
    m.def("tree_depth", &depth, "size"_a);
    m.def("dense_group_means", &dense_means, "x"_a, "weight"_a, "group"_a, "means"_a.noconvert(),
          "total"_a.noconvert(), "threads"_a);
    m.def("group_means", &sparse_means, "indptr"_a, "indices"_a, "x"_a, "h"_a, "d"_a, "weight"_a, "group"_a,
          "n_groups"_a, "threads"_a);
}

}  // namespace bvdt
