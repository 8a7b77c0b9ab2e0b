#include "split.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <type_traits>
#include <vector>

#include "large.hpp"
#include "parallel.hpp"
#include "random.hpp"
#include "two_means.hpp"

namespace bvdt {
namespace {

constexpr int64_t kStretch = 1 << 11;     // points of a large segment that a thread takes at a time
constexpr int64_t kSmall = 1 << 11;       // up to so many points are always left to one thread
constexpr int64_t kLarge = 1 << 15;       // more points than these are never left to one thread
constexpr int64_t kTurns = 16;            // small segments per thread, at least: the last ones end together
constexpr int64_t kDeltaBytes = 1 << 25;  // of all Δ at a time
constexpr int64_t kNearBytes = 1 << 19;   // rows that are brought together, since they stay in the cache

struct Segment {
    int64_t first, last, level;
    int64_t size() const { return last - first; }
};

uint64_t seed_of(const SplitOptions& options, const Segment& segment) {
    return mix(static_cast<uint64_t>(options.seed[segment.level]), static_cast<uint64_t>(segment.first));
}

int64_t count_low(const double* p, int64_t n, double at) {
    return std::count_if(p, p + n, [at](double v) { return v <= at; });
}

// Where to cut a segment along its projections, of which `low` are at or below the border: there, unless that
// leaves a side with less than the smallest share (values that grow tenfold from point to point), then at
// that share.
double balanced_threshold(const double* p, int64_t n, double at, int64_t low, double smallest_side) {
    const int64_t least = std::max<int64_t>(1, static_cast<int64_t>(smallest_side * static_cast<double>(n)));
    if (low >= least && n - low >= least) return at;
    const int64_t rank = n - low < least ? n - least : least;
    std::vector<double> sorted(p, p + n);
    std::nth_element(sorted.begin(), sorted.begin() + rank - 1, sorted.end());
    return sorted[rank - 1];
}

// Points at or below the threshold go to `below` and on, the others to `above` and on, in their old order.
void divide(const int32_t* points, const double* p, int64_t n, double threshold, int32_t* below,
            int32_t* above) {
    for (int64_t s = 0; s < n; ++s) {  // the place is chosen, not the branch, which would be guessed wrong
        const bool is_low = p[s] <= threshold;
        *(is_low ? below : above) = points[s];
        below += is_low, above += !is_low;
    }
}

int64_t cut_at(int64_t low, int64_t n) {
    return low > 0 && low < n ? low : n / 2;
}  // of equal points: evenly

// -- small segments: one thread cuts each of them down to its last level
// -------------------------------------

struct Cuts {
    std::vector<int64_t> at;
    int64_t levels = 0;  // that were needed
};

// The rows of some points side by side.
struct NearRows {
    std::vector<double> x, h, weight;
    std::vector<int32_t> order;
    DensePoints points{};

    void bring(const DensePoints& from, const double* weight_of, const int32_t* ids, int64_t n) {
        const size_t values = static_cast<size_t>(n * from.d);
        const bool self_dual = from.x == from.h;
        x.resize(std::max(x.size(), values)), h.resize(self_dual ? 0 : x.size());
        weight.resize(static_cast<size_t>(n)), order.resize(static_cast<size_t>(n));
        for (int64_t s = 0; s < n; ++s) {
            std::copy_n(from.x + ids[s] * from.d, from.d, x.data() + s * from.d);
            if (!self_dual) std::copy_n(from.h + ids[s] * from.d, from.d, h.data() + s * from.d);
            weight[s] = weight_of[ids[s]];
        }
        std::iota(order.begin(), order.end(), 0);
        points = {x.data(), self_dual ? x.data() : h.data(), n, from.d};
    }
};

template <typename Points>
class SmallSegments {
  public:
    SmallSegments(const Points& points, const double* weight, const SplitOptions& options)
        : points_(points), weight_(weight), options_(options), means_(points, weight) {}

    void cut(int32_t* order, const Segment& whole, Cuts& cuts) {
        if constexpr (std::is_same_v<Points, DensePoints>) {
            const int64_t row = points_.d * (points_.x == points_.h ? 8 : 16);
            cut_down(means_, order, 0, whole, kNearBytes / row, cuts);
        } else {
            cut_down(means_, order, 0, whole, 0, cuts);
        }
    }

  private:
    const Points& points_;
    const double* weight_;
    const SplitOptions& options_;
    TwoMeans<Points> means_;
    NearRows rows_;
    std::vector<double> p_;
    std::vector<int32_t> divided_;

