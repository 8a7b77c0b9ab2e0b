// The bound of Eq. (18) a row, c, as a function of θ = 1/β: c, −dc/dθ and d²c/dθ² in one pass up the tree.
//
// c_A is the log of a sum of exponentials of −θ·d̄, at A's own blocks and, averaged over its rows, below. So
// its derivatives are the mean and the variance of d̄ under the optimum; the optimum itself need not be made.
#include <cmath>
#include <vector>

#include "weights.hpp"

namespace bvdt {
namespace {

struct Curve {
    double value, entropy, mean, variance;
};

// log(e^a + e^b), with the entropy, the mean and the variance of the two together.
Curve either(const Curve& a, const Curve& b) {
    if (a.value == kMinusInfinity) return b;
    if (b.value == kMinusInfinity) return a;
    const double ratio = std::exp(-std::abs(a.value - b.value));
    const double large = 1.0 / (1.0 + ratio), small = ratio * large;
    const double of_a = a.value > b.value ? large : small, of_b = a.value > b.value ? small : large;
    const double more = std::log1p(ratio), choice = more + small * std::abs(a.value - b.value);
    const double apart = a.mean - b.mean;
    return {std::max(a.value, b.value) + more, of_a * a.entropy + of_b * b.entropy + choice,
            of_a * a.mean + of_b * b.mean,
            of_a * a.variance + of_b * b.variance + large * small * apart * apart};
}

Curve own_blocks(const BlockWeights& w, int64_t k) {
    Curve sum = {kMinusInfinity, 0, 0, 0};
    const auto block = [&](int64_t b, int64_t n_cols) {
        return Curve{w.log_weight(b, n_cols), w.log(n_cols), w.dbar[b], 0};
    };
    if (!w.first) return k == 0 ? sum : block(k - 1, w.size[w.parent[k]] - w.size[k]);
    for (int64_t b = w.first[k]; b < w.first[k + 1]; ++b) sum = either(sum, block(b, w.size[w.cols[b]]));
    return sum;
}

Curve above(const BlockWeights& w, int64_t k, const Curve& left, const Curve& right) {
    const double total = w.size[k], l = w.size[k + 1] / total, r = (total - w.size[k + 1]) / total;
    return either(own_blocks(w, k), {l * left.value + r * right.value, l * left.entropy + r * right.entropy,
                                     l * left.mean + r * right.mean, l * left.variance + r * right.variance});
}

// A subtree, from its last node to its root: what a node needs is then on top of the stack, left above right.
Curve subtree(const BlockWeights& w, int64_t root) {
    std::vector<Curve> done;
    for (int64_t k = root + 2 * int64_t{w.size[root]} - 2; k >= root; --k) {
        if (w.size[k] == 1) {
            done.push_back(own_blocks(w, k));
            continue;
        }
        const Curve left = done.back(), right = done[done.size() - 2];
        done.pop_back();
        done.back() = above(w, k, left, right);
    }
    return done.back();
}

nb::tuple curve(const BlockWeights& w, int64_t n_nodes, int threads) {
    Curve root;
    {
        nb::gil_scoped_release release;
        const Chunks chunks(w.size, n_nodes, kChunkLeaves);
        const int64_t n_chunks = static_cast<int64_t>(chunks.roots.size());
        std::vector<Curve> of_chunk(chunks.roots.size());
#pragma omp parallel for schedule(dynamic) num_threads(threads)
        for (int64_t c = 0; c < n_chunks; ++c) of_chunk[c] = subtree(w, chunks.roots[c]);
        std::vector<Curve> done;
        for (auto node = chunks.nodes.rbegin(); node != chunks.nodes.rend(); ++node) {
            if (w.size[*node] <= kChunkLeaves) {
                done.push_back(of_chunk.back()), of_chunk.pop_back();
                continue;
            }
            const Curve left = done.back(), right = done[done.size() - 2];
            done.pop_back();
            done.back() = above(w, *node, left, right);
        }
        root = done.back();
    }
    return nb::make_tuple(root.value, root.entropy, root.mean, root.variance);
}

nb::tuple curve_coarsest(Vector<int32_t> size, Vector<int32_t> parent, Vector<double> dbar, double bandwidth,
                         int threads) {
    return curve(coarsest_weights(size, parent, dbar, bandwidth, threads), size.shape(0), threads);
}

nb::tuple curve_blocks(Vector<int32_t> size, Vector<int32_t> parent, Vector<int64_t> first,
                       Vector<int32_t> cols, Vector<double> dbar, double bandwidth, int threads) {
    return curve(block_weights(size, parent, first, cols, dbar, bandwidth, threads), size.shape(0), threads);
}

}  // namespace

void register_curve(nb::module_& m) {
    m.def("curve_coarsest", &curve_coarsest);
    m.def("curve_blocks", &curve_blocks);
}

}  // namespace bvdt
