#include "bracket.hpp"

#include <algorithm>
#include <limits>

#include "take_below.hpp"

namespace bvdt {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int64_t kRoom = 7;  // beyond the last, which whole registers are read and written in
constexpr int kSteps = 7;     // halvings of the values' range

// What at least `least` of the values are not above, and hardly more: a few reads of all without a branch.
float bound_of_smallest(const float* values, int64_t count, int64_t least) {
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

// Items by their bounds, of which those whose lower one is at most `most` are kept, in their order; how many.
// There is room for 7 more.
struct Bounded {
    float *lower, *upper;
    int32_t* item;
    int64_t count;
};
#ifdef __AVX2__
int64_t keep(const Bounded& all, float most) {
    int64_t kept = 0;
    for (int64_t at = 0; at < all.count; at += 8) {
        const __m256 lower = _mm256_loadu_ps(all.lower + at), upper = _mm256_loadu_ps(all.upper + at);
        const __m256i item = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(all.item + at));
        const __m256 near = _mm256_cmp_ps(lower, _mm256_set1_ps(most), _CMP_LE_OQ);
        const unsigned here = all.count - at < 8 ? (1u << (all.count - at)) - 1 : 255u;
        const unsigned set = static_cast<unsigned>(_mm256_movemask_ps(near)) & here;
        const __m256i lanes = members_of(set);
        _mm256_storeu_ps(all.lower + kept, _mm256_permutevar8x32_ps(lower, lanes));
        _mm256_storeu_ps(all.upper + kept, _mm256_permutevar8x32_ps(upper, lanes));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(all.item + kept),
                            _mm256_permutevar8x32_epi32(item, lanes));
        kept += __builtin_popcount(set);
    }
    return kept;
}
#else
int64_t keep(const Bounded& all, float most) {
    int64_t kept = 0;
    for (int64_t s = 0; s < all.count; ++s) {
        all.lower[kept] = all.lower[s], all.upper[kept] = all.upper[s], all.item[kept] = all.item[s];
        kept += all.lower[s] <= most;
    }
    return kept;
}
#endif

}  // namespace

void Bracket::start(int64_t k) { k_ = k, count_ = 0, many_ = 2 * k, worst_ = kInfinity; }

void Bracket::offer(const Offers& offers) {
    const size_t most = static_cast<size_t>(count_ + offers.count) + kRoom;
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
    count_ = keep({lower_.data(), upper_.data(), item_.data(), count_}, worst_);
}

}  // namespace bvdt
