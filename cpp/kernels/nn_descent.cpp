#include "nn_descent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>

#include "parallel.hpp"

namespace bvdt {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int64_t kWhole = 8;                      // lanes that a row is filled up to
constexpr int64_t kLocks = 1 << 14, kLocked = 32;  // locks, and places side by side that share one
constexpr int64_t kFarApart = 4096;  // places that a thread goes through: others have other lists in hand

// The mean of the lists' means, by their sizes.
std::vector<double> overall(const InvertedLists& lists, const std::vector<double>& means) {
    const int64_t d = lists.points.d;
    std::vector<double> mean(static_cast<size_t>(d), 0.0);
    for (int64_t list = 0; list < lists.n; ++list)
        add_scaled(mean.data(), means.data() + list * d,
                   static_cast<double>(lists.size(list)) / static_cast<double>(lists.points.n), d);
    return mean;
}

// Whether a list has a place, new or not; without branches, as it usually has.
BVDT_INLINE bool has(const int32_t* entry, int64_t k, int32_t place) {
    int32_t found = 0;
    for (int64_t s = 0; s < k; ++s) found |= (entry[s] >> 1) == place;
    return found != 0;
}

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

}  // namespace

void JoinHits::make_room(int64_t n_rows, int64_t n_columns) {
    const size_t rows = static_cast<size_t>(n_rows), room = static_cast<size_t>(n_columns);
    if (value_.size() < rows * room) value_.resize(rows * room), place_.resize(rows * room);
    hits_.resize(rows);
    for (size_t r = 0; r < rows; ++r) hits_[r] = {value_.data() + r * room, place_.data() + r * room, 0};
}

// -- dense points -----------------------------------------------------------------------------------------

DenseRows::DenseRows(const InvertedLists& lists, int threads)
    : d_(lists.points.d), width_((d_ + kWhole) / kWhole * kWhole), scale_(lists.scale()) {
    const int64_t n = lists.points.n, d = d_;
    h_.resize(static_cast<size_t>(n * width_)), x_.resize(lists.is_self_dual() ? 0 : h_.size());
    part_.resize(static_cast<size_t>(n));
    const std::vector<double> mean_x = overall(lists, lists.mean_x), mean_h = overall(lists, lists.mean_h);
    const double both = dot<Order::kAsStored>(mean_x.data(), mean_h.data(), d);
    parallel_stretches(n, 1024, threads, [&](int64_t first, int64_t last) {
        for (int64_t p = first; p < last; ++p) {
            const int64_t i = lists.order()[p];
            const double *xi = lists.points.x + i * d, *hi = lists.points.h + i * d;
            float *h = h_.data() + p * width_, *x = x_.empty() ? h : x_.data() + p * width_;
            center_row(hi, mean_h.data(), lists.scale_h, d, h);
            if (x != h) center_row(xi, mean_x.data(), lists.scale_x, d, x);
            const double u = lists.u[i] - dot<Order::kEightSums>(xi, mean_h.data(), d) + both;
            const double w = lists.w[i] - dot<Order::kEightSums>(hi, mean_x.data(), d);
            const auto less_error = [&](double value, const float* row) {
                const float rounded = static_cast<float>(scale_ * value);
                const float square = dot<Order::kEightSums>(row, row, d);
                return rounded - lists.rounding() * (2 * std::abs(rounded) + square);
            };
            part_[static_cast<size_t>(p)] = less_error(u, x), h[d] = less_error(w, h);
        }
    });
}

double DenseRows::divergence(int64_t p, float estimate) const {
    return (static_cast<double>(part_[static_cast<size_t>(p)]) + static_cast<double>(estimate)) / scale_;
}

void DenseRows::Join::gather(const int32_t* member, int64_t count) {
    const int64_t d = rows_.d_, n_panels = panels_for(count);
    member_ = member;
    panels_.resize(static_cast<size_t>(n_panels * d * kLanes));
    level_.assign(static_cast<size_t>(n_panels * kLanes), kInfinity);
    for (int64_t b = 0; b < n_panels; ++b) {
        const float* center[kLanes];
        for (int64_t t = 0; t < kLanes; ++t) {
            const int64_t at = b * kLanes + t;
            center[t] = rows_.center(member[std::min(at, count - 1)]);
            if (at < count) level_[static_cast<size_t>(at)] = center[t][d];
        }
        float* const panel = panels_.data() + b * d * kLanes;
        for (int64_t j = 0; j < d; ++j)
            for (int64_t t = 0; t < kLanes; ++t) panel[j * kLanes + t] = center[t][j];
    }
    hits.make_room(count + kRows, (n_panels + 1) * kLanes);
}

