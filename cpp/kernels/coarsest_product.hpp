// Q of the coarsest partition, prepared for products (walk_product.hpp); docs/theory.md, "Products": sum v up
// the tree, cross over in the blocks, push down. Only sums of products, no differences: nothing cancels for v
// ≥ 0.
//
// The tree is cut into maximal subtrees of a few hundred points. Inside a subtree of m points the m − 1
// internal nodes are numbered 0 … m − 2 by falling size and the points m − 1 … 2m − 2; `child` holds the two
// children of each internal node as such slots, the weights are the two probabilities between them. The tree
// above the subtrees has the same form with the subtrees as its points. A sweep is then a branch-free loop
// over scratch memory that stays in cache; what the tree above adds is one number per subtree and column.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "columns.hpp"
#include "sweep.hpp"

namespace bvdt {

// All of a product but its probabilities. Owned, and not changed once it is made: nothing outside can lead a
// product astray.
struct ProductShape {
    std::vector<int32_t> order;       // (N,) point of each leaf
    std::vector<int32_t> first_leaf;  // (n_subtrees + 1,)
    std::vector<int32_t> subtree;     // (N,) subtree of each point
    std::vector<uint16_t> child;      // (N − n_subtrees, 2) slots inside the subtree
    std::vector<int32_t> top_child;   // (n_subtrees − 1, 2) slots of the tree above the subtrees
    int64_t n_points, n_subtrees, largest;

    int64_t leaves(int64_t c) const { return first_leaf[c + 1] - first_leaf[c]; }
    int64_t first_row(int64_t c) const { return first_leaf[c] - c; }  // of `child`
};

class CoarsestProduct {
  public:
    // From a valid tree, its sizes in pre-order and its leaves' points; q[k − 1] belongs to the block of node
    // k and its sibling. Subtrees have at most 32 768 points, for slots of 16 bits.
    CoarsestProduct(const int32_t* size, const int32_t* order, int64_t n_nodes, const double* q,
                    int64_t subtree_points);

    // (Q + Qᵀ)/2: the block of a node and its sibling is the transpose of the other, so the same sweeps do
    // with the mean of both probabilities. Nothing is copied.
    CoarsestProduct symmetric() const;

    int64_t n_points() const { return shape_->n_points; }
    const ProductShape& shape() const { return *shape_; }
    const double* weights() const { return q_->within.data(); }
    const double* top_weights() const { return q_->above.data(); }
    Side side(bool transpose) const {
        return both_ ? Side::kMean : transpose ? Side::kTranspose : Side::kForward;
    }
    int64_t bytes() const;

    // out ← Q v, or Qᵀ v; both (N, columns), in the points' own order.
    template <typename T>
    void apply(const T* v, T* out, int64_t columns, bool transpose, int threads) const;

  private:
    struct Probabilities {           // of (left, right) and (right, left)
        std::vector<double> within;  // (N − n_subtrees, 2) the subtrees
        std::vector<double> above;   // (n_subtrees − 1, 2) them
    };
    std::shared_ptr<const ProductShape> shape_;
    std::shared_ptr<const Probabilities> q_;
    bool both_ = false;

    template <typename T>
    void multiply_columns(const Columns<const T>& v, const Columns<T>& out, Side side, int threads) const;
};

}  // namespace bvdt
