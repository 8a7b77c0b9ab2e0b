// A pre-order tree cut into maximal subtrees of bounded size, the unit of parallel work.
//
// The cut depends on the tree and the bound alone, never on the number of threads, so results do not either.
#pragma once

#include <stdexcept>
#include <vector>

#include "core.hpp"

namespace bvdt {

inline int64_t right_child(const int32_t* size, int64_t k) { return k + 2 * int64_t{size[k + 1]}; }

struct Chunks {
    std::vector<int32_t> nodes;  // top nodes and chunk roots together, in pre-order
    std::vector<int32_t> top;    // nodes with more than max_leaves points
    std::vector<int32_t> roots;  // maximal subtrees with at most max_leaves points
    std::vector<int32_t> start;  // first leaf of each root

    Chunks(const int32_t* size, int64_t n_nodes, int64_t max_leaves) {
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
                k += 2 * int64_t{size[k]} - 1;
            }
        }
    }
};

// Cheap checks that keep a malformed tree from sending a kernel outside its arrays.
inline int64_t checked_points(const Vector<int32_t>& size, [[maybe_unused]] int threads = 1) {
    const int64_t n_nodes = size.shape(0);
    const int32_t* s = size.data();
    require(n_nodes >= 3 && n_nodes % 2 == 1 && s[0] == (n_nodes + 1) / 2,
            "size needs 2N − 1 nodes in pre-order with size[0] = N ≥ 2");
    const auto fits =
        [&](int64_t k) {  // inside its array first: the right child is found by the left one's size
            if (s[k] == 1) return true;
            return s[k] > 1 && s[k] <= (n_nodes - k + 1) / 2 && s[k + 1] >= 1 && s[k + 1] < s[k] &&
                   s[k + 1] + s[right_child(s, k)] == s[k];
        };
    bool holds = true;
#pragma omp parallel for reduction(&& : holds) num_threads(threads)
    for (int64_t k = 0; k < n_nodes; ++k) holds = holds && fits(k);
    require(holds, "size is not a pre-order");
    return s[0];
}

inline void check_order(const Vector<int32_t>& order, int64_t n_points) {
    if (static_cast<int64_t>(order.shape(0)) != n_points)
        throw std::invalid_argument("order needs N entries");
    for (int64_t j = 0; j < n_points; ++j)
        if (order.data()[j] < 0 || order.data()[j] >= n_points)
            throw std::invalid_argument("order needs values in 0…N − 1");
}

// Blocks grouped by one of their nodes: those of node k are first[k] … first[k + 1], `other` their other
// node.
inline void check_blocks(const Vector<int64_t>& first, const Vector<int32_t>& other, int64_t n_nodes) {
    const int64_t n_blocks = other.shape(0);
    if (static_cast<int64_t>(first.shape(0)) != n_nodes + 1 || first.data()[0] != 0 ||
        first.data()[n_nodes] != n_blocks)
        throw std::invalid_argument("first needs 2N entries from 0 to the number of blocks");
    for (int64_t k = 0; k < n_nodes; ++k)
        if (first.data()[k] > first.data()[k + 1]) throw std::invalid_argument("first needs to ascend");
    for (int64_t b = 0; b < n_blocks; ++b)
        if (other.data()[b] < 0 || other.data()[b] >= n_nodes)
            throw std::invalid_argument("a block names a node outside the tree");
}

}  // namespace bvdt
