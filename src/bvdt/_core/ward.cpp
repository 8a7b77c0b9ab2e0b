// Ward's agglomeration inside chunks, in the lifted form.
//
// Merging clusters A and B costs |A||B|/(|A|+|B|)·⟨x̄_A − x̄_B, h̄_A − h̄_B⟩: the growth of the within-cluster
// sum of the symmetrised divergence, for squared Euclidean data exactly Ward's. Lance and Williams' update
// holds for it, so after the first matrix of costs no coordinates are needed.
#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "gram.hpp"

namespace bvdt {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// -- squared distances ⟨x̄_a − x̄_b, h̄_a − h̄_b⟩ inside one chunk, (k, k) ------------------------------------

// out[b] += (xa − x[b])·(ha − h[b]); differences before products, so nearness survives a far origin.
BVDT_SIMD void add_products(double xa, double ha, const double* x, const double* h, int64_t k, double* out) {
    for (int64_t b = 0; b < k; ++b) out[b] += (xa - x[b]) * (ha - h[b]);
}

BVDT_SIMD void add_squares(double xa, const double* x, int64_t k, double* out) {
    for (int64_t b = 0; b < k; ++b) out[b] += (xa - x[b]) * (xa - x[b]);
}

// Dense data: coordinates turned so that the inner loop runs over the chunk's items.
struct DenseDistances {
    std::vector<double> value;  // (k, stride); only b > a of row a is meaningful
    std::vector<double> x, h;   // (d, k)
    int64_t stride = 0;

    void compute(const DensePoints& points, const int32_t* item, int64_t k) {
        const int64_t d = points.d;
        const bool same = points.x == points.h;
        stride = k;
        value.assign(static_cast<size_t>(k * k), 0.0);
        x.resize(static_cast<size_t>(k * d));
        if (!same) h.resize(static_cast<size_t>(k * d));
        for (int64_t b = 0; b < k; ++b)
            for (int64_t j = 0; j < d; ++j) {
                x[j * k + b] = points.x[item[b] * d + j];
                if (!same) h[j * k + b] = points.h[item[b] * d + j];
            }
        for (int64_t a = 0; a + 1 < k; ++a) {
            double* row = value.data() + a * k + a + 1;
            for (int64_t j = 0; j < d; ++j) {
                const double* xj = x.data() + j * k;
                if (same) {
                    add_squares(xj[a], xj + a + 1, k - a - 1, row);
                } else {
                    const double* hj = h.data() + j * k;
                    add_products(xj[a], hj[a], xj + a + 1, hj + a + 1, k - a - 1, row);
                }
            }
        }
    }
};

// Sparse data: from the products, ⟨x̄_a, h̄_a⟩ + ⟨x̄_b, h̄_b⟩ − ⟨x̄_a, h̄_b⟩ − ⟨x̄_b, h̄_a⟩.
struct SparseDistances : SparseGram {
    void compute(const SparsePoints& points, const int32_t* item, int64_t k) {
        SparseGram::compute(points, item, k);
        for (int64_t a = 0; a < k; ++a)
            for (int64_t b = a + 1; b < k; ++b)
                value[a * stride + b] = value[a * stride + a] + value[b * stride + b] -
                                        (value[a * stride + b] + value[b * stride + a]);
    }
};

DenseDistances distances_for(const DensePoints&) { return {}; }
SparseDistances distances_for(const SparsePoints&) { return {}; }

// -- nearest-neighbour chain --------------------------------------------------------------------------------

BVDT_SIMD float row_minimum(const float* cost, const float* dead, int64_t k) {
    float best = kInfinity;
    for (int64_t b = 0; b < k; ++b) {
        const float value = cost[b] + dead[b];
        best = value < best ? value : best;
    }
    return best;
}

// Ward's update: out[x] = cost of (A∪B, x) from the rows of A and B.
BVDT_SIMD void merge_rows(const float* cost_b, float* cost_a, const float* size, float na, float nb, float ab,
                          int64_t k) {
    for (int64_t x = 0; x < k; ++x) {
        const float nx = size[x];
        const float merged = ((na + nx) * cost_a[x] + (nb + nx) * cost_b[x] - nx * ab) / (na + nb + nx);
        cost_a[x] = merged > 0 ? merged : 0;
    }
}

struct Merge {
    int32_t a, b;  // places in the chunk; a stands for the merged cluster from now on
    float cost;
};

// Agglomerates one chunk. Slots shrink to the live clusters from time to time, so that late scans are short.
struct Chain {
    std::vector<float> cost, dead, size, height;  // cost (k, k) with +∞ on the diagonal
    std::vector<int32_t> name, chain;             // name: slot -> place in the chunk
    int64_t k = 0, live = 0;

