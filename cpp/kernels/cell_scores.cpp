#include "cell_scores.hpp"

#include <cmath>
#include <limits>

#include "cell_tiles.hpp"

namespace bvdt {
namespace {

constexpr int64_t kAhead = 4;  // rows asked for before they are needed
constexpr float kInfinity = std::numeric_limits<float>::infinity();

int64_t padded(int64_t count) { return (count + kLanes - 1) / kLanes * kLanes; }

// out (rows, n_panels, 16): products of all rows with all panels.
void multiply_all(const float* x, int64_t rows, int64_t d, const float* panel, int64_t n_panels, float* out) {
    using Part = Lanes<float>;
    for (int64_t first = 0; first < rows; first += kRows) {
        const float* tile[kRows];
        for (int64_t r = 0; r < kRows; ++r) tile[r] = x + std::min(first + r, rows - 1) * d;
        for (int64_t b = 0; b < n_panels; ++b) {
            Part products[kRows];
            multiply(tile, panel + b * d * kLanes, d, products);
            for (int64_t r = 0; r < std::min(kRows, rows - first); ++r)
                Part::at(out + ((first + r) * n_panels + b) * kLanes) = products[r];
        }
    }
}

// The smallest of some thresholds at which the scores up to it hold at least so many points. The first
// `n_first` cells, which hold as many, tell how far is far enough: one far cell must not stretch the range.
float threshold(const float* score, const int32_t* size, int64_t count, int64_t n_first, int64_t points) {
    float low = kInfinity, high = -kInfinity, enough = -kInfinity;
    for (int64_t c = 0; c < count; ++c) low = std::min(low, score[c]), high = std::max(high, score[c]);
    for (int64_t c = 0; c < n_first; ++c) enough = std::max(enough, score[c]);
    high = std::min(high, low + 4 * (enough - low));
    for (int step = 0; step < 8; ++step) {
        const float middle = low + (high - low) / 2;
        int32_t held = 0;
        for (int64_t c = 0; c < count; ++c) held += score[c] <= middle ? size[c] : 0;
        (held >= points ? high : low) = middle;
    }
    return high;
}

// How many of the first cells hold at least so many points.
int64_t holding(const int32_t* size, int64_t count, int64_t points) {
    int64_t cells = 0, held = 0;
    while (cells < count && held < points) held += size[cells++];
    return cells;
}

// out = scale·(row − mean)
void centre(const double* row, const double* mean, double scale, int64_t d, float* out) {
    BVDT_INDEPENDENT_LOOP
    for (int64_t j = 0; j < d; ++j) out[j] = static_cast<float>(scale * (row[j] - mean[j]));
}

}  // namespace

void CellRows::divergences(int64_t i, const CellStore& cells, const int32_t* centre, double* out) const {
    const double *x = points.x + i * points.d, *h[kAtOnce];
    double inner[kAtOnce];
    for (int64_t s = 0; s < kAtOnce; ++s) h[s] = cells.points.h + centre[s] * points.d;
    four_products(x, h, points.d, inner);
    for (int64_t s = 0; s < kAtOnce; ++s) out[s] = std::max(u[i] + cells.w[centre[s]] - inner[s], 0.0);
}

void CellScores::rank(const RowGroup& group, int64_t pairs) {
    const int64_t d = cells.points.d, n = cells.points.n;
    pairs = std::min(pairs, n);  // there are no more
    mean_x = cells.mean_x.data() + group.home * d, mean_h = cells.mean_h.data() + group.home * d;
    count = ranking_.nearest({mean_x, mean_h}, (kReach * pairs * cells.n + n - 1) / n, pairs);
    stride = padded(count);
    center_rows(group);
    measure_cells();
    score_rows(group.n_rows, pairs);
}

void CellScores::center_rows(const RowGroup& group) {
    const int64_t d = cells.points.d, n_rows = group.n_rows, home = group.home;
    x.resize(static_cast<size_t>(n_rows * d)), h_.resize(static_cast<size_t>(n_rows * d));
    row_part.resize(static_cast<size_t>(n_rows)), row_error.resize(static_cast<size_t>(n_rows));
    for (int64_t a = 0; a < n_rows; ++a) {
        const int64_t i = group.items[a];
        const double *xi = rows.points.x + i * d, *hi = rows.points.h + i * d;
        if (a + kAhead < n_rows) {
            const int64_t next = group.items[a + kAhead];
            prefetch_row(rows.points.x + next * d, d), prefetch_row(rows.points.h + next * d, d);
        }
        centre(xi, mean_x, cells.scale_x, d, x.data() + a * d);
        if (!is_self_dual()) centre(hi, mean_h, cells.scale_h, d, h_.data() + a * d);
        const double part = rows.u[i] - dot<Order::kEightSums>(xi, mean_h, d) + cells.mean_level[home];
        row_part[a] = static_cast<float>(cells.scale() * part);
        const float square = dot<Order::kEightSums>(x.data() + a * d, x.data() + a * d, d);
        row_error[a] = rounding * (std::abs(row_part[a]) + square);
    }
}

// ΔX, ΔH and what they add up to.
void CellScores::measure_cells() {
    const int64_t d = cells.points.d;
    delta_x.assign(static_cast<size_t>(stride * d), 0.0f), delta_h_.assign(delta_x.size(), 0.0f);
    distance_.assign(static_cast<size_t>(stride), kInfinity), size_.assign(distance_.size(), 0);
    square_dx.assign(distance_.size(), 0.0f), square_dh.assign(distance_.size(), 0.0f);
    for (int64_t c = 0; c < count; ++c) {
        const int64_t to = cell(c), lane = c / kLanes * d * kLanes + c % kLanes;
        float sum = 0;
        for (int64_t j = 0; j < d; ++j) {
            const double dx = cells.scale_x * (cells.mean_x[to * d + j] - mean_x[j]);
            const double dh = cells.scale_h * (cells.mean_h[to * d + j] - mean_h[j]);
            delta_x[lane + j * kLanes] = static_cast<float>(dx);
            delta_h_[lane + j * kLanes] = static_cast<float>(dh);
            sum += static_cast<float>(dx * dh);
            square_dx[c] += static_cast<float>(dx * dx), square_dh[c] += static_cast<float>(dh * dh);
        }
        distance_[c] = sum, size_[c] = static_cast<int32_t>(cells.size(to));
    }
}

void CellScores::score_rows(int64_t n_rows, int64_t pairs) {
    const int64_t d = cells.points.d;
    along_h.resize(static_cast<size_t>(n_rows * stride)), score.resize(along_h.size());
    limit.resize(static_cast<size_t>(n_rows));
    multiply_all(x.data(), n_rows, d, delta_h_.data(), stride / kLanes, along_h.data());
    if (is_self_dual())  // x and h are the same numbers
        std::copy(along_h.begin(), along_h.end(), score.begin());
    else
        multiply_all(h_.data(), n_rows, d, delta_x.data(), stride / kLanes, score.data());
    const int64_t n_first = holding(size_.data(), count, pairs);
    for (int64_t a = 0; a < n_rows; ++a) {
        float* own = score.data() + a * stride;  // ⟨h', ΔX⟩ up to here
        for (int64_t c = 0; c < count; ++c) own[c] = distance_[c] - along_h[a * stride + c] - own[c];
        limit[a] = threshold(own, size_.data(), count, n_first, pairs);
    }
}

}  // namespace bvdt
