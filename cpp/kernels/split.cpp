#include "split.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "random.hpp"

namespace bvdt {
namespace {

constexpr int64_t kSample = 512;  // at most so many points, and a quarter of the segment, find its centres
constexpr int kIterations = 3;    // of 2-means on the sample
constexpr int kAttempts = 6;      // to cut the sample, each without the few far points of the one before
constexpr double kFar = 8;        // deviations between a few points and the others from which on they are far

struct Border {
    double at = 0;
    bool found = false;
};

// Side means of the projections, weighted; their midpoint is the border.
Border midpoint(const std::vector<double>& p, const std::vector<uint8_t>& side,
                const std::vector<double>& weight) {
    double sum[2] = {0, 0}, total[2] = {0, 0};
    for (size_t s = 0; s < p.size(); ++s) sum[side[s]] += weight[s] * p[s], total[side[s]] += weight[s];
    if (total[0] <= 0 || total[1] <= 0) return {};
    return {0.5 * (sum[0] / total[0] + sum[1] / total[1]), true};
}

// -- Δ of one split, and projections p_i = ⟨x_i, Δh⟩ + ⟨h_i, Δx⟩ onto it -----------------------------------

// p[s] += ⟨x of ids[s], onto⟩
BVDT_SIMD void add_dots(const double* x, const int32_t* ids, int64_t count, int64_t d, const double* onto,
                        double* p) {
    constexpr int64_t ahead = 12;
    for (int64_t s = 0; s < count; ++s) {
        if (s + ahead < count) prefetch_row(x + ids[s + ahead] * d, d);
        p[s] += dot<Order::kAnyLanes>(x + ids[s] * d, onto, d);
    }
}

struct DenseDelta {
    const DensePoints& points;
    std::vector<double> x, h;  // (d,); for self-dual data only x is kept

    explicit DenseDelta(const DensePoints& points_)
        : points(points_), x(static_cast<size_t>(points_.d)), h(x.size()) {}

    bool self_dual() const { return points.x == points.h; }
    void add(const int32_t* ids, const double* scale, int64_t count) {
        for (int64_t s = 0; s < count; ++s) {
            add_scaled(x.data(), points.x + ids[s] * points.d, scale[s], points.d);
            if (!self_dual()) add_scaled(h.data(), points.h + ids[s] * points.d, scale[s], points.d);
        }
    }
    void project(const int32_t* ids, int64_t count, double* p) const {
        std::fill_n(p, count, 0.0);
        if (self_dual()) {
            add_dots(points.x, ids, count, points.d, x.data(), p);
            for (int64_t s = 0; s < count; ++s) p[s] *= 2;
        } else {
            add_dots(points.x, ids, count, points.d, h.data(), p);
            add_dots(points.h, ids, count, points.d, x.data(), p);
        }
    }
    void clear(const std::vector<int32_t>&) {
        std::fill(x.begin(), x.end(), 0.0), std::fill(h.begin(), h.end(), 0.0);
    }
};

struct SparseDelta {
    const SparsePoints& points;
    std::vector<Pair> value;  // (d,)

    explicit SparseDelta(const SparsePoints& points_)
        : points(points_), value(static_cast<size_t>(points_.d)) {}

    void add(const int32_t* ids, const double* scale, int64_t count) {
        for (int64_t s = 0; s < count; ++s) points.add_to(ids[s], scale[s], value.data());
    }
    void project(const int32_t* ids, int64_t count, double* p) const {
        for (int64_t s = 0; s < count; ++s) p[s] = points.dot_both(ids[s], value.data());
    }
    void clear(const std::vector<int32_t>& ids) {
        for (int32_t id : ids) points.clear(id, value.data());
    }
};

DenseDelta delta_for(const DensePoints& points) { return DenseDelta(points); }
SparseDelta delta_for(const SparsePoints& points) { return SparseDelta(points); }

// -- 2-means on a sample of a segment ----------------------------------------------------------------------

template <typename Points>
struct Splitter {
    using Delta = decltype(delta_for(std::declval<const Points&>()));

    const Points& points;
    const double* weight;
    Delta delta;  // zero between uses
    std::vector<double> p, sample_weight, share;
    std::vector<uint8_t> side;
    std::vector<int32_t> sample;

    Splitter(const Points& points_, const double* weight_)
        : points(points_), weight(weight_), delta(delta_for(points_)) {}

    void choose_sample(const int32_t* segment, int64_t n, Random& random) {
        const int64_t count = std::min({n, kSample, std::max<int64_t>(64, n / 4)});
        std::vector<int32_t> chosen(static_cast<size_t>(count));
        for (int64_t s = 0; s < count; ++s)  // one from each of equal stretches
            chosen[s] = segment[n == count ? s : (s * n + random.below(n)) / count];
        take(std::move(chosen));
    }

