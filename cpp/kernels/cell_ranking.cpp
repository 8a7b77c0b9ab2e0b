#include "cell_ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bvdt {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kWidth = 4;  // points of the runs that are looked into, over those that are asked for

double or_infinity(double score) {  // not a number, from an overflow, would not sort
    return std::isnan(score) ? kInfinity : score;
}

}  // namespace

CellRanking::CellRanking(const CellStore& cells)
    : cells_(cells),
      score_(static_cast<size_t>(std::max(cells.n_runs, kRun))),
      runs_(static_cast<size_t>(cells.n_runs)) {
    ranked_.reserve(static_cast<size_t>(cells.n));
}

// The nearest runs that hold so many points.
void CellRanking::rank_runs(const Middle& from, int64_t least) {
    const int64_t d = cells_.points.d, n = cells_.n_runs;
    std::copy_n(cells_.run_self.data(), n, score_.data());
    for (int64_t j = 0; j < 2 * d; ++j) {
        const double with = j < d ? from.x[j] : from.h[j - d];
        add_scaled(score_.data(), cells_.run_turned.data() + j * n, -with, n);
    }
    runs_.resize(static_cast<size_t>(n));
    for (int64_t run = 0; run < n; ++run) runs_[run] = {or_infinity(score_[run]), static_cast<int32_t>(run)};
    std::sort(runs_.begin(), runs_.end());
    int64_t count = 0, held = 0;
    while (count < n && held < least) held += cells_.run_size[runs_[count++].second];
    runs_.resize(static_cast<size_t>(count));
}

void CellRanking::score_run(const Middle& from, int64_t run) {
    const int64_t d = cells_.points.d, first = run * kRun, length = std::min(kRun, cells_.n - first);
    std::copy_n(cells_.self.data() + first, length, score_.data());
    for (int64_t j = 0; j < 2 * d; ++j) {
        const double with = j < d ? from.x[j] : from.h[j - d];
        add_scaled(score_.data(), cells_.turned.data() + j * cells_.n + first, -with, length);
    }
    for (int64_t c = 0; c < length; ++c)
        ranked_.emplace_back(or_infinity(score_[c]), static_cast<int32_t>(first + c));
}

int64_t CellRanking::nearest(const Middle& from, int64_t count, int64_t least) {
    const int64_t points = std::max(least, count * (cells_.points.n / cells_.n + 1));
    rank_runs(from, kWidth * points);
    ranked_.clear();
    for (const Scored& run : runs_) score_run(from, run.second);
    const int64_t here = static_cast<int64_t>(ranked_.size());
    for (count = std::min(count, here);; count = std::min(2 * count, here)) {
        if (count < here) std::nth_element(ranked_.begin(), ranked_.begin() + count, ranked_.end());
        int64_t held = 0;
        for (int64_t c = 0; c < count; ++c) held += cells_.size(ranked_[c].second);
        if (held >= least || count == here) break;
    }
    std::sort(ranked_.begin(), ranked_.begin() + count);
    return count;
}

}  // namespace bvdt
