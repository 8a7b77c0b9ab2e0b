// Q v and Qᵀ v of the coarsest partition, prepared; docs/theory.md, "Products": sum v up the tree, cross over
// in the blocks, push down. Only sums of products, no differences: nothing cancels for non-negative v.
//
// The tree is cut into maximal subtrees of a few hundred points. Inside a subtree of m points the m − 1
// internal nodes are numbered 0 … m − 2 by falling size and the points m − 1 … 2m − 2; `child` holds the two
// children of each internal node as such slots, the weights are the two probabilities between them. The tree
// above the subtrees has the same form with the subtrees as its points. A sweep is then a branch-free loop
// over scratch memory that stays in cache; what the tree above adds is one number per subtree and column,
// added while streaming over the result. Main memory is read once for q, the children, the order and v.
//
// One column alone would be slowed down by random access to single numbers, eight of which share a cache
// line: consecutive subtrees with together N/16 points, but at most about 32 768, whose numbers stay in
// cache, are a bucket. Points, in ranges that threads can take, are dealt into the buckets, streaming; a
// bucket's subtrees find their leaves there and put back their results; and the buckets stream back.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "columns.hpp"
#include "sweep.hpp"

namespace bvdt {

struct ProductLimits {
    int64_t subtree_points;  // at most 32 768, for slots of 16 bits
    int64_t bucket_points;   // with subtree_points at most 65 536, for slots of 16 bits
};

// Points dealt into buckets of consecutive subtrees.
struct Buckets {
    std::vector<uint16_t> of_point;      // (N,)
    std::vector<uint16_t> slot;          // (N,) of each leaf in its bucket
    std::vector<int32_t> first_subtree;  // (n_buckets + 1,)
    std::vector<int32_t> start;          // (n_ranges, n_buckets) place of a range's first point in each
    int64_t n_buckets, n_ranges, range;
};

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

Buckets deal_into_buckets(const ProductShape& shape, int64_t bucket_points);

class CoarsestProduct {
  public:
    // From a valid tree, its sizes in pre-order and its leaves' points; q[k − 1] belongs to the block of node
    // k and its sibling.
    CoarsestProduct(const int32_t* size, const int32_t* order, int64_t n_nodes, const double* q,
                    const ProductLimits& limits);

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

    // out ← Q v, or Qᵀ v; both (N, columns).
    template <typename T>
    void apply(const T* v, T* out, int64_t columns, bool transpose, int threads) const;

  private:
    struct Probabilities {           // of (left, right) and (right, left)
        std::vector<double> within;  // (N − n_subtrees, 2) the subtrees
        std::vector<double> above;   // (n_subtrees − 1, 2) them
    };
    struct LazyBuckets {
        std::once_flag once;
        std::unique_ptr<const Buckets> made;
    };

    std::shared_ptr<const ProductShape> shape_;
    std::shared_ptr<LazyBuckets> buckets_ = std::make_shared<LazyBuckets>();
    ProductLimits limits_;
    std::shared_ptr<const Probabilities> q_;
    bool both_ = false;

    const Buckets& buckets() const;  // made for the first product with one column

    template <typename T>
    void multiply_columns(const Columns<const T>& v, const Columns<T>& out, Side side, int threads) const;
    template <typename T>
    void multiply_column(const T* v, T* out, Side side, int threads) const;
};

}  // namespace bvdt
