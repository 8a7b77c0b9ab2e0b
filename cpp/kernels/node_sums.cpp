#include "node_sums.hpp"

#include <vector>

#include "tree.hpp"

namespace bvdt {
namespace {

constexpr int64_t kSubtreeLeaves = 4096;

}  // namespace

void node_sums(const double* values, const int32_t* size, const int32_t* order, int64_t n_nodes, double* out,
               int threads) {
    Subtrees(size, n_nodes, kSubtreeLeaves).climb(threads, [&](int64_t k, int64_t leaf) {
        out[k] = size[k] == 1 ? values[order[leaf]] : out[k + 1] + out[right_child(size, k)];
    });
}

void path_sums(const double* values, const int32_t* size, const int32_t* order, int64_t n_nodes, double* out,
               int threads) {
    std::vector<double> down(static_cast<size_t>(n_nodes));  // over the nodes above
    Subtrees(size, n_nodes, kSubtreeLeaves).descend(threads, [&](int64_t k, int64_t leaf) {
        const double here = down[k] + values[k];
        if (size[k] == 1)
            out[order[leaf]] = here;
        else
            down[k + 1] = down[right_child(size, k)] = here;
    });
}

}  // namespace bvdt
