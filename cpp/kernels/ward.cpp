#include "ward.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "gram.hpp"
#include "lanes.hpp"
#include "large.hpp"
#include "parallel.hpp"
#include "ward_means.hpp"

namespace bvdt {
namespace {

constexpr int64_t kKept = 3, kFull = 4;  // slots are made fewer when so few of so many are clusters still
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// -- squared distances ⟨x̄_a − x̄_b, h̄_a − h̄_b⟩ inside one chunk, (k, k) ------------------------------------

// Distances of the first `n_rows` items to the items of a tile, whose sums stay in registers. Differences
// before products, so nearness survives a far origin.
constexpr int64_t kTile = 16;

void tile_products(const double* x, const double* h, const double* tile_x, const double* tile_h,
                   int64_t n_rows, int64_t d, double* out, int64_t stride) {
    using Sum = Lanes<double>;
    for (int64_t a = 0; a < n_rows; ++a) {
        Sum low{}, high{};
        for (int64_t j = 0; j < d; ++j) {
            const double xa = x[a * d + j], ha = h[a * d + j];
            const Sum *xt = &Sum::at(tile_x + j * kTile), *ht = &Sum::at(tile_h + j * kTile);
            low += (xa - xt[0]) * (ha - ht[0]), high += (xa - xt[1]) * (ha - ht[1]);
        }
        Sum* to = &Sum::at(out + a * stride);
        to[0] = low, to[1] = high;
    }
}

void tile_squares(const double* x, const double* tile_x, int64_t n_rows, int64_t d, double* out,
                  int64_t stride) {
    using Sum = Lanes<double>;
    for (int64_t a = 0; a < n_rows; ++a) {
        Sum low{}, high{};
        for (int64_t j = 0; j < d; ++j) {
            const double xa = x[a * d + j];
            const Sum* xt = &Sum::at(tile_x + j * kTile);
            const Sum below = xa - xt[0], above = xa - xt[1];
            low += below * below, high += above * above;
        }
        Sum* to = &Sum::at(out + a * stride);
        to[0] = low, to[1] = high;
    }
}

// Dense data: each tile of items is turned, so that the inner loop runs over them.
struct DenseDistances {
    LargeVector<double> value;           // (k, stride); only b > a of row a is meaningful
    std::vector<double> x, h;            // (k, d)
    std::vector<double> tile_x, tile_h;  // (d, kTile)
    int64_t stride = 0;

    const double* row(int64_t a) const { return value.data() + a * stride; }

    void compute(const DensePoints& points, const int32_t* item, int64_t k) {
        const int64_t d = points.d;
        const bool same = points.x == points.h;
        stride = (k + kTile - 1) / kTile * kTile;
        value.resize(static_cast<size_t>(k * stride));
        gather(points.x, item, k, d, x);
        if (!same) gather(points.h, item, k, d, h);
        for (int64_t first = 0; first < k; first += kTile) {
            const int64_t width = std::min(kTile, k - first);
            double* out = value.data() + first;
            turn(x, first, width, d, tile_x);
            if (same) {
                tile_squares(x.data(), tile_x.data(), first + width, d, out, stride);
            } else {
                turn(h, first, width, d, tile_h);
                tile_products(x.data(), h.data(), tile_x.data(), tile_h.data(), first + width, d, out,
                              stride);
            }
        }
    }

  private:
    static void gather(const double* from, const int32_t* item, int64_t k, int64_t d,
                       std::vector<double>& to) {
        to.resize(static_cast<size_t>(k * d));
        for (int64_t b = 0; b < k; ++b) std::copy_n(from + item[b] * d, d, to.data() + b * d);
    }
    static void turn(const std::vector<double>& from, int64_t first, int64_t width, int64_t d,
                     std::vector<double>& to) {
        to.resize(static_cast<size_t>(d * kTile));
        for (int64_t t = 0; t < width; ++t)
            for (int64_t j = 0; j < d; ++j) to[j * kTile + t] = from[(first + t) * d + j];
    }
};

// Sparse data: from the products, ⟨x̄_a, h̄_a⟩ + ⟨x̄_b, h̄_b⟩ − ⟨x̄_a, h̄_b⟩ − ⟨x̄_b, h̄_a⟩.
struct SparseDistances : SparseGram {
    const double* row(int64_t a) const { return value.data() + a * stride; }

