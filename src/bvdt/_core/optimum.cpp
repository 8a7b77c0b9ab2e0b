// The optimum of Eq. (18) under Eq. (3) in two passes over the tree, DESIGN 2.3.
//
// Up, in the log domain:   a_A = log Σ_B |B| e^{−d̄_AB/β},  k_A = (|L|c_L + |R|c_R)/|A|,  c_A = log(e^{a_A} +
// e^{k_A}). Down, in shares:         a row's mass splits at A into e^{a_A − c_A} for A's own blocks and
// e^{k_A − c_A}
//                          for the nodes below. The two shares are computed apart, so they sum to 1 to
//                          rounding, and their products cannot overflow.
#include <algorithm>
#include <cmath>

#include "weights.hpp"

namespace bvdt {
namespace {

struct Problem : BlockWeights {
    double* q;      // (n_blocks,)
    double* value;  // (2N − 1,) c_A
    double* below;  // (2N − 1,) mass of a row that is left below A

    // Sets q to each block's share among A's own blocks, per entry; returns a_A.
    double own_blocks(int64_t k) const {
        if (!first) {  // coarsest: the one block (k, sibling)
            if (k == 0) return kMinusInfinity;
            const int64_t n_cols = size[parent[k]] - size[k];
            q[k - 1] = 1.0 / static_cast<double>(n_cols);
            return log_weight(k - 1, n_cols);
        }
        double largest = kMinusInfinity, total = 0;
        for (int64_t b = first[k]; b < first[k + 1]; ++b)
            largest = std::max(largest, log_weight(b, size[cols[b]]));
        if (largest == kMinusInfinity) return largest;
        for (int64_t b = first[k]; b < first[k + 1]; ++b)
            total += q[b] = std::exp(log_weight(b, size[cols[b]]) - largest);
        for (int64_t b = first[k]; b < first[k + 1]; ++b) q[b] /= total * size[cols[b]];
        return largest + std::log(total);
    }

    void scale_blocks(int64_t k, double factor) const {
        if (first)
            for (int64_t b = first[k]; b < first[k + 1]; ++b) q[b] *= factor;
        else if (k > 0)
            q[k - 1] *= factor;
    }

    void up(int64_t k) const {
        const double own = own_blocks(k);
        if (size[k] == 1) {
            value[k] = own, below[k] = 0;
            return;
        }
        const int64_t l = k + 1, r = right_child(size, k);
        const double under = (size[l] * value[l] + size[r] * value[r]) / size[k];
        if (own == kMinusInfinity) {
            value[k] = under, below[k] = 1;
            return;
        }
        const double ratio = std::exp(-std::abs(own - under));
        const double large = 1.0 / (1.0 + ratio), small = ratio * large;
        value[k] = std::max(own, under) + std::log1p(ratio);
        below[k] = own > under ? small : large;
        scale_blocks(k, own > under ? large : small);
    }

    void down(int64_t k) const {
        const double mass = below[parent[k]];
        scale_blocks(k, mass);
        below[k] *= mass;
    }
};

void solve(const Problem& p, int64_t n_nodes, int threads) {
    const Chunks chunks(p.size, n_nodes, kChunkLeaves);
    const int64_t n_chunks = chunks.roots.size();
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int64_t c = 0; c < n_chunks; ++c) {
        const int64_t root = chunks.roots[c];
        for (int64_t k = root + 2 * int64_t{p.size[root]} - 2; k >= root; --k) p.up(k);
    }
    for (int64_t e = static_cast<int64_t>(chunks.top.size()) - 1; e >= 0; --e) p.up(chunks.top[e]);
    for (const int64_t k : chunks.top)
        if (k > 0) p.down(k);
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int64_t c = 0; c < n_chunks; ++c) {
        const int64_t root = chunks.roots[c];
        for (int64_t k = std::max<int64_t>(root, 1); k <= root + 2 * int64_t{p.size[root]} - 2; ++k)
            p.down(k);
    }
}

void solve(const BlockWeights& weights, const Vector<int32_t>& size, const Vector<double>& dbar,
           const MutableVector<double>& q, const MutableVector<double>& value,
           const MutableVector<double>& below, int threads) {
    require(value.shape(0) == size.shape(0) && below.shape(0) == size.shape(0),
            "value and below need one entry a node");
    require(dbar.shape(0) == q.shape(0), "mean_divergence and q need one entry a block");
    nb::gil_scoped_release release;
    solve({weights, q.data(), value.data(), below.data()}, size.shape(0), threads);
}

void optimum_coarsest(Vector<int32_t> size, Vector<int32_t> parent, Vector<double> dbar, double bandwidth,
                      MutableVector<double> q, MutableVector<double> value, MutableVector<double> below,
                      int threads) {
    solve(coarsest_weights(size, parent, dbar, bandwidth, threads), size, dbar, q, value, below, threads);
}

void optimum_blocks(Vector<int32_t> size, Vector<int32_t> parent, Vector<int64_t> first, Vector<int32_t> cols,
                    Vector<double> dbar, double bandwidth, MutableVector<double> q,
                    MutableVector<double> value, MutableVector<double> below, int threads) {
    solve(block_weights(size, parent, first, cols, dbar, bandwidth, threads), size, dbar, q, value, below,
          threads);
}

}  // namespace

void register_optimum(nb::module_& m) {
    m.def("optimum_coarsest", &optimum_coarsest);
    m.def("optimum_blocks", &optimum_blocks);
}

}  // namespace bvdt
