#include "cell_store.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "parallel.hpp"

namespace bvdt {
namespace {

// 1 / root mean square of the values about their columns' means; 1 if they do not vary.
double inverse_spread(const double* values, int64_t n, int64_t d) {
    std::vector<double> mean(static_cast<size_t>(d), 0.0);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < d; ++j) mean[j] += values[i * d + j] / static_cast<double>(n);
    double largest = 0, sum = 0;
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < d; ++j) largest = std::max(largest, std::abs(values[i * d + j] - mean[j]));
    if (!(largest > 0)) return 1.0;
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < d; ++j) {
            const double share = (values[i * d + j] - mean[j]) / largest;
            sum += share * share;
        }
    return 1.0 / (largest * std::sqrt(sum / static_cast<double>(n)));
}

}  // namespace

CellStore::CellStore(const DensePoints& points_, const double* u_, const double* w_, const int32_t* order,
                     const int64_t* bounds, int64_t n_cells, int threads)
    : points(points_),
      u(u_),
      w(w_),
      n(n_cells),
      order_(order, order + bounds[n_cells]),
      bounds_(bounds, bounds + n_cells + 1) {
    first_panel.push_back(0);
    for (int64_t cell = 0; cell < n; ++cell)
        first_panel.push_back(first_panel.back() + (size(cell) + kLanes - 1) / kLanes);
    const size_t values = static_cast<size_t>(n * points.d);
    mean_x.assign(values, 0.0), mean_h.assign(values, 0.0), turned.resize(2 * values);
    self.resize(static_cast<size_t>(n)), mean_level.resize(static_cast<size_t>(n));
    panels.assign(static_cast<size_t>(first_panel.back() * points.d * kLanes), 0.0f);
    level.assign(static_cast<size_t>(first_panel.back() * kLanes), std::numeric_limits<float>::infinity());
    scale_x = inverse_spread(points.x, points.n, points.d);
    scale_h = points.h == points.x ? scale_x : inverse_spread(points.h, points.n, points.d);
    parallel_for(n, 8, threads, [&](int64_t cell) { average(cell), pack(cell); });
}

void CellStore::average(int64_t cell) {
    const int64_t d = points.d, count = size(cell);
    double *x = mean_x.data() + cell * d, *h = mean_h.data() + cell * d;
    for (int64_t b = 0; b < count; ++b) {
        const int64_t i = items(cell)[b];
        for (int64_t j = 0; j < d; ++j) x[j] += points.x[i * d + j], h[j] += points.h[i * d + j];
    }
    for (int64_t j = 0; j < d; ++j) {
        x[j] /= static_cast<double>(count), h[j] /= static_cast<double>(count);
        turned[j * n + cell] = h[j], turned[(d + j) * n + cell] = x[j];
    }
    self[cell] = dot<Order::kAsStored>(x, h, d);
}

void CellStore::pack(int64_t cell) {
    const int64_t d = points.d, count = size(cell);
    const double *x = mean_x.data() + cell * d, *h = mean_h.data() + cell * d;
    std::vector<double> own(static_cast<size_t>(count));
    for (int64_t b = 0; b < count; ++b) {
        const int64_t i = items(cell)[b];
        float* lane = panels.data() + (first_panel[cell] + b / kLanes) * d * kLanes + b % kLanes;
        for (int64_t j = 0; j < d; ++j)
            lane[j * kLanes] = static_cast<float>(scale_h * (points.h[i * d + j] - h[j]));
        own[b] = w[i] - dot<Order::kAsStored>(x, points.h + i * d, d) + self[cell];
    }
    mean_level[cell] = std::accumulate(own.begin(), own.end(), 0.0) / static_cast<double>(count);
    for (int64_t b = 0; b < count; ++b)
        level[first_panel[cell] * kLanes + b] = static_cast<float>(scale() * (own[b] - mean_level[cell]));
}

}  // namespace bvdt
