#include "merges.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

#include "large.hpp"
#include "parallel.hpp"

namespace bvdt {
namespace {

constexpr int64_t kStretch = 1 << 14;  // items that a thread takes at once
constexpr int64_t kFewest = 1 << 10;   // groups that are worth a thread
constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

namespace {

// The `rank`-th smallest value, from 0; what is not a number counts as infinite. Only those between two
// values of a sample are looked at closely.
double ranked(const double* values, int64_t n, int64_t rank, int threads) {
    constexpr int64_t sampled = 1 << 12, around = 1 << 7;  // four deviations of a place in the sample
    const auto value = [&](int64_t i) { return values[i] == values[i] ? values[i] : kInfinity; };
    const auto among = [&](std::vector<double>& some, int64_t place) {
        std::nth_element(some.begin(), some.begin() + place, some.end());
        return some[place];
    };
    const auto among_all = [&] {
        std::vector<double> all(static_cast<size_t>(n));
        for (int64_t i = 0; i < n; ++i) all[i] = value(i);
        return among(all, rank);
    };
    if (n <= 4 * sampled) return among_all();
    std::vector<double> sample(static_cast<size_t>(sampled));
    for (int64_t s = 0; s < sampled; ++s) sample[s] = value(s * n / sampled);
    std::sort(sample.begin(), sample.end());
    const int64_t place = rank * sampled / n;
    const double low = place > around ? sample[place - around] : -kInfinity;
    const double high = place + around < sampled ? sample[place + around] : kInfinity;
    const int64_t n_stretches = (n + kStretch - 1) / kStretch;
    std::vector<int64_t> below(static_cast<size_t>(n_stretches), 0);
    std::vector<std::vector<double>> between(below.size());
    parallel_stretches(n, kStretch, threads, [&](int64_t first, int64_t last) {
        int64_t less = 0;
        for (int64_t i = first; i < last; ++i) {
            const double v = value(i);
            less += v < low;
            if (v >= low && v <= high) between[first / kStretch].push_back(v);
        }
        below[first / kStretch] = less;
    });
    const int64_t left = rank - std::accumulate(below.begin(), below.end(), int64_t{0});
    std::vector<double> close;
    for (const auto& some : between) close.insert(close.end(), some.begin(), some.end());
    if (left < 0 || left >= static_cast<int64_t>(close.size())) return among_all();  // hardly ever
    return among(close, left);
}

}  // namespace

double kth_smallest(const double* costs, int64_t n, int64_t count, int threads) {
    return count < n ? ranked(costs, n, count - 1, threads) : kInfinity;
}

namespace {

// The merges of one chunk that are carried out, in their order.
class Carried {
  public:
    Carried(const Merges& merges, double most) : merges_(merges), most_(most) {}

    const std::vector<int64_t>& of(int64_t chunk) {
        const int64_t first = merges_.bounds[chunk] - chunk, last = merges_.bounds[chunk + 1] - (chunk + 1);
        list_.resize(static_cast<size_t>(last - first + 1));
        size_t count = 0;
        for (int64_t t = first; t < last; ++t) {  // each is noted and some count: no branch to guess wrong
            list_[count] = t;
            count += merges_.costs[t] <= most_ || most_ == kInfinity;
        }
        list_.resize(count);
        return list_;
    }