    // Largest finite cost, by which float costs are scaled: no overflow, whatever the data's units.
    template <typename Distances>
    double prepare(const Distances& distances, const int32_t* item, const double* weight, int64_t n) {
        k = live = n;
        cost.assign(static_cast<size_t>(n * n), kInfinity);
        dead.assign(static_cast<size_t>(n), 0), height.assign(static_cast<size_t>(n), 0);
        size.resize(static_cast<size_t>(n)), name.resize(static_cast<size_t>(n));
        double largest = 0;
        auto ward = [&](int64_t a, int64_t b) {
            const double na = weight[item[a]], nb = weight[item[b]];
            return na * nb / (na + nb) *
                   std::min(std::max(0.0, distances.value[a * distances.stride + b]), 1e290);
        };
        for (int64_t a = 0; a < n; ++a) {
            size[a] = static_cast<float>(weight[item[a]]), name[a] = static_cast<int32_t>(a);
            for (int64_t b = a + 1; b < n; ++b) largest = std::max(largest, ward(a, b));
        }
        const double scale = largest > 0 ? 1 / largest : 1;
        for (int64_t a = 0; a < n; ++a)
            for (int64_t b = a + 1; b < n; ++b)
                cost[a * n + b] = cost[b * n + a] = static_cast<float>(ward(a, b) * scale);
        return 1 / scale;
    }

    // Among clusters at the least cost: the one before in the chain, else the smallest. So equal points pair
    // up evenly instead of one cluster swallowing them one by one.
    int32_t nearest(int32_t a, int32_t before, float& least) const {
        const float* row = cost.data() + a * k;
        least = row_minimum(row, dead.data(), k);
        if (before >= 0 && row[before] == least) return before;
        int32_t best = -1;
        for (int64_t b = 0; b < k; ++b)
            if (row[b] + dead[b] == least && b != a && dead[b] == 0 && (best < 0 || size[b] < size[best]))
                best = static_cast<int32_t>(b);
        return best;
    }

    int32_t smallest() const {
        int32_t best = -1;
        for (int64_t s = 0; s < k; ++s)
            if (dead[s] == 0 && (best < 0 || size[s] < size[best])) best = static_cast<int32_t>(s);
        return best;
    }

    Merge merge(int32_t a, int32_t b, float ab) {
        const float heightened = std::max({ab, height[a], height[b]});  // rounding must not reorder merges
        merge_rows(cost.data() + b * k, cost.data() + a * k, size.data(), size[a], size[b], ab, k);
        cost[a * k + a] = kInfinity;
        dead[b] = kInfinity;
        for (int64_t x = 0; x < k; ++x)
            if (dead[x] == 0) cost[x * k + a] = cost[a * k + x];
        size[a] += size[b], height[a] = heightened;
        --live;
        return {name[a], name[b], heightened};
    }

    void compact() {
        std::vector<int32_t> keep;
        for (int64_t s = 0; s < k; ++s)
            if (dead[s] == 0) keep.push_back(static_cast<int32_t>(s));
        const int64_t n = static_cast<int64_t>(keep.size());
        for (int64_t a = 0; a < n; ++a)  // in place: the write never overtakes the read
            for (int64_t b = 0; b < n; ++b) cost[a * n + b] = cost[keep[a] * k + keep[b]];
        for (int64_t a = 0; a < n; ++a)
            size[a] = size[keep[a]], name[a] = name[keep[a]], height[a] = height[keep[a]], dead[a] = 0;
        k = n;
    }