    // order[s − start] is the point at place s. Segments of at most `near` points have their rows brought
    // together first: all levels below read them again and again.
    template <typename AnyPoints>
    void cut_down(TwoMeans<AnyPoints>& means, int32_t* order, int64_t start, const Segment& whole,
                  int64_t near, Cuts& cuts) {
        std::vector<Segment> open{whole};
        while (!open.empty()) {
            const Segment segment = open.back();
            open.pop_back();
            if (segment.size() <= options_.cap || segment.level == options_.levels) continue;
            int32_t* const points = order + segment.first - start;
            if (segment.size() <= near) {
                cut_near(points, segment, cuts);
                continue;
            }
            const int64_t cut = segment.first + cut_one(means, points, segment);
            cuts.at.push_back(cut), cuts.levels = std::max(cuts.levels, segment.level + 1);
            open.push_back({segment.first, cut, segment.level + 1});
            open.push_back({cut, segment.last, segment.level + 1});
        }
    }

    void cut_near(int32_t* points, const Segment& segment, Cuts& cuts) {
        if constexpr (std::is_same_v<Points, DensePoints>) {
            rows_.bring(points_, weight_, points, segment.size());
            TwoMeans<DensePoints> means(rows_.points, rows_.weight.data());
            cut_down(means, rows_.order.data(), segment.first, segment, 0, cuts);
            for (int32_t& place : rows_.order) place = points[place];
            std::copy(rows_.order.begin(), rows_.order.end(), points);
        }
    }

    template <typename AnyPoints>
    int64_t cut_one(TwoMeans<AnyPoints>& means, int32_t* points, const Segment& segment) {
        const int64_t n = segment.size();
        const double smallest_side = options_.smallest_side[segment.level];
        Random random(seed_of(options_, segment));
        const Border border = means.find(points, n, smallest_side, random);
        if (!border.found) return means.clear(), n / 2;
        if (static_cast<int64_t>(p_.size()) < n)
            p_.resize(static_cast<size_t>(n)), divided_.resize(p_.size());
        means.project(points, n, p_.data());
        means.clear();
        int64_t low = count_low(p_.data(), n, border.at);
        const double threshold = balanced_threshold(p_.data(), n, border.at, low, smallest_side);
        if (threshold != border.at) low = count_low(p_.data(), n, threshold);
        divide(points, p_.data(), n, threshold, divided_.data(), divided_.data() + low);
        std::copy_n(divided_.data(), n, points);
        return cut_at(low, n);
    }
};

// -- large segments: all of a level at once, the threads take stretches of them
// ------------------------------

template <typename Points>
class LargeSegments {
  public:
    LargeSegments(const Points& points, const SplitSegments& segments, const SplitOptions& options,
                  int threads)
        : points_(points),
          weight_(segments.weight),
          order_(segments.order),
          options_(options),
          threads_(threads),
          p_(static_cast<size_t>(points.n)),
          divided_(static_cast<size_t>(points.n)) {}

    // The cut of each segment; their points are divided.
    std::vector<int64_t> cut(const std::vector<Segment>& level) {
        const int64_t count = static_cast<int64_t>(level.size());
        const int64_t most = std::max<int64_t>(1, kDeltaBytes / (16 * std::max<int64_t>(1, points_.d)));
        std::vector<int64_t> cuts;
        for (int64_t first = 0; first < count; first += most) {
            batch_.clear();
            for (int64_t s = first; s < std::min(first + most, count); ++s) batch_.emplace_back(level[s]);
            cut_batch();
            for (const Large& large : batch_) cuts.push_back(large.segment.first + large.cut);
        }
        return cuts;
    }

  private:
    struct Large {
        Segment segment;
        Border border{};
        std::unique_ptr<TwoMeans<Points>> means{};
        std::vector<int64_t> low{};  // of each stretch; then the number of those before it
        double threshold = 0;
        int64_t cut = 0;

        explicit Large(const Segment& segment_) : segment(segment_) {}
        int64_t size() const { return segment.size(); }
        int64_t n_stretches() const { return (size() + kStretch - 1) / kStretch; }
    };

    const Points& points_;
    const double* weight_;
    int32_t* order_;
    const SplitOptions& options_;
    int threads_;
    LargeVector<double> p_;         // (N,) by place
    LargeVector<int32_t> divided_;  // (N,) by place
    std::vector<Large> batch_;

    void cut_batch() {
        const int64_t count = static_cast<int64_t>(batch_.size());
        parallel_for(count, 1, threads_, [&](int64_t s) { find(batch_[s]); });
        each_stretch([&](Large& large, int64_t stretch, int64_t first, int64_t last) {
            large.means->project(order_ + first, last - first, p_.data() + first);
            large.low[stretch] = count_low(p_.data() + first, last - first, large.border.at);
        });
        parallel_for(count, 1, threads_, [&](int64_t s) { balance(batch_[s]); });
        each_stretch([&](Large& large, int64_t stretch, int64_t first, int64_t last) {
            const int64_t begin = large.segment.first, before = large.low[stretch];
            const int64_t above = large.low.back() + (first - begin) - before;
            divide(order_ + first, p_.data() + first, last - first, large.threshold,
                   divided_.data() + begin + before, divided_.data() + begin + above);
        });
        each_stretch([&](Large&, int64_t, int64_t first, int64_t last) {
            std::copy(divided_.data() + first, divided_.data() + last, order_ + first);
        });
    }

