// Block divergences, Eq. (20) in lifted form:  d̄_AB = U(A)/|A| + W(B)/|B| − ⟨X(A), H(B)⟩ / (|A||B|).
//
// The coarsest partition needs, for every internal node, both directions between its two children. Dense data
// go up the tree with a stack of node sums; sparse data walk the heavy paths (DESIGN 2.2). Any other
// partition asks for inner products of chosen pairs of stored node sums.
#include <algorithm>
#include <utility>

#include "chunks.hpp"
#include "points.hpp"

namespace bvdt {
namespace {

constexpr int64_t kScratchBytes = 1 << 19;  // of node sums in one dense chunk: stays in a core's cache

struct Sums {
    const double *u, *w;  // (2N − 1,) U and W of every node
    const int32_t* size;  // (2N − 1,)
    double* out;          // (2N − 1,) d̄ of (node, sibling)

    // Both blocks of the children a, b from ⟨X(a), H(b)⟩ and ⟨X(b), H(a)⟩.
    void store(int64_t a, int64_t b, double a_to_b, double b_to_a) const {
        const double na = size[a], nb = size[b], area = na * nb;
        out[a] = std::max(u[a] / na + w[b] / nb - a_to_b / area, 0.0);
        out[b] = std::max(u[b] / nb + w[a] / na - b_to_a / area, 0.0);
    }
};

BVDT_SIMD void dots_each(const Pair* a, const Pair* b, int64_t d, double* both) {
    double ab = 0, ba = 0;
#pragma omp simd reduction(+ : ab, ba)
    for (int64_t j = 0; j < d; ++j) ab += a[j].x * b[j].h, ba += b[j].x * a[j].h;
    both[0] = ab, both[1] = ba;
}

BVDT_SIMD void add(Pair* to, const Pair* from, int64_t d) {
#pragma omp simd
    for (int64_t j = 0; j < d; ++j) to[j].x += from[j].x, to[j].h += from[j].h;
}

// Both blocks between a node's children, then right += left: the node's own sums. Reverse pre-order leaves
// the left child on top of the stack and the right one below it.
void merge(const Sums& sums, int64_t node, int64_t d, const Pair* left, Pair* right) {
    double both[2];
    dots_each(left, right, d, both);
    sums.store(node + 1, right_child(sums.size, node), both[0], both[1]);
    add(right, left, d);
}

// One subtree from its leaves up; leaves its X and H sums in total.
void dense_subtree(const DensePoints& points, const Sums& sums, const int32_t* order, int64_t root,
                   int64_t first_leaf, Pair* stack, Pair* total) {
    const int64_t d = points.d;
    int64_t height = 0, leaf = first_leaf + sums.size[root];
    for (int64_t k = root + 2 * int64_t{sums.size[root]} - 2; k >= root; --k) {
        if (sums.size[k] == 1) {
            Pair* to = stack + d * height++;
            const int64_t i = order[--leaf];
            for (int64_t j = 0; j < d; ++j) to[j] = {points.x[i * d + j], points.h[i * d + j]};
        } else {
            --height;
            merge(sums, k, d, stack + d * height, stack + d * (height - 1));
        }
    }
    std::copy_n(stack, d, total);
}

Sums checked_sums(const Vector<double>& u, const Vector<double>& w, const Vector<int32_t>& size,
                  const MutableVector<double>& out) {
    require(u.shape(0) == size.shape(0) && w.shape(0) == size.shape(0) && out.shape(0) == size.shape(0),
            "u, w and out need one entry a node");
    return {u.data(), w.data(), size.data(), out.data()};
}

void coarsest_dense(Matrix<double> x, Matrix<double> h, Vector<double> u, Vector<double> w,
                    Vector<int32_t> size, Vector<int32_t> order, MutableVector<double> out, int threads) {
    const DensePoints points = dense_points(x, h);
    const Sums sums = checked_sums(u, w, size, out);
    require(checked_points(size) == points.n, "X needs one row a point of the tree");
    check_order(order, points.n);
    nb::gil_scoped_release release;
    const int64_t d = std::max<int64_t>(points.d, 1);
    const int64_t max_leaves = std::max<int64_t>(kScratchBytes / (d * int64_t{sizeof(Pair)}), 4);
    const Chunks chunks(size.data(), size.shape(0), max_leaves);
    const int64_t n_chunks = chunks.roots.size();
    std::vector<Pair> totals(n_chunks * points.d);
#pragma omp parallel num_threads(threads)
    {
        std::vector<Pair> stack((max_leaves + 1) * d);
#pragma omp for schedule(dynamic, 4)
        for (int64_t c = 0; c < n_chunks; ++c)
            dense_subtree(points, sums, order.data(), chunks.roots[c], chunks.start[c], stack.data(),
                          totals.data() + c * points.d);
    }
    // Above the chunks: the same stack, of chunk totals merged in place.
    std::vector<int64_t> slots;
    int64_t chunk = n_chunks;
    for (int64_t e = static_cast<int64_t>(chunks.nodes.size()) - 1; e >= 0; --e) {
        const int64_t node = chunks.nodes[e];
        if (chunk > 0 && chunks.roots[chunk - 1] == node) {
            slots.push_back(--chunk);
            continue;
        }
        const Pair* left = totals.data() + slots.back() * points.d;
        slots.pop_back();
        Pair* right = totals.data() + slots.back() * points.d;
        merge(sums, node, points.d, left, right);
    }
}

// A heavy path from its top node down, always into the larger child; the last entry is a leaf.
void heavy_path(const int32_t* size, int64_t top, std::vector<int32_t>& path) {
    path.assign(1, static_cast<int32_t>(top));
    for (int64_t k = top; size[k] > 1;) {
        const int64_t left = k + 1, right = right_child(size, k);
        k = size[left] >= size[right] ? left : right;
        path.push_back(static_cast<int32_t>(k));
    }
}

// Walks one heavy path upward. `to` is all zero before and after.
void sparse_path(const SparsePoints& points, const Sums& sums, const int32_t* order, const int32_t* start,
                 const std::vector<int32_t>& path, Pair* to) {
    const int32_t* size = sums.size;
    points.add_to(order[start[path.back()]], 1.0, to);
    for (int64_t e = static_cast<int64_t>(path.size()) - 2; e >= 0; --e) {
        const int64_t node = path[e], heavy = path[e + 1];
        const int64_t light = heavy == node + 1 ? right_child(size, node) : node + 1;
        const int32_t *first = order + start[light], *last = first + size[light];
        double light_to_heavy = 0, heavy_to_light = 0;
        for (const int32_t* i = first; i < last; ++i) {
            double as_row, as_centre;
            points.dot_each(*i, to, as_row, as_centre);
            light_to_heavy += as_row, heavy_to_light += as_centre;
        }
        sums.store(light, heavy, light_to_heavy, heavy_to_light);
        if (e > 0)
            for (const int32_t* i = first; i < last; ++i) points.add_to(*i, 1.0, to);
    }
    const int32_t *first = order + start[path.front()], *last = first + size[path.front()];
    int64_t touched = 0;
    for (const int32_t* i = first; i < last && touched < points.d; ++i)
        touched += points.indptr[*i + 1] - points.indptr[*i];
    if (touched >= points.d)
        std::fill_n(to, points.d, Pair{0, 0});
    else
        for (const int32_t* i = first; i < last; ++i) points.clear(*i, to);
}

void check_indices(const SparsePoints& points, int64_t nnz) {
    require(points.indptr[0] == 0 && points.indptr[points.n] == nnz, "indptr needs to run from 0 to nnz");
    for (int64_t i = 0; i < points.n; ++i)
        require(points.indptr[i] <= points.indptr[i + 1], "indptr needs to ascend");
    for (int64_t e = 0; e < nnz; ++e)
        require(points.indices[e] >= 0 && points.indices[e] < points.d, "indices need values in 0…d − 1");
}

void coarsest_sparse(Vector<int64_t> indptr, Vector<int32_t> indices, Vector<double> x, Vector<double> h,
                     int64_t d, Vector<double> u, Vector<double> w, Vector<int32_t> size,
                     Vector<int32_t> start, Vector<int32_t> order, MutableVector<double> out, int threads) {
    const SparsePoints points = sparse_points(indptr, indices, x, h, d);
    const Sums sums = checked_sums(u, w, size, out);
    require(checked_points(size) == points.n, "X needs one row a point of the tree");
    check_order(order, points.n);
    check_indices(points, indices.shape(0));
    require(start.shape(0) == size.shape(0), "start needs one entry a node");
    for (size_t k = 0; k < start.shape(0); ++k)
        require(start.data()[k] >= 0 && start.data()[k] + size.data()[k] <= points.n,
                "start is out of range");
    nb::gil_scoped_release release;
    std::vector<int32_t> tops(1, 0);  // the root and every lighter child that is not a leaf
    for (int64_t k = 0; k < static_cast<int64_t>(size.shape(0)); ++k) {
        if (sums.size[k] == 1) continue;
        const int64_t left = k + 1, right = right_child(sums.size, k);
        const int64_t light = sums.size[left] >= sums.size[right] ? right : left;
        if (sums.size[light] > 1) tops.push_back(static_cast<int32_t>(light));
    }
#pragma omp parallel num_threads(threads)
    {
        std::vector<Pair> to(points.d);
        std::vector<int32_t> path;
#pragma omp for schedule(dynamic, 16)
        for (size_t t = 0; t < tops.size(); ++t) {
            heavy_path(sums.size, tops[t], path);
            sparse_path(points, sums, order.data(), start.data(), path, to.data());
        }
    }
}

BVDT_SIMD double dot(const double* a, const double* b, int64_t d) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < d; ++j) sum += a[j] * b[j];
    return sum;
}

