#include "coarsest_product.hpp"

#include <algorithm>
#include <numeric>

#include "columns.hpp"
#include "parallel.hpp"
#include "tree.hpp"

namespace bvdt {
namespace {

// Numbers the nodes of one subtree, internal ones by falling size: a parent is larger than its children, and
// unlike in pre-order neighbors seldom are parent and child, so that a sweep does not wait for the value it
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

// out[i] += above[subtree of point i], streaming.
template <typename T>
BVDT_NOINLINE void add_above(const double* above, const int32_t* subtree, int64_t first, int64_t last,
                             Columns<T> out) {
    for (int64_t i = first; i < last; ++i) {
        T* to = out.row(i);
        const double* from = above + subtree[i] * out.k;
        for (int64_t c = 0; c < out.k; ++c) to[c] = static_cast<T>(to[c] + from[c]);
    }
}

}  // namespace

CoarsestProduct::CoarsestProduct(const int32_t* size, const int32_t* order, int64_t n_nodes, const double* q,
                                 int64_t subtree_points) {
    const Subtrees subtrees(size, n_nodes, subtree_points);
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
        [&](int64_t e) { return size[subtrees.nodes[e]] <= subtree_points; },
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

int64_t CoarsestProduct::bytes() const {
    const auto of = [](const auto&... vectors) {
        return static_cast<int64_t>(((vectors.size() * sizeof vectors[0]) + ...));
    };
    const ProductShape& s = *shape_;
    return of(s.order, s.first_leaf, s.subtree, s.child, s.top_child, q_->within, q_->above);
}

template <typename T>
void CoarsestProduct::multiply_columns(const Columns<const T>& v, const Columns<T>& out, Side side,
                                       int threads) const {
    const ProductShape& p = *shape_;
    const int64_t k = v.k, n_top = p.n_subtrees - 1;
    std::vector<double> top(static_cast<size_t>((p.n_subtrees + n_top) * k)), total(static_cast<size_t>(k));
    double* const above = top.data() + n_top * k;  // per subtree: first its sum, then what comes down to it
    parallel_for(
        p.n_subtrees, 16, threads,
        [&] { return std::vector<double>(static_cast<size_t>(2 * p.largest * k)); },
        [&](int64_t c, std::vector<double>& scratch) {
            const int64_t n = p.leaves(c);
            const int32_t* order = p.order.data() + p.first_leaf[c];
            double* leaves = scratch.data() + (n - 1) * k;
            gather(v, order, n, leaves);
            sweep(scratch.data(), p.child.data() + 2 * p.first_row(c), weights() + 2 * p.first_row(c), n - 1,
                  k, above + c * k, side);
            scatter(leaves, order, n, out);
        });
    if (n_top == 0) return;
    sweep(top.data(), p.top_child.data(), top_weights(), n_top, k, total.data(), side);
    parallel_stretches(p.n_points, 4096, threads, [&](int64_t first, int64_t last) {
        add_above(above, p.subtree.data(), first, last, out);
    });
}

template <typename T>
void CoarsestProduct::apply(const T* v, T* out, int64_t columns, bool transpose, int threads) const {
    in_column_batches(v, out, columns, [&](const Columns<const T>& from, const Columns<T>& to) {
        multiply_columns(from, to, side(transpose), threads);
    });
}

template void CoarsestProduct::apply(const double*, double*, int64_t, bool, int) const;
template void CoarsestProduct::apply(const float*, float*, int64_t, bool, int) const;

}  // namespace bvdt