    void compute(const SparsePoints& points, const int32_t* item, int64_t k) {
        SparseGram::compute(points, item, k);
        for (int64_t a = 0; a < k; ++a)
            for (int64_t b = a + 1; b < k; ++b)
                value[a * stride + b] = value[a * stride + a] + value[b * stride + b] -
                                        (value[a * stride + b] + value[b * stride + a]);
    }
};

// -- nearest-neighbor chain --------------------------------------------------------------------------------

// The least of value[b] + dead[b].
float least_live(const float* value, const float* dead, int64_t k) {
    float least = kInfinity;
    BVDT_SIMD_LOOP(reduction(min : least))
    for (int64_t b = 0; b < k; ++b) {
        const float now = value[b] + dead[b];
        least = now < least ? now : least;
    }
    return least;
}

// The smallest live cluster among those at the least value, the first of several. As a rule one single place
// has the least value, and the first loop has found it.
int32_t smallest_at(float least, const float* value, const float* dead, const float* size, int32_t k) {
    int32_t best = k, count = 0;
    BVDT_SIMD_LOOP(reduction(min : best) reduction(+ : count))
    for (int32_t b = 0; b < k; ++b) {
        const bool at_least = value[b] + dead[b] == least;
        const int32_t place = at_least ? b : k;
        best = place < best ? place : best;
        count += at_least;
    }
    if (count == 1) return best;
    for (int32_t b = best + 1; b < k; ++b)
        if (value[b] + dead[b] == least && size[b] < size[best]) best = b;
    return best;
}

double largest_of(const double* value, int64_t k) {
    double largest = 0;
    BVDT_SIMD_LOOP(reduction(max : largest))
    for (int64_t b = 0; b < k; ++b) largest = value[b] > largest ? value[b] : largest;
    return largest;
}

// Ward's costs of one cluster with others, from its squared distances.
void ward_costs(const double* distance, double scale, float na, const float* size, int64_t k, float* out) {
    for (int64_t b = 0; b < k; ++b) {
        const float scaled = static_cast<float>(distance[b] * scale);
        const float positive = scaled > 0 ? scaled : 0;
        out[b] = na * size[b] / (na + size[b]) * (positive < 1 ? positive : 1);
    }
}

// Ward's update: out[x] = cost of (A∪B, x) from the rows of A and B.
void merge_rows(const float* cost_b, float* cost_a, const float* size, float na, float nb, float ab,
                int64_t k) {
    for (int64_t x = 0; x < k; ++x) {
        const float nx = size[x];
        const float merged = ((na + nx) * cost_a[x] + (nb + nx) * cost_b[x] - nx * ab) / (na + nb + nx);
        cost_a[x] = merged > 0 ? merged : 0;
    }
}

// Agglomerates one chunk by the matrix of its costs. Slots shrink to the live clusters from time to time, so
// that late scans are short.
template <typename Distances>
struct MatrixChain {
    Distances distances;
    LargeVector<float> cost;                // (k, k) with +∞ on the diagonal
    std::vector<float> dead, size, height;  // dead: +∞ for slots that are no cluster any more, else 0
    std::vector<int32_t> name, chain;       // name: slot -> place in the chunk
    int64_t k = 0, live = 0;
    double largest = 1;  // distance

    // Costs of all pairs, in units of the largest distance: floats neither overflow nor vanish, whatever the
    // data's units.
    template <typename Points>
    void prepare(const Points& points, const int32_t* item, const double* weight, int64_t n) {
        distances.compute(points, item, n);
        k = live = n;
        cost.resize(static_cast<size_t>(n * n));
        dead.assign(static_cast<size_t>(n), 0), height.assign(static_cast<size_t>(n), 0);
        size.resize(static_cast<size_t>(n)), name.resize(static_cast<size_t>(n));
        std::iota(name.begin(), name.end(), 0);
        largest = 0;
        for (int64_t a = 0; a < n; ++a) {
            size[a] = static_cast<float>(weight[item[a]]);
            largest = std::max(largest, largest_of(distances.row(a) + a + 1, n - a - 1));
        }
        largest = largest > 0 ? std::min(largest, 1e290) : 1;
        for (int64_t a = 0; a < n; ++a) {
            float* row = cost.data() + a * n;
            row[a] = kInfinity;
            ward_costs(distances.row(a) + a + 1, 1 / largest, size[a], size.data() + a + 1, n - a - 1,
                       row + a + 1);
        }
        mirror();
    }

