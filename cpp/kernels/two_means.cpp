#include "two_means.hpp"

#include <algorithm>
#include <numeric>

namespace bvdt {
namespace {

constexpr int64_t kSample = 512;  // at most so many points, and a quarter of the segment, find its centers
constexpr int kIterations = 3;    // of 2-means on the sample
constexpr int kAttempts = 6;      // to cut the sample, each without the few far points of the one before
constexpr double kFar = 8;        // deviations between a few points and the others from which on they are far

// p[s] += ⟨x of ids[s], onto⟩
void add_dots(const double* x, const int32_t* ids, int64_t count, int64_t d, const double* onto, double* p) {
    constexpr int64_t ahead = 12;
    for (int64_t s = 0; s < count; ++s) {
        if (s + ahead < count) prefetch_row(x + ids[s + ahead] * d, d);
        p[s] += dot<Order::kEightSums>(x + ids[s] * d, onto, d);
    }
}

}  // namespace

void DenseDelta::add(const int32_t* ids, const double* scale, int64_t count) {
    for (int64_t s = 0; s < count; ++s) {
        add_scaled(x.data(), points.x + ids[s] * points.d, scale[s], points.d);
        if (!self_dual()) add_scaled(h.data(), points.h + ids[s] * points.d, scale[s], points.d);
    }
}

void DenseDelta::project(const int32_t* ids, int64_t count, double* p) const {
    std::fill_n(p, count, 0.0);
    if (self_dual()) {
        add_dots(points.x, ids, count, points.d, x.data(), p);
        for (int64_t s = 0; s < count; ++s) p[s] *= 2;
    } else {
        add_dots(points.x, ids, count, points.d, h.data(), p);
        add_dots(points.h, ids, count, points.d, x.data(), p);
    }
}

void DenseDelta::clear(const std::vector<int32_t>&) {
    std::fill(x.begin(), x.end(), 0.0), std::fill(h.begin(), h.end(), 0.0);
}

void SparseDelta::add(const int32_t* ids, const double* scale, int64_t count) {
    for (int64_t s = 0; s < count; ++s) points.add_to(ids[s], scale[s], value.data());
}

void SparseDelta::project(const int32_t* ids, int64_t count, double* p) const {
    for (int64_t s = 0; s < count; ++s) p[s] = points.dot_both(ids[s], value.data());
}

void SparseDelta::clear(const std::vector<int32_t>& ids) {
    for (int32_t id : ids) points.clear(id, value.data());
}

template <typename Points>
void TwoMeans<Points>::choose_sample(const int32_t* segment, int64_t n, Random& random) {
    const int64_t count = std::min({n, kSample, std::max<int64_t>(64, n / 4)});
    std::vector<int32_t> chosen(static_cast<size_t>(count));
    for (int64_t s = 0; s < count; ++s)  // one from each of equal stretches
        chosen[s] = segment[n == count ? s : (s * n + random.below(n)) / count];
    take(std::move(chosen));
}

template <typename Points>
void TwoMeans<Points>::take(std::vector<int32_t> ids) {
    sample_ = std::move(ids);
    sample_weight_.resize(sample_.size());
    for (size_t s = 0; s < sample_.size(); ++s) sample_weight_[s] = weight_[sample_[s]];
}

// The sample's points of one side only.
template <typename Points>
void TwoMeans<Points>::keep(uint8_t which) {
    std::vector<int32_t> kept;
    for (size_t s = 0; s < sample_.size(); ++s)
        if (side_[s] == which) kept.push_back(sample_[s]);
    take(std::move(kept));
}

template <typename Points>
void TwoMeans<Points>::project_sample() {
    p_.resize(sample_.size());
    project(sample_.data(), static_cast<int64_t>(sample_.size()), p_.data());
}

// Two seeds, the second chosen far from the first (in proportion to the symmetrised divergence); the first
// border lies where both are equally near.
template <typename Points>
bool TwoMeans<Points>::seed(Random& random) {
    const int64_t n = static_cast<int64_t>(sample_.size());
    const int32_t first = sample_[random.pick(sample_weight_)];
    add(first, 1.0);
    project_sample();
    const double own = points_.self_dot(first);
    std::vector<double> far(sample_.size());
    for (int64_t s = 0; s < n; ++s)
        far[s] = sample_weight_[s] * std::max(0.0, own + points_.self_dot(sample_[s]) - p_[s]);
    if (std::accumulate(far.begin(), far.end(), 0.0) <= 0) return clear(), false;
    const int32_t second = sample_[random.pick(far)];
    add(second, -1.0);
    project_sample();
    const double at = own - points_.self_dot(second);
    side_.resize(sample_.size());
    for (int64_t s = 0; s < n; ++s) side_[s] = p_[s] > at;
    clear();
    return true;
}

template <typename Points>
Border TwoMeans<Points>::find(const int32_t* segment, int64_t n, double smallest_side, Random& random) {
    choose_sample(segment, n, random);
    const std::vector<int32_t> whole = sample_;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        const Border border = cut_sample(random);
        if (!border.found) break;
        const int64_t above = std::count(side_.begin(), side_.end(), 1);
        const int64_t below = static_cast<int64_t>(sample_.size()) - above;
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

// Whether the other side's mean lies many deviations of `side_kept` away from it, along Δ.
template <typename Points>
bool TwoMeans<Points>::is_far(bool side_kept) const {
    double sum[2] = {0, 0}, total[2] = {0, 0}, squares = 0;
    for (size_t s = 0; s < sample_.size(); ++s)
        sum[side_[s]] += sample_weight_[s] * p_[s], total[side_[s]] += sample_weight_[s];
    const double mean = sum[side_kept] / total[side_kept];
    for (size_t s = 0; s < sample_.size(); ++s)
        if (side_[s] == side_kept) squares += sample_weight_[s] * (p_[s] - mean) * (p_[s] - mean);
    const double gap = sum[!side_kept] / total[!side_kept] - mean;
    return gap * gap > kFar * kFar * squares / total[side_kept];
}

// Side means of the projections, weighted; their midpoint is the border.
template <typename Points>
Border TwoMeans<Points>::midpoint() const {
    double sum[2] = {0, 0}, total[2] = {0, 0};
    for (size_t s = 0; s < p_.size(); ++s)
        sum[side_[s]] += sample_weight_[s] * p_[s], total[side_[s]] += sample_weight_[s];
    if (total[0] <= 0 || total[1] <= 0) return {};
    return {0.5 * (sum[0] / total[0] + sum[1] / total[1]), true};
}

// As `find`, on the sample as it is.
template <typename Points>
Border TwoMeans<Points>::cut_sample(Random& random) {
    if (!seed(random)) return {};
    Border border;
    for (int it = 0; it < kIterations; ++it) {
        double total[2] = {0, 0};
        for (size_t s = 0; s < sample_.size(); ++s) total[side_[s]] += sample_weight_[s];
        if (total[0] <= 0 || total[1] <= 0) return clear(), Border{};
        if (it > 0) clear();
        share_.resize(sample_.size());
        for (size_t s = 0; s < sample_.size(); ++s)
            share_[s] = (side_[s] ? 1.0 : -1.0) * sample_weight_[s] / total[side_[s]];
        delta_.add(sample_.data(), share_.data(), static_cast<int64_t>(sample_.size()));
        project_sample();
        border = midpoint();
        bool changed = false;
        for (size_t s = 0; s < sample_.size(); ++s) {
            const uint8_t now = p_[s] > border.at;
            changed |= now != side_[s];
            side_[s] = now;
        }
        if (!changed) break;
    }
    return border;
}

template class TwoMeans<DensePoints>;
template class TwoMeans<SparsePoints>;

}  // namespace bvdt
