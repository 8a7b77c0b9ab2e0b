#include "cell_joins.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "parallel.hpp"
#include "top_list.hpp"

namespace bvdt {
namespace {

constexpr int64_t kAhead = 12;  // centres asked for before they are needed

constexpr int64_t kWhole = 8;  // lanes that a row is filled up to

// out[c] = ⟨row, centre⟩ of place to[c]
BVDT_SIMD void products(const float* row, const float* centres, const int32_t* to, int64_t count,
                        int64_t width, float* out) {
    for (int64_t c = 0; c < count; ++c) {
        if (c + kAhead < count) prefetch_ends<0>(centres + to[c + kAhead] * width, width);
        out[c] = dot<Order::kEightSums>(row, centres + to[c] * width, width);
    }
}

// out = scale·(row − mean)
BVDT_SIMD void away(const double* row, const double* mean, double scale, int64_t d, float* out) {
    BVDT_INDEPENDENT_LOOP
    for (int64_t j = 0; j < d; ++j) out[j] = static_cast<float>(scale * (row[j] - mean[j]));
}

// The mean of the cells' means, by their sizes.
std::vector<double> overall(const CellStore& cells, const std::vector<double>& means) {
    const int64_t d = cells.points.d;
    std::vector<double> mean(static_cast<size_t>(d), 0.0);
    for (int64_t cell = 0; cell < cells.n; ++cell)
        add_scaled(mean.data(), means.data() + cell * d,
                   static_cast<double>(cells.size(cell)) / static_cast<double>(cells.points.n), d);
    return mean;
}

// Who lists a place, by places: from whom, and at which rank; in the order of the sources.
struct Listed {
    std::vector<int64_t> first;  // (N + 1,)
    std::vector<int32_t> from;
    std::vector<uint16_t> rank;
};

Listed turned(const std::vector<int32_t>& lists, int64_t n, int64_t k) {
    Listed by{std::vector<int64_t>(static_cast<size_t>(n + 1), 0), {}, {}};
    for (const int32_t to : lists)
        if (to >= 0) ++by.first[to + 1];
    for (int64_t p = 0; p < n; ++p) by.first[p + 1] += by.first[p];
    by.from.resize(static_cast<size_t>(by.first[n])), by.rank.resize(by.from.size());
    std::vector<int64_t> next(by.first.begin(), by.first.end() - 1);
    for (int64_t p = 0; p < n; ++p)
        for (int64_t s = 0; s < k && lists[p * k + s] >= 0; ++s) {
            const int64_t at = next[lists[p * k + s]]++;
            by.from[at] = static_cast<int32_t>(p), by.rank[at] = static_cast<uint16_t>(s);
        }
    return by;
}

bool holds(const int32_t* list, int64_t k, int32_t j) { return std::find(list, list + k, j) != list + k; }

// Points that were met, once each.
struct Meeting {
    std::vector<int32_t> compared;  // (n_cells,) the last point that a cell was compared with
    std::vector<uint8_t> seen;      // (N,) the turn in which a place was met; 0 is none
    std::vector<int32_t> met;       // places, the first `count` of them
    std::vector<float> rest;        // (count,) level − ⟨x, h⟩
    std::vector<float> row;         // (width,)
    int64_t count = 0;
    uint8_t turn = 0;

