#include "cell_joins.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>

#include "cell_screen.hpp"
#include "parallel.hpp"

namespace bvdt {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int64_t kWhole = 8;                      // lanes that a row is filled up to
constexpr int64_t kLocks = 1 << 14, kLocked = 32;  // locks, and places side by side that share one
constexpr int64_t kFarApart = 4096;  // places that a thread goes through: others have other lists in hand

// out = scale·(row − mean)
void away(const double* row, const double* mean, double scale, int64_t d, float* out) {
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

// 16 centres from rows to a panel, (d, 16).
void pack(const float* const* centre, int64_t d, float* panel) {
    for (int64_t j = 0; j < d; ++j)
        for (int64_t t = 0; t < kLanes; ++t) panel[j * kLanes + t] = centre[t][j];
}

// Some places as centres in panels, and room for what is found among them.
class Gathered {
  public:
    explicit Gathered(const PlacedPoints& points) : points_(points) {}

    void gather(const int32_t* place, int64_t count) {
        const int64_t d = points_.d(), n_panels = panels_for(count);
        panels_.resize(static_cast<size_t>(n_panels * d * kLanes));
        level_.assign(static_cast<size_t>(n_panels * kLanes), kInfinity);
        for (int64_t b = 0; b < n_panels; ++b) {
            const float* centre[kLanes];
            for (int64_t t = 0; t < kLanes; ++t) {
                const int64_t at = b * kLanes + t;
                centre[t] = points_.centre(place[std::min(at, count - 1)]);
                if (at < count) level_[at] = points_.level(place[at]);
            }
            pack(centre, d, panels_.data() + b * d * kLanes);
        }
        room_ = (n_panels + 1) * kLanes;
        n_hits_.resize(static_cast<size_t>(count + kRows));
        hit_value_.resize(static_cast<size_t>((count + kRows) * room_)), hit_place_.resize(hit_value_.size());
    }

    // Rows first … first + count − 1, at most kRows, are these places; they meet the centres of the first
    // panels.
    void compare(const int32_t* place, const float* limit, int64_t first, int64_t count, int64_t n_panels) {
        ScreenRows tile;
        Hits found[kRows];
        for (int64_t r = 0; r < kRows; ++r) {
            tile.x[r] = points_.row(place[std::min(r, count - 1)]);
            tile.limit[r] = r < count ? limit[r] : -kInfinity;
            found[r] = hits(first + r);
        }
        screen(tile, {panels_.data(), level_.data(), n_panels, points_.d()}, found);
        for (int64_t r = 0; r < kRows; ++r) n_hits_[first + r] = found[r].count;
    }

    // What a row found; places are those among the gathered.
    Hits hits(int64_t row) {
        return {hit_value_.data() + row * room_, hit_place_.data() + row * room_, n_hits_[row]};
    }

    static int64_t panels_for(int64_t count) { return (count + kLanes - 1) / kLanes; }

  private:
    const PlacedPoints& points_;
    LargeVector<float> panels_;     // (panels, d, 16)
    std::vector<float> level_;      // (panels, 16)
    LargeVector<float> hit_value_;  // (count + kRows, room)
    LargeVector<int32_t> hit_place_;
    std::vector<int64_t> n_hits_;  // (count + kRows,)
    int64_t room_ = 0;
};

class Lock {
  public:
    explicit Lock(std::atomic_flag& flag) : flag_(flag) {
        while (flag_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    }
    ~Lock() { flag_.clear(std::memory_order_release); }
    Lock(const Lock&) = delete;

  private:
    std::atomic_flag& flag_;
};

bool comes_before_last(const TopList<float>& list, int32_t entry, float value) {
    const int32_t last = list.index[list.k - 1];
    return value < list.worst() || (value == list.worst() && (last < 0 || entry < last));
}

// Whether a list has a place, fresh or not; without branches, as it usually has.
BVDT_INLINE bool has(const int32_t* entry, int64_t k, int32_t place) {
    int32_t found = 0;
    for (int64_t s = 0; s < k; ++s) found |= (entry[s] >> 1) == place;
    return found != 0;
}

bool put_in(const TopList<float>& list, int64_t own, const int32_t* place, const float* value,
            int64_t count) {
    bool is_changed = false;
    for (int64_t s = 0; s < count; ++s) {
        const int32_t entry = 2 * place[s] + 1;
        if (place[s] == own || has(list.index, list.k, place[s]) || !comes_before_last(list, entry, value[s]))
            continue;
        list.insert(entry, value[s]), is_changed = true;
    }
    return is_changed;
}

// From entries (N, k), of which the first `most` of each list count.
void turn(const int32_t* entry, int64_t n, int64_t k, int64_t most, int threads, Listed& by) {
    std::vector<std::atomic<int32_t>> left(static_cast<size_t>(n));
    const auto for_each = [&](const auto& see) {
        parallel_stretches(n, kFarApart, threads, [&](int64_t first, int64_t last) {
            for (int64_t p = first; p < last; ++p)
                for (int64_t s = 0; s < most && entry[p * k + s] >= 0; ++s) see(p, s, entry[p * k + s] >> 1);
        });
    };
    for_each([&](int64_t, int64_t, int32_t to) { left[to].fetch_add(1, std::memory_order_relaxed); });
    by.first.assign(static_cast<size_t>(n + 1), 0);
    for (int64_t p = 0; p < n; ++p) by.first[p + 1] = by.first[p] + left[p].load(std::memory_order_relaxed);
    by.from.resize(static_cast<size_t>(by.first[n])), by.rank.resize(by.from.size());
    for_each([&](int64_t p, int64_t s, int32_t to) {
        const int64_t at = by.first[to] + left[to].fetch_sub(1, std::memory_order_relaxed) - 1;
        by.from[at] = static_cast<int32_t>(p), by.rank[at] = static_cast<uint16_t>(s);
    });
}

// Who lists place p and is not in its own list, by rank.
int64_t strangers(const int32_t* own, int64_t k, const Listed& by, int64_t p,
                  std::pair<uint16_t, int32_t>* sources) {
    int64_t count = 0;
    for (int64_t at = by.first[p]; at < by.first[p + 1]; ++at) {
        sources[count] = {by.rank[at], by.from[at]};
        count += !has(own, k, by.from[at]);
    }
    return count;
}

// A place's links while they are found.
struct Linking {
    std::vector<std::pair<uint16_t, int32_t>> sources;
    std::vector<int32_t> old;
};

}  // namespace

PlacedPoints::PlacedPoints(const CellStore& cells, int threads)
    : d_(cells.points.d), width_((d_ + kWhole) / kWhole * kWhole) {
    const int64_t n = cells.points.n, d = d_;
    const bool self_dual = cells.points.h == cells.points.x;
    h_.resize(static_cast<size_t>(n * width_)), x_.resize(self_dual ? 0 : h_.size());
    part_.resize(static_cast<size_t>(n)), place_.resize(part_.size());
    const std::vector<double> mean_x = overall(cells, cells.mean_x), mean_h = overall(cells, cells.mean_h);
    const double both = dot<Order::kAsStored>(mean_x.data(), mean_h.data(), d), scale = cells.scale();
    parallel_stretches(n, 1024, threads, [&](int64_t first, int64_t last) {
        for (int64_t p = first; p < last; ++p) {
            const int64_t i = cells.order()[p];
            place_[i] = static_cast<int32_t>(p);
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

PlacedLists::PlacedLists(int64_t n, int64_t k, int64_t n_links)
    : n_(n),
      k_(k),
      most_own_(std::min(n_links, k)),
      most_links_(2 * most_own_ - 1),
      entry_(static_cast<size_t>(n_ * k)),
      value_(entry_.size()),
      limit_(static_cast<size_t>(n_)),
      locks_(static_cast<size_t>(kLocks)),
      n_all_(static_cast<size_t>(n_), 0),
      n_fresh_(static_cast<size_t>(n_), 0) {}

void PlacedLists::begin(int64_t p, const int32_t* place, const float* value, int64_t count) {
    std::fill_n(entry_.data() + p * k_, k_, -1), std::fill_n(value_.data() + p * k_, k_, kInfinity);
    put_in(list(p), p, place, value, count);
    lower_limit(p);
}

void PlacedLists::lower_limit(int64_t p) {
    const float worst = value_[p * k_ + k_ - 1];
    limit_[p].store(std::nextafter(worst, kInfinity), std::memory_order_relaxed);
}

void PlacedLists::offer(int64_t p, const int32_t* place, const float* value, int64_t count) {
    const Lock lock(locks_[static_cast<size_t>(p / kLocked % kLocks)]);
    if (put_in(list(p), p, place, value, count)) lower_limit(p);
}

void PlacedLists::read(int64_t p, int32_t* place, float* value) const {
    std::copy_n(value_.data() + p * k_, k_, value);
    for (int64_t s = 0; s < k_; ++s) place[s] = own(p)[s] >> 1;  // −1 stays
}

void PlacedLists::link(int threads) {
    turn(entry_.data(), n_, k_, most_own_, threads, listed_);
    const Listed& by = listed_;
    links_.resize(static_cast<size_t>(n_ * most_links_));
    parallel_for(
        n_, 256, threads, [] { return Linking(); },
        [&](int64_t p, Linking& linking) {
            auto& [sources, old] = linking;
            old.clear(), sources.resize(static_cast<size_t>(by.first[p + 1] - by.first[p]));
            sources.resize(static_cast<size_t>(strangers(own(p), most_own_, by, p, sources.data())));
            if (static_cast<int64_t>(sources.size()) > most_own_ - 1) {
                std::nth_element(sources.begin(), sources.begin() + (most_own_ - 1), sources.end());
                sources.resize(static_cast<size_t>(most_own_ - 1));
            }
            int32_t *const row = links_.data() + p * most_links_, *fresh = row;
            const auto add = [&](int32_t place, bool is_new) {
                if (is_new)
                    *fresh++ = place;
                else
                    old.push_back(place);
            };
            for (int64_t s = 0; s < most_own_ && own(p)[s] >= 0; ++s) add(own(p)[s] >> 1, is_fresh(p, s));
            for (const auto& [rank, from] : sources) add(from, is_fresh(from, rank));
            n_fresh_[p] = static_cast<int32_t>(fresh - row);
            n_all_[p] = static_cast<int32_t>(std::copy(old.begin(), old.end(), fresh) - row);
        });
    parallel_stretches(n_, 4096, threads, [&](int64_t first, int64_t last) {
        for (int64_t p = first; p < last; ++p)
            for (int64_t s = 0; s < most_own_ && own(p)[s] >= 0; ++s) entry_[p * k_ + s] &= ~1;
    });
}

namespace {

class LocalJoin {
  public:
    LocalJoin(const PlacedPoints& points, PlacedLists& lists)
        : points_(points), lists_(lists), centres_(points) {}

    void run(int64_t p) {
        const int64_t n_fresh = lists_.n_fresh(p);
        if (n_fresh == 0) return;
        member_.assign(lists_.links(p), lists_.links(p) + lists_.n_links(p));
        member_.push_back(static_cast<int32_t>(p));
        const int64_t count = static_cast<int64_t>(member_.size());
        centres_.gather(member_.data(), count);
        if (p + 1 < lists_.n()) ask_for_links(p + 1);
        compare(0, n_fresh, Gathered::panels_for(count));
        compare(n_fresh, count, Gathered::panels_for(n_fresh));
        for (int64_t t = 0; t < count; ++t) {
            const Hits hits = centres_.hits(t);
            if (hits.count == 0) continue;
            for (int64_t s = 0; s < hits.count; ++s) hits.place[s] = member_[hits.place[s]];
            lists_.offer(member_[t], hits.place, hits.value, hits.count);
        }
    }

  private:
    const PlacedPoints& points_;
    PlacedLists& lists_;
    Gathered centres_;
    std::vector<int32_t> member_;  // fresh links, then old ones, then the place itself

    // Members first … last − 1 as rows, those of the first panels as centres.
    void compare(int64_t first, int64_t last, int64_t n_panels) {
        for (; first < last; first += kRows) {
            const int64_t here = std::min(kRows, last - first);
            const int32_t* row = member_.data() + first;
            float limit[kRows];
            for (int64_t r = 0; r < here; ++r) limit[r] = lists_.limit(row[r]);
            centres_.compare(row, limit, first, here, n_panels);
            for (int64_t r = 0; r < here; ++r)
                if (centres_.hits(first + r).count > 0) lists_.ask_for(row[r]);
        }
    }

    void ask_for_links(int64_t p) const {
        const int32_t* link = lists_.links(p);
        for (int64_t t = 0; t < lists_.n_links(p); ++t)
            prefetch_ends<0>(points_.centre(link[t]), points_.d() + 1);
    }
};

// What a thread begins lists with.
struct Beginning {
    LikelySearch search;
    Gathered centres;
    std::vector<int32_t> listed;  // places
};

}  // namespace

void begin_places(const CellStore& cells, const PlacedPoints& points, PlacedLists& lists,
                  const CellRange& range, int64_t pairs, int threads) {
    const int64_t k = lists.k();
    parallel_for(
        range.last - range.first, 1, threads,
        [&] { return Beginning{LikelySearch(cells, k), Gathered(points), {}}; },
        [&](int64_t c, Beginning& work) {
            const int64_t cell = range.first + c, first = cells.bounds()[cell];
            const int32_t* found = work.search.near_cell(cell, pairs);
            for (int64_t a = 0; a < cells.size(cell); ++a, found += k) {
                work.listed.clear();
                for (int64_t s = 0; s < k && found[s] >= 0; ++s)
                    work.listed.push_back(points.place(found[s]));
                const int64_t count = static_cast<int64_t>(work.listed.size());
                if (count == 0) {
                    lists.begin(first + a, nullptr, nullptr, 0);
                    continue;
                }
                // Valued as those that are offered later will be, to the last bit.
                const int32_t own = static_cast<int32_t>(first + a);
                work.centres.gather(work.listed.data(), count);
                work.centres.compare(&own, &kInfinity, 0, 1, Gathered::panels_for(count));
                const Hits hits = work.centres.hits(0);
                for (int64_t s = 0; s < hits.count; ++s) hits.place[s] = work.listed[hits.place[s]];
                lists.begin(first + a, hits.place, hits.value, hits.count);
            }
        });
}

void join_places(const PlacedPoints& points, PlacedLists& lists, int64_t first, int64_t last, int threads) {
    const int64_t grain = std::clamp((last - first) / (8 * int64_t{threads}), int64_t{64}, kFarApart);
    parallel_for(
        last - first, grain, threads, [&] { return LocalJoin(points, lists); },
        [&](int64_t at, LocalJoin& join) { join.run(first + at); });
}

}  // namespace bvdt
