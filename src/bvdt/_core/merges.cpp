// From merges to a tree, and to the points of the next round.
#include <algorithm>
#include <numeric>
#include <vector>

#include "points.hpp"

namespace bvdt {
namespace {

// Carries out merges of items in the given order: linkage receives the merged clusters' numbers, the new one
// being first_new, first_new + 1, …; group receives each item's place among the clusters that remain.
int64_t apply_merges(const Matrix<int32_t>& pairs, const MutableVector<int32_t>& cluster, int32_t first_new,
                     const MutableMatrix<int32_t>& linkage, const MutableVector<int32_t>& group) {
    const int64_t n = static_cast<int64_t>(cluster.shape(0)), n_merges = static_cast<int64_t>(pairs.shape(0));
    if (linkage.shape(0) != pairs.shape(0) || linkage.shape(1) != 2 || pairs.shape(1) != 2 ||
        group.shape(0) != cluster.shape(0))
        throw std::invalid_argument("apply_merges: linkage must match pairs, group must match cluster");
    nb::gil_scoped_release release;
    std::vector<int32_t> into(static_cast<size_t>(n), -1);
    for (int64_t t = 0; t < n_merges; ++t) {
        const int32_t a = pairs.data()[2 * t], b = pairs.data()[2 * t + 1];
        if (a < 0 || b < 0 || a >= n || b >= n || a == b || into[a] >= 0 || into[b] >= 0)
            throw std::invalid_argument("apply_merges: a pair names an item that is gone");
        linkage.data()[2 * t] = cluster.data()[a], linkage.data()[2 * t + 1] = cluster.data()[b];
        cluster.data()[a] = first_new + static_cast<int32_t>(t);
        into[b] = a;
    }
    int32_t n_groups = 0;
    for (int64_t i = 0; i < n; ++i)
        if (into[i] < 0) cluster.data()[n_groups] = cluster.data()[i], group.data()[i] = n_groups++;
    for (int64_t t = n_merges - 1; t >= 0; --t)  // the last merged know their group first
        group.data()[pairs.data()[2 * t + 1]] = group.data()[pairs.data()[2 * t]];
    return n_groups;
}

// Pre-order sizes and leaf order of the tree that merges clusters as a linkage does (point i is cluster i,
// merge t makes cluster N + t).
void pre_order(const Matrix<int32_t>& linkage, const MutableVector<int32_t>& size,
               const MutableVector<int32_t>& order) {
    const int64_t n_merges = static_cast<int64_t>(linkage.shape(0)), n = n_merges + 1;
    if (linkage.shape(1) != 2 || static_cast<int64_t>(size.shape(0)) != 2 * n - 1 ||
        static_cast<int64_t>(order.shape(0)) != n)
        throw std::invalid_argument("pre_order: size needs 2N − 1 entries, order N");
    const int32_t* merged = linkage.data();
    std::vector<int32_t> count(static_cast<size_t>(2 * n - 1), 1), place(static_cast<size_t>(2 * n - 1), -1);
    std::vector<char> used(static_cast<size_t>(2 * n - 1), 0);
    nb::gil_scoped_release release;
    for (int64_t t = 0; t < n_merges; ++t) {
        const int32_t a = merged[2 * t], b = merged[2 * t + 1];
        if (a < 0 || b < 0 || a == b || a >= n + t || b >= n + t || used[a] || used[b])
            throw std::invalid_argument(
                "pre_order: each merge needs two clusters made before it, each merged once");
        used[a] = used[b] = 1;
        count[n + t] = count[a] + count[b];
    }
    place[2 * n - 2] = 0;
    int32_t* leaf_at = order.data();
    std::vector<int32_t> start(static_cast<size_t>(2 * n - 1), 0);
    for (int64_t t = n_merges - 1; t >= 0; --t) {
        const int32_t a = merged[2 * t], b = merged[2 * t + 1];
        place[a] = place[n + t] + 1, start[a] = start[n + t];
        place[b] = place[a] + 2 * count[a] - 1, start[b] = start[a] + count[a];
    }
    for (int64_t c = 0; c < 2 * n - 1; ++c) size.data()[place[c]] = count[c];
    for (int64_t i = 0; i < n; ++i) leaf_at[start[i]] = static_cast<int32_t>(i);
}

// Weighted mean of each group's rows, (n_groups, d). Each thread takes a range of groups, and a group's rows
// are added in their order whatever the threads.
void dense_group_means(const Matrix<double>& x, const Vector<double>& weight, const Vector<int32_t>& group,
                       const MutableMatrix<double>& means, [[maybe_unused]] int threads) {
    const int64_t n = static_cast<int64_t>(x.shape(0)), d = static_cast<int64_t>(x.shape(1));
    const int64_t n_groups = static_cast<int64_t>(means.shape(0));
    if (weight.shape(0) != x.shape(0) || group.shape(0) != x.shape(0) || means.shape(1) != x.shape(1) ||
        n_groups < 1 || threads < 1)
        throw std::invalid_argument("dense_group_means: weight, group and means must match the points");
    const int32_t* of = group.data();
    if (std::any_of(of, of + n, [n_groups](int32_t g) { return g < 0 || g >= n_groups; }))
        throw std::invalid_argument("dense_group_means: a group number is out of range");
    nb::gil_scoped_release release;
    std::vector<double> total(static_cast<size_t>(n_groups), 0);
    for (int64_t i = 0; i < n; ++i) total[of[i]] += weight.data()[i];
    const int64_t n_parts = threads, step = (n_groups + n_parts - 1) / n_parts;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t part = 0; part < n_parts; ++part) {
        const int64_t first = part * step, last = std::min(first + step, n_groups);
        if (first < last) std::fill(means.data() + first * d, means.data() + last * d, 0.0);
        for (int64_t i = 0; i < n; ++i) {
            if (of[i] < first || of[i] >= last) continue;
            const double share = weight.data()[i] / total[of[i]];
            const double* row = x.data() + i * d;
            double* mean = means.data() + of[i] * d;
            for (int64_t j = 0; j < d; ++j) mean[j] += share * row[j];
        }
    }
}

// Weighted mean of each group's points, in CSR: (indptr, indices, x, h).
nb::tuple group_means(const SparsePoints& points, const Vector<double>& weight, const Vector<int32_t>& group,
                      int64_t n_groups, int threads) {
    if (static_cast<int64_t>(weight.shape(0)) != points.n ||
        static_cast<int64_t>(group.shape(0)) != points.n || n_groups < 1 || threads < 1)
        throw std::invalid_argument("group_means: weight and group must match the points");
    std::vector<int64_t> indptr(static_cast<size_t>(n_groups + 1), 0);
    std::vector<int32_t> indices;
    std::vector<double> x, h;
    {
        nb::gil_scoped_release release;
        std::vector<int64_t> first(static_cast<size_t>(n_groups + 1),
                                   0);  // group -> its first place in items
        std::vector<double> total(static_cast<size_t>(n_groups), 0);
        for (int64_t i = 0; i < points.n; ++i) {
            const int32_t g = group.data()[i];
            if (g < 0 || g >= n_groups)
                throw std::invalid_argument("group_means: a group number is out of range");
            ++first[g + 1], total[g] += weight.data()[i];
        }
        std::partial_sum(first.begin(), first.end(), first.begin());
        std::vector<int32_t> items(static_cast<size_t>(points.n));
        std::vector<int64_t> next(first.begin(), first.end() - 1);
        for (int64_t i = 0; i < points.n; ++i) items[next[group.data()[i]]++] = static_cast<int32_t>(i);
#pragma omp parallel num_threads(threads) if (threads > 1)
        {
            std::vector<int64_t> seen(static_cast<size_t>(points.d),
                                      -1);  // feature -> last group that had it
#pragma omp for schedule(dynamic, 64)
            for (int64_t g = 0; g < n_groups; ++g)
                for (int64_t s = first[g]; s < first[g + 1]; ++s)
                    for (int64_t e = points.indptr[items[s]]; e < points.indptr[items[s] + 1]; ++e)
                        if (seen[points.indices[e]] != g) seen[points.indices[e]] = g, ++indptr[g + 1];
#pragma omp single
            {
                std::partial_sum(indptr.begin(), indptr.end(), indptr.begin());
                indices.resize(static_cast<size_t>(indptr.back()));
                x.resize(indices.size(), 0), h.resize(indices.size(), 0);
            }
            std::fill(seen.begin(), seen.end(), -1);  // feature -> its place, valid from indptr[g] on
#pragma omp for schedule(static)
            for (int64_t g = 0; g < n_groups; ++g) {
                int64_t end = indptr[g];
                for (int64_t s = first[g]; s < first[g + 1]; ++s) {
                    const double share = weight.data()[items[s]] / total[g];
                    for (int64_t e = points.indptr[items[s]]; e < points.indptr[items[s] + 1]; ++e) {
                        int64_t& at = seen[points.indices[e]];
                        if (at < indptr[g]) at = end, indices[end++] = points.indices[e];
                        x[at] += share * points.x[e], h[at] += share * points.h[e];
                    }
                }
            }
        }
    }
    return nb::make_tuple(to_numpy(std::move(indptr)), to_numpy(std::move(indices)), to_numpy(std::move(x)),
                          to_numpy(std::move(h)));
}

}  // namespace

void register_merges(nb::module_& m) {
    using namespace nb::literals;
    m.def("apply_merges", &apply_merges, "pairs"_a, "cluster"_a.noconvert(), "first_new"_a,
          "linkage"_a.noconvert(), "group"_a.noconvert());
    m.def("pre_order", &pre_order, "linkage"_a, "size"_a.noconvert(), "order"_a.noconvert());
    m.def("dense_group_means", &dense_group_means, "x"_a, "weight"_a, "group"_a, "means"_a.noconvert(),
          "threads"_a);
    m.def(
        "group_means",
        [](Vector<int64_t> indptr, Vector<int32_t> indices, Vector<double> x, Vector<double> h, int64_t d,
           Vector<double> weight, Vector<int32_t> group, int64_t n_groups, int threads) {
            return group_means(sparse_points(indptr, indices, x, h, d), weight, group, n_groups, threads);
        },
        "indptr"_a, "indices"_a, "x"_a, "h"_a, "d"_a, "weight"_a, "group"_a, "n_groups"_a, "threads"_a);
}

}  // namespace bvdt