  private:
    const Merges& merges_;
    double most_;
    std::vector<int64_t> list_;
};

}  // namespace

// Two orders: by chunks, in which a merge touches the places of its chunk alone, and by items, in which those
// that stay are numbered. Each thread puts what belongs to its own range of items: if all wrote all over,
// they would wait for each other's cache lines.
AppliedMerges apply_merges(const Merges& merges, double most, const Clusters& clusters, int32_t first_new,
                           int32_t* linkage, int threads) {
    const int64_t n = clusters.n, n_chunks = merges.n_chunks;
    const int32_t *pairs = merges.pairs, *order = merges.order;
    int32_t *cluster = clusters.cluster, *group = clusters.group;
    const auto each_chunk = [&](const auto& body) {
        parallel_for(
            n_chunks, 16, threads, [&] { return Carried(merges, most); },
            [&](int64_t c, Carried& carried) { body(c, carried.of(c)); });
    };
    const int64_t range = std::max(kStretch, (n + threads - 1) / threads);
    const auto put_by_item = [&](const int32_t* by_place, int32_t* by_item, int64_t first, int64_t last) {
        int32_t elsewhere = 0;
        for (int64_t s = 0; s < n;
             ++s) {  // the place is chosen, not the branch, which would be guessed wrong
            const bool is_here = order[s] >= first && order[s] < last;
            *(is_here ? by_item + order[s] : &elsewhere) = by_place[s];
        }
    };
    std::vector<int64_t> before(static_cast<size_t>(n_chunks + 1), 0);  // merges of earlier chunks
    each_chunk([&](int64_t c, const std::vector<int64_t>& carried) {
        before[c + 1] = static_cast<int64_t>(carried.size());
    });
    std::partial_sum(before.begin(), before.end(), before.begin());
    LargeVector<int32_t> by_place(static_cast<size_t>(n));  // clusters, −1 for those gone; then groups
    each_chunk([&](int64_t c, const std::vector<int64_t>& carried) {
        for (int64_t s = merges.bounds[c]; s < merges.bounds[c + 1]; ++s) by_place[s] = cluster[order[s]];
        int64_t made = before[c];
        for (const int64_t t : carried) {
            int32_t &a = by_place[pairs[2 * t]], &b = by_place[pairs[2 * t + 1]];
            linkage[2 * made] = a, linkage[2 * made + 1] = b;
            a = first_new + static_cast<int32_t>(made++), b = -1;
        }
    });
    std::vector<int64_t> staying(static_cast<size_t>((n + range - 1) / range));  // in earlier ranges
    parallel_stretches(n, range, threads, [&](int64_t first, int64_t last) {
        put_by_item(by_place.data(), cluster, first, last);
        staying[first / range] =
            std::count_if(cluster + first, cluster + last, [](int32_t number) { return number >= 0; });
    });
    AppliedMerges applied{before.back(), {}};
    applied.cluster.resize(static_cast<size_t>(std::accumulate(staying.begin(), staying.end(), int64_t{0})));
    std::exclusive_scan(staying.begin(), staying.end(), staying.begin(), int64_t{0});
    parallel_stretches(n, range, threads, [&](int64_t first, int64_t last) {
        int64_t next = staying[first / range];
        for (int64_t i = first; i < last; ++i) {
            group[i] = static_cast<int32_t>(next);
            if (cluster[i] >= 0) applied.cluster[next++] = cluster[i];
        }
    });
    each_chunk([&](int64_t c, const std::vector<int64_t>& carried) {
        for (int64_t s = merges.bounds[c]; s < merges.bounds[c + 1]; ++s) by_place[s] = group[order[s]];
        for (size_t m = carried.size(); m-- > 0;)  // the last merged know their group first
            by_place[pairs[2 * carried[m] + 1]] = by_place[pairs[2 * carried[m]]];
    });
    parallel_stretches(n, range, threads, [&](int64_t first, int64_t last) {
        put_by_item(by_place.data(), group, first, last);
    });
    return applied;
}

namespace {

constexpr int64_t kTop = 1 << 12;  // the last so many merges are one thread's; subtrees below, all threads'

// A linkage, and the number of points in every cluster.
class Sizes {
  public:
    Sizes(const int32_t* linkage, int64_t n_merges)
        : linkage_(linkage), n_(n_merges + 1), count_(static_cast<size_t>(n_merges)) {}

    bool is_point(int32_t cluster) const { return cluster < n_; }
    const int32_t* children(int32_t cluster) const { return linkage_ + 2 * (cluster - n_); }
    int32_t operator[](int32_t cluster) const { return is_point(cluster) ? 1 : count_[cluster - n_]; }

    void add_up(int32_t cluster) {
        const int32_t* const child = children(cluster);
        count_[cluster - n_] = (*this)[child[0]] + (*this)[child[1]];
    }
    // The same for all clusters below, too. `merged` is scratch.
    void add_up_all(int32_t cluster, std::vector<int32_t>& merged) {
        merged.assign(is_point(cluster) ? 0 : 1, cluster);
        for (size_t at = 0; at < merged.size(); ++at) {
            const int32_t* const child = children(merged[at]);
            for (const int32_t c : {child[0], child[1]})
                if (!is_point(c)) merged.push_back(c);
        }
        for (size_t at = merged.size(); at-- > 0;) add_up(merged[at]);
    }

