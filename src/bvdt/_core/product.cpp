// Q v and Qᵀ v, DESIGN 2.4: sum v up the tree, cross over in the blocks, push down. Only sums of products, no
// differences: nothing cancels for non-negative v.
//
// For the coarsest partition each chunk (a subtree) is swept on its own in a small scratch array [internal
// nodes | leaves]; what the tree above the chunks adds is one number a chunk and column, added while
// streaming over the result. Main memory is read once for q, the children, the order and v. `sweep` is
// branch-free: children are slots of that scratch, prepared once per operator (product.py).
// One column has a kernel of its own: product_column.cpp.
#include <algorithm>

#include "chunks.hpp"
#include "plan.hpp"

namespace bvdt {
namespace {

constexpr int64_t kColumns = 32;  // at most this many columns at once, so that the scratch stays in cache

// In: s holds the leaves' values, k columns. Sums go up; the root's is kept in `sum` and the root set to
// zero; then the sibling products come down: s[left] = s[node] + w_left·sum(right), and the mirror image.
template <typename Slot>
inline void sweep_up(double* s, const Slot* child, int64_t n, int64_t k) {
    for (int64_t i = n - 1; i >= 0; --i) {
        double* to = s + i * k;
        const double *l = s + child[2 * i] * k, *r = s + child[2 * i + 1] * k;
#pragma GCC ivdep
        for (int64_t j = 0; j < k; ++j) to[j] = l[j] + r[j];
    }
}

template <typename Slot>
inline void sweep_down(double* s, const Slot* child, const double* w, int64_t n, int64_t k, int flip) {
    for (int64_t i = 0; i < n; ++i) {
        const double* from = s + i * k;
        double *l = s + child[2 * i] * k, *r = s + child[2 * i + 1] * k;
        const double w_left = w[2 * i + flip], w_right = w[2 * i + 1 - flip];
#pragma GCC ivdep
        for (int64_t j = 0; j < k; ++j) {
            const double left = l[j], right = r[j];
            l[j] = from[j] + w_left * right;
            r[j] = from[j] + w_right * left;
        }
    }
}

template <typename Slot>
inline void sweep(double* s, const Slot* child, const double* w, int64_t n, int64_t k, double* sum,
                  int flip) {
    sweep_up(s, child, n, k);
    std::copy_n(s, k, sum);
    std::fill_n(s, k, 0.0);
    sweep_down(s, child, w, n, k, flip);
}

// Plain functions, because only those are compiled once per CPU generation.
BVDT_SIMD void sweep_chunk(double* s, const uint16_t* child, const double* w, int64_t n, int64_t k,
                           double* sum, int flip) {
    sweep(s, child, w, n, k, sum, flip);
}

BVDT_SIMD void sweep_above(double* s, const int32_t* child, const double* w, int64_t n, int64_t k,
                           double* sum, int flip) {
    sweep(s, child, w, n, k, sum, flip);
}

template <typename T>
struct Columns {  // k columns from column j of a row-major matrix with `stride` columns
    T* data;
    int64_t stride, k;

