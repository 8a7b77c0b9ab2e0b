// From merges to a tree, and to the points of the next round.
#pragma once

#include <cstdint>
#include <vector>

#include "points.hpp"

namespace bvdt {

// Of chunks, as ward.hpp makes them: items are known by their places in the order.
struct Merges {
    const int32_t* pairs;  // (n − n_chunks, 2) places, gone after they were second; the first stands for both
    const double* costs;   // (n − n_chunks,) not less for a parent than for its child
    const int32_t* order;  // (n,) the items, each once
    const int64_t* bounds;  // (n_chunks + 1,) chunk c is order[bounds[c] : bounds[c + 1]], from 0 to n
    int64_t n_chunks;
};

struct Clusters {
    int32_t* cluster;  // (n,) number of each item's cluster, changed
    int32_t* group;    // (n,) filled: each item's place among the remaining clusters
    int64_t n;
};

struct AppliedMerges {
    int64_t count;
    std::vector<int32_t> cluster;  // numbers of the remaining clusters
};

// The cost of the last of the `count` cheapest merges, 1 or more; infinite if there are no more than these.
double kth_smallest(const double* costs, int64_t n, int64_t count, int threads);

// Carries out the merges that cost no more than `most`, in their order: linkage (count, 2) receives the
// merged clusters' numbers, the new one being first_new, first_new + 1, ….
AppliedMerges apply_merges(const Merges& merges, double most, const Clusters& clusters, int32_t first_new,
                           int32_t* linkage, int threads);

// A tree in pre-order: the points in the order of its leaves (N,), and per node (2N − 1,) its size, children,
// −1 for a leaf's, parent, −1 for the root's, and the number of leaves before it.
struct TreeArrays {
    int32_t *order, *size, *left, *right, *parent, *start;
};

// Fills the tree that merges clusters as a linkage (N − 1, 2) does: point i is cluster i, merge t makes
// cluster N + t. Returns its depth, the edges from the root to the deepest leaf.
int64_t pre_order(const int32_t* linkage, int64_t n_merges, const TreeArrays& tree, int threads);

// Edges from the root to the deepest leaf; sizes must be those of a tree in pre-order.
int64_t tree_depth(const int32_t* size, int64_t n_nodes);

struct Groups {
    const double* weight;  // (N,) of each point
    const int32_t* group;  // (N,) number of each point's group
    int64_t count;
};

// Weighted mean of each group's rows of x (n, d): means (count, d), and the groups' weights: total (count,).
void group_means(const double* x, int64_t n, int64_t d, const Groups& groups, double* means, double* total,
                 int threads);

struct SparseMeans {
    std::vector<int64_t> indptr;
    std::vector<int32_t> indices;
    std::vector<double> x, h;
};

// Weighted mean of each group's sparse points.
SparseMeans group_means(const SparsePoints& points, const Groups& groups, int threads);

}  // namespace bvdt