void DenseRows::Join::compare(int64_t first, int64_t last, int64_t n_columns, const float* limit) {
    const Panels panels{panels_.data(), level_.data(), panels_for(n_columns), rows_.d_};
    for (; first < last; first += kRows) {
        TileRows tile;
        const int64_t here = std::min(kRows, last - first);
        for (int64_t r = 0; r < kRows; ++r) {
            tile.x[r] = rows_.row(member_[first + std::min(r, here - 1)]);
            tile.limit[r] = r < here ? limit[first + r] : -kInfinity;
        }
        screen(tile, panels, &hits[first]);
    }
}

void DenseRows::Join::compare_first(const int32_t* member, int64_t count) {
    gather(member, count);
    compare(0, 1, count, &kInfinity);
}

// -- sparse points ----------------------------------------------------------------------------------------

void SparsePlaces::Join::gather(const int32_t* member, int64_t count) {
    item_.resize(static_cast<size_t>(count));
    for (int64_t t = 0; t < count; ++t)
        item_[static_cast<size_t>(t)] = rows_.order_[static_cast<size_t>(member[t])];
    gram_.compute(rows_.points_, item_.data(), count, true);
    hits.make_room(count, count);
}

void SparsePlaces::Join::compare(int64_t first, int64_t last, int64_t n_columns, const float* limit) {
    n_columns = std::min(n_columns, static_cast<int64_t>(item_.size()));
    for (int64_t a = first; a < last; ++a) {
        const double* inner = gram_.value.data() + a * gram_.stride;
        Hits& to = hits[a];
        to.count = 0;
        for (int64_t b = 0; b < n_columns; ++b) {
            const double level = rows_.w_[item_[static_cast<size_t>(b)]];
            const float estimate = static_cast<float>(level - inner[b]);
            to.value[to.count] = estimate, to.place[to.count] = static_cast<int32_t>(b);
            to.count += estimate < limit[a];
        }
    }
}

void SparsePlaces::Join::compare_first(const int32_t* member, int64_t count) {
    hits.make_room(1, count);
    const SparseRows x = rows_.points_.x_rows(), h = rows_.points_.h_rows();
    const auto item = [&](int64_t t) { return rows_.order_[static_cast<size_t>(member[t])]; };
    row_.put(x, item(0));
    for (int64_t t = 0; t < count; ++t)
        hits[0].value[t] = static_cast<float>(rows_.w_[item(t)] - row_.dot_with(h, item(t))),
        hits[0].place[t] = static_cast<int32_t>(t);
    hits[0].count = count;
    row_.clear(x, item(0));
}

// -- lists ------------------------------------------------------------------------------------------------

GrowingLists::GrowingLists(int64_t n, int64_t k, int64_t n_forward)
    : n_(n),
      k_(k),
      n_forward_(std::min(n_forward, k)),
      most_(2 * n_forward_ - 1),
      entry_(static_cast<size_t>(n_ * k)),
      value_(entry_.size()),
      limit_(static_cast<size_t>(n_)),
      locks_(static_cast<size_t>(kLocks)),
      n_all_(static_cast<size_t>(n_), 0),
      n_new_(static_cast<size_t>(n_), 0) {}

void GrowingLists::clear(int64_t p) {
    std::fill_n(entry_.data() + p * k_, k_, -1), std::fill_n(value_.data() + p * k_, k_, kInfinity);
    lower_limit(p);
}

void GrowingLists::lower_limit(int64_t p) {
    const float worst = list(p).worst();
    limit_[static_cast<size_t>(p)].store(std::nextafter(worst, kInfinity), std::memory_order_relaxed);
}