    void take(std::vector<int32_t> ids) {
        sample = std::move(ids);
        sample_weight.resize(sample.size());
        for (size_t s = 0; s < sample.size(); ++s) sample_weight[s] = weight[sample[s]];
    }

    // The sample's points of one side only.
    void keep(uint8_t which) {
        std::vector<int32_t> kept;
        for (size_t s = 0; s < sample.size(); ++s)
            if (side[s] == which) kept.push_back(sample[s]);
        take(std::move(kept));
    }

    void project() {
        p.resize(sample.size());
        delta.project(sample.data(), static_cast<int64_t>(sample.size()), p.data());
    }

    void add(int32_t id, double scale) { delta.add(&id, &scale, 1); }

    void clear() { delta.clear(sample); }

    // Two seeds, the second chosen far from the first (in proportion to the symmetrised divergence); the
    // first border lies where both are equally near.
    bool seed(Random& random) {
        const int64_t n = static_cast<int64_t>(sample.size());
        const int32_t first = sample[random.pick(sample_weight)];
        add(first, 1.0);
        project();
        const double own = points.self_dot(first);
        std::vector<double> far(sample.size());
        for (int64_t s = 0; s < n; ++s)
            far[s] = sample_weight[s] * std::max(0.0, own + points.self_dot(sample[s]) - p[s]);
        if (std::accumulate(far.begin(), far.end(), 0.0) <= 0) return clear(), false;
        const int32_t second = sample[random.pick(far)];
        add(second, -1.0);
        project();
        const double at = own - points.self_dot(second);
        side.resize(sample.size());
        for (int64_t s = 0; s < n; ++s) side[s] = p[s] > at;
        clear();
        return true;
    }

    // Leaves Δ in `delta` and returns the border; not found when the sample's points cannot be told apart.
    // A few far points would draw it between them and all others, again at every level and in every tree:
    // a far side with less than the smallest share of the sample is left out, and the rest is cut.
    Border find(const int32_t* segment, int64_t n, double smallest_side, Random& random) {
        choose_sample(segment, n, random);
        const std::vector<int32_t> whole = sample;
        for (int attempt = 0; attempt < kAttempts; ++attempt) {
            const Border border = cut_sample(random);
            if (!border.found) break;
            const int64_t above = std::count(side.begin(), side.end(), 1);
            const int64_t below = static_cast<int64_t>(sample.size()) - above;
            if (static_cast<double>(std::min(above, below)) >=
                    smallest_side * static_cast<double>(whole.size()) ||
                !is_far(above > below))
                return border;
            clear();
            keep(above > below);
        }
        clear();
        take(whole);
        return cut_sample(random);
    }

    // Whether the other side's mean lies many deviations of `side` away from it, along Δ.
    bool is_far(bool side_kept) const {
        double sum[2] = {0, 0}, total[2] = {0, 0}, squares = 0;
        for (size_t s = 0; s < sample.size(); ++s)
            sum[side[s]] += sample_weight[s] * p[s], total[side[s]] += sample_weight[s];
        const double mean = sum[side_kept] / total[side_kept];
        for (size_t s = 0; s < sample.size(); ++s)
            if (side[s] == side_kept) squares += sample_weight[s] * (p[s] - mean) * (p[s] - mean);
        const double gap = sum[!side_kept] / total[!side_kept] - mean;
        return gap * gap > kFar * kFar * squares / total[side_kept];
    }

