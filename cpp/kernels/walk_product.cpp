#include "walk_product.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "lanes.hpp"
#include "parallel.hpp"
#include "sweep.hpp"

namespace bvdt {
namespace {

constexpr int64_t kAtOnce = 32;  // columns whose sums stay in registers
constexpr int64_t kSoon = 8;     // entries ahead whose rows of v are asked for
constexpr int64_t kRows = 256;   // of links alone, per turn of a thread

// Rows first … last − 1 of the result from what the far field gives them, or none.
template <typename T>
struct Rows {
    const Links* near;  // null for none
    const WalkScales& scales;
    const T* v;           // (N, k), in the tree's order
    const double* far;    // (last − first, k) before its scale; null for none
    const double* above;  // (k,) added to it
    T* out;
    int64_t stride, first, last;  // stride of out
    double* sums;                 // (n_sums, k) += those of the rows
    int64_t n_sums;
    const WalkStep<T>* step;  // null for the product itself
    const int32_t* order;     // row of out that each row is; null for its own
};

// total ← what the step makes of the product's row; sums (3, Count) += its change, size and square.
template <typename T, int Count>
BVDT_INLINE void take_step(const Rows<T>& r, int64_t i, const T* held, T* total) {
    const WalkStep<T>& s = *r.step;
    const int64_t given = s.row[i];
    const T by = static_cast<T>(s.by[i]), share = static_cast<T>(s.share);
    const T* const v = r.v + i * Count;
    if (given >= 0) {
        const T* const from = s.given + given * r.stride;
        for (int c = 0; c < Count; ++c) total[c] += share * from[c];
    }
    for (int c = 0; c < Count; ++c) total[c] *= by;
    if (r.n_sums) {
        const double weight = 1 / s.by[i];
        double *const change = r.sums, *const size = change + Count, *const squares = size + Count;
        for (int c = 0; c < Count; ++c) {
            const double left = weight * (double{total[c]} - double{v[c]});
            change[c] += std::abs(left), size[c] += weight * std::abs(total[c]), squares[c] += left * left;
        }
    }
    for (int c = 0; c < Count; ++c) total[c] = s.next[c] * total[c] + s.now[c] * v[c] + s.before[c] * held[c];
}

template <typename T, int Count>
BVDT_NOINLINE void write_rows(const Rows<T>& r) {
    const int64_t* const start = r.near ? r.near->first().data() : nullptr;
    const int32_t* const column = r.near ? r.near->column().data() : nullptr;
    const int32_t* const weight = r.near ? r.near->weight().data() : nullptr;
    const double* const near_in = r.scales.near_in;
    const int64_t end = start ? start[r.last] : 0;
    const double near_times = r.near ? r.scales.near_times * r.near->unit() : 0;
    for (int64_t i = r.first; i < r.last; ++i) {
        if (r.order && i + kSoon < r.last)
            prefetch_ends<1>(r.out + int64_t{r.order[i + kSoon]} * r.stride, Count);
        RowSum<T, Count> near;
        for (int64_t e = start ? start[i] : 0, last = start ? start[i + 1] : 0; e < last; ++e) {
            if (e + kSoon < end) prefetch_ends<0>(r.v + int64_t{column[e + kSoon]} * Count, Count);
            const int64_t j = column[e];
            near.add(static_cast<T>(near_in ? weight[e] * near_in[j] : weight[e]), r.v + j * Count);
        }
        T sum[Count];
        near.put(sum);
        const auto near_out = static_cast<T>((r.scales.near_out ? r.scales.near_out[i] : 1) * near_times);
        const auto own = static_cast<T>(r.scales.own);
        T total[Count];
        for (int c = 0; c < Count; ++c) total[c] = near_out * sum[c] + own * r.v[i * Count + c];
        if (r.far) {
            const auto far_out =
                static_cast<T>((r.scales.far_out ? r.scales.far_out[i] : 1) * r.scales.far_times);
            const double* const from = r.far + (i - r.first) * Count;
            for (int c = 0; c < Count; ++c) total[c] += far_out * static_cast<T>(from[c] + r.above[c]);
        }
        T* const to = r.out + (r.order ? int64_t{r.order[i]} : i) * r.stride;
        if (r.step) take_step<T, Count>(r, i, to, total);
        std::copy_n(total, Count, to);
        if (r.step) continue;
        if (r.n_sums > 0)
            for (int c = 0; c < Count; ++c) r.sums[c] += double{r.v[i * Count + c]} * double{total[c]};
        if (r.n_sums > 1)
            for (int c = 0; c < Count; ++c) r.sums[Count + c] += double{total[c]} * double{total[c]};
    }
}

// With so many columns as the compiler knows.
template <typename T, int... Count>
void write_some(const Rows<T>& r, int64_t count, std::integer_sequence<int, Count...>) {
    ((count == Count + 1 ? write_rows<T, Count + 1>(r) : void()), ...);
}

template <typename T>
void write_some(const Rows<T>& r, int64_t count) {
    write_some(r, count, std::make_integer_sequence<int, kAtOnce>{});
}

// k columns of v, their rows in the tree's order and side by side: v itself, or a copy.
template <typename T>
class Packed {
  public:
    Packed(const Columns<const T>& v, const int32_t* order, int64_t n) : given_(v), order_(order) {
        if (order || v.stride != v.k) copy_.resize(static_cast<size_t>(n * v.k));
    }
    const T* data() const { return copy_.empty() ? given_.data : copy_.data(); }