void GrowingLists::offer(int64_t p, const Hits& hits) {
    const Lock lock(locks_[static_cast<size_t>(p / kLocked % kLocks)]);
    const TopList<float> to = list(p);
    bool is_changed = false;
    for (int64_t s = 0; s < hits.count; ++s) {
        const int32_t place = hits.place[s], entry = 2 * place + 1;
        if (place == p || has(to.index, k_, place) || !to.takes(entry, hits.value[s])) continue;
        to.insert(entry, hits.value[s]), is_changed = true;
    }
    if (is_changed) lower_limit(p);
}

void GrowingLists::read(int64_t p, int32_t* place, float* estimate) const {
    std::copy_n(value(p), k_, estimate);
    for (int64_t s = 0; s < k_; ++s) place[s] = entry(p)[s] >> 1;  // −1 stays
}

void GrowingLists::reverse(int threads) {
    std::vector<std::atomic<int32_t>> left(static_cast<size_t>(n_));
    const auto for_each = [&](const auto& see) {
        parallel_stretches(n_, kFarApart, threads, [&](int64_t first, int64_t last) {
            for (int64_t p = first; p < last; ++p)
                for (int64_t s = 0; s < n_forward_ && entry(p)[s] >= 0; ++s)
                    see(p, s, static_cast<size_t>(entry(p)[s] >> 1));
        });
    };
    for_each([&](int64_t, int64_t, size_t to) { left[to].fetch_add(1, std::memory_order_relaxed); });
    std::vector<int64_t>& first = reverse_.first;
    first.assign(1, 0), first.reserve(static_cast<size_t>(n_ + 1));
    for (const auto& count : left) first.push_back(first.back() + count.load(std::memory_order_relaxed));
    reverse_.from.resize(static_cast<size_t>(first.back())), reverse_.rank.resize(reverse_.from.size());
    for_each([&](int64_t p, int64_t s, size_t to) {
        const int32_t before = left[to].fetch_sub(1, std::memory_order_relaxed) - 1;
        const size_t at = static_cast<size_t>(first[to] + before);
        reverse_.from[at] = static_cast<int32_t>(p), reverse_.rank[at] = static_cast<uint16_t>(s);
    });
}

void GrowingLists::link(int threads) {
    reverse(threads);
    neighbors_.resize(static_cast<size_t>(n_ * most_));
    struct Work {
        std::vector<std::pair<uint16_t, int32_t>> sources;  // reverse neighbors by rank
        std::vector<int32_t> old;
    };
    parallel_for(
        n_, 256, threads, [] { return Work(); },
        [&](int64_t p, Work& work) {
            auto& [sources, old] = work;
            old.clear(), sources.clear();
            const size_t first = static_cast<size_t>(p);
            for (int64_t at = reverse_.first[first]; at < reverse_.first[first + 1]; ++at) {
                const int32_t from = reverse_.from[static_cast<size_t>(at)];
                if (!has(entry(p), n_forward_, from))
                    sources.emplace_back(reverse_.rank[static_cast<size_t>(at)], from);
            }
            if (static_cast<int64_t>(sources.size()) > n_forward_ - 1) {  // the nearest
                std::nth_element(sources.begin(), sources.begin() + (n_forward_ - 1), sources.end());
                sources.resize(static_cast<size_t>(n_forward_ - 1));
            }
            std::sort(sources.begin(), sources.end());  // whatever thread filed them first
            int32_t *const row = neighbors_.data() + p * most_, *to = row;
            const auto add = [&](int32_t place, bool is_new) {
                if (is_new)
                    *to++ = place;
                else
                    old.push_back(place);
            };
            for (int64_t s = 0; s < n_forward_ && entry(p)[s] >= 0; ++s)
                add(entry(p)[s] >> 1, entry(p)[s] & 1);
            for (const auto& [rank, from] : sources) add(from, entry(from)[rank] & 1);
            n_new_[static_cast<size_t>(p)] = static_cast<int32_t>(to - row);
            n_all_[static_cast<size_t>(p)] =
                static_cast<int32_t>(std::copy(old.begin(), old.end(), to) - row);
        });
    parallel_stretches(n_, kFarApart, threads, [&](int64_t first, int64_t last) {
        for (int64_t p = first; p < last; ++p)
            for (int64_t s = 0; s < n_forward_ && entry(p)[s] >= 0; ++s)
                entry_[static_cast<size_t>(p * k_ + s)] &= ~1;
    });
}

