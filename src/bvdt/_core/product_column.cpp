// Q v and Qᵀ v for one vector and the coarsest partition: product.cpp with k = 1, bound by memory.
//
// Eight points share a cache line, so reading v[order] would load a line a point, and writing out[order]
// would make the threads fight for them. Instead the points are dealt into buckets of consecutive leaves,
// streaming; a bucket fits in cache, where its chunks find their leaves and put back their results; and the
// buckets stream back.
#include <memory>

#include "plan.hpp"

namespace bvdt {
namespace {

struct Buckets {                 // see product.py
    const uint16_t* of_point;    // (N,)
    const uint16_t* slot;        // (N,) of each leaf in its bucket
    const int32_t* first_chunk;  // (n_buckets + 1,)
    const int32_t* start;  // (n_ranges, n_buckets) place of the first of a range's points in each bucket
    int64_t n_buckets, n_ranges, range;

    // Calls visit(point, place) for the points of range r.
    template <typename Visit>
    void deal(int64_t r, int64_t n_points, std::vector<int32_t>& next, const Visit& visit) const {
        next.assign(start + r * n_buckets, start + (r + 1) * n_buckets);
        const int64_t last = std::min((r + 1) * range, n_points);
        for (int64_t i = r * range; i < last; ++i) visit(i, next[of_point[i]]++);
    }
};

// In: s holds the leaves' values. Sums go up; the root's is kept in `sum` and the root set to zero; then the
// sibling products come down: s[left] = s[node] + w_left·sum(right), and the mirror image.
template <typename Slot>
inline void sweep(double* s, const Slot* child, const double* w, int64_t n, double* sum, int flip) {
    for (int64_t i = n - 1; i >= 0; --i) s[i] = s[child[2 * i]] + s[child[2 * i + 1]];
    *sum = s[0], s[0] = 0;
    for (int64_t i = 0; i < n; ++i) {
        const Slot l = child[2 * i], r = child[2 * i + 1];
        const double t = s[i], left = s[l], right = s[r];
        s[l] = t + w[2 * i + flip] * right;
        s[r] = t + w[2 * i + 1 - flip] * left;
    }
}

// The chunks of one bucket, in place; sums[c] becomes the sum of chunk c.
void sweep_bucket(const Plan& p, const Buckets& buckets, int64_t b, double* dealt, double* scratch,
                  double* sums, int flip) {
    double* const bucket = dealt + p.first_leaf[buckets.first_chunk[b]];
    for (int64_t c = buckets.first_chunk[b]; c < buckets.first_chunk[b + 1]; ++c) {
        const int64_t n = p.leaves(c);
        const uint16_t* slot = buckets.slot + p.first_leaf[c];
        double* leaves = scratch + (n - 1);
        for (int64_t j = 0; j < n; ++j) leaves[j] = bucket[slot[j]];
        sweep(scratch, p.children(c), p.weights(c), n - 1, sums + c, flip);
        for (int64_t j = 0; j < n; ++j) bucket[slot[j]] = leaves[j];
    }
}

template <typename T>
void multiply(const Plan& p, const Buckets& buckets, const T* v, T* out, int flip, int threads) {
    const int64_t n_top = p.n_chunks - 1;
    std::vector<double> top(p.n_chunks + n_top);
    double* const above = top.data() + n_top;  // of each chunk: first its sum, then what comes down to it
    double total = 0;
    const std::unique_ptr<double[]> dealt(new double[p.n_points]);
#pragma omp parallel num_threads(threads)
    {
        std::vector<double> scratch(2 * p.largest);
        std::vector<int32_t> next;
#pragma omp for schedule(dynamic)
        for (int64_t r = 0; r < buckets.n_ranges; ++r)
            buckets.deal(r, p.n_points, next, [&](int64_t i, int32_t place) { dealt[place] = v[i]; });
#pragma omp for schedule(dynamic)
        for (int64_t b = 0; b < buckets.n_buckets; ++b)
            sweep_bucket(p, buckets, b, dealt.get(), scratch.data(), above, flip);
#pragma omp single
        sweep(top.data(), p.top_child, p.top_weight, n_top, &total, flip);
#pragma omp for schedule(dynamic)
        for (int64_t r = 0; r < buckets.n_ranges; ++r)
            buckets.deal(r, p.n_points, next, [&](int64_t i, int32_t place) {
                out[i] = static_cast<T>(dealt[place] + above[p.chunk[i]]);
            });
    }
}

template <typename T>
void product_column(Vector<int32_t> first_leaf, Vector<int32_t> chunk, Matrix<uint16_t> child,
                    Matrix<double> weight, Matrix<int32_t> top_child, Matrix<double> top_weight,
                    Vector<uint16_t> bucket, Vector<uint16_t> slot, Vector<int32_t> first_chunk,
                    Matrix<int32_t> start, Vector<T> v, MutableVector<T> out, bool transpose, int threads) {
    const Plan plan = checked_plan(first_leaf, chunk, child, weight, top_child, top_weight);
    const int64_t n = plan.n_points, n_buckets = static_cast<int64_t>(first_chunk.shape(0)) - 1;
    require(v.shape(0) == chunk.shape(0) && out.shape(0) == v.shape(0), "v and out need N entries");
    require(bucket.shape(0) == chunk.shape(0) && slot.shape(0) == chunk.shape(0),
            "bucket and slot need one entry a point");
    require(n_buckets >= 1 && first_chunk.data()[0] == 0 && first_chunk.data()[n_buckets] == plan.n_chunks,
            "first_chunk needs to run from 0 to the number of chunks");
    require(start.shape(0) >= 1 && static_cast<int64_t>(start.shape(1)) == n_buckets,
            "start needs one column a bucket");
    for (int64_t b = 0; b < n_buckets; ++b)
        require(first_chunk.data()[b] < first_chunk.data()[b + 1], "first_chunk needs to ascend");
    for (size_t e = 0; e < start.size(); ++e)
        require(start.data()[e] >= 0 && start.data()[e] <= n, "start needs places from 0 to N");
    const int64_t n_ranges = start.shape(0), range = (n + n_ranges - 1) / n_ranges;
    const Buckets buckets{bucket.data(), slot.data(), first_chunk.data(), start.data(), n_buckets,
                          n_ranges,      range};
    nb::gil_scoped_release release;
    multiply(plan, buckets, v.data(), out.data(), transpose, threads);
}

}  // namespace

void register_product_column(nb::module_& m) {
    m.def("product_column", &product_column<double>);
    m.def("product_column", &product_column<float>);
}

}  // namespace bvdt