    // As `find`, on the sample as it is.
    Border cut_sample(Random& random) {
        if (!seed(random)) return {};
        Border border;
        for (int it = 0; it < kIterations; ++it) {
            double total[2] = {0, 0};
            for (size_t s = 0; s < sample.size(); ++s) total[side[s]] += sample_weight[s];
            if (total[0] <= 0 || total[1] <= 0) return clear(), Border{};
            if (it > 0) clear();
            share.resize(sample.size());
            for (size_t s = 0; s < sample.size(); ++s)
                share[s] = (side[s] ? 1.0 : -1.0) * sample_weight[s] / total[side[s]];
            delta.add(sample.data(), share.data(), static_cast<int64_t>(sample.size()));
            project();
            border = midpoint(p, side, sample_weight);
            bool changed = false;
            for (size_t s = 0; s < sample.size(); ++s) {
                const uint8_t now = p[s] > border.at;
                changed |= now != side[s];
                side[s] = now;
            }
            if (!changed) break;
        }
        return border;
    }
};

constexpr int64_t kStretch = 1 << 14;  // points that a thread counts or sorts at a time

// How many of each stretch lie at or below `at`.
std::vector<int64_t> count_low(const double* p, int64_t n, double at, int threads) {
    std::vector<int64_t> low(static_cast<size_t>((n + kStretch - 1) / kStretch));
    parallel_stretches(n, kStretch, threads, [&](int64_t first, int64_t last) {
        low[first / kStretch] = std::count_if(p + first, p + last, [at](double v) { return v <= at; });
    });
    return low;
}

// Where to cut a segment along its projections: at the border, unless that leaves a side with less than the
// smallest share (values that grow tenfold from point to point), then at that share.
double balanced_threshold(const double* p, int64_t n, double at, double smallest_side, int threads) {
    const std::vector<int64_t> counts = count_low(p, n, at, threads);
    const int64_t above = n - std::accumulate(counts.begin(), counts.end(), int64_t{0});
    const int64_t least = std::max<int64_t>(1, static_cast<int64_t>(smallest_side * n));
    if (above >= least && n - above >= least) return at;
    const int64_t rank = above < least ? n - least : least;
    std::vector<double> sorted(p, p + n);
    std::nth_element(sorted.begin(), sorted.begin() + rank - 1, sorted.end());
    return sorted[rank - 1];
}

// Reorders the segment: points at or below the threshold first, both sides in their old order. Returns the
// cut. Each stretch knows from the counts before it where its points go.
int64_t divide(int32_t* segment, const double* p, int64_t n, double threshold, int threads) {
    std::vector<int64_t> low = count_low(p, n, threshold, threads);
    const int64_t cut = std::accumulate(low.begin(), low.end(), int64_t{0});
    std::exclusive_scan(low.begin(), low.end(), low.begin(), int64_t{0});
    const std::unique_ptr<int32_t[]> sorted(new int32_t[static_cast<size_t>(n)]);
    parallel_stretches(n, kStretch, threads, [&](int64_t first, int64_t last) {
        int64_t below = low[first / kStretch], above = cut + first - below;
        for (int64_t s = first; s < last; ++s) {  // both are written and one counts: no branch to guess wrong
            const int32_t point = segment[s];
            const bool is_low = p[s] <= threshold;
            sorted[is_low ? below : above] = point;
            below += is_low, above += !is_low;
        }
    });
    parallel_stretches(n, kStretch, threads, [&](int64_t first, int64_t last) {
        std::copy(sorted.get() + first, sorted.get() + last, segment + first);
    });
    return cut > 0 && cut < n ? cut : n / 2;  // indistinguishable points: cut evenly
}

template <typename Points>
int64_t split_segment(Splitter<Points>& splitter, int32_t* segment, int64_t n, double smallest_side,
                      uint64_t seed, int threads) {
    Random random(seed);
    const Border border = splitter.find(segment, n, smallest_side, random);
    if (!border.found) return splitter.clear(), n / 2;
    const std::unique_ptr<double[]> p(new double[static_cast<size_t>(n)]);
    const auto& delta = splitter.delta;
    parallel_stretches(n, 1024, threads, [&](int64_t first, int64_t last) {
        delta.project(segment + first, last - first, p.get() + first);
    });
    splitter.clear();
    const double threshold = balanced_threshold(p.get(), n, border.at, smallest_side, threads);
    return divide(segment, p.get(), n, threshold, threads);
}

}  // namespace

// Large segments run one after the other with the threads over their points, small ones side by side; the
// result is the same either way.
template <typename Points>
std::vector<int64_t> split_level(const Points& points, const SplitSegments& segments,
                                 const SplitOptions& options, int threads) {
    const int64_t* bound = segments.bounds;
    std::vector<int64_t> cut(static_cast<size_t>(segments.count), -1);
    const int64_t large = std::max<int64_t>(options.cap, points.n / (4 * int64_t{threads}));
    const auto length = [&](int64_t s) { return bound[s + 1] - bound[s]; };
    const auto run = [&](Splitter<Points>& splitter, int64_t s, int inner) {
        const uint64_t seed = mix(options.seed, static_cast<uint64_t>(bound[s]));
        cut[s] = bound[s] + split_segment(splitter, segments.order + bound[s], length(s),
                                          options.smallest_side, seed, inner);
    };
    Splitter<Points> alone(points, segments.weight);
    for (int64_t s = 0; s < segments.count; ++s)
        if (length(s) > large) run(alone, s, threads);
    parallel_for(
        segments.count, 1, threads, [&] { return Splitter<Points>(points, segments.weight); },
        [&](int64_t s, Splitter<Points>& splitter) {
            if (length(s) > options.cap && length(s) <= large) run(splitter, s, 1);
        });
    std::vector<int64_t> result{bound[0]};
    for (int64_t s = 0; s < segments.count; ++s) {
        if (cut[s] >= 0) result.push_back(cut[s]);
        result.push_back(bound[s + 1]);
    }
    return result;
}

template std::vector<int64_t> split_level(const DensePoints&, const SplitSegments&, const SplitOptions&, int);
template std::vector<int64_t> split_level(const SparsePoints&, const SplitSegments&, const SplitOptions&,
                                          int);

}  // namespace bvdt