    // body(large, stretch, first, last) for the stretches of all segments that have a border.
    template <typename Body>
    void each_stretch(const Body& body) {
        std::vector<std::pair<int64_t, int64_t>> turns;
        for (size_t s = 0; s < batch_.size(); ++s)
            for (int64_t t = 0; batch_[s].border.found && t < batch_[s].n_stretches(); ++t)
                turns.emplace_back(s, t);
        parallel_for(static_cast<int64_t>(turns.size()), 1, threads_, [&](int64_t turn) {
            const auto [s, t] = turns[turn];
            const int64_t first = batch_[s].segment.first + t * kStretch;
            body(batch_[s], t, first, std::min(first + kStretch, batch_[s].segment.last));
        });
    }

    void find(Large& large) {
        Random random(seed_of(options_, large.segment));
        large.means = std::make_unique<TwoMeans<Points>>(points_, weight_);
        large.border = large.means->find(order_ + large.segment.first, large.size(),
                                         options_.smallest_side[large.segment.level], random);
        large.low.resize(static_cast<size_t>(large.n_stretches()));
    }

    void balance(Large& large) const {
        large.cut = large.size() / 2;
        if (!large.border.found) return;
        const double* p = p_.data() + large.segment.first;
        const int64_t low = std::accumulate(large.low.begin(), large.low.end(), int64_t{0});
        large.threshold = balanced_threshold(p, large.size(), large.border.at, low,
                                             options_.smallest_side[large.segment.level]);
        if (large.threshold != large.border.at)
            for (int64_t t = 0; t < large.n_stretches(); ++t)
                large.low[t] = count_low(p + t * kStretch, std::min(kStretch, large.size() - t * kStretch),
                                         large.threshold);
        large.low.push_back(0);
        std::exclusive_scan(large.low.begin(), large.low.end(), large.low.begin(), int64_t{0});
        large.cut = cut_at(large.low.back(), large.size());
    }
};

}  // namespace

// A segment's cut depends on its points, its place and its level alone: which of the two ways it takes, and
// on how many threads, makes no difference.
template <typename Points>
SplitBounds split_levels(const Points& points, const SplitSegments& segments, const SplitOptions& options,
                         int threads) {
    const int64_t share = points.n / (kTurns * threads);
    const int64_t large = std::max(options.cap, std::clamp(share, kSmall, kLarge));
    std::vector<Segment> level, small;
    const auto put = [&](const Segment& segment, std::vector<Segment>& larger) {
        if (segment.size() > options.cap && segment.level < options.levels)
            (segment.size() > large ? larger : small).push_back(segment);
    };
    for (int64_t s = 0; s < segments.count; ++s) put({segments.bounds[s], segments.bounds[s + 1], 0}, level);
    SplitBounds result{{segments.bounds, segments.bounds + segments.count + 1}, 0};
    if (!level.empty()) {
        LargeSegments<Points> larger(points, segments, options, threads);
        while (!level.empty()) {
            const std::vector<int64_t> cuts = larger.cut(level);
            std::vector<Segment> next;
            for (size_t s = 0; s < level.size(); ++s) {
                put({level[s].first, cuts[s], level[s].level + 1}, next);
                put({cuts[s], level[s].last, level[s].level + 1}, next);
            }
            result.levels = level.front().level + 1;
            result.bounds.insert(result.bounds.end(), cuts.begin(), cuts.end());
            level = std::move(next);
        }
    }
    std::sort(small.begin(), small.end(), [](const Segment& a, const Segment& b) {
        return a.size() != b.size() ? a.size() > b.size() : a.first < b.first;
    });
    std::vector<Cuts> cuts(small.size());
    parallel_for(
        static_cast<int64_t>(small.size()), 1, threads,
        [&] { return SmallSegments<Points>(points, segments.weight, options); },
        [&](int64_t s, SmallSegments<Points>& worker) { worker.cut(segments.order, small[s], cuts[s]); });
    for (const Cuts& some : cuts) {
        result.bounds.insert(result.bounds.end(), some.at.begin(), some.at.end());
        result.levels = std::max(result.levels, some.levels);
    }
    std::sort(result.bounds.begin(), result.bounds.end());
    return result;
}

template SplitBounds split_levels(const DensePoints&, const SplitSegments&, const SplitOptions&, int);
template SplitBounds split_levels(const SparsePoints&, const SplitSegments&, const SplitOptions&, int);

}  // namespace bvdt
