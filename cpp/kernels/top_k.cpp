#include "top_k.hpp"

#include <cmath>
#include <limits>

#include "platform.hpp"
#include "vectors.hpp"

namespace bvdt {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int kHalvings = 7;         // of the values' range
constexpr double kRounding = 1e-13;  // of u + w, by which a bound may be too large

// What at least `least` of the values are not above, and hardly more: a few reads of all without a branch.
float bound_of_smallest(const float* values, int64_t count, int64_t least) {
    float low = kInfinity, high = -kInfinity;
    for (int64_t s = 0; s < count; ++s) {
        low = values[s] < low ? values[s] : low;
        high = values[s] > high ? values[s] : high;
    }
    for (int step = 0; step < kHalvings; ++step) {
        const float middle = low + (high - low) / 2;
        int32_t held = 0;
        for (int64_t s = 0; s < count; ++s) held += values[s] <= middle;
        (held >= least ? high : low) = middle;
    }
    return high;
}

}  // namespace

void CandidateList::start(int64_t k) { k_ = k, count_ = 0, many_ = 2 * k, worst_ = kInfinity; }

void CandidateList::offer(const Offers& offers) {
    const size_t most = static_cast<size_t>(count_ + offers.count) + 1;
    if (lower_.size() < most) lower_.resize(2 * most), upper_.resize(2 * most), item_.resize(2 * most);
    float *lower = lower_.data(), *upper = upper_.data(), worst = worst_;
    int32_t* item = item_.data();
    int64_t count = count_;
    for (int64_t s = 0; s < offers.count; ++s) {  // without branches: there is no guessing who is near
        const float least = offers.value[s] + offers.from;
        lower[count] = least, upper[count] = least + offers.gap, item[count] = offers.item[offers.place[s]];
        count += least <= worst;
    }
    count_ = count;
    if (count_ >= many_) drop_far(), many_ = std::max(2 * k_, 2 * count_);
}

void CandidateList::drop_far() {
    if (count_ >= k_) worst_ = std::min(worst_, bound_of_smallest(upper_.data(), count_, k_));
    float *lower = lower_.data(), *upper = upper_.data();
    int32_t* item = item_.data();
    const float worst = worst_;
    int64_t kept = 0;
    for (int64_t s = 0; s < count_; ++s) {
        const float least = lower[s];
        lower[kept] = least, upper[kept] = upper[s], item[kept] = item[s];
        kept += least <= worst;
    }
    count_ = kept;
}

void rerank(const ExactPoints& points, int64_t i, const std::vector<Candidate>& candidates, bool is_bound,
            const TopList<double>& best) {
    const int64_t d = points.d, count = static_cast<int64_t>(candidates.size());
    std::fill_n(best.index, best.k, -1);
    std::fill_n(best.value, best.k, std::numeric_limits<double>::infinity());
    const auto center = [&](int64_t c) { return points.h + candidates[c].second * d; };
    for (int64_t first = 0; first < count; first += kFour) {
        const auto& [estimate, nearest] = candidates[first];
        const double spare = kRounding * (std::abs(points.u[i]) + std::abs(points.w[nearest]));
        if (is_bound && estimate > best.worst() + spare) return;  // so are all after
        const double* h[kFour];
        double inner[kFour];
        const int64_t here = std::min(kFour, count - first);
        for (int64_t c = 0; c < kFour; ++c) h[c] = center(first + std::min(c, here - 1));
        for (int64_t s = first + kFour; s < std::min(first + 2 * kFour, count); ++s)
            prefetch_row(center(s), d);
        four_products(points.x + i * d, h, d, inner);
        for (int64_t c = 0; c < here; ++c) {
            const int32_t j = candidates[first + c].second;
            const double divergence = points.u[i] + points.w[j] - inner[c];
            if (best.takes(j, std::max(divergence, 0.0))) best.insert(j, std::max(divergence, 0.0));
        }
    }
}

}  // namespace bvdt
