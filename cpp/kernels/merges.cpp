#include "merges.hpp"

#include <algorithm>
#include <numeric>

#include "parallel.hpp"

namespace bvdt {
namespace {

constexpr int64_t kStretch = 1 << 14;  // nodes that a thread takes at once

// The points of every group, side by side and in their order.
struct ByGroup {
    std::vector<int64_t> first;  // group -> its first place in items, one more at the end
    std::vector<int32_t> items;
    std::vector<double> total;  // weight of each group

    ByGroup(const Groups& groups, int64_t n)
        : first(static_cast<size_t>(groups.count + 1), 0),
          items(static_cast<size_t>(n)),
          total(static_cast<size_t>(groups.count), 0) {
        for (int64_t i = 0; i < n; ++i)
            ++first[groups.group[i] + 1], total[groups.group[i]] += groups.weight[i];
        std::partial_sum(first.begin(), first.end(), first.begin());
        std::vector<int64_t> next(first.begin(), first.end() - 1);
        for (int64_t i = 0; i < n; ++i) items[next[groups.group[i]]++] = static_cast<int32_t>(i);
    }
};

}  // namespace

int64_t apply_merges(const Merges& merges, const Clusters& clusters, int32_t first_new, int32_t* linkage) {
    const int32_t* pairs = merges.pairs;
    int32_t *cluster = clusters.cluster, *group = clusters.group;
    std::vector<char> gone(static_cast<size_t>(clusters.n), 0);
    for (int64_t t = 0; t < merges.count; ++t) {
        const int32_t a = pairs[2 * t], b = pairs[2 * t + 1];
        linkage[2 * t] = cluster[a], linkage[2 * t + 1] = cluster[b];
        cluster[a] = first_new + static_cast<int32_t>(t);
        gone[b] = 1;
    }
    int32_t n_groups = 0;
    for (int64_t i = 0; i < clusters.n; ++i)
        if (!gone[i]) cluster[n_groups] = cluster[i], group[i] = n_groups++;
    for (int64_t t = merges.count - 1; t >= 0; --t)  // the last merged know their group first
        group[pairs[2 * t + 1]] = group[pairs[2 * t]];
    return n_groups;
}

int64_t pre_order(const int32_t* linkage, int64_t n_merges, const TreeArrays& tree, int threads) {
    const int64_t n = n_merges + 1, n_nodes = 2 * n - 1;
    struct Node {  // side by side: clusters lie anywhere, and each costs one read of memory
        int32_t count = 1, place = 0, start = 0, depth = 0;
    };
    std::vector<Node> nodes(static_cast<size_t>(n_nodes));
    for (int64_t t = 0; t < n_merges; ++t)
        nodes[n + t].count = nodes[linkage[2 * t]].count + nodes[linkage[2 * t + 1]].count;
    int32_t deepest = 0;
    for (int64_t t = n_merges - 1; t >= 0; --t) {
        Node &a = nodes[linkage[2 * t]], &b = nodes[linkage[2 * t + 1]];
        const Node& both = nodes[n + t];
        a.place = both.place + 1, a.start = both.start;
        b.place = a.place + 2 * a.count - 1, b.start = a.start + a.count;
        a.depth = b.depth = both.depth + 1;
        deepest = std::max(deepest, a.depth);
    }
    parallel_stretches(n_nodes, kStretch, threads, [&](int64_t first, int64_t last) {
        for (int64_t c = first; c < last; ++c) {
            tree.size[nodes[c].place] = nodes[c].count, tree.start[nodes[c].place] = nodes[c].start;
            if (c < n) tree.order[nodes[c].start] = static_cast<int32_t>(c);
        }
    });
    tree.parent[0] = -1;
    parallel_stretches(n_nodes, kStretch, threads, [&](int64_t first, int64_t last) {
        for (int64_t k = first; k < last; ++k) {
            if (tree.size[k] == 1) {
                tree.left[k] = tree.right[k] = -1;
                continue;
            }
            const int32_t left = static_cast<int32_t>(k) + 1, right = left - 1 + 2 * tree.size[left];
            tree.left[k] = left, tree.right[k] = right;
            tree.parent[left] = tree.parent[right] = left - 1;
        }
    });
    return deepest;
}

int64_t tree_depth(const int32_t* size, int64_t n_nodes) {
    std::vector<int64_t> ends;  // of the subtrees that are open
    size_t deepest = 0;
    for (int64_t k = 0; k < n_nodes; ++k) {
        while (!ends.empty() && ends.back() <= k) ends.pop_back();
        deepest = std::max(deepest, ends.size());
        if (size[k] > 1) ends.push_back(k + 2 * int64_t{size[k]} - 1);
    }
    return static_cast<int64_t>(deepest);
}

// Each thread takes a range of groups, and a group's rows are added in their order whatever the threads.
void group_means(const double* x, int64_t n, int64_t d, const Groups& groups, double* means, int threads) {
    const int32_t* of = groups.group;
    std::vector<double> total(static_cast<size_t>(groups.count), 0);
    for (int64_t i = 0; i < n; ++i) total[of[i]] += groups.weight[i];
    const int64_t step = (groups.count + threads - 1) / threads;
    parallel_stretches(groups.count, step, threads, [&](int64_t first, int64_t last) {
        std::fill(means + first * d, means + last * d, 0.0);
        for (int64_t i = 0; i < n; ++i) {
            if (of[i] < first || of[i] >= last) continue;
            const double share = groups.weight[i] / total[of[i]];
            const double* row = x + i * d;
            double* mean = means + of[i] * d;
            for (int64_t j = 0; j < d; ++j) mean[j] += share * row[j];
        }
    });
}

SparseMeans group_means(const SparsePoints& points, const Groups& groups, int threads) {
    const ByGroup by_group(groups, points.n);
    const auto marks = [&] { return std::vector<int64_t>(static_cast<size_t>(points.d), -1); };
    SparseMeans means;
    means.indptr.assign(static_cast<size_t>(groups.count + 1), 0);
    parallel_for(groups.count, 64, threads, marks, [&](int64_t g, std::vector<int64_t>& last_group) {
        for (int64_t s = by_group.first[g]; s < by_group.first[g + 1]; ++s) {
            const int32_t item = by_group.items[s];
            for (int64_t e = points.indptr[item]; e < points.indptr[item + 1]; ++e) {
                int64_t& last = last_group[points.indices[e]];
                if (last != g) last = g, ++means.indptr[g + 1];
            }
        }
    });
    std::partial_sum(means.indptr.begin(), means.indptr.end(), means.indptr.begin());
    means.indices.resize(static_cast<size_t>(means.indptr.back()));
    means.x.resize(means.indices.size(), 0), means.h.resize(means.indices.size(), 0);
    // A feature's place counts from indptr[g] on: a thread takes the groups in ascending order, so that what
    // it noted for others lies before.
    parallel_for(groups.count, 64, threads, marks, [&](int64_t g, std::vector<int64_t>& place) {
        int64_t end = means.indptr[g];
        for (int64_t s = by_group.first[g]; s < by_group.first[g + 1]; ++s) {
            const int32_t item = by_group.items[s];
            const double share = groups.weight[item] / by_group.total[g];
            for (int64_t e = points.indptr[item]; e < points.indptr[item + 1]; ++e) {
                int64_t& at = place[points.indices[e]];
                if (at < means.indptr[g]) at = end, means.indices[end++] = points.indices[e];
                means.x[at] += share * points.x[e], means.h[at] += share * points.h[e];
            }
        }
    });
    return means;
}

}  // namespace bvdt
