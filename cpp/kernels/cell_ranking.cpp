#include "cell_ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bvdt {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

CellRanking::CellRanking(const CellStore& cells)
    : cells_(cells), score_(static_cast<size_t>(cells.n)), ranked_(static_cast<size_t>(cells.n)) {}

void CellRanking::score_all(int64_t cell) {
    constexpr int64_t kStretch = 512;  // scores that stay in the first-level cache
    const int64_t d = cells_.points.d;
    for (int64_t first = 0; first < cells_.n; first += kStretch) {
        const int64_t length = std::min(kStretch, cells_.n - first);
        std::copy_n(cells_.self.data() + first, length, score_.data() + first);
        for (int64_t j = 0; j < 2 * d; ++j) {
            const double with = j < d ? cells_.mean_x[cell * d + j] : cells_.mean_h[cell * d + j - d];
            add_scaled(score_.data() + first, cells_.turned.data() + j * cells_.n + first, -with, length);
        }
    }
    score_[cell] = -kInfinity;
}

int64_t CellRanking::nearest(int64_t cell, int64_t count, int64_t least) {
    score_all(cell);
    for (int64_t b = 0; b < cells_.n; ++b)  // not a number, from an overflow, would not sort
        ranked_[b] = {std::isnan(score_[b]) ? kInfinity : score_[b], static_cast<int32_t>(b)};
    for (count = std::min(count, cells_.n);; count = std::min(2 * count, cells_.n)) {
        if (count < cells_.n) std::nth_element(ranked_.begin(), ranked_.begin() + count, ranked_.end());
        int64_t held = 0;
        for (int64_t c = 0; c < count; ++c) held += cells_.size(ranked_[c].second);
        if (held >= least || count == cells_.n) break;
    }
    std::sort(ranked_.begin(), ranked_.begin() + count);
    return count;
}

}  // namespace bvdt