    template <typename Emit>
    void run(Emit emit) {
        chain.clear();
        while (live > 1) {
            if (chain.empty()) {
                if (live * 2 <= k) compact();
                chain.push_back(smallest());
            }
            const int32_t a = chain.back();
            const int32_t before = chain.size() > 1 ? chain[chain.size() - 2] : -1;
            float least = 0;
            const int32_t b = nearest(a, before, least);
            if (b != before) {
                chain.push_back(b);
                continue;
            }
            chain.pop_back(), chain.pop_back();
            emit(merge(std::min(a, b), std::max(a, b), least));
        }
    }
};

// Merges of every chunk, children before parents: chunk c's stand at bounds[c] − bounds[0] − c.
template <typename Points>
void ward_chunks(const Points& points, const Vector<double>& weight, const Vector<int32_t>& order,
                 const Vector<int64_t>& bounds, const MutableMatrix<int32_t>& pairs,
                 const MutableVector<double>& costs, int threads) {
    const int64_t n_chunks = static_cast<int64_t>(bounds.shape(0)) - 1;
    const int64_t* bound = bounds.data();
    if (n_chunks < 1 || static_cast<int64_t>(weight.shape(0)) != points.n || bound[0] < 0 ||
        bound[n_chunks] > static_cast<int64_t>(order.shape(0)))
        throw std::invalid_argument("ward_chunks: weight, order and bounds must match the points");
    const int64_t n_merges = bound[n_chunks] - bound[0] - n_chunks;
    if (static_cast<int64_t>(pairs.shape(0)) != n_merges || pairs.shape(1) != 2 ||
        static_cast<int64_t>(costs.shape(0)) != n_merges || threads < 1)
        throw std::invalid_argument("ward_chunks: pairs and costs must have one row a merge");
    nb::gil_scoped_release release;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        auto distances = distances_for(points);
        Chain chain;
#pragma omp for schedule(dynamic)
        for (int64_t c = 0; c < n_chunks; ++c) {
            const int32_t* item = order.data() + bound[c];
            const int64_t k = bound[c + 1] - bound[c];
            distances.compute(points, item, k);
            const double scale = chain.prepare(distances, item, weight.data(), k);
            int64_t at = bound[c] - bound[0] - c;
            chain.run([&](const Merge& merge) {
                pairs.data()[2 * at] = item[merge.a], pairs.data()[2 * at + 1] = item[merge.b];
                costs.data()[at++] = merge.cost * scale;
            });
        }
    }
}

}  // namespace

void register_ward(nb::module_& m) {
    using namespace nb::literals;
    m.def(
        "ward_chunks",
        [](Matrix<double> x, Matrix<double> h, Vector<double> weight, Vector<int32_t> order,
           Vector<int64_t> bounds, MutableMatrix<int32_t> pairs, MutableVector<double> costs,
           int threads) { ward_chunks(dense_points(x, h), weight, order, bounds, pairs, costs, threads); },
        "x"_a, "h"_a, "weight"_a, "order"_a, "bounds"_a, "pairs"_a.noconvert(), "costs"_a.noconvert(),
        "threads"_a);
    m.def(
        "ward_chunks",
        [](Vector<int64_t> indptr, Vector<int32_t> indices, Vector<double> x, Vector<double> h, int64_t d,
           Vector<double> weight, Vector<int32_t> order, Vector<int64_t> bounds, MutableMatrix<int32_t> pairs,
           MutableVector<double> costs, int threads) {
            ward_chunks(sparse_points(indptr, indices, x, h, d), weight, order, bounds, pairs, costs,
                        threads);
        },
        "indptr"_a, "indices"_a, "x"_a, "h"_a, "d"_a, "weight"_a, "order"_a, "bounds"_a,
        "pairs"_a.noconvert(), "costs"_a.noconvert(), "threads"_a);
}

}  // namespace bvdt
