#include "curve.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tree.hpp"

namespace bvdt {
namespace {

// log(e^a + e^b), with the entropy, the mean and the variance of the two together.
Curve either(const Curve& a, const Curve& b) {
    if (a.value == kMinusInfinity) return b;
    if (b.value == kMinusInfinity) return a;
    const double ratio = std::exp(-std::abs(a.value - b.value));
    const double large = 1.0 / (1.0 + ratio), small = ratio * large;
    const double of_a = a.value > b.value ? large : small, of_b = a.value > b.value ? small : large;
    const double more = std::log1p(ratio), choice = more + small * std::abs(a.value - b.value);
    // Far apart, the square may overflow where the share that goes there is 0.
    const double apart = a.mean - b.mean, spread = small > 0 ? small * apart * large * apart : 0.0;
    return {std::max(a.value, b.value) + more, of_a * a.entropy + of_b * b.entropy + choice,
            of_a * a.mean + of_b * b.mean, of_a * a.variance + of_b * b.variance + spread};
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

Curve of_subtree(const BlockWeights& w, int64_t root) {
    return fold_up<Curve>(
        behind_subtree(w.size, root) - root, [&](int64_t e) { return w.size[root + e] == 1; },
        [&](int64_t e) { return own_blocks(w, root + e); },
        [&](int64_t e, const Curve& left, const Curve& right) { return above(w, root + e, left, right); });
}

}  // namespace

Curve bound_curve(const BlockWeights& w, int threads) {
    const Subtrees subtrees(w.size, w.n_nodes, kSolvedAtOnce);
    std::vector<Curve> done(subtrees.roots.size());
    parallel_for(subtrees.count(), 1, threads,
                 [&](int64_t c) { done[c] = of_subtree(w, subtrees.roots[c]); });
    int64_t subtree = subtrees.count();
    return fold_up<Curve>(
        static_cast<int64_t>(subtrees.nodes.size()),
        [&](int64_t e) { return w.size[subtrees.nodes[e]] <= kSolvedAtOnce; },
        [&](int64_t) { return done[--subtree]; },
        [&](int64_t e, const Curve& left, const Curve& right) {
            return above(w, subtrees.nodes[e], left, right);
        });
}

}  // namespace bvdt
