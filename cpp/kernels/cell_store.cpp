#include "cell_store.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "parallel.hpp"

namespace bvdt {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kMiddle = 31;  // points of a cell whose medians are its first centre
constexpr int64_t kSome = 1024;  // points that the spread of all is found on
constexpr double kFar = 100;     // times the median divergence from that centre: left out of the cell's means

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// The smaller half of each column of (count, d), its middle included, ascends from the first row on.
void sort_lower_half(double* values, int64_t count, int64_t d) {
    for (int64_t place = 0; place <= count / 2; ++place)
        for (int64_t s = place + 1; s < count; ++s) {
            double *to = values + place * d, *from = values + s * d;
            BVDT_INDEPENDENT_LOOP
            for (int64_t j = 0; j < d; ++j) {
                const double smaller = std::min(to[j], from[j]), larger = std::max(to[j], from[j]);
                to[j] = smaller, from[j] = larger;
            }
        }
}

// Each coordinate's median over at most `most` of `count` rows, evenly spaced; row(s) is the s-th.
template <typename Row>
void medians(Row row, int64_t count, int64_t most, int64_t d, double* out) {
    const int64_t used = std::min(count, most);
    std::vector<double> values(static_cast<size_t>(used * d)), column(static_cast<size_t>(used));
    for (int64_t s = 0; s < used; ++s) std::copy_n(row(s * count / used), d, values.data() + s * d);
    if (used <= kMiddle) {  // few rows: all columns at once
        sort_lower_half(values.data(), used, d);
        std::copy_n(values.data() + used / 2 * d, d, out);
        return;
    }
    for (int64_t j = 0; j < d; ++j) {
        for (int64_t s = 0; s < used; ++s) column[s] = values[s * d + j];
        std::nth_element(column.begin(), column.begin() + used / 2, column.end());
        out[j] = column[used / 2];
    }
}

// ‖row − middle‖, of shares of the largest difference: their squares do not overflow.
double distance_from(const double* row, const double* middle, int64_t d) {
    double largest = 0, sum = 0;
    for (int64_t j = 0; j < d; ++j) largest = std::max(largest, std::abs(row[j] - middle[j]));
    if (!(largest > 0)) return 0.0;
    for (int64_t j = 0; j < d; ++j) {
        const double share = (row[j] - middle[j]) / largest;
        sum += share * share;
    }
    return largest * std::sqrt(sum);
}

// ⟨x − x̃, h − h̃⟩, by eight running sums that are added in one fixed order.
double product_from(const double* x, const double* middle_x, const double* h, const double* middle_h,
                    int64_t d) {
    double lane[8] = {}, rest = 0;
    int64_t j = 0;
    for (; j + 8 <= d; j += 8)
        for (int64_t k = 0; k < 8; ++k)
            lane[k] += (x[j + k] - middle_x[j + k]) * (h[j + k] - middle_h[j + k]);
    for (; j < d; ++j) rest += (x[j] - middle_x[j]) * (h[j] - middle_h[j]);
    return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7])) + rest;
}

// 16 centres side by side: h' as (d, 16), ‖h'‖² and ⟨x̄, h⟩ of each.
void fill_panel(const double* const* row, const double* mean_x, const double* mean_h, double scale, int64_t d,
                float* panel, float* squares, double* along) {
    float square[kLanes] = {};
    double inner[kLanes] = {};
    for (int64_t j = 0; j < d; ++j) {
        double value[kLanes];
        for (int64_t t = 0; t < kLanes; ++t) value[t] = row[t][j];
        for (int64_t t = 0; t < kLanes; ++t) {
            const float away = static_cast<float>(scale * (value[t] - mean_h[j]));
            panel[j * kLanes + t] = away;
            square[t] += away * away, inner[t] += mean_x[j] * value[t];
        }
    }
    std::copy_n(square, kLanes, squares), std::copy_n(inner, kLanes, along);
}

// 1 / the usual distance of a row from the columns' medians, found on some rows; 1 if they do not vary.
double inverse_spread(const double* values, int64_t n, int64_t d) {
    const auto row = [=](int64_t i) { return values + i * d; };
    std::vector<double> middle(static_cast<size_t>(d)), distances;
    medians(row, n, kSome, d, middle.data());
    for (int64_t s = 0, used = std::min(n, kSome); s < used; ++s) {
        const double distance = distance_from(row(s * n / used), middle.data(), d);
        if (distance > 0) distances.push_back(distance);
    }
    return distances.empty() ? 1.0 : 1.0 / median(std::move(distances));
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
    error.assign(level.size(), 0.0f), largest_error.resize(static_cast<size_t>(n));
    scale_x = inverse_spread(points.x, points.n, points.d);
    scale_h = points.h == points.x ? scale_x : inverse_spread(points.h, points.n, points.d);
    parallel_for(n, 8, threads, [&](int64_t cell) { pack(cell, average(cell)); });
    average_runs();
}