    // The upper half into the lower one, in squares that stay in the cache.
    void mirror() {
        constexpr int64_t side = 16;
        for (int64_t top = 0; top < k; top += side)
            for (int64_t left = top; left < k; left += side)
                for (int64_t b = left; b < std::min(left + side, k); ++b)
                    for (int64_t a = top; a < std::min(top + side, b); ++a) cost[b * k + a] = cost[a * k + b];
    }

    // Among clusters at the least cost: the one before in the chain, else the smallest. So equal points pair
    // up evenly instead of one cluster swallowing them one by one.
    int32_t nearest(int32_t a, int32_t before, float& least) const {
        const float* row = cost.data() + a * k;
        least = least_live(row, dead.data(), k);
        if (before >= 0 && row[before] == least) return before;
        return smallest_at(least, row, dead.data(), size.data(), static_cast<int32_t>(k));
    }

    int32_t smallest() const {
        const float least = least_live(size.data(), dead.data(), k);
        return smallest_at(least, size.data(), dead.data(), size.data(), static_cast<int32_t>(k));
    }

    Merge merge(int32_t a, int32_t b, float ab) {
        const float heightened = std::max({ab, height[a], height[b]});  // rounding must not reorder merges
        merge_rows(cost.data() + b * k, cost.data() + a * k, size.data(), size[a], size[b], ab, k);
        cost[a * k + a] = kInfinity;
        dead[b] = kInfinity;
        for (int64_t x = 0; x < k; ++x)  // down a column, which is slow: not for the dead
            if (dead[x] == 0) cost[x * k + a] = cost[a * k + x];
        size[a] += size[b], height[a] = heightened;
        --live;
        return {name[a], name[b], heightened * largest};
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
                if (live * kFull <= k * kKept) compact();
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

// Costs are found from the means each time where points have few coordinates; and up to some more, if single
// precision will do, where the nearest are known or the matrix would not fit the cache.
constexpr int64_t kFewFeatures = 32, kSomeFeatures = 128, kLargeChunk = 1000;

bool by_means(const DensePoints& points, const WardChunks& chunks) {
    if (points.d <= kFewFeatures) return true;
    if (points.x != points.h || points.d > kSomeFeatures) return false;
    int64_t largest = 0;
    for (int64_t c = 0; c < chunks.count; ++c)
        largest = std::max(largest, chunks.bounds[c + 1] - chunks.bounds[c]);
    return chunks.near.index || largest > kLargeChunk;
}

template <typename Chain, typename Points>
void agglomerate(const Points& points, const WardChunks& chunks, const WardMerges& merges, int threads) {
    const int64_t* bound = chunks.bounds;
    std::vector<int32_t> at;  // place of each point in the order, −1 for others
    if (chunks.near.index) {
        at.assign(static_cast<size_t>(points.n), -1);
        for (int64_t p = bound[0]; p < bound[chunks.count]; ++p)
            at[chunks.order[p]] = static_cast<int32_t>(p);
    }
    parallel_for(
        chunks.count, 1, threads, [] { return Chain{}; },
        [&](int64_t c, Chain& chain) {
            const int32_t* item = chunks.order + bound[c];
            chain.prepare(points, item, chunks.weight, bound[c + 1] - bound[c]);
            if constexpr (std::is_same_v<Chain, MeansChain<float>>)
                if (chunks.near.index)
                    chain.know(chunks.near, item, [&](int32_t point) {
                        const bool inside = at[point] >= bound[c] && at[point] < bound[c + 1];
                        return inside ? static_cast<int32_t>(at[point] - bound[c]) : -1;
                    });
            int64_t to = bound[c] - bound[0] - c;
            chain.run([&](const Merge& merge) {
                merges.pairs[2 * to] = static_cast<int32_t>(bound[c] + merge.a);
                merges.pairs[2 * to + 1] = static_cast<int32_t>(bound[c] + merge.b);
                merges.costs[to++] = merge.cost;
            });
        });
}

}  // namespace

void ward_chunks(const DensePoints& points, const WardChunks& chunks, const WardMerges& merges, int threads) {
    if (!by_means(points, chunks))
        agglomerate<MatrixChain<DenseDistances>>(points, chunks, merges, threads);
    else if (points.x == points.h)
        agglomerate<MeansChain<float>>(points, chunks, merges, threads);
    else
        agglomerate<MeansChain<double>>(points, chunks, merges, threads);
}

void ward_chunks(const SparsePoints& points, const WardChunks& chunks, const WardMerges& merges,
                 int threads) {
    agglomerate<MatrixChain<SparseDistances>>(points, chunks, merges, threads);
}

}  // namespace bvdt
