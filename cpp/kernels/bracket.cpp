#include "bracket.hpp"

#include <algorithm>
#include <limits>

#include "platform.hpp"

namespace bvdt {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int kSteps = 10;  // halvings of the values' range

// What at least `least` of the values are not above, and hardly more: a few reads of all without a branch.
BVDT_SIMD float bound_of_smallest(const float* values, int64_t count, int64_t least) {
    float low = kInfinity, high = -kInfinity;
    for (int64_t s = 0; s < count; ++s) {
        low = values[s] < low ? values[s] : low;
        high = values[s] > high ? values[s] : high;
    }
    for (int step = 0; step < kSteps; ++step) {
        const float middle = low + (high - low) / 2;
        int32_t held = 0;
        for (int64_t s = 0; s < count; ++s) held += values[s] <= middle;
        (held >= least ? high : low) = middle;
    }
    return high;
}

}  // namespace

void Bracket::start(int64_t k) { k_ = k, count_ = 0, many_ = 2 * k, worst_ = kInfinity; }

void Bracket::offer(const Offers& offers) {
    const size_t most = static_cast<size_t>(count_ + offers.count);
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

void Bracket::drop_far() {
    if (count_ >= k_) worst_ = std::min(worst_, bound_of_smallest(upper_.data(), count_, k_));
    int64_t kept = 0;
    for (int64_t s = 0; s < count_; ++s) {
        lower_[kept] = lower_[s], upper_[kept] = upper_[s], item_[kept] = item_[s];
        kept += lower_[s] <= worst_;
    }
    count_ = kept;
}

}  // namespace bvdt