void CellStore::average_runs() {
    const int64_t d = points.d;
    n_runs = (n + kRun - 1) / kRun;
    run_turned.assign(static_cast<size_t>(2 * d * n_runs), 0.0);
    run_self.assign(static_cast<size_t>(n_runs), 0.0), run_size.assign(static_cast<size_t>(n_runs), 0);
    for (int64_t cell = 0; cell < n; ++cell) run_size[cell / kRun] += size(cell);
    for (int64_t cell = 0; cell < n; ++cell) {
        const int64_t run = cell / kRun;
        const double share = static_cast<double>(size(cell)) / static_cast<double>(run_size[run]);
        for (int64_t j = 0; j < 2 * d; ++j) run_turned[j * n_runs + run] += share * turned[j * n + cell];
    }
    for (int64_t run = 0; run < n_runs; ++run)
        for (int64_t j = 0; j < d; ++j)
            run_self[run] += run_turned[j * n_runs + run] * run_turned[(d + j) * n_runs + run];
}

std::vector<char> CellStore::average(int64_t cell) {
    const int64_t d = points.d, count = size(cell);
    double *x = mean_x.data() + cell * d, *h = mean_h.data() + cell * d;
    const auto rows_of = [&](const double* values) {
        return [=, this](int64_t b) { return values + items(cell)[b] * d; };
    };
    medians(rows_of(points.x), count, kMiddle, d, x);
    if (points.h == points.x)
        std::copy_n(x, d, h);
    else
        medians(rows_of(points.h), count, kMiddle, d, h);
    std::vector<double> away(static_cast<size_t>(count));  // |⟨x_i − x̃, h_i − h̃⟩| from the medians
    for (int64_t b = 0; b < count; ++b) {
        const double *xi = points.x + items(cell)[b] * d, *hi = points.h + items(cell)[b] * d;
        const double sum = product_from(xi, x, hi, h, d);
        away[b] = std::isnan(sum) ? kInfinity : std::abs(sum);
    }
    const double limit = kFar * median(away);
    std::vector<char> ordinary(static_cast<size_t>(count));
    std::fill_n(x, d, 0.0), std::fill_n(h, d, 0.0);
    double total = 0;  // never 0: half of the points are no farther than the median
    for (int64_t b = 0; b < count; ++b) {
        ordinary[b] = away[b] <= limit;
        if (!ordinary[b]) continue;
        total += 1;
        add_scaled(x, points.x + items(cell)[b] * d, 1.0, d);
        if (points.h != points.x) add_scaled(h, points.h + items(cell)[b] * d, 1.0, d);
    }
    if (points.h == points.x) std::copy_n(x, d, h);
    for (int64_t j = 0; j < d; ++j) {
        x[j] /= total, h[j] /= total;
        turned[j * n + cell] = h[j], turned[(d + j) * n + cell] = x[j];
    }
    self[cell] = dot<Order::kAsStored>(x, h, d);
    return ordinary;
}

void CellStore::pack(int64_t cell, const std::vector<char>& ordinary) {
    const int64_t d = points.d, count = size(cell);
    float *levels = level.data() + first_panel[cell] * kLanes,
          *errors = error.data() + first_panel[cell] * kLanes;
    std::vector<double> own(static_cast<size_t>(n_panels(cell) * kLanes));
    float* const to = panels.data() + first_panel[cell] * d * kLanes;
    for (int64_t b = 0; b < n_panels(cell); ++b) {
        const double* row[kLanes];
        for (int64_t t = 0; t < kLanes; ++t) {  // after the last point the mean, whose h' is 0
            const int64_t place = b * kLanes + t;
            row[t] = place < count ? points.h + items(cell)[place] * d : mean_h.data() + cell * d;
        }
        fill_panel(row, mean_x.data() + cell * d, mean_h.data() + cell * d, scale_h, d, to + b * d * kLanes,
                   errors + b * kLanes, own.data() + b * kLanes);
    }
    double sum = 0, total = 0;
    for (int64_t b = 0; b < count; ++b) {
        own[b] = w[items(cell)[b]] - own[b] + self[cell];
        if (ordinary[b]) sum += own[b], total += 1;
    }
    mean_level[cell] = sum / total;
    for (int64_t b = 0; b < count; ++b) {
        levels[b] = static_cast<float>(scale() * (own[b] - mean_level[cell]));
        errors[b] = rounding() * (std::abs(levels[b]) + errors[b]);
        levels[b] -= errors[b];
    }
    largest_error[cell] = *std::max_element(errors, errors + count);
}

}  // namespace bvdt
