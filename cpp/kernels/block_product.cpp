#include "block_product.hpp"

#include <algorithm>
#include <vector>

#include "columns.hpp"
#include "tree.hpp"
#include "vectors.hpp"

namespace bvdt {
namespace {

constexpr int64_t kSubtreeLeaves = 1024;

struct Scratch {
    std::vector<double> sum, got;  // (2N − 1, k)
};

template <typename T>
void multiply(const BlockProduct& p, const Subtrees& subtrees, const Columns<const T>& v,
              const Columns<T>& out, Scratch& scratch, int threads) {
    const int64_t k = v.k;
    double *sum = scratch.sum.data(), *got = scratch.got.data();
    subtrees.climb(threads, [&](int64_t node, int64_t leaf) {
        if (p.size[node] == 1) return read_row(v, p.order[leaf], sum + node * k);
        const double *l = sum + (node + 1) * k, *r = sum + right_child(p.size, node) * k;
        for (int64_t j = 0; j < k; ++j) sum[node * k + j] = l[j] + r[j];
    });
    parallel_for(p.n_nodes, 1024, threads, [&](int64_t node) {
        std::fill_n(got + node * k, k, 0.0);
        for (int64_t b = p.first[node]; b < p.first[node + 1]; ++b)
            add_scaled(got + node * k, sum + p.other[b] * k, p.q[b], k);
    });
    subtrees.descend(threads, [&](int64_t node, int64_t leaf) {
        if (node > 0) add_scaled(got + node * k, got + p.parent[node] * k, 1.0, k);
        if (p.size[node] == 1) write_row(got + node * k, out, p.order[leaf]);
    });
}

}  // namespace

template <typename T>
void multiply_blocks(const BlockProduct& product, const T* v, T* out, int64_t columns, int threads) {
    const Subtrees subtrees(product.size, product.n_nodes, kSubtreeLeaves);
    Scratch scratch;
    in_column_batches(v, out, columns, [&](const Columns<const T>& from, const Columns<T>& to) {
        scratch.sum.resize(static_cast<size_t>(product.n_nodes * from.k));
        scratch.got.resize(static_cast<size_t>(product.n_nodes * from.k));
        multiply(product, subtrees, from, to, scratch, threads);
    });
}

template void multiply_blocks(const BlockProduct&, const double*, double*, int64_t, int);
template void multiply_blocks(const BlockProduct&, const float*, float*, int64_t, int);

}  // namespace bvdt
