// A binary tree over N points as its 2N − 1 subtree sizes in pre-order, and its cut into subtrees of bounded
// size, the unit of parallel work.
//
// Node k of size m spans the nodes k … k + 2m − 2; its left child is k + 1. The cut depends on the tree and
// the bound alone, never on the number of threads, so results do not either.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel.hpp"

namespace bvdt {

inline int64_t right_child(const int32_t* size, int64_t node) { return node + 2 * int64_t{size[node + 1]}; }

inline int64_t behind_subtree(const int32_t* size, int64_t root) {
    return root + 2 * int64_t{size[root]} - 1;
}

struct Subtrees {
    const int32_t* size;         // of the tree, (2N − 1,)
    std::vector<int32_t> nodes;  // top nodes and roots together, in pre-order
    std::vector<int32_t> top;    // nodes with more than max_leaves points
    std::vector<int32_t> roots;  // maximal subtrees with at most max_leaves points
    std::vector<int32_t> start;  // first leaf of each root

    Subtrees(const int32_t* size_, int64_t n_nodes, int64_t max_leaves) : size(size_) {
        int32_t leaf = 0;
        for (int64_t k = 0; k < n_nodes;) {
            nodes.push_back(static_cast<int32_t>(k));
            if (size[k] > max_leaves) {
                top.push_back(static_cast<int32_t>(k));
                ++k;
            } else {
                roots.push_back(static_cast<int32_t>(k));
                start.push_back(leaf);
                leaf += size[k];
                k = behind_subtree(size, k);
            }
        }
    }

    int64_t count() const { return static_cast<int64_t>(roots.size()); }

    // visit(node, leaf), children before parents; `leaf` is the number of the leaf that the node is, if it is
    // one.
    template <typename Visit>
    void climb(int threads, const Visit& visit) const {
        parallel_for(count(), 1, threads, [&](int64_t c) {
            int64_t leaf = int64_t{start[c]} + size[roots[c]];
            for (int64_t k = behind_subtree(size, roots[c]) - 1; k >= roots[c]; --k) {
                leaf -= size[k] == 1;
                visit(k, leaf);
            }
        });
        for (auto k = top.rbegin(); k != top.rend(); ++k) visit(*k, int64_t{-1});
    }

    // visit(node, leaf), parents before children.
    template <typename Visit>
    void descend(int threads, const Visit& visit) const {
        for (const int64_t k : top) visit(k, int64_t{-1});
        parallel_for(count(), 1, threads, [&](int64_t c) {
            int64_t leaf = start[c];
            for (int64_t k = roots[c]; k < behind_subtree(size, roots[c]); ++k) {
                visit(k, leaf);
                leaf += size[k] == 1;
            }
        });
    }
};

// One value of a tree from those of its leaves. Entries 0 … count − 1 are nodes in pre-order; going through
// them from the last, the left child is on top of the stack and the right one below it.
template <typename Value, typename IsLeaf, typename OfLeaf, typename Merge>
Value fold_up(int64_t count, const IsLeaf& is_leaf, const OfLeaf& of_leaf, const Merge& merge) {
    std::vector<Value> done;
    for (int64_t e = count - 1; e >= 0; --e) {
        if (is_leaf(e)) {
            done.push_back(of_leaf(e));
            continue;
        }
        const Value left = done.back(), right = done[done.size() - 2];
        done.pop_back();
        done.back() = merge(e, left, right);
    }
    return done.back();
}

}  // namespace bvdt