    T* row(int64_t i) const { return data + i * stride; }
};

template <typename T>
void gather(const Columns<const T>& v, const int32_t* order, int64_t n, double* to) {
    for (int64_t j = 0; j < n; ++j, to += v.k) {
        const T* from = v.row(order[j]);
        for (int64_t c = 0; c < v.k; ++c) to[c] = from[c];
    }
}

template <typename T>
void scatter(const double* from, const int32_t* order, int64_t n, const Columns<T>& out) {
    for (int64_t j = 0; j < n; ++j, from += out.k) {
        T* to = out.row(order[j]);
        for (int64_t c = 0; c < out.k; ++c) to[c] = static_cast<T>(from[c]);
    }
}

// out[i] += above[chunk of point i], streaming.
template <typename T>
void add_above(const double* above, const int32_t* chunk, int64_t first, int64_t last,
               const Columns<T>& out) {
    for (int64_t i = first; i < last; ++i) {
        T* to = out.row(i);
        const double* from = above + chunk[i] * out.k;
        for (int64_t c = 0; c < out.k; ++c) to[c] = static_cast<T>(to[c] + from[c]);
    }
}

template <typename T>
void multiply(const Plan& p, const int32_t* order, const Columns<const T>& v, const Columns<T>& out, int flip,
              int threads) {
    const int64_t k = v.k, n_top = p.n_chunks - 1, batch = 4096;
    std::vector<double> top((p.n_chunks + n_top) * k), total(k);
    double* const above = top.data() + n_top * k;  // of each chunk: first its sum, then what comes down to it
#pragma omp parallel num_threads(threads)
    {
        std::vector<double> scratch(2 * p.largest * k);
#pragma omp for schedule(dynamic, 16)
        for (int64_t c = 0; c < p.n_chunks; ++c) {
            const int64_t leaf = p.first_leaf[c], n = p.leaves(c);
            double* leaves = scratch.data() + (n - 1) * k;
            gather(v, order + leaf, n, leaves);
            sweep_chunk(scratch.data(), p.children(c), p.weights(c), n - 1, k, above + c * k, flip);
            scatter(leaves, order + leaf, n, out);
        }
        if (n_top > 0) {
#pragma omp single
            sweep_above(top.data(), p.top_child, p.top_weight, n_top, k, total.data(), flip);
#pragma omp for schedule(dynamic)
            for (int64_t i = 0; i < p.n_points; i += batch)
                add_above(above, p.chunk, i, std::min(i + batch, p.n_points), out);
        }
    }
}

template <typename T>
void product_coarsest(Vector<int32_t> order, Vector<int32_t> first_leaf, Vector<int32_t> chunk,
                      Matrix<uint16_t> child, Matrix<double> weight, Matrix<int32_t> top_child,
                      Matrix<double> top_weight, Matrix<T> v, MutableMatrix<T> out, bool transpose,
                      int threads) {
    const Plan plan = checked_plan(first_leaf, chunk, child, weight, top_child, top_weight);
    const int64_t n = plan.n_points, columns = v.shape(1);
    require(static_cast<int64_t>(order.shape(0)) == n, "order needs N entries");
    require(static_cast<int64_t>(v.shape(0)) == n && out.shape(0) == v.shape(0) && out.shape(1) == v.shape(1),
            "v and out need N rows and one shape");
    nb::gil_scoped_release release;
    for (int64_t j = 0; j < columns; j += kColumns) {
        const int64_t k = std::min(kColumns, columns - j);
        multiply<T>(plan, order.data(), {v.data() + j, columns, k}, {out.data() + j, columns, k}, transpose,
                    threads);
    }
}

// -- any partition
// -------------------------------------------------------------------------------------------

struct Blocks {
    const int32_t *size, *parent, *order;
    const int64_t* first;  // (2N,)
    const int32_t* other;  // (n_blocks,)
    const double* q;       // (n_blocks,)
};

BVDT_SIMD void add_scaled(double* to, const double* from, double scale, int64_t k) {
#pragma GCC ivdep
    for (int64_t j = 0; j < k; ++j) to[j] += scale * from[j];
}

template <typename T>
void multiply_blocks(const Blocks& p, const Chunks& chunks, const Columns<const T>& v, const Columns<T>& out,
                     std::vector<double>& sum, std::vector<double>& got, int threads) {
    const int64_t k = v.k, n_chunks = chunks.roots.size();
    const int64_t n_nodes = static_cast<int64_t>(sum.size()) / k;
    const auto last = [&](int64_t c) { return chunks.roots[c] + 2 * int64_t{p.size[chunks.roots[c]]} - 2; };
    const auto up = [&](int64_t node) {
        const double *l = &sum[(node + 1) * k], *r = &sum[right_child(p.size, node) * k];
        for (int64_t j = 0; j < k; ++j) sum[node * k + j] = l[j] + r[j];
    };
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(dynamic)
        for (int64_t c = 0; c < n_chunks; ++c) {
            int64_t leaf = chunks.start[c] + p.size[chunks.roots[c]];
            for (int64_t node = last(c); node >= chunks.roots[c]; --node)
                p.size[node] == 1 ? gather(v, p.order + --leaf, 1, &sum[node * k]) : up(node);
        }
#pragma omp single
        for (int64_t e = static_cast<int64_t>(chunks.top.size()) - 1; e >= 0; --e) up(chunks.top[e]);
#pragma omp for schedule(dynamic, 1024)
        for (int64_t node = 0; node < n_nodes; ++node) {
            std::fill_n(&got[node * k], k, 0.0);
            for (int64_t b = p.first[node]; b < p.first[node + 1]; ++b)
                add_scaled(&got[node * k], &sum[p.other[b] * k], p.q[b], k);
        }
#pragma omp single
        for (const int64_t node : chunks.top)
            if (node > 0) add_scaled(&got[node * k], &got[p.parent[node] * k], 1.0, k);
#pragma omp for schedule(dynamic)
        for (int64_t c = 0; c < n_chunks; ++c) {
            int64_t leaf = chunks.start[c];
            for (int64_t node = chunks.roots[c]; node <= last(c); ++node) {
                if (node > 0) add_scaled(&got[node * k], &got[p.parent[node] * k], 1.0, k);
                if (p.size[node] == 1) scatter(&got[node * k], p.order + leaf++, 1, out);
            }
        }
    }
}

template <typename T>
void product_blocks(Vector<int32_t> size, Vector<int32_t> parent, Vector<int32_t> order,
                    Vector<int64_t> first, Vector<int32_t> other, Vector<double> q, Matrix<T> v,
                    MutableMatrix<T> out, int threads) {
    const int64_t n = checked_points(size), n_nodes = size.shape(0), columns = v.shape(1);
    check_order(order, n);
    check_blocks(first, other, n_nodes);
    require(static_cast<int64_t>(parent.shape(0)) == n_nodes, "parent needs one entry a node");
    for (int64_t k = 1; k < n_nodes; ++k)
        require(parent.data()[k] >= 0 && parent.data()[k] < k, "parent is not that of a pre-order tree");
    require(q.shape(0) == other.shape(0), "q needs one entry a block");
    require(static_cast<int64_t>(v.shape(0)) == n && out.shape(0) == v.shape(0) && out.shape(1) == v.shape(1),
            "v and out need N rows and one shape");
    nb::gil_scoped_release release;
    const Blocks blocks{size.data(), parent.data(), order.data(), first.data(), other.data(), q.data()};
    const Chunks chunks(size.data(), n_nodes, 1024);
    std::vector<double> sum, got;
    for (int64_t j = 0; j < columns; j += kColumns) {
        const int64_t k = std::min(kColumns, columns - j);
        sum.resize(n_nodes * k), got.resize(n_nodes * k);
        multiply_blocks<T>(blocks, chunks, {v.data() + j, columns, k}, {out.data() + j, columns, k}, sum, got,
                           threads);
    }
}

}  // namespace

void register_product(nb::module_& m) {
    m.def("product_coarsest", &product_coarsest<double>);
    m.def("product_coarsest", &product_coarsest<float>);
    m.def("product_blocks", &product_blocks<double>);
    m.def("product_blocks", &product_blocks<float>);
}

}  // namespace bvdt