  private:
    const int32_t* linkage_;
    int64_t n_;
    LargeVector<int32_t> count_;  // (n_merges,)
};

struct Placed {
    int32_t cluster, place, parent, start, depth;
};

// Writes the nodes of a subtree, from its root down; those for which `leave` holds are left to it.
template <typename Leave>
int32_t place_nodes(const Sizes& sizes, const Placed& root, const TreeArrays& tree, const Leave& leave) {
    int32_t deepest = 0;
    std::vector<Placed> open{root};
    while (!open.empty()) {
        const Placed node = open.back();
        open.pop_back();
        if (leave(node)) continue;
        const int32_t k = node.place;
        tree.parent[k] = node.parent, tree.start[k] = node.start;
        deepest = std::max(deepest, node.depth);
        if (sizes.is_point(node.cluster)) {
            tree.size[k] = 1, tree.left[k] = tree.right[k] = -1;
            tree.order[node.start] = node.cluster;
            continue;
        }
        const int32_t* const child = sizes.children(node.cluster);
        const int32_t n_left = sizes[child[0]], right = k + 2 * n_left;
        tree.size[k] = sizes[node.cluster], tree.left[k] = k + 1, tree.right[k] = right;
        open.push_back({child[1], right, k, node.start + n_left, node.depth + 1});
        open.push_back({child[0], k + 1, k, node.start, node.depth + 1});
    }
    return deepest;
}

}  // namespace

int64_t pre_order(const int32_t* linkage, int64_t n_merges, const TreeArrays& tree, int threads) {
    const int64_t n = n_merges + 1, top = n + std::max<int64_t>(0, n_merges - kTop);  // its first cluster
    Sizes sizes(linkage, n_merges);
    std::vector<int32_t> below;  // roots of the subtrees below the top
    for (int64_t e = 2 * (top - n); e < 2 * n_merges; ++e)
        if (linkage[e] < top) below.push_back(linkage[e]);
    const int64_t n_below = static_cast<int64_t>(below.size());
    parallel_for(
        n_below, 8, threads, [] { return std::vector<int32_t>{}; },
        [&](int64_t s, std::vector<int32_t>& scratch) { sizes.add_up_all(below[s], scratch); });
    for (int64_t c = top; c < n + n_merges; ++c) sizes.add_up(static_cast<int32_t>(c));
    std::vector<Placed> subtrees;
    const int32_t root = static_cast<int32_t>(n + n_merges - 1);
    std::vector<int32_t> deepest(below.size() + 1);
    deepest.back() = place_nodes(sizes, {root, 0, -1, 0, 0}, tree, [&](const Placed& node) {
        if (node.cluster < top) subtrees.push_back(node);
        return node.cluster < top;
    });
    parallel_for(n_below, 8, threads, [&](int64_t s) {
        deepest[s] = place_nodes(sizes, subtrees[s], tree, [](const Placed&) { return false; });
    });
    return *std::max_element(deepest.begin(), deepest.end());
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
void group_means(const double* x, int64_t n, int64_t d, const Groups& groups, double* means, double* total,
                 int threads) {
    constexpr int64_t ahead = 12;
    const int32_t* of = groups.group;
    const int64_t step = std::max(kFewest, (groups.count + threads - 1) / threads);
    parallel_stretches(groups.count, step, threads, [&](int64_t first, int64_t last) {
        const std::unique_ptr<int32_t[]> mine(new int32_t[static_cast<size_t>(n + 1)]);  // of these groups
        int64_t count = 0;
        for (int64_t i = 0; i < n; ++i) {  // each is noted and some count: no branch to guess wrong
            mine[count] = static_cast<int32_t>(i);
            count += of[i] >= first && of[i] < last;
        }
        std::fill(means + first * d, means + last * d, 0.0), std::fill(total + first, total + last, 0.0);
        for (int64_t s = 0; s < count; ++s) total[of[mine[s]]] += groups.weight[mine[s]];
        for (int64_t s = 0; s < count; ++s) {
            const int32_t i = mine[s];
            if (s + ahead < count) prefetch_row(x + mine[s + ahead] * d, d);
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