    // Makes rows first … last − 1 ready.
    void put(int64_t first, int64_t last) {
        if (copy_.empty()) return;
        for (int64_t j = first; j < last; ++j) {
            if (order_ && j + kSoon < last) prefetch_ends<0>(given_.row(order_[j + kSoon]), given_.k);
            std::copy_n(given_.row(order_ ? order_[j] : j), given_.k, copy_.data() + j * given_.k);
        }
    }
    const int32_t* order() const { return order_; }

  private:
    Columns<const T> given_;
    const int32_t* order_;
    LargeVector<T> copy_;
};

// to (n, k) = rows of v times their scale.
template <typename T>
BVDT_NOINLINE void scaled_rows(const T* v, const double* scale, int64_t first, int64_t n, int64_t k,
                               double* to) {
    for (int64_t j = first; j < first + n; ++j) {
        const double by = scale ? scale[j] : 1;
        for (int64_t c = 0; c < k; ++c) *to++ = by * v[j * k + c];
    }
}

template <typename T>
BVDT_NOINLINE void add_rows(const T* v, const double* scale, int64_t first, int64_t last, int64_t k,
                            double* sum) {
    std::fill_n(sum, k, 0.0);
    for (int64_t j = first; j < last; ++j) {
        const double by = scale ? scale[j] : 1;
        for (int64_t c = 0; c < k; ++c) sum[c] += by * v[j * k + c];
    }
}

// Sums over parts of the rows, added in the parts' order: they do not depend on the threads.
class PartialSums {
  public:
    PartialSums(int64_t n_parts, int64_t width)
        : width_(width), parts_(static_cast<size_t>(n_parts * width), 0.0) {}
    double* of(int64_t part) { return width_ ? parts_.data() + part * width_ : nullptr; }
    std::vector<double> total() const {
        std::vector<double> sum(static_cast<size_t>(width_), 0.0);
        for (size_t e = 0; e < parts_.size(); ++e) sum[e % sum.size()] += parts_[e];
        return sum;
    }

