#include "cell_bytes.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "platform.hpp"

namespace bvdt {
namespace {

constexpr float kLargest = 127;
constexpr float kMostFine = kLargest * kCoarse;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kFar = 3;  // times the median of the centres' largest coordinates: too far for the step

// q + 128 of share·value, to the nearest
BVDT_INLINE int32_t rounded(float value, float share) {
    return static_cast<int32_t>(value * share + (kZero + 0.5f));
}

BVDT_SIMD float largest_of(const float* x, int64_t d) {
    float largest = 0;
    BVDT_SIMD_LOOP(reduction(max : largest))
    for (int64_t j = 0; j < d; ++j) largest = std::max(largest, std::abs(x[j]));
    return largest;
}

// q of one row, ‖step·q‖², ‖e‖² and Σq.
BVDT_SIMD void round_row(const float* x, int64_t d, float step, int8_t* q, float* squares, int32_t* sum) {
    float square = 0, rest = 0;
    int32_t total = 0;
    const float share = 1 / step;
    BVDT_SIMD_LOOP(reduction(+ : square, rest, total))
    for (int64_t j = 0; j < d; ++j) {
        const int32_t number = rounded(x[j], share) - kZero;
        const float value = step * static_cast<float>(number);
        q[j] = static_cast<int8_t>(number);
        square += value * value, rest += (x[j] - value) * (x[j] - value), total += number;
    }
    squares[0] = square, squares[1] = rest, *sum = total;
}

// The same in two parts, 128·high + low, with both sums.
BVDT_SIMD void round_fine(const float* x, int64_t d, float step, int8_t* high, int8_t* low, float* squares,
                          int32_t* sums) {
    constexpr int32_t kShift = 128 * kCoarse;  // so that nothing is negative when it is cut
    float square = 0, rest = 0;
    int32_t above_sum = 0, below_sum = 0;
    const float share = 1 / step;
    BVDT_SIMD_LOOP(reduction(+ : square, rest, above_sum, below_sum))
    for (int64_t j = 0; j < d; ++j) {
        const int32_t number = static_cast<int32_t>(x[j] * share + (kShift + 0.5f)) - kShift;
        const int32_t above = ((number + kShift + kCoarse / 2) / kCoarse) - kShift / kCoarse;
        const float value = step * static_cast<float>(number);
        high[j] = static_cast<int8_t>(above), low[j] = static_cast<int8_t>(number - above * kCoarse);
        square += value * value, rest += (x[j] - value) * (x[j] - value);
        above_sum += above, below_sum += number - above * kCoarse;
    }
    squares[0] = square, squares[1] = rest, sums[0] = above_sum, sums[1] = below_sum;
}

// Each lane's largest coordinate.
BVDT_SIMD void largest_of_lanes(const float* panel, int64_t d, float* largest) {
    std::fill_n(largest, kLanes, 0.0f);
    for (int64_t j = 0; j < d; ++j)
        for (int64_t t = 0; t < kLanes; ++t)
            largest[t] = std::max(largest[t], std::abs(panel[j * kLanes + t]));
}

// Four coordinates of 16 lanes from (4, 16) to (16, 4), and what is added to ‖h'‖², ‖e‖².
BVDT_SIMD void round_quad(const float* from, float step, uint8_t* to, float* square, float* rest) {
    const float share = 1 / step;
    int32_t number[kQuad][kLanes];
    for (int64_t j = 0; j < kQuad; ++j)
        for (int64_t t = 0; t < kLanes; ++t) {
            const float h = from[j * kLanes + t];
            const float within = std::min(std::max(h, -kLargest * step), kLargest * step);
            number[j][t] = rounded(within, share);
            const float e = h - step * static_cast<float>(number[j][t] - kZero);
            square[t] += h * h, rest[t] += e * e;
        }
    uint32_t packed[kLanes];
    for (int64_t t = 0; t < kLanes; ++t)
        packed[t] =
            static_cast<uint32_t>(number[0][t] | number[1][t] << 8 | number[2][t] << 16 | number[3][t] << 24);
    std::memcpy(to, packed, sizeof packed);
}

constexpr float kUp = 1.0001f;  // more than a length's own rounding

}  // namespace

bool multiplies_bytes() {
#ifdef BVDT_BYTES
    static const bool does = __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw");
    return does;
#else
    return false;
#endif
}

void CellBytes::resize(int64_t n_cells, int64_t n_panels, int64_t d) {
    panels.assign(static_cast<size_t>(n_panels * quads(d) * kLanes * kQuad), kZero);
    step.assign(static_cast<size_t>(n_cells), 1.0f), length.assign(step.size(), 0.0f);
    error.assign(step.size(), 0.0f), has_far.assign(step.size(), 0);
    slack.assign(static_cast<size_t>(n_panels * kLanes), 0.0f);
}

void CellBytes::round(int64_t cell, const float* from, int64_t first_panel, int64_t count, int64_t d) {
    const int64_t n_panels = (count + kLanes - 1) / kLanes;
    std::vector<float> largest(static_cast<size_t>(n_panels * kLanes));
    for (int64_t b = 0; b < n_panels; ++b)
        largest_of_lanes(from + b * d * kLanes, d, largest.data() + b * kLanes);
    std::vector<float> sorted(largest.begin(), largest.begin() + count);
    std::nth_element(sorted.begin(), sorted.begin() + count / 2, sorted.end());
    const float limit = kFar * sorted[count / 2];
    float most = 0;
    for (int64_t b = 0; b < count; ++b)
        if (largest[b] <= limit) most = std::max(most, largest[b]);
    if (!(most > 0)) most = kLargest;  // all at the mean, or no number at all
    step[cell] = most / kLargest;
    std::vector<float> quad(static_cast<size_t>(kQuad * kLanes));
    float longest = 0, worst = 0;
    for (int64_t b = 0; b < n_panels; ++b) {
        float square[kLanes] = {}, rest[kLanes] = {};
        uint8_t* to = panels.data() + (first_panel + b) * quads(d) * kLanes * kQuad;
        for (int64_t j = 0; j < d; j += kQuad, to += kLanes * kQuad) {
            const int64_t here = std::min(kQuad, d - j) * kLanes;
            std::fill(std::copy_n(from + (b * d + j) * kLanes, here, quad.begin()), quad.end(), 0.0f);
            round_quad(quad.data(), step[cell], to, square, rest);
        }
        for (int64_t t = 0; t < kLanes && b * kLanes + t < count; ++t) {
            if (largest[b * kLanes + t] <= most)
                longest = std::max(longest, square[t]), worst = std::max(worst, rest[t]);
            else
                has_far[cell] = 1, slack[(first_panel + b) * kLanes + t] = kInfinity;
        }
    }
    length[cell] = kUp * std::sqrt(longest), error[cell] = kUp * std::sqrt(worst);
}

void ByteRows::round(const float* x, int64_t n_rows, int64_t d) {
    const int64_t width = quads(d);
    quad.assign(static_cast<size_t>(n_rows * width), 0);
    step.resize(static_cast<size_t>(n_rows)), length.resize(step.size()), error.resize(step.size());
    sum.resize(step.size());
    std::vector<int8_t> row(static_cast<size_t>(width * kQuad), 0);
    for (int64_t a = 0; a < n_rows; ++a) {
        const float largest = largest_of(x + a * d, d);
        float squares[2];
        step[a] = (largest > 0 ? largest : kLargest) / kLargest;
        round_row(x + a * d, d, step[a], row.data(), squares, &sum[a]);
        std::memcpy(quad.data() + a * width, row.data(), row.size());
        length[a] = kUp * std::sqrt(squares[0]), error[a] = kUp * std::sqrt(squares[1]);
    }
}

void FineRow::round(const float* x, int64_t d) {
    const float largest = largest_of(x, d);
    step = (largest > 0 ? largest : kMostFine) / kMostFine;
    const size_t width = static_cast<size_t>(quads(d) * kQuad);
    if (high_.size() != width) high_.assign(width, 0), low_.assign(width, 0);
    coarse.resize(width / kQuad), fine.resize(width / kQuad);
    float squares[2];
    int32_t sums[2];
    round_fine(x, d, step, high_.data(), low_.data(), squares, sums);
    std::memcpy(coarse.data(), high_.data(), width), std::memcpy(fine.data(), low_.data(), width);
    length = kUp * std::sqrt(squares[0]), error = kUp * std::sqrt(squares[1]);
    coarse_sum = sums[0], fine_sum = sums[1];
}

}  // namespace bvdt
