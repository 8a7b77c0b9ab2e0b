#include "cell_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "cell_ranking.hpp"
#include "parallel.hpp"
#include "top_list.hpp"

namespace bvdt {
namespace {

constexpr int64_t kRows = 6;   // compared at once; with 16 lanes their sums fill an AVX2 CPU's registers
constexpr int64_t kReach = 4;  // points of the cells near to a cell, over those that a row is compared with
constexpr int64_t kAhead = 4;  // rows asked for before they are needed
constexpr float kNegligible = 1e-3f;  // an error that small, relative to the divergence, is let be
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// products[r] = ⟨x_r, panel⟩ for kRows rows and 16 centres.
template <int Width>
BVDT_INLINE void multiply(const float* const* x, const float* panel, int64_t d,
                          Lanes<float, Width>* products) {
    Lanes<float, Width> sum[kRows] = {};
    for (int64_t j = 0; j < d; ++j) {
        const auto& h = Lanes<float, Width>::at(panel + j * kLanes);
        for (int64_t r = 0; r < kRows; ++r) sum[r] += x[r][j] * h;
    }
    for (int64_t r = 0; r < kRows; ++r) products[r] = sum[r];
}

// out (rows, n_panels, 16): products of all rows with all panels.
template <int Width>
BVDT_INLINE void multiply_all_lanes(const float* x, int64_t rows, int64_t d, const float* panel,
                                    int64_t n_panels, float* out) {
    using Part = Lanes<float, Width>;
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
BVDT_EACH_WIDTH(multiply_all,
                (const float* x, int64_t rows, int64_t d, const float* panel, int64_t n_panels, float* out),
                (x, rows, d, panel, n_panels, out))

// A row's k best so far.
struct Best : TopList<float> {
    int32_t row;
    int32_t own;  // the row's own centre, or −1

    // Below which row_part + x may be among them; nothing is nearer than a divergence of 0.
    float limit(float row_part) const { return worst() > 0 ? worst() - row_part : -kInfinity; }

    void offer(int32_t j, float d) const {
        if (j != own) insert<Ties::kByArrival>(j, d);
    }
};

// kRows rows to be compared. `part` is already less the row's share of the rounding error, `error`.
struct RowTile {
    const float* x[kRows];
    float part[kRows], error[kRows];
    Best best[kRows];
};

// The centres of a cell; `level` likewise.
struct Centres {
    const float *panels, *level, *error;
    const int32_t* item;
    int64_t n_panels;
};

// Offers kRows rows the centres of a cell. A row's divergences are row part + level − product, which is
// too small by the two errors at most; a panel is looked at more closely only if one of them is below the
// row's worst. Where the error counts, double precision tells.
template <int Width>
BVDT_INLINE void compare_lanes(const RowTile& rows, const Centres& centres, const CellStore& cells,
                               const CellRows& source) {
    using Part = Lanes<float, Width>;
    const int64_t d = cells.points.d;
    float limit[kRows];
    for (int64_t r = 0; r < kRows; ++r) limit[r] = rows.best[r].limit(rows.part[r]);
    for (int64_t b = 0; b < centres.n_panels; ++b) {
        Part rest[kRows];
        multiply(rows.x, centres.panels + b * d * kLanes, d, rest);
        const Part part = Part::at(centres.level + b * kLanes);
        Signs<float, Width> below;
        for (int64_t r = 0; r < kRows; ++r) rest[r] = part - rest[r], below.add(rest[r] - limit[r]);
        if (!below.any()) continue;
        for (int64_t r = 0; r < kRows; ++r) {
            Signs<float, Width> here;
            here.add(rest[r] - limit[r]);
            if (!here.any()) continue;
            float value[kLanes];
            Part::at(value) = rest[r];
            for (int64_t t = 0; t < kLanes; ++t)
                if (value[t] < limit[r]) {
                    const Best& best = rows.best[r];
                    const int32_t j = centres.item[b * kLanes + t];
                    const float error = rows.error[r] + centres.error[b * kLanes + t];
                    float found = value[t] + rows.part[r] + error;
                    if (!(error <= kNegligible * found))
                        found = static_cast<float>(cells.scale() * source.divergence(best.row, cells, j));
                    if (found < best.worst()) best.offer(j, found);
                    limit[r] = best.limit(rows.part[r]);
                }
        }
    }
}
BVDT_EACH_WIDTH(compare,
                (const RowTile& rows, const Centres& centres, const CellStore& cells, const CellRows& source),
                (rows, centres, cells, source))

// The smallest of some thresholds at which the scores up to it hold at least so many points. The first
// `n_first` cells, which hold as many, tell how far is far enough: one far cell must not stretch the range.
BVDT_SIMD float threshold(const float* score, const int32_t* size, int64_t count, int64_t n_first,
                          int64_t points) {
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
BVDT_SIMD void centre(const double* row, const double* mean, double scale, int64_t d, float* out) {
    BVDT_INDEPENDENT_LOOP
    for (int64_t j = 0; j < d; ++j) out[j] = static_cast<float>(scale * (row[j] - mean[j]));
}

// out = row − delta
BVDT_SIMD void shift(const float* row, const float* delta, int64_t d, float* out) {
    BVDT_INDEPENDENT_LOOP
    for (int64_t j = 0; j < d; ++j) out[j] = row[j] - delta[j];
}

struct RowGroup {
    const int32_t* items;
    int64_t n_rows, home;
};

// All rows of one group against the cells near to its home.
struct CellSearch {
    const CellStore& cells;
    const CellRows& rows;
    CellRanking ranking;
    int64_t k;
    float rounding;
    std::vector<float> x, h, row_part, row_error;   // (rows, d) ×2, (rows,) ×2
    std::vector<float> delta_x, delta_h;            // (panels of cells, d, 16)
    std::vector<float> along_h, along_x, distance;  // (rows, cells) ⟨x', ΔH⟩, ⟨h', ΔX⟩; (cells,)
    std::vector<float> square_dx, square_dh;        // (cells,) ‖ΔX‖², ‖ΔH‖²
    std::vector<int32_t> size;                      // (cells,)
    std::vector<int32_t> chosen, n_chosen;          // (cells, rows) rows to compare with a cell; (cells,)
    std::vector<float> value;                       // (rows, k)
    std::vector<float> delta, shifted;              // (d,), (kRows, d) ΔX of a cell, x' − ΔX
    std::vector<int32_t> index;                     // (rows, k)
    std::vector<std::pair<double, int32_t>> exact;
    std::vector<float> nothing;                         // (k,) −∞: a list that takes no one
    const double *mean_x = nullptr, *mean_h = nullptr;  // (d,) of the group's home

    CellSearch(const CellStore& c, const CellRows& r, int64_t k_)
        : cells(c),
          rows(r),
          ranking(c),
          k(k_),
          rounding(c.rounding()),
          delta(static_cast<size_t>(c.points.d)),
          shifted(static_cast<size_t>(kRows * c.points.d)),
          nothing(static_cast<size_t>(k_), -kInfinity) {}

    void run(const RowGroup& group, int64_t pairs, int64_t n_near, const NeighborLists& lists) {
        const int64_t d = cells.points.d;
        mean_x = cells.mean_x.data() + group.home * d, mean_h = cells.mean_h.data() + group.home * d;
        const int64_t n_rows = group.n_rows;
        const int64_t count = ranking.nearest({mean_x, mean_h}, n_near, pairs);
        center_rows(group);
        rank_cells(group, count, pairs);
        value.assign(static_cast<size_t>(n_rows * k), kInfinity);
        index.assign(static_cast<size_t>(n_rows * k), -1);
        for (int64_t c = 0; c < count; ++c) compare_with(group, c, padded(count));
        ask_for_centres(0);
        for (int64_t a = 0; a < n_rows; ++a) {
            if (a + 1 < n_rows) ask_for_centres(a + 1);
            write_exactly(group.items[a], a, lists);
        }
    }

  private:
    static int64_t padded(int64_t count) { return (count + kLanes - 1) / kLanes * kLanes; }

    void center_rows(const RowGroup& group) {
        const int64_t d = cells.points.d, n_rows = group.n_rows, home = group.home;
        x.resize(static_cast<size_t>(n_rows * d)), h.resize(static_cast<size_t>(n_rows * d));
        row_part.resize(static_cast<size_t>(n_rows)), row_error.resize(static_cast<size_t>(n_rows));
        for (int64_t a = 0; a < n_rows; ++a) {
            const int64_t i = group.items[a];
            const double *xi = rows.points.x + i * d, *hi = rows.points.h + i * d;
            if (a + kAhead < n_rows) {
                const int64_t next = group.items[a + kAhead];
                prefetch_row(rows.points.x + next * d, d), prefetch_row(rows.points.h + next * d, d);
            }
            centre(xi, mean_x, cells.scale_x, d, x.data() + a * d);
            centre(hi, mean_h, cells.scale_h, d, h.data() + a * d);
            const double part = rows.u[i] - dot<Order::kEightSums>(xi, mean_h, d) + cells.mean_level[home];
            row_part[a] = static_cast<float>(cells.scale() * part);
            const float square = dot<Order::kEightSums>(x.data() + a * d, x.data() + a * d, d);
            row_error[a] = rounding * (std::abs(row_part[a]) + square);
        }
    }

    // How near the cells' means are to each row, ⟨x_a − x̄_B, h_a − h̄_B⟩, and the limit up to which the row is
    // compared with a cell.
    void rank_cells(const RowGroup& group, int64_t count, int64_t pairs) {
        const int64_t d = cells.points.d, n_rows = group.n_rows, stride = padded(count);
        delta_x.assign(static_cast<size_t>(stride * d), 0.0f), delta_h.assign(delta_x.size(), 0.0f);
        distance.assign(static_cast<size_t>(stride), kInfinity), size.assign(distance.size(), 0);
        square_dx.assign(distance.size(), 0.0f), square_dh.assign(distance.size(), 0.0f);
        for (int64_t c = 0; c < count; ++c) {
            const int64_t to = ranking[c], lane = c / kLanes * d * kLanes + c % kLanes;
            float sum = 0;
            for (int64_t j = 0; j < d; ++j) {
                const double dx = cells.scale_x * (cells.mean_x[to * d + j] - mean_x[j]);
                const double dh = cells.scale_h * (cells.mean_h[to * d + j] - mean_h[j]);
                delta_x[lane + j * kLanes] = static_cast<float>(dx);
                delta_h[lane + j * kLanes] = static_cast<float>(dh);
                sum += static_cast<float>(dx * dh);
                square_dx[c] += static_cast<float>(dx * dx), square_dh[c] += static_cast<float>(dh * dh);
            }
            distance[c] = sum, size[c] = static_cast<int32_t>(cells.size(to));
        }
        along_h.resize(static_cast<size_t>(n_rows * stride)), along_x.resize(along_h.size());
        multiply_all(x.data(), n_rows, d, delta_h.data(), stride / kLanes, along_h.data());
        multiply_all(h.data(), n_rows, d, delta_x.data(), stride / kLanes, along_x.data());
        chosen.resize(static_cast<size_t>(n_rows * count)), n_chosen.assign(static_cast<size_t>(count), 0);
        const int64_t n_first = holding(size.data(), count, pairs);
        for (int64_t a = 0; a < n_rows; ++a) {
            float* score = along_x.data() + a * stride;  // from here on the whole score
            for (int64_t c = 0; c < count; ++c) score[c] = distance[c] - along_h[a * stride + c] - score[c];
            const float limit = threshold(score, size.data(), count, n_first, pairs);
            for (int64_t c = 0; c < count; ++c) {  // without branches: half of the cells are chosen
                chosen[c * n_rows + n_chosen[c]] = static_cast<int32_t>(a);
                n_chosen[c] += score[c] <= limit;
            }
        }
    }

    void compare_with(const RowGroup& group, int64_t c, int64_t stride) {
        const int64_t n_here = n_chosen[c];
        if (n_here == 0) return;
        const int32_t* rows_here = chosen.data() + c * group.n_rows;
        const int64_t d = cells.points.d, to = ranking[c];
        const float* lanes = delta_x.data() + c / kLanes * d * kLanes + c % kLanes;
        for (int64_t j = 0; j < d; ++j) delta[j] = lanes[j * kLanes];
        const float constant = between(group.home, to);
        const float apart = rounding * (std::abs(constant) + square_dx[c] + square_dh[c]);
        const Centres centres{cells.panels_of(to), cells.level.data() + cells.first_panel[to] * kLanes,
                              cells.error.data() + cells.first_panel[to] * kLanes, cells.items(to),
                              cells.n_panels(to)};
        for (int64_t first = 0; first < n_here; first += kRows) {
            RowTile tile;
            for (int64_t r = 0; r < kRows; ++r) {
                const bool real = first + r < n_here;
                const int64_t a = rows_here[real ? first + r : first];
                const int32_t i = group.items[a];
                const float along = along_h[a * stride + c];
                tile.x[r] = shifted.data() + (real ? r : 0) * d;
                if (real) shift(x.data() + a * d, delta.data(), d, shifted.data() + r * d);
                tile.error[r] = row_error[a] + rounding * std::abs(along) + apart;
                tile.part[r] = row_part[a] - along + constant - tile.error[r];
                tile.best[r] = {
                    {value.data() + a * k, index.data() + a * k, k}, i, rows.own ? rows.own[i] : i};
                if (!real) tile.best[r].value = nothing.data();
            }
            compare(tile, centres, cells, rows);
        }
    }

    // c_B − c_A − ⟨x̄_A, ΔH⟩
    float between(int64_t cell, int64_t to) const {
        const int64_t d = cells.points.d;
        double sum = cells.mean_level[to] - cells.mean_level[cell];
        for (int64_t j = 0; j < d; ++j) sum -= mean_x[j] * (cells.mean_h[to * d + j] - mean_h[j]);
        return static_cast<float>(cells.scale() * sum);
    }

    void ask_for_centres(int64_t a) const {
        const int64_t d = cells.points.d;
        for (int64_t s = 0; s < k && index[a * k + s] >= 0; ++s)
            prefetch_row(cells.points.h + index[a * k + s] * d, d);
    }

    void write_exactly(int64_t i, int64_t a, const NeighborLists& lists) {
        int64_t count = 0;
        while (count < k && index[a * k + count] >= 0) ++count;
        exact.resize(static_cast<size_t>(count));
        for (int64_t first = 0; first < count; first += kAtOnce) {
            const int64_t here = std::min(kAtOnce, count - first);
            int32_t centre[kAtOnce];
            double divergence[kAtOnce];
            for (int64_t s = 0; s < kAtOnce; ++s) centre[s] = index[a * k + first + std::min(s, here - 1)];
            rows.divergences(i, cells, centre, divergence);
            for (int64_t s = 0; s < here; ++s)
                exact[first + s] = {std::isnan(divergence[s]) ? kInfinity : divergence[s], centre[s]};
        }
        std::sort(exact.begin(), exact.end());
        for (size_t s = 0; s < exact.size(); ++s)
            lists.divergence[i * k + s] = exact[s].first, lists.index[i * k + s] = exact[s].second;
    }
};

}  // namespace

void CellRows::divergences(int64_t i, const CellStore& cells, const int32_t* centre, double* out) const {
    const double *x = points.x + i * points.d, *h[kAtOnce];
    double inner[kAtOnce] = {};
    for (int64_t s = 0; s < kAtOnce; ++s) h[s] = cells.points.h + centre[s] * points.d;
    for (int64_t j = 0; j < points.d; ++j)
        for (int64_t s = 0; s < kAtOnce; ++s) inner[s] += x[j] * h[s][j];
    for (int64_t s = 0; s < kAtOnce; ++s) out[s] = std::max(u[i] + cells.w[centre[s]] - inner[s], 0.0);
}

void search_cells(const CellStore& cells, const CellRows& rows, const RowGroups& groups, int64_t pairs,
                  const NeighborLists& lists, int threads) {
    const int64_t n_points = cells.points.n;
    pairs = std::min(pairs, n_points);  // there are no more
    const int64_t n_near = (kReach * pairs * cells.n + n_points - 1) / n_points;
    parallel_for(
        groups.count, 1, threads, [&] { return CellSearch(cells, rows, lists.k); },
        [&](int64_t g, CellSearch& search) {
            const RowGroup group{groups.order + groups.bounds[g], groups.bounds[g + 1] - groups.bounds[g],
                                 groups.home[g]};
            if (groups.bounds[g + 1] > groups.bounds[g]) search.run(group, pairs, n_near, lists);
        });
}

void search_cells(const CellStore& cells, const CellRange& range, int64_t pairs, const NeighborLists& lists,
                  int threads) {
    std::vector<int32_t> home(static_cast<size_t>(range.last - range.first));
    std::iota(home.begin(), home.end(), static_cast<int32_t>(range.first));
    const CellRows rows{cells.points, cells.u, nullptr};
    const RowGroups groups{cells.order(), cells.bounds() + range.first, home.data(),
                           range.last - range.first};
    search_cells(cells, rows, groups, pairs, lists, threads);
}

}  // namespace bvdt