  private:
    int64_t width_;
    std::vector<double> parts_;  // (n_parts, width)
};

// Both return the sums (width,) of all rows.
template <typename T>
std::vector<double> multiply_links(const Links* near, const WalkScales& scales, Packed<T>& v,
                                   const Columns<T>& out, const WalkStep<T>* step, int64_t n_sums,
                                   int threads) {
    const int64_t n = near->n_points(), k = out.k;
    PartialSums partial((n + kRows - 1) / kRows, n_sums * k);
    parallel_stretches(n, kRows, threads, [&](int64_t first, int64_t last) { v.put(first, last); });
    parallel_stretches(n, kRows, threads, [&](int64_t first, int64_t last) {
        write_some<T>({near, scales, v.data(), nullptr, nullptr, out.data, out.stride, first, last,
                       partial.of(first / kRows), n_sums, step, v.order()},
                      k);
    });
    return partial.total();
}

template <typename T>
std::vector<double> multiply_both(const CoarsestProduct& far, const Links* near, const WalkScales& scales,
                                  Packed<T>& v, const Columns<T>& out, Side side, const WalkStep<T>* step,
                                  int64_t n_sums, int threads) {
    const ProductShape& p = far.shape();
    const int64_t k = out.k, n_top = p.n_subtrees - 1;
    const int64_t grain = std::clamp<int64_t>(p.n_subtrees / (4 * threads), 1, 16);
    PartialSums partial(p.n_subtrees, n_sums * k);
    std::vector<double> top(static_cast<size_t>((p.n_subtrees + n_top) * k)), total(static_cast<size_t>(k));
    double* const above = top.data() + n_top * k;  // per subtree: first its sum, then what comes down to it
    parallel_for(p.n_subtrees, grain, threads, [&](int64_t c) {
        v.put(p.first_leaf[c], p.first_leaf[c + 1]);
        add_rows(v.data(), scales.far_in, p.first_leaf[c], p.first_leaf[c + 1], k, above + c * k);
    });
    sweep(top.data(), p.top_child.data(), far.top_weights(), n_top, k, total.data(), side);
    parallel_for(
        p.n_subtrees, grain, threads,
        [&] { return std::vector<double>(static_cast<size_t>((2 * p.largest + 1) * k)); },
        [&](int64_t c, std::vector<double>& scratch) {
            const int64_t n = p.leaves(c), first = p.first_leaf[c], row = 2 * p.first_row(c);
            double* const leaves = scratch.data() + (n - 1) * k;
            double* const sum = scratch.data() + 2 * p.largest * k;
            scaled_rows(v.data(), scales.far_in, first, n, k, leaves);
            sweep(scratch.data(), p.child.data() + row, far.weights() + row, n - 1, k, sum, side);
            write_some<T>({near, scales, v.data(), leaves, above + c * k, out.data, out.stride, first,
                           first + n, partial.of(c), n_sums, step, v.order()},
                          k);
        });
    return partial.total();
}

template <typename T>
void multiply_columns(const Walk& walk, const WalkScales& scales, const T* v, T* out, int64_t columns,
                      bool transpose, bool own_order, const WalkStep<T>* step, double* sums, int64_t n_sums,
                      int threads) {
    const CoarsestProduct* const far = walk.far;
    const int64_t n_batches = (columns + kAtOnce - 1) / kAtOnce;
    for (int64_t b = 0, j = 0; b < n_batches; ++b) {
        const int64_t k = (columns - j + n_batches - b - 1) / (n_batches - b);  // as even as can be
        Packed<T> from({v + j, columns, k}, own_order ? walk.order() : nullptr, walk.n_points());
        const Columns<T> to{out + j, columns, k};
        WalkStep<T> here{};
        if (step) here = *step, here.given += j, here.next += j, here.now += j, here.before += j;
        const WalkStep<T>* const taken = step ? &here : nullptr;
        const std::vector<double> made =
            far ? multiply_both(*far, walk.near, scales, from, to, far->side(transpose), taken, n_sums,
                                threads)
                : multiply_links(walk.near, scales, from, to, taken, n_sums, threads);
        for (int64_t s = 0; s < n_sums; ++s) std::copy_n(made.data() + s * k, k, sums + s * columns + j);
        j += k;
    }
}

}  // namespace

template <typename T>
void multiply_walk(const Walk& walk, const WalkScales& scales, const T* v, T* out, int64_t columns,
                   bool transpose, bool own_order, double* sums, int64_t n_sums, int threads) {
    multiply_columns<T>(walk, scales, v, out, columns, transpose, own_order, nullptr, sums, n_sums, threads);
}

template <typename T>
void step_walk(const Walk& walk, const WalkScales& scales, const T* v, T* out, int64_t columns,
               const WalkStep<T>& step, double* sums, int threads) {
    multiply_columns<T>(walk, scales, v, out, columns, false, false, &step, sums, sums ? 3 : 0, threads);
}

#define BVDT_FOR(T)                                                                                         \
    template void multiply_walk(const Walk&, const WalkScales&, const T*, T*, int64_t, bool, bool, double*, \
                                int64_t, int);                                                              \
    template void step_walk(const Walk&, const WalkScales&, const T*, T*, int64_t, const WalkStep<T>&,      \
                            double*, int);
BVDT_FOR(double)
BVDT_FOR(float)
#undef BVDT_FOR

}  // namespace bvdt