// -- iterations -------------------------------------------------------------------------------------------

Places::Places(const int32_t* order_, int64_t n) : order(order_, order_ + n), place(order.size()) {
    for (size_t p = 0; p < order.size(); ++p) place[static_cast<size_t>(order[p])] = static_cast<int32_t>(p);
}

template <typename Rows>
void begin_lists(const Rows& rows, GrowingLists& lists, const Places& places, const int32_t* given,
                 int threads) {
    struct Work {
        typename Rows::Join join;
        std::vector<int32_t> member;
    };
    const int64_t k = lists.k();
    parallel_for(
        lists.n(), 64, threads, [&] { return Work{typename Rows::Join(rows), {}}; },
        [&](int64_t p, Work& work) {
            auto& [join, member] = work;
            const int32_t* const list = given + places.order[static_cast<size_t>(p)] * k;
            member.assign(1, static_cast<int32_t>(p));
            for (int64_t s = 0; s < k && list[s] >= 0; ++s)
                member.push_back(places.place[static_cast<size_t>(list[s])]);
            const int64_t count = static_cast<int64_t>(member.size());
            // Valued as those that are offered later will be, to the last bit.
            join.compare_first(member.data(), count);
            Hits& hits = join.hits[0];
            for (int64_t s = 0; s < hits.count; ++s)
                hits.place[s] = member[static_cast<size_t>(hits.place[s])];
            lists.clear(p);
            lists.offer(p, hits);
        });
}

namespace {

template <typename Rows>
class LocalJoin {
  public:
    LocalJoin(const Rows& rows, GrowingLists& lists) : rows_(rows), lists_(lists), join_(rows) {}

    void run(int64_t p) {
        const int64_t n_new = lists_.n_new(p);
        if (n_new == 0) return;
        member_.assign(lists_.neighbors(p), lists_.neighbors(p) + lists_.n_neighbors(p));
        member_.push_back(static_cast<int32_t>(p));
        const int64_t count = static_cast<int64_t>(member_.size());
        join_.gather(member_.data(), count);
        if (p + 1 < lists_.n())
            for (int64_t t = 0; t < lists_.n_neighbors(p + 1); ++t)
                rows_.prefetch(lists_.neighbors(p + 1)[t]);
        limit_.resize(member_.size());
        for (size_t t = 0; t < member_.size(); ++t) limit_[t] = lists_.limit(member_[t]);
        join_.compare(0, n_new, count, limit_.data());      // new neighbors with all
        join_.compare(n_new, count, n_new, limit_.data());  // old ones with the new
        for (int64_t t = 0; t < count; ++t)
            if (join_.hits[t].count > 0) lists_.prefetch(member_[static_cast<size_t>(t)]);
        for (int64_t t = 0; t < count; ++t) {
            Hits& hits = join_.hits[t];
            if (hits.count == 0) continue;
            for (int64_t s = 0; s < hits.count; ++s)
                hits.place[s] = member_[static_cast<size_t>(hits.place[s])];
            lists_.offer(member_[static_cast<size_t>(t)], hits);
        }
    }

  private:
    const Rows& rows_;
    GrowingLists& lists_;
    typename Rows::Join join_;
    std::vector<int32_t> member_;  // new neighbors, then old ones, then the place itself
    std::vector<float> limit_;
};

}  // namespace

template <typename Rows>
void join_lists(const Rows& rows, GrowingLists& lists, int64_t first, int64_t last, int threads) {
    const int64_t grain = std::clamp((last - first) / (8 * int64_t{threads}), int64_t{64}, kFarApart);
    parallel_for(
        last - first, grain, threads, [&] { return LocalJoin<Rows>(rows, lists); },
        [&](int64_t at, LocalJoin<Rows>& join) { join.run(first + at); });
}

template void begin_lists(const DenseRows&, GrowingLists&, const Places&, const int32_t*, int);
template void begin_lists(const SparsePlaces&, GrowingLists&, const Places&, const int32_t*, int);
template void join_lists(const DenseRows&, GrowingLists&, int64_t, int64_t, int);
template void join_lists(const SparsePlaces&, GrowingLists&, int64_t, int64_t, int);

}  // namespace bvdt