    void begin() {  // bytes are less to keep near than points would be; once in 255 turns they are cleared
        count = 0;
        if (++turn == 0) std::fill(seen.begin(), seen.end(), 0), turn = 1;
    }
};

}  // namespace

CellLinks::CellLinks(const CellStore& cells, const int32_t* listed, const int32_t* before, int64_t k,
                     int threads)
    : place_(static_cast<size_t>(cells.points.n)),
      cell_(place_.size()),
      first_(place_.size() + 1, 0),
      n_fresh_(place_.size(), 0) {
    const int64_t n = cells.points.n;
    const int32_t* order = cells.order();
    for (int64_t p = 0; p < n; ++p) place_[order[p]] = static_cast<int32_t>(p);
    for (int64_t cell = 0; cell < cells.n; ++cell)
        std::fill(cell_.begin() + cells.bounds()[cell], cell_.begin() + cells.bounds()[cell + 1],
                  static_cast<int32_t>(cell));
    std::vector<int32_t> forward(static_cast<size_t>(n * k), -1);
    parallel_stretches(n, 4096, threads, [&](int64_t from, int64_t last) {
        for (int64_t p = from; p < last; ++p)
            for (int64_t s = 0; s < k && listed[order[p] * k + s] >= 0; ++s)
                forward[p * k + s] = place_[listed[order[p] * k + s]];
    });
    const Listed by = turned(forward, n, k);
    const auto own = [&](int64_t p) { return forward.data() + p * k; };
    const auto is_fresh = [&](int64_t from, int64_t to) {
        return !before || !holds(before + order[from] * k, k, order[to]);
    };
    std::vector<int32_t> room(static_cast<size_t>(n * 2 * k));
    parallel_for(
        n, 256, threads, [] { return std::vector<std::pair<uint16_t, int32_t>>(); },
        [&](int64_t p, std::vector<std::pair<uint16_t, int32_t>>& sources) {
            sources.clear();
            for (int64_t at = by.first[p]; at < by.first[p + 1]; ++at)
                if (!holds(own(p), k, by.from[at])) sources.emplace_back(by.rank[at], by.from[at]);
            if (static_cast<int64_t>(sources.size()) > k) {
                std::nth_element(sources.begin(), sources.begin() + k - 1, sources.end());
                sources.resize(static_cast<size_t>(k));
            }
            int32_t *row = room.data() + p * 2 * k, *fresh = row, *stale = row + 2 * k;
            for (int64_t s = 0; s < k && own(p)[s] >= 0; ++s)
                *(is_fresh(p, own(p)[s]) ? fresh++ : --stale) = own(p)[s];
            for (const auto& source : sources)
                *(is_fresh(source.second, p) ? fresh++ : --stale) = source.second;
            n_fresh_[p] = static_cast<int32_t>(fresh - row);
            first_[p + 1] = n_fresh_[p] + (row + 2 * k - stale);
        });
    for (int64_t p = 0; p < n; ++p) first_[p + 1] += first_[p];
    to_.resize(static_cast<size_t>(first_[n]));
    parallel_stretches(n, 4096, threads, [&](int64_t from, int64_t last) {
        for (int64_t p = from; p < last; ++p) {
            const int32_t* row = room.data() + p * 2 * k;
            int32_t* out = std::copy_n(row, n_fresh_[p], to_.data() + first_[p]);
            std::copy(row + 2 * k - (first_[p + 1] - first_[p] - n_fresh_[p]), row + 2 * k, out);
        }
    });
}

PlacedPoints::PlacedPoints(const CellStore& cells, int threads)
    : d_(cells.points.d), width_((d_ + kWhole) / kWhole * kWhole) {
    const int64_t n = cells.points.n, d = d_;
    const bool self_dual = cells.points.h == cells.points.x;
    h_.assign(static_cast<size_t>(n * width_), 0.0f), x_.assign(self_dual ? 0 : h_.size(), 0.0f);
    part_.resize(static_cast<size_t>(n));
    const std::vector<double> mean_x = overall(cells, cells.mean_x), mean_h = overall(cells, cells.mean_h);
    const double both = dot<Order::kAsStored>(mean_x.data(), mean_h.data(), d), scale = cells.scale();
    parallel_stretches(n, 1024, threads, [&](int64_t first, int64_t last) {
        for (int64_t p = first; p < last; ++p) {
            const int64_t i = cells.order()[p];
            const double *xi = cells.points.x + i * d, *hi = cells.points.h + i * d;
            float *h = h_.data() + p * width_, *x = self_dual ? h : x_.data() + p * width_;
            away(hi, mean_h.data(), cells.scale_h, d, h);
            if (!self_dual) away(xi, mean_x.data(), cells.scale_x, d, x);
            const double u = cells.u[i] - dot<Order::kEightSums>(xi, mean_h.data(), d) + both;
            const double w = cells.w[i] - dot<Order::kEightSums>(hi, mean_x.data(), d);
            const auto less_error = [&](double value, const float* row) {
                const float rounded = static_cast<float>(scale * value);
                const float square = dot<Order::kEightSums>(row, row, d);
                return rounded - cells.rounding() * (2 * std::abs(rounded) + square);
            };
            part_[p] = less_error(u, x), h[d] = less_error(w, h);
        }
    });
}

void PlacedPoints::copy_row(int64_t p, float* out) const {
    const float* x = (x_.empty() ? h_ : x_).data() + p * width_;
    for (int64_t j = 0; j < d_; ++j) out[j] = -x[j];
    out[d_] = 1.0f;
    std::fill(out + d_ + 1, out + width_, 0.0f);
}

namespace {

struct CellJoin {
    const CellStore& cells;
    const CellLinks& links;
    const PlacedPoints& points;
    CellRows rows;
    CellScores scores;
    Meeting meeting;

