#include "block_divergences.hpp"

#include <algorithm>
#include <vector>

#include "parallel.hpp"
#include "tree.hpp"

namespace bvdt {
namespace {

constexpr int64_t kScratchBytes = 1 << 19;  // of node sums in one dense subtree: stays in a core's cache

// Both blocks of the siblings a, b from ⟨X(a), H(b)⟩ and ⟨X(b), H(a)⟩.
void store(const NodeLevels& n, double* out, int64_t a, int64_t b, double a_to_b, double b_to_a) {
    const double na = n.size[a], nb = n.size[b], area = na * nb;
    out[a] = std::max(n.u[a] / na + n.w[b] / nb - a_to_b / area, 0.0);
    out[b] = std::max(n.u[b] / nb + n.w[a] / na - b_to_a / area, 0.0);
}

void dots_each(const Pair* a, const Pair* b, int64_t d, double* both) {
    double ab[4] = {}, ba[4] = {};
    int64_t j = 0;
    for (; j + 4 <= d; j += 4)
        for (int64_t k = 0; k < 4; ++k) ab[k] += a[j + k].x * b[j + k].h, ba[k] += b[j + k].x * a[j + k].h;
    for (; j < d; ++j) ab[0] += a[j].x * b[j].h, ba[0] += b[j].x * a[j].h;
    both[0] = (ab[0] + ab[1]) + (ab[2] + ab[3]), both[1] = (ba[0] + ba[1]) + (ba[2] + ba[3]);
}

void add(Pair* to, const Pair* from, int64_t d) {
    BVDT_SIMD_LOOP()
    for (int64_t j = 0; j < d; ++j) to[j].x += from[j].x, to[j].h += from[j].h;
}

// Both blocks between a node's children, then right += left: the node's own sums.
void merge(const NodeLevels& nodes, double* out, int64_t node, int64_t d, const Pair* left, Pair* right) {
    double both[2];
    dots_each(left, right, d, both);
    store(nodes, out, node + 1, right_child(nodes.size, node), both[0], both[1]);
    add(right, left, d);
}

// One subtree from its leaves up; leaves its X and H sums in total. Reverse pre-order leaves the left child
// on top of the stack and the right one below it.
void dense_subtree(const DensePoints& points, const NodeLevels& nodes, double* out, int64_t root,
                   int64_t first_leaf, Pair* stack, Pair* total) {
    const int64_t d = points.d;
    int64_t height = 0, leaf = first_leaf + nodes.size[root];
    for (int64_t k = behind_subtree(nodes.size, root) - 1; k >= root; --k) {
        if (nodes.size[k] == 1) {
            Pair* to = stack + d * height++;
            const int64_t i = nodes.order[--leaf];
            for (int64_t j = 0; j < d; ++j) to[j] = {points.x[i * d + j], points.h[i * d + j]};
        } else {
            --height;
            merge(nodes, out, k, d, stack + d * height, stack + d * (height - 1));
        }
    }
    std::copy_n(stack, d, total);
}

// A heavy path from its top node down, always into the larger child; the last entry is a leaf.
void heavy_path(const int32_t* size, int64_t top, std::vector<int32_t>& path) {
    path.assign(1, static_cast<int32_t>(top));
    for (int64_t k = top; size[k] > 1;) {
        const int64_t left = k + 1, right = right_child(size, k);
        k = size[left] >= size[right] ? left : right;
        path.push_back(static_cast<int32_t>(k));
    }
}

// The tops of all heavy paths: the root and every lighter child that is not a leaf.
std::vector<int32_t> heavy_tops(const int32_t* size, int64_t n_nodes) {
    std::vector<int32_t> tops(1, 0);
    for (int64_t k = 0; k < n_nodes; ++k) {
        if (size[k] == 1) continue;
        const int64_t left = k + 1, right = right_child(size, k);
        const int64_t light = size[left] >= size[right] ? right : left;
        if (size[light] > 1) tops.push_back(static_cast<int32_t>(light));
    }
    return tops;
}

// Sets `to` back to zero after the points first … last were added to it.
void clear_points(const SparsePoints& points, const int32_t* first, const int32_t* last, Pair* to) {
    int64_t touched = 0;
    for (const int32_t* i = first; i < last && touched < points.d; ++i)
        touched += points.indptr[*i + 1] - points.indptr[*i];
    if (touched >= points.d)
        std::fill_n(to, points.d, Pair{0, 0});
    else
        for (const int32_t* i = first; i < last; ++i) points.clear(*i, to);
}

// Walks one heavy path upward. `to` is all zero before and after.
void sparse_path(const SparsePoints& points, const NodeLevels& nodes, double* out,
                 const std::vector<int32_t>& path, Pair* to) {
    const int32_t *size = nodes.size, *order = nodes.order, *start = nodes.start;
    points.add_to(order[start[path.back()]], 1.0, to);
    for (int64_t e = static_cast<int64_t>(path.size()) - 2; e >= 0; --e) {
        const int64_t node = path[e], heavy = path[e + 1];
        const int64_t light = heavy == node + 1 ? right_child(size, node) : node + 1;
        const int32_t *first = order + start[light], *last = first + size[light];
        double light_to_heavy = 0, heavy_to_light = 0;
        for (const int32_t* i = first; i < last; ++i) {
            double as_row, as_center;
            points.dot_each(*i, to, as_row, as_center);
            light_to_heavy += as_row, heavy_to_light += as_center;
        }
        store(nodes, out, light, heavy, light_to_heavy, heavy_to_light);
        if (e > 0)
            for (const int32_t* i = first; i < last; ++i) points.add_to(*i, 1.0, to);
    }
    const int32_t* first = order + start[path.front()];
    clear_points(points, first, first + size[path.front()], to);
}

}  // namespace

void coarsest_divergences(const DensePoints& points, const NodeLevels& nodes, double* out, int threads) {
    const int64_t d = std::max<int64_t>(points.d, 1);
    const int64_t max_leaves = std::max<int64_t>(kScratchBytes / (d * int64_t{sizeof(Pair)}), 4);
    const Subtrees subtrees(nodes.size, nodes.n_nodes, max_leaves);
    std::vector<Pair> totals(static_cast<size_t>(subtrees.count() * points.d));
    parallel_for(
        subtrees.count(), 4, threads,
        [&] { return std::vector<Pair>(static_cast<size_t>((max_leaves + 1) * d)); },
        [&](int64_t c, std::vector<Pair>& stack) {
            dense_subtree(points, nodes, out, subtrees.roots[c], subtrees.start[c], stack.data(),
                          totals.data() + c * points.d);
        });
    // Above the subtrees: their totals merged in place.
    int64_t subtree = subtrees.count();
    const auto node = [&](int64_t e) { return subtrees.nodes[e]; };
    fold_up<int64_t>(
        static_cast<int64_t>(subtrees.nodes.size()),
        [&](int64_t e) { return nodes.size[node(e)] <= max_leaves; }, [&](int64_t) { return --subtree; },
        [&](int64_t e, int64_t left, int64_t right) {
            merge(nodes, out, node(e), points.d, totals.data() + left * points.d,
                  totals.data() + right * points.d);
            return right;
        });
}

void coarsest_divergences(const SparsePoints& points, const NodeLevels& nodes, double* out, int threads) {
    struct Scratch {
        std::vector<Pair> to;
        std::vector<int32_t> path;
    };
    const std::vector<int32_t> tops = heavy_tops(nodes.size, nodes.n_nodes);
    parallel_for(
        static_cast<int64_t>(tops.size()), 16, threads,
        [&] { return Scratch{std::vector<Pair>(static_cast<size_t>(points.d)), {}}; },
        [&](int64_t t, Scratch& scratch) {
            heavy_path(nodes.size, tops[t], scratch.path);
            sparse_path(points, nodes, out, scratch.path, scratch.to.data());
        });
}

void pair_dots(const double* x, const double* h, int64_t d, const RowPairs& pairs, double* out, int threads) {
    const auto some = [&](int64_t first, int64_t last) {
        for (int64_t e = first; e < last; ++e)
            out[e] = dot<Order::kEightSums>(x + d * pairs.a[e], h + d * pairs.b[e], d);
    };
    if (pairs.count * d < kBriefWork)
        parallel_stretches<BriefTeam>(pairs.count, 1024, threads, some);
    else
        parallel_stretches(pairs.count, 1024, threads, some);
}

// A row of X is spread out once and read by all its consecutive pairs.
void pair_dots(const SparseRows& x, const SparseRows& h, const RowPairs& pairs, double* out, int threads) {
    constexpr int64_t kBatch = 1024;
    parallel_for((pairs.count + kBatch - 1) / kBatch, 1, threads, [&] { return SpreadRow(x.d); },
                 [&](int64_t batch, SpreadRow& row) {
                     int64_t held = -1;
                     const int64_t last = std::min((batch + 1) * kBatch, pairs.count);
                     for (int64_t e = batch * kBatch; e < last; ++e) {
                         if (pairs.a[e] != held) {
                             if (held >= 0) row.clear(x, held);
                             held = pairs.a[e];
                             row.put(x, held);
                         }
                         out[e] = row.dot_with(h, pairs.b[e]);
                     }
                     row.clear(x, held);
                 });
}

}  // namespace bvdt
