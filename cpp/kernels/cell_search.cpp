#include "cell_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "bracket.hpp"
#include "cell_screen.hpp"
#include "parallel.hpp"

namespace bvdt {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// ⟨x, a − b⟩
double product_with_difference(const double* x, const double* a, const double* b, int64_t d) {
    double lane[4] = {};
    int64_t j = 0;
    for (; j + 4 <= d; j += 4)
        for (int64_t k = 0; k < 4; ++k) lane[k] += x[j + k] * (a[j + k] - b[j + k]);
    for (; j < d; ++j) lane[0] += x[j] * (a[j] - b[j]);
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

// out = a − b
void subtract(const float* a, const float* b, int64_t d, float* out) {
    BVDT_INDEPENDENT_LOOP
    for (int64_t j = 0; j < d; ++j) out[j] = a[j] - b[j];
}

// All rows of one group against the cells near to its home.
struct CellSearch {
    const CellStore& cells;
    const CellRows& rows;
    CellScores scores;
    int64_t k;
    std::vector<int32_t> chosen, n_chosen;          // (cells, rows) rows to compare with a cell; (cells,)
    std::vector<Bracket> best;                      // (rows,)
    std::vector<float> delta, moved;                // (d,) ΔX of a cell; (kRows, d) x' − ΔX
    std::vector<float> hit_value;                   // (kRows, centres of a cell and a panel)
    std::vector<int32_t> hit_place;                 // likewise
    std::vector<std::pair<double, int32_t>> exact;  // whom a list is made of

    CellSearch(const CellStore& c, const CellRows& r, int64_t k_)
        : cells(c),
          rows(r),
          scores(c, r),
          k(k_),
          delta(static_cast<size_t>(c.points.d)),
          moved(delta.size() * kRows) {}

    void run(const RowGroup& group, int64_t pairs, const NeighborLists& lists) {
        const int64_t n_rows = group.n_rows;
        find(group, pairs);
        ask_for_centres(0);
        for (int64_t a = 0; a < n_rows; ++a) {
            if (a + 1 < n_rows) ask_for_centres(a + 1);
            write_exactly(group.items[a], a, lists);
        }
    }

    // Whom the rows are likely to list, by what is known of them and in any order, (n_rows, k); −1 after
    // them.
    void run(const RowGroup& group, int64_t pairs, int32_t* listed) {
        find(group, pairs);
        for (int64_t a = 0; a < group.n_rows; ++a) write_likely(group.items[a], a, listed + a * k);
    }

  private:
    void find(const RowGroup& group, int64_t pairs) {
        const int64_t n_rows = group.n_rows;
        scores.rank(group, pairs);
        choose_rows(n_rows);
        if (static_cast<int64_t>(best.size()) < n_rows) best.resize(static_cast<size_t>(n_rows));
        for (int64_t a = 0; a < n_rows; ++a) best[a].start(k + 1);  // one may be the row itself
        for (int64_t c = 0; c < scores.count; ++c) compare_with(group, c);
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

    // A row's divergences are row part + level − product, less the errors: too small by twice them at most.
    void compare_with(const RowGroup& group, int64_t c) {
        const int64_t n_here = n_chosen[c], d = cells.points.d, to = scores.cell(c);
        if (n_here == 0) return;
        const ScreenCentres centres = centres_of(c, to);
        const float constant = between(group.home, to), rounding = scores.rounding;
        const float apart = rounding * (std::abs(constant) + scores.square_dx[c] + scores.square_dh[c]);
        for (int64_t first = 0; first < n_here; first += kRows) {
            ScreenRows tile;
            Hits hits[kRows];
            float part[kRows], error[kRows];
            for (int64_t r = 0; r < kRows; ++r) {
                const int64_t a = chosen[c * group.n_rows + std::min(first + r, n_here - 1)];
                const float along = scores.along_h[a * scores.stride + c];
                error[r] = scores.row_error[a] + rounding * std::abs(along) + apart;
                tile.x[r] = moved.data() + r * d;
                subtract(scores.x.data() + a * d, delta.data(), d, moved.data() + r * d);
                part[r] = scores.row_part[a] - along + constant - error[r];
                tile.limit[r] = first + r < n_here ? limit(a, part[r]) : -kInfinity;
                hits[r] = {hit_value.data() + r * room(centres), hit_place.data() + r * room(centres), 0};
            }
            screen(tile, centres, hits);
            for (int64_t r = 0; r < std::min(kRows, n_here - first); ++r)
                best[chosen[c * group.n_rows + first + r]].offer({hits[r].value, hits[r].place, hits[r].count,
                                                                  cells.items(to), part[r],
                                                                  2 * (error[r] + cells.largest_error[to])});
        }
    }

    // Nothing is nearer than a divergence of 0.
    float limit(int64_t a, float part) const {
        return best[a].worst() > 0 ? best[a].worst() - part : -kInfinity;
    }

    static int64_t room(const ScreenCentres& centres) { return (centres.n_panels + 1) * kLanes; }

    // Sets ΔX as well: a row is x' − ΔX from the cell's mean.
    ScreenCentres centres_of(int64_t c, int64_t to) {
        const int64_t d = cells.points.d, n_panels = cells.n_panels(to), first = cells.first_panel[to];
        const float* lanes = scores.delta_x.data() + c / kLanes * d * kLanes + c % kLanes;
        for (int64_t j = 0; j < d; ++j) delta[j] = lanes[j * kLanes];
        const ScreenCentres centres{cells.panels_of(to), cells.level.data() + first * kLanes, n_panels, d};
        hit_value.resize(static_cast<size_t>(kRows * room(centres))), hit_place.resize(hit_value.size());
        return centres;
    }

    // c_B − c_A − ⟨x̄_A, ΔH⟩
    float between(int64_t cell, int64_t to) const {
        const double along = product_with_difference(scores.mean_x, cells.mean_h.data() + to * cells.points.d,
                                                     scores.mean_h, cells.points.d);
        return static_cast<float>(cells.scale() * (cells.mean_level[to] - cells.mean_level[cell] - along));
    }

    void ask_for_centres(int64_t a) {
        const int64_t d = cells.points.d;
        best[a].drop_far();
        for (const int32_t j : best[a]) prefetch_row(cells.points.h + j * d, d);
    }

    void write_likely(int64_t i, int64_t a, int32_t* listed) {
        const int32_t own = own_of(i);
        best[a].drop_far();
        exact.clear();
        for (int64_t s = 0; s < best[a].end() - best[a].begin(); ++s)
            if (best[a].begin()[s] != own) exact.emplace_back(best[a].likely(s), best[a].begin()[s]);
        const auto kept = exact.begin() + std::min(k, static_cast<int64_t>(exact.size()));
        std::nth_element(exact.begin(), kept, exact.end());
        int32_t* const end = listed + k;
        for (auto item = exact.begin(); item != kept; ++item) *listed++ = item->second;
        std::fill(listed, end, -1);
    }

    int32_t own_of(int64_t i) const { return rows.own ? rows.own[i] : static_cast<int32_t>(i); }

    void write_exactly(int64_t i, int64_t a, const NeighborLists& lists) {
        const int32_t *found = best[a].begin(), own = own_of(i);
        const int64_t count = best[a].end() - found;
        exact.clear();
        for (int64_t first = 0; first < count; first += kAtOnce) {
            const int64_t here = std::min(kAtOnce, count - first);
            int32_t centre[kAtOnce];
            double divergence[kAtOnce];
            for (int64_t s = 0; s < kAtOnce; ++s) centre[s] = found[first + std::min(s, here - 1)];
            rows.divergences(i, cells, centre, divergence);
            for (int64_t s = 0; s < here; ++s)
                if (centre[s] != own)
                    exact.emplace_back(std::isnan(divergence[s]) ? kInfinity : divergence[s], centre[s]);
        }
        const auto kept = exact.begin() + std::min(k, static_cast<int64_t>(exact.size()));
        std::nth_element(exact.begin(), kept, exact.end());
        std::sort(exact.begin(), kept);
        int64_t at = i * k;
        for (auto item = exact.begin(); item != kept; ++item, ++at)
            lists.divergence[at] = item->first, lists.index[at] = item->second;
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

struct LikelySearch::Work {
    CellRows rows;
    CellSearch search;  // refers to them
    std::vector<int32_t> listed;

    Work(const CellStore& cells, int64_t k) : rows{cells.points, cells.u, nullptr}, search(cells, rows, k) {}
};

LikelySearch::LikelySearch(const CellStore& cells, int64_t k) : work_(std::make_unique<Work>(cells, k)) {}
LikelySearch::LikelySearch(LikelySearch&&) noexcept = default;
LikelySearch::~LikelySearch() = default;

const int32_t* LikelySearch::near_cell(int64_t cell, int64_t pairs) {
    CellSearch& search = work_->search;
    const RowGroup group{search.cells.items(cell), search.cells.size(cell), cell};
    work_->listed.resize(static_cast<size_t>(group.n_rows * search.k));
    search.run(group, pairs, work_->listed.data());
    return work_->listed.data();
}

}  // namespace bvdt
