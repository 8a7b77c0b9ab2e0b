#include "ward_means.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace bvdt {
namespace {

constexpr int64_t kKept = 3, kFull = 4;  // slots are made fewer when so few of so many are clusters still
constexpr int64_t kSome = 64;            // points whose medians are the origin of single precision
constexpr int64_t kListed = 8;           // candidates that a scan is to leave, about
constexpr double kWider = 1.05, kNarrower = 0.8, kWidest = 4;  // steps and end of the search for them
constexpr int64_t kFewSlots = 128;                             // no candidates are worth their while
constexpr double kSure = 1 - 1e-12;                            // what rounding leaves of a limit, at least

// The clusters that a scan is made against, and the one it is made for.
template <typename Value>
struct Scan {
    const Value *x, *h;          // (panels, d, lanes); h may be x
    const Value *size, *dead;    // (panels, lanes)
    const Value *row_x, *row_h;  // (d,)
    Value row_size;
    int64_t n_panels, d;
    Value* cost;   // (panels, lanes)
    Value* least;  // (panels / kAtOnce, lanes) of so many panels
};

template <typename Value>
void scan_panels(const Scan<Value>& scan) {
    using Part = Lanes<Value>;
    constexpr int64_t lanes = 64 / sizeof(Value);
    const int64_t stride = scan.d * lanes;
    for (int64_t p = 0; p < scan.n_panels; p += kAtOnce) {
        const Value* x = scan.x + p * stride;
        Part sum[kAtOnce] = {};
        if (scan.x == scan.h) {
            for (int64_t j = 0; j < scan.d; ++j)
                for (int64_t q = 0; q < kAtOnce; ++q) {
                    const Part away = scan.row_x[j] - Part::at(x + q * stride + j * lanes);
                    sum[q] += away * away;
                }
        } else {
            const Value* h = scan.h + p * stride;
            for (int64_t j = 0; j < scan.d; ++j)
                for (int64_t q = 0; q < kAtOnce; ++q)
                    sum[q] += (scan.row_x[j] - Part::at(x + q * stride + j * lanes)) *
                              (scan.row_h[j] - Part::at(h + q * stride + j * lanes));
        }
        Value distance[kAtOnce * lanes];
        for (int64_t q = 0; q < kAtOnce; ++q) Part::at(distance + q * lanes) = sum[q];
        const Value *size = scan.size + p * lanes, *dead = scan.dead + p * lanes;
        Value* cost = scan.cost + p * lanes;
        for (int64_t t = 0; t < kAtOnce * lanes; ++t) {
            const Value positive = distance[t] > 0 ? distance[t] : 0;
            cost[t] = scan.row_size * size[t] / (scan.row_size + size[t]) * positive + dead[t];
        }
        Part low = Part::at(cost);
        for (int64_t q = 1; q < kAtOnce; ++q) low = lesser(low, Part::at(cost + q * lanes));
        Part::at(scan.least + p / kAtOnce * lanes) = low;
    }
}

float least_of(const float* value, int64_t count) {
    float least = std::numeric_limits<float>::infinity();
    BVDT_SIMD_LOOP(reduction(min : least))
    for (int64_t b = 0; b < count; ++b) least = value[b] < least ? value[b] : least;
    return least;
}
double least_of(const double* value, int64_t count) {
    double least = std::numeric_limits<double>::infinity();
    BVDT_SIMD_LOOP(reduction(min : least))
    for (int64_t b = 0; b < count; ++b) least = value[b] < least ? value[b] : least;
    return least;
}

// ‖a − b‖² in four running sums.
BVDT_INLINE double square_apart(const double* a, const double* b, int64_t d) {
    double lane[4] = {}, sum = 0;
    int64_t j = 0;
    for (; j + 4 <= d; j += 4)
        for (int k = 0; k < 4; ++k) lane[k] += (a[j + k] - b[j + k]) * (a[j + k] - b[j + k]);
    for (; j < d; ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + sum;
}

// Where the panels begin of which a value is at most `most`, and their number; n values, whole panels, of
// which `least` has the least of each kAtOnce, lane by lane.
template <typename Value>
void find_panels(const Value* value, const Value* least, Value most, int64_t n, int32_t* first,
                 int64_t& count) {
    using Part = Lanes<Value>;
    const Value limit = std::nextafter(most, std::numeric_limits<Value>::infinity());
    count = 0;
    constexpr int64_t lanes = 64 / sizeof(Value);
    for (int64_t at = 0; at < n; at += kAtOnce * lanes) {
        Signs<Value> below;
        below.add(Part::at(least + at / kAtOnce) - limit);
        if (!below.any()) continue;
        for (int64_t q = 0; q < kAtOnce; ++q) {
            Signs<Value> here;
            here.add(Part::at(value + at + q * lanes) - limit);
            if (here.any()) first[count++] = static_cast<int32_t>(at + q * lanes);
        }
    }
}

}  // namespace

template <typename Value>
void MeansChain<Value>::prepare(const DensePoints& points, const int32_t* item, const double* weight,
                                int64_t count) {
    slots_ = live_ = count, d_ = points.d, self_dual_ = points.x == points.h;
    x_.resize(static_cast<size_t>(count * d_)), h_.resize(self_dual_ ? 0 : x_.size());
    size_.resize(static_cast<size_t>(count)), height_.assign(size_.size(), 0), name_.resize(size_.size());
    std::iota(name_.begin(), name_.end(), 0);
    for (int64_t b = 0; b < count; ++b) {
        std::copy_n(points.x + item[b] * d_, d_, x_.data() + b * d_);
        if (!self_dual_) std::copy_n(points.h + item[b] * d_, d_, h_.data() + b * d_);
        size_[b] = weight[item[b]];
    }
    slot_ = name_;
    point_ = *std::min_element(size_.begin(), size_.end());
    listed_ = false, width_ = 1.5;
    row_x_.resize(static_cast<size_t>(d_)), row_h_.resize(row_x_.size());
    center();
    pack_all();
}

// An origin among the points and their usual size, by medians: one far point decides neither. In double
// precision differences are exact enough as they are.
template <typename Value>
void MeansChain<Value>::center() {
    origin_.assign(static_cast<size_t>(d_), 0.0), scale_ = 1;
    if constexpr (sizeof(Value) == sizeof(double)) return;
    const int64_t used = std::min(slots_, kSome);
    std::vector<double> some(static_cast<size_t>(used));
    const auto median = [&] {
        std::nth_element(some.begin(), some.begin() + used / 2, some.end());
        return some[used / 2];
    };
    for (int64_t j = 0; j < d_; ++j) {
        for (int64_t s = 0; s < used; ++s) some[s] = x_[s * slots_ / used * d_ + j];
        origin_[j] = median();
    }
    for (int64_t s = 0; s < used; ++s) {
        some[s] = 0;
        for (int64_t j = 0; j < d_; ++j)
            some[s] = std::max(some[s], std::abs(x_[s * slots_ / used * d_ + j] - origin_[j]));
    }
    const double usual = median();
    scale_ = usual > 1e-150 && usual < 1e150 ? 1 / usual : 1;
}

template <typename Value>
void MeansChain<Value>::pack(int64_t slot) {
    const int64_t at = slot / kSlots * d_ * kSlots + slot % kSlots;
    for (int64_t j = 0; j < d_; ++j) {
        panel_x_[at + j * kSlots] = static_cast<Value>((x_[slot * d_ + j] - origin_[j]) * scale_);
        if (!self_dual_) panel_h_[at + j * kSlots] = static_cast<Value>(h_[slot * d_ + j]);
    }
    points_[slot] = static_cast<Value>(size_[slot]);
}

template <typename Value>
void MeansChain<Value>::pack_all() {
    const size_t room = static_cast<size_t>(padded());
    panel_x_.assign(room * static_cast<size_t>(d_), 0), panel_h_.assign(self_dual_ ? 0 : panel_x_.size(), 0);
    points_.assign(room, 1), cost_.resize(room), close_.resize(room / kSlots), least_.resize(room / kAtOnce);
    dead_.assign(room, std::numeric_limits<Value>::infinity());
    std::fill_n(dead_.begin(), slots_, Value{0});
    for (int64_t s = 0; s < slots_; ++s) pack(s);
}

// Fewer slots, where many of them are no cluster any more.
template <typename Value>
void MeansChain<Value>::compact() {
    if (live_ * kFull > slots_ * kKept) return;
    int64_t to = 0;
    for (int64_t s = 0; s < slots_; ++s) {
        if (dead_[s] != 0) continue;
        std::copy_n(x_.data() + s * d_, d_, x_.data() + to * d_);
        if (!self_dual_) std::copy_n(h_.data() + s * d_, d_, h_.data() + to * d_);
        size_[to] = size_[s], height_[to] = height_[s], name_[to] = name_[s];
        slot_[name_[to]] = static_cast<int32_t>(to), ++to;
    }
    slots_ = to;
    pack_all();
}

template <typename Value>
void MeansChain<Value>::scan(int32_t a) {
    const int64_t at = a / kSlots * d_ * kSlots + a % kSlots;
    for (int64_t j = 0; j < d_; ++j) {
        row_x_[j] = panel_x_[at + j * kSlots];
        if (!self_dual_) row_h_[j] = panel_h_[at + j * kSlots];
    }
    dead_[a] = std::numeric_limits<Value>::infinity();  // not the nearest to itself
    scan_panels<Value>({panel_x_.data(), (self_dual_ ? panel_x_ : panel_h_).data(), points_.data(),
                        dead_.data(), row_x_.data(), row_h_.data(), points_[a], padded() / kSlots, d_,
                        cost_.data(), least_.data()});
    dead_[a] = 0;
}

template <typename Value>
double MeansChain<Value>::exact_cost(int32_t a, int32_t b) const {
    if constexpr (sizeof(Value) == sizeof(double)) return cost_[b];
    return size_[a] * size_[b] / (size_[a] + size_[b]) *
           square_apart(x_.data() + a * d_, x_.data() + b * d_, d_);
}

// By how much a cost in single precision may exceed the least and be, in truth, the least. A coordinate errs
// by ε of its size, so a distance δ² by about 4ε·δ·‖a‖ + 4(ε‖a‖)²; the cost's weight is at most |a|.
template <typename Value>
double MeansChain<Value>::slack(int32_t a, double least) const {
    if constexpr (sizeof(Value) == sizeof(double)) return 0.0;
    const double epsilon = std::numeric_limits<float>::epsilon();
    double square = 0;
    for (int64_t j = 0; j < d_; ++j)
        square += static_cast<double>(row_x_[j]) * static_cast<double>(row_x_[j]);
    const double error = epsilon * std::sqrt(square * size_[a]);
    return 16 * error * (std::sqrt(least) + error) + epsilon * static_cast<double>(d_ + 16) * least;
}

template <typename Value>
int32_t MeansChain<Value>::smallest() {
    for (int64_t s = 0; s < padded(); ++s) cost_[s] = points_[s] + dead_[s];
    const Value least = least_of(cost_.data(), slots_);
    return static_cast<int32_t>(std::find(cost_.begin(), cost_.end(), least) - cost_.begin());
}

// Among clusters at the least cost: the one before in the chain, else the smallest, so that equal points pair
// up evenly instead of one cluster swallowing them one by one.
template <typename Value>
bool MeansChain<Value>::better(const Found& one, const Found& other, int32_t before) const {
    if (other.slot < 0 || one.cost != other.cost) return other.slot < 0 || one.cost < other.cost;
    if (one.slot == before || other.slot == before) return one.slot == before;
    if (size_[one.slot] != size_[other.slot]) return size_[one.slot] < size_[other.slot];
    return one.slot < other.slot;
}

template <typename Value>
typename MeansChain<Value>::Found MeansChain<Value>::nearest(int32_t a, int32_t before) {
    if (listed_) {
        const Found found = among_candidates(a, before);
        if (found.cost < candidates_.limit(name_[a])) return found;
        candidates_.forget(name_[a]);  // costs do not shrink, so a limit that is too low stays so
    }
    return among_all(a, before);
}

template <typename Value>
typename MeansChain<Value>::Found MeansChain<Value>::among_candidates(int32_t a, int32_t before) {
    candidates_.update(name_[a]);
    Found best{-1, std::numeric_limits<double>::infinity()};
    for (const int32_t* other = candidates_.begin(name_[a]); other != candidates_.end(name_[a]); ++other) {
        const Found found{slot_[*other], exact_cost(a, slot_[*other])};
        if (better(found, best, before)) best = found;
    }
    return best;
}

template <typename Value>
typename MeansChain<Value>::Found MeansChain<Value>::among_all(int32_t a, int32_t before) {
    scan(a);
    const Value least = least_of(least_.data(), padded() / kAtOnce);
    const double reach = static_cast<double>(least) + slack(a, static_cast<double>(least));
    const Value most = reach >= least ? static_cast<Value>(reach) : std::numeric_limits<Value>::infinity();
    const bool listing = listed_ && padded() > kFewSlots;
    const Value wide = listing ? std::max(most, static_cast<Value>(width_) * least) : most;
    int64_t n_panels = 0;
    find_panels(cost_.data(), least_.data(), wide, padded(), close_.data(), n_panels);
    Found best{-1, std::numeric_limits<double>::infinity()};
    near_.clear();
    for (int64_t p = 0; p < n_panels; ++p)
        for (int32_t b = close_[p]; b < close_[p] + kSlots; ++b) {
            if (cost_[b] > wide || dead_[b] != 0 || b == a) continue;
            near_.push_back(name_[b]);
            if (cost_[b] > most) continue;
            const Found found{b, exact_cost(a, b)};
            if (better(found, best, before)) best = found;
        }
    if (listing) list(a, static_cast<double>(wide));
    return best;
}

// What a scan has found serves until the cluster merges, and beyond: the nearest, those of costs up to `wide`
// in single precision, become its candidates. How wide that is follows from how many were found before.
template <typename Value>
void MeansChain<Value>::list(int32_t a, double wide) {
    const int64_t count = static_cast<int64_t>(near_.size());
    if (count > 2 * kListed) width_ = 1 + (width_ - 1) * kNarrower;
    if (count < kListed) width_ = std::min(1 + (width_ - 1) * kWider, kWidest);
    const double limit = (wide - slack(a, wide)) * kSure / (scale_ * scale_);
    if (count <= Candidates::kRoom && limit > 0 && std::isfinite(limit))
        candidates_.set(name_[a], near_.data(), count, limit);
}

template <typename Value>
Merge MeansChain<Value>::merge(int32_t a, int32_t b, double cost) {
    const double height = std::max({cost, height_[a], height_[b]});  // rounding must not reorder merges
    const double share = size_[b] / (size_[a] + size_[b]);
    const auto join = [&](std::vector<double>& means) {
        for (int64_t j = 0; j < d_; ++j)  // equal means stay as they are
            means[a * d_ + j] += share * (means[b * d_ + j] - means[a * d_ + j]);
    };
    join(x_);
    if (!self_dual_) join(h_);
    if (listed_) candidates_.merge(name_[a], name_[b], limit_of_both(a, b, cost));
    size_[a] += size_[b], height_[a] = height;
    dead_[b] = std::numeric_limits<Value>::infinity();
    pack(a);
    --live_;
    return {name_[a], name_[b], height};
}

// What A∪B costs at least with a cluster C of c points that is a candidate of neither, from Lance and
// Williams'
//     ((|A| + c)·cost(A, C) + (|B| + c)·cost(B, C) − c·cost(A, B)) / (|A| + |B| + c):
// with the limits in place of the costs it rises or falls with c, so the least is that of a point or of c →
// ∞.
template <typename Value>
double MeansChain<Value>::limit_of_both(int32_t a, int32_t b, double cost) const {
    const double one = candidates_.limit(name_[a]), other = candidates_.limit(name_[b]);
    const double of_point = ((size_[a] + point_) * one + (size_[b] + point_) * other - point_ * cost) /
                            (size_[a] + size_[b] + point_);
    return std::max(std::min(one, other), std::min(of_point, one + other - cost) * kSure);
}

template class MeansChain<float>;
template class MeansChain<double>;

}  // namespace bvdt
