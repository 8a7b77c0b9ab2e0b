// How a tree and its q become a prepared product; see coarsest_product.hpp.
#include <algorithm>
#include <numeric>

#include "coarsest_product.hpp"
#include "tree.hpp"

namespace bvdt {
namespace {

constexpr int64_t kShares = 16;  // at least so many ranges of points, for the threads

// Numbers the nodes of one subtree, internal ones by falling size: a parent is larger than its children, and
// unlike in pre-order neighbours seldom are parent and child, so that a sweep does not wait for the value it
// has just written.
struct SlotNumbers {
    std::vector<int32_t> slot;   // node − root -> slot
    std::vector<int32_t> nodes;  // slot of an internal node -> node − root
    std::vector<int32_t> next;   // size -> next slot

    void number(const int32_t* size, int64_t root) {
        const int64_t m = size[root], n = 2 * m - 1;
        slot.resize(static_cast<size_t>(n)), nodes.resize(static_cast<size_t>(m));
        next.assign(static_cast<size_t>(m + 1), 0);
        for (int64_t e = 0; e < n; ++e)
            if (size[root + e] > 1) ++next[size[root + e] - 1];
        std::partial_sum(next.rbegin(), next.rend(), next.rbegin());  // next[s]: internal nodes larger than s
        int32_t leaf = static_cast<int32_t>(m - 1);
        for (int64_t e = 0; e < n; ++e) {
            const int32_t s = size[root + e];
            slot[e] = s == 1 ? leaf++ : next[s]++;
            if (s > 1) nodes[slot[e]] = static_cast<int32_t>(e);
        }
    }
};

}  // namespace

CoarsestProduct::CoarsestProduct(const int32_t* size, const int32_t* order, int64_t n_nodes, const double* q,
                                 const ProductLimits& limits)
    : limits_(limits) {
    const Subtrees subtrees(size, n_nodes, limits.subtree_points);
    const int64_t n = (n_nodes + 1) / 2, n_subtrees = subtrees.count(), n_top = n_subtrees - 1;
    auto shape = std::make_shared<ProductShape>();
    shape->n_points = n, shape->n_subtrees = n_subtrees, shape->largest = 1;
    shape->order.assign(order, order + n);
    shape->first_leaf = subtrees.start;
    shape->first_leaf.push_back(static_cast<int32_t>(n));
    shape->subtree.resize(static_cast<size_t>(n));
    shape->child.resize(static_cast<size_t>(2 * (n - n_subtrees)));
    shape->top_child.resize(static_cast<size_t>(2 * n_top));
    auto probabilities = std::make_shared<Probabilities>();
    std::vector<double>&within = probabilities->within, &above = probabilities->above;
    within.resize(shape->child.size()), above.resize(shape->top_child.size());

    SlotNumbers numbers;
    for (int64_t c = 0; c < n_subtrees; ++c) {
        const int64_t root = subtrees.roots[c], m = size[root];
        shape->largest = std::max(shape->largest, m);
        for (int64_t j = shape->first_leaf[c]; j < shape->first_leaf[c + 1]; ++j)
            shape->subtree[order[j]] = static_cast<int32_t>(c);
        numbers.number(size, root);
        for (int64_t i = 0; i < m - 1; ++i) {
            const int64_t left = root + numbers.nodes[i] + 1, right = right_child(size, left - 1);
            const int64_t row = 2 * (shape->first_row(c) + i);
            shape->child[row] = static_cast<uint16_t>(numbers.slot[left - root]);
            shape->child[row + 1] = static_cast<uint16_t>(numbers.slot[right - root]);
            within[row] = q[left - 1], within[row + 1] = q[right - 1];
        }
    }
    int64_t top = n_top, subtree = n_subtrees;
    fold_up<int32_t>(
        static_cast<int64_t>(subtrees.nodes.size()),
        [&](int64_t e) { return size[subtrees.nodes[e]] <= limits.subtree_points; },
        [&](int64_t) { return static_cast<int32_t>(n_top + --subtree); },
        [&](int64_t e, int32_t left, int32_t right) {
            const int64_t node = subtrees.nodes[e], row = 2 * --top;
            shape->top_child[row] = left, shape->top_child[row + 1] = right;
            above[row] = q[node], above[row + 1] = q[right_child(size, node) - 1];
            return static_cast<int32_t>(top);
        });
    shape_ = std::move(shape), q_ = std::move(probabilities);
}

CoarsestProduct CoarsestProduct::symmetric() const {
    CoarsestProduct other(*this);
    other.both_ = true;
    return other;
}

Buckets deal_into_buckets(const ProductShape& shape, int64_t bucket_points) {
    const int64_t n = shape.n_points;
    Buckets b;
    b.n_ranges = std::max(kShares, (n + bucket_points - 1) / bucket_points);
    b.range = (n + b.n_ranges - 1) / b.n_ranges;
    std::vector<uint16_t> of_subtree(static_cast<size_t>(shape.n_subtrees));
    for (int64_t c = 0; c < shape.n_subtrees; ++c) {
        if (c == 0 || shape.first_leaf[c] / b.range != shape.first_leaf[c - 1] / b.range)
            b.first_subtree.push_back(static_cast<int32_t>(c));
        of_subtree[c] = static_cast<uint16_t>(b.first_subtree.size() - 1);
    }
    b.n_buckets = static_cast<int64_t>(b.first_subtree.size());
    b.first_subtree.push_back(static_cast<int32_t>(shape.n_subtrees));

    std::vector<int32_t> next, place(static_cast<size_t>(n));  // next: free place of each bucket
    for (int64_t k = 0; k < b.n_buckets; ++k) next.push_back(shape.first_leaf[b.first_subtree[k]]);
    const std::vector<int32_t> first_place(next);
    b.of_point.resize(static_cast<size_t>(n)), b.slot.resize(static_cast<size_t>(n));
    for (int64_t r = 0; r < b.n_ranges; ++r) {
        b.start.insert(b.start.end(), next.begin(), next.end());
        for (int64_t i = r * b.range; i < std::min((r + 1) * b.range, n); ++i) {
            b.of_point[i] = of_subtree[shape.subtree[i]];
            place[i] = next[b.of_point[i]]++;
        }
    }
    for (int64_t leaf = 0; leaf < n; ++leaf) {
        const int64_t point = shape.order[leaf];
        b.slot[leaf] = static_cast<uint16_t>(place[point] - first_place[b.of_point[point]]);
    }
    return b;
}

const Buckets& CoarsestProduct::buckets() const {
    std::call_once(buckets_->once, [&] {
        buckets_->made = std::make_unique<const Buckets>(deal_into_buckets(*shape_, limits_.bucket_points));
    });
    return *buckets_->made;
}

int64_t CoarsestProduct::bytes() const {
    const auto of = [](const auto&... vectors) {
        return static_cast<int64_t>(((vectors.size() * sizeof vectors[0]) + ...));
    };
    const ProductShape& s = *shape_;
    const Buckets& b = buckets();
    return of(s.order, s.first_leaf, s.subtree, s.child, s.top_child, q_->within, q_->above) +
           of(b.of_point, b.slot, b.first_subtree, b.start);
}

}  // namespace bvdt