    CellJoin(const CellStore& c, const CellLinks& l, const PlacedPoints& p)
        : cells(c), links(l), points(p), rows{c.points, c.u, nullptr}, scores(c, rows) {
        meeting.compared.assign(static_cast<size_t>(c.n), -1);
        meeting.seen.assign(static_cast<size_t>(c.points.n), 0);
    }
    CellJoin(const CellJoin&) = delete;  // scores refer to its rows

    void run(int64_t cell, int64_t pairs, const NeighborLists& lists) {
        const RowGroup group{cells.items(cell), cells.size(cell), cell};
        scores.rank(group, pairs);
        for (int64_t a = 0; a < group.n_rows; ++a) {
            const int32_t i = group.items[a];
            const int64_t p = cells.bounds()[cell] + a;
            meet(a, i, p, lists);
            offer_met(i, p, lists);
        }
    }

  private:
    // Leaves in `met` whom row a may meet: neither in a cell that it was compared with nor in its list.
    void meet(int64_t a, int32_t i, int64_t p, const NeighborLists& lists) {
        const float *score = scores.score.data() + a * scores.stride, limit = scores.limit[a];
        for (int64_t c = 0; c < scores.count; ++c)
            if (score[c] <= limit) meeting.compared[scores.cell(c)] = i;
        meeting.begin();
        meeting.seen[p] = meeting.turn;
        const TopList<double> list = list_of(lists, i);
        for (int64_t s = 0; s < lists.k && list.index[s] >= 0; ++s)
            meeting.seen[links.place(list.index[s])] = meeting.turn;
        look_at(i, links.begin(p), links.end(p));
        for (const int32_t* via = links.begin(p); via != links.end(p); ++via) {
            if (links.end(p) - via > 2) prefetch_lines(links.begin(via[2]), links.end(via[2]));
            look_at(i, links.begin(*via),
                    via < links.end_of_fresh(p) ? links.end(*via) : links.end_of_fresh(*via));
        }
    }

    // Without branches: there is no guessing which are new.
    void look_at(int32_t i, const int32_t* first, const int32_t* last) {
        const int64_t most = meeting.count + (last - first);
        if (static_cast<int64_t>(meeting.met.size()) < most)
            meeting.met.resize(static_cast<size_t>(2 * most));
        const int32_t *compared = meeting.compared.data(), *cell = links.cells();
        uint8_t* seen = meeting.seen.data();
        const uint8_t turn = meeting.turn;
        int32_t* met = meeting.met.data();
        int64_t count = meeting.count;
        for (const int32_t* to = first; to != last; ++to) {
            met[count] = *to;
            count += (compared[cell[*to]] != i) & (std::exchange(seen[*to], turn) != turn);
        }
        meeting.count = count;
    }

    // Single precision tells most of them to be too far; the others are offered by their divergence.
    void offer_met(int32_t i, int64_t p, const NeighborLists& lists) {
        const int64_t d = cells.points.d;
        meeting.rest.resize(static_cast<size_t>(meeting.count)), meeting.row.resize(points.width());
        points.copy_row(p, meeting.row.data());
        products(meeting.row.data(), points.centres(), meeting.met.data(), meeting.count, points.width(),
                 meeting.rest.data());
        const TopList<double> list = list_of(lists, i);
        const double worst = cells.scale() * list.worst() - points.part(p);
        int64_t near = 0;
        for (int64_t c = 0; c < meeting.count; ++c)
            if (!(meeting.rest[c] > worst)) {
                const int32_t j = meeting.met[near++] = cells.order()[meeting.met[c]];
                prefetch_row(cells.points.h + j * d, d);
            }
        for (int64_t first = 0; first < near; first += kAtOnce) {
            const int64_t here = std::min(kAtOnce, near - first);
            int32_t centre[kAtOnce];
            double found[kAtOnce];
            for (int64_t s = 0; s < kAtOnce; ++s) centre[s] = meeting.met[first + std::min(s, here - 1)];
            rows.divergences(i, cells, centre, found);
            for (int64_t s = 0; s < here; ++s)  // none of them is in the list yet
                if (comes_before_last(list, centre[s], found[s])) list.insert(centre[s], found[s]);
        }
    }
};

}  // namespace

void join_cells(const CellStore& cells, const CellLinks& links, const PlacedPoints& points,
                const CellRange& range, int64_t pairs, const NeighborLists& lists, int threads) {
    parallel_for(
        range.last - range.first, 1, threads, [&] { return CellJoin(cells, links, points); },
        [&](int64_t c, CellJoin& join) { join.run(range.first + c, pairs, lists); });
}

}  // namespace bvdt
