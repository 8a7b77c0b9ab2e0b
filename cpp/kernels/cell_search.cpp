#include "cell_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "cell_tiles.hpp"
#include "parallel.hpp"
#include "top_list.hpp"

namespace bvdt {
namespace {

constexpr float kNegligible = 1e-3f;  // an error that small, relative to the divergence, is let be
constexpr float kInfinity = std::numeric_limits<float>::infinity();

constexpr int64_t kShort = 32;  // neighbours up to which a sorted list is faster than a long one

// A row's k best so far.
struct Best {
    TopList<float> list;
    LongList<float>* longer;  // in its place, or null
    int32_t row;
    int32_t own;  // the row's own centre, or −1

    float worst() const { return longer ? longer->worst : list.worst(); }

    // Below which row_part + x may be among them; nothing is nearer than a divergence of 0.
    float limit(float row_part) const { return worst() > 0 ? worst() - row_part : -kInfinity; }

    void offer(int32_t j, float d) const {
        if (j == own) return;
        if (longer)
            longer->offer(j, d);
        else
            list.insert<Ties::kByArrival>(j, d);
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

// out = row − delta
BVDT_SIMD void shift(const float* row, const float* delta, int64_t d, float* out) {
    BVDT_INDEPENDENT_LOOP
    for (int64_t j = 0; j < d; ++j) out[j] = row[j] - delta[j];
}

// All rows of one group against the cells near to its home.
struct CellSearch {
    const CellStore& cells;
    const CellRows& rows;
    CellScores scores;
    int64_t k;
    std::vector<int32_t> chosen, n_chosen;  // (cells, rows) rows to compare with a cell; (cells,)
    std::vector<float> value;               // (rows, k)
    std::vector<float> delta, shifted;      // (d,), (kRows, d) ΔX of a cell, x' − ΔX
    std::vector<int32_t> index;             // (rows, k)
    std::vector<std::pair<double, int32_t>> exact;
    std::vector<float> nothing;           // (k,) −∞: a list that takes no one
    std::vector<LongList<float>> longer;  // (rows,) if k is large
    LongList<float> nobody;               // as `nothing`

    CellSearch(const CellStore& c, const CellRows& r, int64_t k_)
        : cells(c),
          rows(r),
          scores(c, r),
          k(k_),
          delta(static_cast<size_t>(c.points.d)),
          shifted(static_cast<size_t>(kRows * c.points.d)),
          nothing(static_cast<size_t>(k_), -kInfinity) {
        nobody.worst = -kInfinity;
    }

    void run(const RowGroup& group, int64_t pairs, const NeighborLists& lists) {
        const int64_t n_rows = group.n_rows;
        scores.rank(group, pairs);
        choose_rows(n_rows);
        value.assign(static_cast<size_t>(n_rows * k), kInfinity);
        index.assign(static_cast<size_t>(n_rows * k), -1);
        begin_long_lists(n_rows);
        for (int64_t c = 0; c < scores.count; ++c) compare_with(group, c);
        end_long_lists(n_rows);
        ask_for_centres(0);
        for (int64_t a = 0; a < n_rows; ++a) {
            if (a + 1 < n_rows) ask_for_centres(a + 1);
            write_exactly(group.items[a], a, lists);
        }
    }

  private:
    bool has_long_lists() const { return k > kShort; }

    void begin_long_lists(int64_t n_rows) {
        if (!has_long_lists()) return;
        if (static_cast<int64_t>(longer.size()) < n_rows) longer.resize(static_cast<size_t>(n_rows));
        for (int64_t a = 0; a < n_rows; ++a) longer[a].begin(k);
    }

    void end_long_lists(int64_t n_rows) {
        if (!has_long_lists()) return;
        for (int64_t a = 0; a < n_rows; ++a) {
            int32_t* out = index.data() + a * k;
            for (const auto& [_, j] : longer[a].best()) *out++ = j;
        }
    }

    void choose_rows(int64_t n_rows) {
        const int64_t count = scores.count;
        chosen.resize(static_cast<size_t>(n_rows * count)), n_chosen.assign(static_cast<size_t>(count), 0);
        for (int64_t a = 0; a < n_rows; ++a) {
            const float *score = scores.score.data() + a * scores.stride, limit = scores.limit[a];
            for (int64_t c = 0; c < count; ++c) {  // without branches: half of the cells are chosen
                chosen[c * n_rows + n_chosen[c]] = static_cast<int32_t>(a);
                n_chosen[c] += score[c] <= limit;
            }
        }
    }

    void compare_with(const RowGroup& group, int64_t c) {
        const int64_t n_here = n_chosen[c];
        if (n_here == 0) return;
        const int32_t* rows_here = chosen.data() + c * group.n_rows;
        const int64_t d = cells.points.d, to = scores.cell(c);
        const float* lanes = scores.delta_x.data() + c / kLanes * d * kLanes + c % kLanes;
        for (int64_t j = 0; j < d; ++j) delta[j] = lanes[j * kLanes];
        const float constant = between(group.home, to);
        const float rounding = scores.rounding;
        const float apart = rounding * (std::abs(constant) + scores.square_dx[c] + scores.square_dh[c]);
        const Centres centres{cells.panels_of(to), cells.level.data() + cells.first_panel[to] * kLanes,
                              cells.error.data() + cells.first_panel[to] * kLanes, cells.items(to),
                              cells.n_panels(to)};
        for (int64_t first = 0; first < n_here; first += kRows) {
            RowTile tile;
            for (int64_t r = 0; r < kRows; ++r) {
                const bool real = first + r < n_here;
                const int64_t a = rows_here[real ? first + r : first];
                const int32_t i = group.items[a];
                const float along = scores.along_h[a * scores.stride + c];
                tile.x[r] = shifted.data() + (real ? r : 0) * d;
                if (real) shift(scores.x.data() + a * d, delta.data(), d, shifted.data() + r * d);
                tile.error[r] = scores.row_error[a] + rounding * std::abs(along) + apart;
                tile.part[r] = scores.row_part[a] - along + constant - tile.error[r];
                tile.best[r] = {{real ? value.data() + a * k : nothing.data(), index.data() + a * k, k},
                                nullptr,
                                i,
                                rows.own ? rows.own[i] : i};
                if (has_long_lists()) tile.best[r].longer = real ? &longer[a] : &nobody;
            }
            compare(tile, centres, cells, rows);
        }
    }

    // c_B − c_A − ⟨x̄_A, ΔH⟩
    float between(int64_t cell, int64_t to) const {
        const int64_t d = cells.points.d;
        double sum = cells.mean_level[to] - cells.mean_level[cell];
        for (int64_t j = 0; j < d; ++j)
            sum -= scores.mean_x[j] * (cells.mean_h[to * d + j] - scores.mean_h[j]);
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

void search_cells(const CellStore& cells, const CellRows& rows, const RowGroups& groups, int64_t pairs,
                  const NeighborLists& lists, int threads) {
    parallel_for(
        groups.count, 1, threads, [&] { return CellSearch(cells, rows, lists.k); },
        [&](int64_t g, CellSearch& search) {
            const RowGroup group{groups.order + groups.bounds[g], groups.bounds[g + 1] - groups.bounds[g],
                                 groups.home[g]};
            if (groups.bounds[g + 1] > groups.bounds[g]) search.run(group, pairs, lists);
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