void check_pairs(const Vector<int32_t>& a, const Vector<int32_t>& b, const MutableVector<double>& out,
                 int64_t n_a, int64_t n_b) {
    require(a.shape(0) == b.shape(0) && a.shape(0) == out.shape(0), "a, b and out need one length");
    for (size_t e = 0; e < a.shape(0); ++e)
        require(a.data()[e] >= 0 && a.data()[e] < n_a && b.data()[e] >= 0 && b.data()[e] < n_b,
                "a pair is outside the matrices");
}

// out[e] = ⟨X[a[e]], H[b[e]]⟩
void pair_dots_dense(Matrix<double> x, Matrix<double> h, Vector<int32_t> a, Vector<int32_t> b,
                     MutableVector<double> out, int threads) {
    require(x.shape(1) == h.shape(1), "X and H need one number of columns");
    check_pairs(a, b, out, x.shape(0), h.shape(0));
    nb::gil_scoped_release release;
    const int64_t d = x.shape(1), n = a.shape(0);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t e = 0; e < n; ++e)
        out.data()[e] = dot(x.data() + d * a.data()[e], h.data() + d * b.data()[e], d);
}

// The same for two CSR matrices: a row of X is spread out once and read by all its consecutive pairs.
void pair_dots_sparse(Vector<int64_t> x_indptr, Vector<int32_t> x_indices, Vector<double> x,
                      Vector<int64_t> h_indptr, Vector<int32_t> h_indices, Vector<double> h, int64_t d,
                      Vector<int32_t> a, Vector<int32_t> b, MutableVector<double> out, int threads) {
    const SparsePoints rows = sparse_points(x_indptr, x_indices, x, x, d);
    const SparsePoints cols = sparse_points(h_indptr, h_indices, h, h, d);
    check_indices(rows, x_indices.shape(0));
    check_indices(cols, h_indices.shape(0));
    check_pairs(a, b, out, rows.n, cols.n);
    nb::gil_scoped_release release;
    const int64_t n = a.shape(0), batch = 1024;
#pragma omp parallel num_threads(threads)
    {
        std::vector<double> spread(d);
#pragma omp for schedule(dynamic)
        for (int64_t begin = 0; begin < n; begin += batch) {
            int64_t held = -1;
            const auto put = [&](int64_t row, bool keep) {
                for (int64_t e = rows.indptr[row]; e < rows.indptr[row + 1]; ++e)
                    spread[rows.indices[e]] = keep ? rows.x[e] : 0.0;
            };
            for (int64_t e = begin; e < std::min(begin + batch, n); ++e) {
                if (const int64_t row = a.data()[e]; row != held) {
                    if (held >= 0) put(held, false);
                    put(row, true), held = row;
                }
                double sum = 0;
                const int64_t col = b.data()[e];
                for (int64_t f = cols.indptr[col]; f < cols.indptr[col + 1]; ++f)
                    sum += cols.h[f] * spread[cols.indices[f]];
                out.data()[e] = sum;
            }
            if (held >= 0) put(held, false);
        }
    }
}

}  // namespace

void register_blocks(nb::module_& m) {
    m.def("coarsest_dense", &coarsest_dense);
    m.def("coarsest_sparse", &coarsest_sparse);
    m.def("pair_dots_dense", &pair_dots_dense);
    m.def("pair_dots_sparse", &pair_dots_sparse);
}

}  // namespace bvdt
