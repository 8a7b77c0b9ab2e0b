#include "ivf.hpp"

#include <algorithm>
#include <utility>

#include "parallel.hpp"

namespace bvdt {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int64_t kSome = 1024;  // points that a spread is found on
constexpr int64_t kFew = 31;     // points of a list whose medians are its first center
constexpr double kFar = 100;     // times the median divergence from that center: left out of the list's means

double median(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// Each coordinate's median over at most `most` of `count` rows, evenly spaced; row(s) is the s-th.
template <typename Row>
void medians(Row row, int64_t count, int64_t most, int64_t d, double* out) {
    const int64_t used = std::min(count, most);
    std::vector<double> column(static_cast<size_t>(used));
    for (int64_t j = 0; j < d; ++j) {
        for (int64_t s = 0; s < used; ++s) column[s] = row(s * count / used)[j];
        out[j] = median(column);
    }
}

// 1 / the usual distance of a row from the columns' medians, found on some rows; 1 if they do not vary.
double inverse_spread(const double* values, int64_t n, int64_t d) {
    const auto row = [=](int64_t i) { return values + i * d; };
    std::vector<double> middle(static_cast<size_t>(d)), distances;
    medians(row, n, kSome, d, middle.data());
    for (int64_t s = 0, used = std::min(n, kSome); s < used; ++s) {
        double largest = 0;  // no square that might overflow
        for (int64_t j = 0; j < d; ++j)
            largest = std::max(largest, std::abs(row(s * n / used)[j] - middle[j]));
        if (largest > 0) distances.push_back(largest);
    }
    return distances.empty() ? 1.0 : 1.0 / median(distances);
}

}  // namespace

InvertedLists::InvertedLists(const DensePoints& points_, const double* u_, const double* w_,
                             const int32_t* order, const int64_t* bounds, int64_t n_lists, int threads)
    : points(points_),
      u(u_),
      w(w_),
      n(n_lists),
      order_(order, order + bounds[n_lists]),
      bounds_(bounds, bounds + n_lists + 1),
      first_panel_(1, 0) {
    for (int64_t list = 0; list < n; ++list)
        first_panel_.push_back(first_panel_.back() + panels_for(size(list)));
    const size_t values = static_cast<size_t>(n * points.d);
    mean_x.assign(values, 0.0), mean_h.assign(values, 0.0), turned.resize(2 * values);
    self.resize(static_cast<size_t>(n)), mean_level.resize(self.size()), largest_error.resize(self.size());
    values_.assign(static_cast<size_t>(first_panel_.back() * points.d * kLanes), 0.0f);
    level_.assign(static_cast<size_t>(first_panel_.back() * kLanes), kInfinity);
    scale_x = inverse_spread(points.x, points.n, points.d);
    scale_h = is_self_dual() ? scale_x : inverse_spread(points.h, points.n, points.d);
    parallel_for(n, 8, threads, [&](int64_t list) { pack(list, average(list)); });
}

Panels InvertedLists::panels(int64_t list) const {
    return {values_.data() + first_panel_[list] * points.d * kLanes,
            level_.data() + first_panel_[list] * kLanes, panels_for(size(list)), points.d};
}

// Sets a list's means, without points so far away that they would cost the others their digits. Which are in?
std::vector<char> InvertedLists::average(int64_t list) {
    const int64_t d = points.d, count = size(list);
    double *x = mean_x.data() + list * d, *h = mean_h.data() + list * d;
    const auto rows_of = [&](const double* values) {
        return [=, this](int64_t b) { return values + items(list)[b] * d; };
    };
    medians(rows_of(points.x), count, kFew, d, x);
    medians(rows_of(points.h), count, kFew, d, h);
    std::vector<double> away(static_cast<size_t>(count));  // |⟨x_i − x̃, h_i − h̃⟩| from the medians
    for (int64_t b = 0; b < count; ++b) {
        const double *xi = rows_of(points.x)(b), *hi = rows_of(points.h)(b);
        double sum = 0;
        for (int64_t j = 0; j < d; ++j) sum += (xi[j] - x[j]) * (hi[j] - h[j]);
        away[b] = std::isnan(sum) ? std::numeric_limits<double>::infinity() : std::abs(sum);
    }
    std::vector<double> sorted = away;
    const double limit = kFar * median(sorted);
    std::vector<char> ordinary(static_cast<size_t>(count));
    std::fill_n(x, d, 0.0), std::fill_n(h, d, 0.0);
    double total = 0;  // never 0: half of the points are no farther than the median
    for (int64_t b = 0; b < count; ++b) {
        ordinary[b] = away[b] <= limit;
        if (!ordinary[b]) continue;
        total += 1;
        add_scaled(x, rows_of(points.x)(b), 1.0, d), add_scaled(h, rows_of(points.h)(b), 1.0, d);
    }
    for (int64_t j = 0; j < d; ++j) {
        x[j] /= total, h[j] /= total;
        turned[j * n + list] = h[j], turned[(d + j) * n + list] = x[j];
    }
    self[list] = dot<Order::kAsStored>(x, h, d);
    return ordinary;
}

void InvertedLists::pack(int64_t list, const std::vector<char>& ordinary) {
    const int64_t d = points.d, count = size(list);
    const double *x = mean_x.data() + list * d, *h = mean_h.data() + list * d;
    float* const levels = level_.data() + first_panel_[list] * kLanes;
    std::vector<float> row(static_cast<size_t>(d)), square(static_cast<size_t>(count));
    std::vector<double> own(static_cast<size_t>(count));  // w − ⟨x̄, h'⟩
    double sum = 0, total = 0;
    for (int64_t b = 0; b < count; ++b) {
        const int64_t i = items(list)[b];
        float* const to = values_.data() + (first_panel_[list] + b / kLanes) * d * kLanes + b % kLanes;
        center_row(points.h + i * d, h, scale_h, d, row.data());
        for (int64_t j = 0; j < d; ++j) to[j * kLanes] = row[j];
        square[b] = dot<Order::kEightSums>(row.data(), row.data(), d);
        own[b] = w[i] - dot<Order::kEightSums>(x, points.h + i * d, d) + self[list];
        if (ordinary[b]) sum += own[b], total += 1;
    }
    mean_level[list] = sum / total;
    float largest = 0;
    for (int64_t b = 0; b < count; ++b) {
        levels[b] = static_cast<float>(scale() * (own[b] - mean_level[list]));
        const float error = rounding() * (std::abs(levels[b]) + square[b]);
        levels[b] -= error, largest = std::max(largest, error);
    }
    largest_error[list] = largest;
}

namespace {

// The smallest of some thresholds at which the lists up to it hold enough points. The `n_first` lists nearest
// to the assigned, which do, tell how far is far enough: one far list must not stretch the range.
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

// to −= times·from
void subtract_scaled(float* to, const float* from, float times, int64_t count) {
    BVDT_INDEPENDENT_LOOP
    for (int64_t c = 0; c < count; ++c) to[c] -= times * from[c];
}

// The lists near to a group's assigned, ranked for each of its queries by ⟨x − x̄, h − h̄⟩.
class Probes {
  public:
    explicit Probes(const InvertedLists& lists) : lists_(lists) {}

    void rank(const Queries& queries, int64_t group, int64_t n_candidates) {
        const int64_t assigned = queries.assigned[group], d = lists_.points.d;
        mean_x_ = lists_.mean_x.data() + assigned * d, mean_h_ = lists_.mean_h.data() + assigned * d;
        find_near(std::min(n_candidates, lists_.points.n));
        place();
        score(queries, group, std::min(n_candidates, lists_.points.n));
    }

    int64_t count() const { return count_; }
    int64_t list(int64_t c) const { return near_[c].second; }
    const float* scores(int64_t query) const { return score_.data() + query * stride_; }
    float limit(int64_t query) const { return limit_[static_cast<size_t>(query)]; }  // of those it probes

  private:
    using Scored = std::pair<double, int32_t>;
    const InvertedLists& lists_;
    int64_t count_ = 0, stride_ = 0;  // lists near to the assigned; the same in whole panels
    const double *mean_x_ = nullptr, *mean_h_ = nullptr;
    std::vector<Scored> near_;
    std::vector<double> from_home_;
    std::vector<int32_t> size_;             // (stride,)
    std::vector<float> delta_x_, delta_h_;  // (panels, d, 16) the lists' means less the assigned's
    std::vector<float> apart_;              // (stride,) their product
    std::vector<float> x_, along_;          // a group's rows, their products with the means
    std::vector<float> score_, limit_;      // (queries, stride), (queries,)

    // As many lists as hold kReach times the candidates, by number, and the candidates for sure.
    void find_near(int64_t n_candidates) {
        const int64_t d = lists_.points.d, n = lists_.n;
        from_home_ = lists_.self;
        for (int64_t j = 0; j < 2 * d; ++j)
            add_scaled(from_home_.data(), lists_.turned.data() + j * n,
                       -(j < d ? mean_x_[j] : mean_h_[j - d]), n);
        near_.resize(static_cast<size_t>(n));
        for (int64_t c = 0; c < n; ++c) {  // not a number, from an overflow, would not sort
            const double score = from_home_[static_cast<size_t>(c)];
            near_[static_cast<size_t>(c)] = {std::isnan(score) ? kInfinity : score, static_cast<int32_t>(c)};
        }
        const int64_t wanted = (kReach * n_candidates * n + lists_.points.n - 1) / lists_.points.n;
        for (count_ = std::min(wanted, n);; count_ = std::min(2 * count_, n)) {
            if (count_ < n) std::nth_element(near_.begin(), near_.begin() + count_, near_.end());
            int64_t held = 0;
            for (int64_t c = 0; c < count_; ++c) held += lists_.size(list(c));
            if (held >= n_candidates || count_ == n) break;
        }
        std::sort(near_.begin(), near_.begin() + count_);
    }

    // The means relative to the assigned, in panels.
    void place() {
        const int64_t d = lists_.points.d;
        stride_ = panels_for(count_) * kLanes;
        delta_x_.assign(static_cast<size_t>(stride_ * d), 0.0f), delta_h_.assign(delta_x_.size(), 0.0f);
        apart_.assign(static_cast<size_t>(stride_), kInfinity), size_.assign(apart_.size(), 0);
        for (int64_t c = 0; c < count_; ++c) {
            const double *x = lists_.mean_x.data() + list(c) * d, *h = lists_.mean_h.data() + list(c) * d;
            const int64_t lane = c / kLanes * d * kLanes + c % kLanes;
            float sum = 0;
            for (int64_t j = 0; j < d; ++j) {
                const double dx = lists_.scale_x * (x[j] - mean_x_[j]);
                const double dh = lists_.scale_h * (h[j] - mean_h_[j]);
                delta_x_[lane + j * kLanes] = static_cast<float>(dx);
                delta_h_[lane + j * kLanes] = static_cast<float>(dh);
                sum += static_cast<float>(dx * dh);
            }
            apart_[c] = sum, size_[c] = static_cast<int32_t>(lists_.size(list(c)));
        }
    }

    // Of ⟨x − x̄, h − h̄⟩ what depends on the list, and how large it may be for as many candidates as needed.
    void score(const Queries& queries, int64_t group, int64_t n_candidates) {
        const int64_t first = queries.bounds[group], n_queries = queries.bounds[group + 1] - first;
        score_.assign(static_cast<size_t>(n_queries * stride_), 0.0f),
            limit_.resize(static_cast<size_t>(n_queries));
        const bool is_self_dual = lists_.is_self_dual() && queries.points.x == queries.points.h;
        subtract(queries.points.x, mean_x_, lists_.scale_x, delta_h_, queries.order + first, n_queries,
                 is_self_dual ? 2.0f : 1.0f);
        if (!is_self_dual)
            subtract(queries.points.h, mean_h_, lists_.scale_h, delta_x_, queries.order + first, n_queries,
                     1.0f);
        int64_t n_first = 0;
        for (int64_t held = 0; n_first < count_ && held < n_candidates;) held += size_[n_first++];
        for (int64_t a = 0; a < n_queries; ++a) {
            float* const own = score_.data() + a * stride_;
            subtract_scaled(own, apart_.data(), -1.0f, count_);
            limit_[static_cast<size_t>(a)] = threshold(own, size_.data(), count_, n_first, n_candidates);
        }
    }

    // score −= times·⟨row − mean, Δ⟩
    void subtract(const double* rows, const double* mean, double scale, const std::vector<float>& delta,
                  const int32_t* items, int64_t n_queries, float times) {
        const int64_t d = lists_.points.d;
        x_.resize(static_cast<size_t>(n_queries * d)), along_.resize(score_.size());
        for (int64_t a = 0; a < n_queries; ++a)
            center_row(rows + items[a] * d, mean, scale, d, x_.data() + a * d);
        multiply_all(x_.data(), n_queries, d, delta.data(), stride_ / kLanes, along_.data());
        subtract_scaled(score_.data(), along_.data(), times, n_queries * stride_);
    }
};

// All queries of one group against the lists that they probe.
class GroupSearch {
  public:
    // Nothing is nearer than `least`: 0 but where estimates may be below.
    GroupSearch(const InvertedLists& lists, const Queries& queries, float least)
        : lists_(lists),
          queries_(queries),
          probes_(lists),
          least_(least),
          moved_(static_cast<size_t>(lists.points.d * kRows)) {}

    // Candidates of every query of a group, of which `width` others than itself may be the nearest.
    void find(int64_t group, int64_t n_candidates, int64_t width) {
        const int64_t n_queries = size(group);
        probes_.rank(queries_, group, n_candidates);
        if (static_cast<int64_t>(best_.size()) < n_queries) best_.resize(static_cast<size_t>(n_queries));
        for (int64_t a = 0; a < n_queries; ++a) best_[a].start(width + 1);  // one may be the query itself
        choose(n_queries);
        for (int64_t c = 0; c < probes_.count(); ++c)
            compare(queries_.order + queries_.bounds[group], probes_.list(c), chosen_.data() + c * n_queries,
                    n_chosen_[static_cast<size_t>(c)]);
    }

    int64_t size(int64_t group) const { return queries_.bounds[group + 1] - queries_.bounds[group]; }

    // Query a's candidates but itself by their lower bounds; the `most` best, ascending. One far point of a
    // list widens the bounds of all its points, so nothing but the lower ones ranks them.
    void collect(int64_t a, int32_t own, int64_t most, std::vector<Candidate>& out) {
        CandidateList& list = best_[static_cast<size_t>(a)];
        list.drop_far();
        out.clear();
        for (int64_t s = 0; s < list.count(); ++s)
            if (list.item(s) != own)
                out.emplace_back(static_cast<double>(list.lower(s)) / lists_.scale(), list.item(s));
        if (static_cast<int64_t>(out.size()) > most) {
            std::nth_element(out.begin(), out.begin() + most, out.end());
            out.resize(static_cast<size_t>(most));
        }
        std::sort(out.begin(), out.end());
    }

  private:
    const InvertedLists& lists_;
    const Queries& queries_;
    Probes probes_;
    float least_;
    std::vector<int32_t> chosen_, n_chosen_;  // (lists, queries) who probes a list; (lists,)
    std::vector<CandidateList> best_;
    std::vector<float> moved_;  // (kRows, d) x'
    std::vector<float> hit_value_;
    std::vector<int32_t> hit_place_;

    void choose(int64_t n_queries) {
        chosen_.resize(static_cast<size_t>(n_queries * probes_.count()));
        n_chosen_.assign(static_cast<size_t>(probes_.count()), 0);
        for (int64_t a = 0; a < n_queries; ++a) {
            const float *score = probes_.scores(a), limit = probes_.limit(a);
            for (int64_t c = 0; c < probes_.count(); ++c) {  // without branches: half of the lists are chosen
                int32_t& n = n_chosen_[static_cast<size_t>(c)];
                chosen_[static_cast<size_t>(c * n_queries + n)] = static_cast<int32_t>(a);
                n += score[c] <= limit;
            }
        }
    }

    // A divergence is a query's part + level − product, less both errors: too small by twice them at most.
    void compare(const int32_t* items, int64_t list, const int32_t* chosen, int64_t n_chosen) {
        const Panels panels = lists_.panels(list);
        const int64_t d = panels.d;
        hit_value_.resize(static_cast<size_t>(kRows * panels.room())), hit_place_.resize(hit_value_.size());
        for (int64_t first = 0; first < n_chosen; first += kRows) {
            TileRows tile;
            Hits hits[kRows];
            float part[kRows], error[kRows];
            const int64_t here = std::min(kRows, n_chosen - first);
            for (int64_t r = 0; r < kRows; ++r) {
                const int64_t a = chosen[first + std::min(r, here - 1)];
                tile.x[r] = moved_.data() + r * d;
                if (r < here) move(items[a], list, moved_.data() + r * d, part[r], error[r]);
                tile.limit[r] =
                    r < here && best_[a].worst() > least_ ? best_[a].worst() - part[r] : -kInfinity;
                hits[r] = {hit_value_.data() + r * panels.room(), hit_place_.data() + r * panels.room(), 0};
            }
            screen(tile, panels, hits);
            for (int64_t r = 0; r < here; ++r)
                best_[chosen[first + r]].offer({hits[r].value, hits[r].place, hits[r].count,
                                                lists_.items(list), part[r],
                                                2 * (error[r] + lists_.largest_error[list])});
        }
    }

    // x' of query i and what else its divergences from a list's points have in common, less its error.
    void move(int64_t i, int64_t list, float* to, float& part, float& error) const {
        const int64_t d = lists_.points.d;
        const double *x = queries_.points.x + i * d, *mean_h = lists_.mean_h.data() + list * d;
        center_row(x, lists_.mean_x.data() + list * d, lists_.scale_x, d, to);
        const double level = queries_.u[i] - dot<Order::kEightSums>(x, mean_h, d) + lists_.mean_level[list];
        part = static_cast<float>(lists_.scale() * level);
        error =
            lists_.rounding() * (std::abs(part) + dot<Order::kEightSums>(static_cast<const float*>(to),
                                                                         static_cast<const float*>(to), d));
        part -= error;
    }
};

int32_t own_of(const Queries& queries, int64_t i) {
    return queries.own ? queries.own[i] : static_cast<int32_t>(i);
}

}  // namespace

void search_lists(const InvertedLists& lists, const Queries& queries, const Search& search,
                  const NeighborLists& found, int threads) {
    struct Work {
        GroupSearch group;
        std::vector<Candidate> now, next;
    };
    const ExactPoints& exact = search.exact;
    // Of points that are searched as they are, bounds let no one out who may be among the nearest.
    const int64_t most = exact.h == lists.points.h ? lists.points.n : search.rerank;
    parallel_for(
        queries.n_groups, 1, threads,
        [&] { return Work{GroupSearch(lists, queries, search.is_bound ? 0 : -kInfinity), {}, {}}; },
        [&](int64_t g, Work& work) {
            const int32_t* items = queries.order + queries.bounds[g];
            const int64_t n_queries = work.group.size(g);
            const auto collect = [&](int64_t a) {  // and asks for the points that it is ranked by
                work.group.collect(a, own_of(queries, items[a]), most, work.next);
                for (const auto& [_, j] : work.next) prefetch_row(exact.h + j * exact.d, exact.d);
            };
            if (n_queries == 0) return;
            work.group.find(g, search.n_candidates, search.rerank);
            collect(0);
            for (int64_t a = 0; a < n_queries; ++a) {
                std::swap(work.now, work.next);
                if (a + 1 < n_queries) collect(a + 1);
                rerank(exact, items[a], work.now, search.is_bound, found.row(items[a]));
            }
        });
}

void list_candidates(const InvertedLists& lists, const Queries& queries, int64_t n_candidates, int64_t width,
                     int32_t* found, int threads) {
    struct Work {
        GroupSearch group;
        std::vector<Candidate> best;
    };
    parallel_for(
        queries.n_groups, 1, threads, [&] { return Work{GroupSearch(lists, queries, 0), {}}; },
        [&](int64_t g, Work& work) {
            const int32_t* items = queries.order + queries.bounds[g];
            work.group.find(g, n_candidates, width);
            for (int64_t a = 0; a < work.group.size(g); ++a) {
                work.group.collect(a, own_of(queries, items[a]), width, work.best);
                int32_t* const row = found + items[a] * width;
                for (size_t s = 0; s < static_cast<size_t>(width); ++s)
                    row[s] = s < work.best.size() ? work.best[s].second : -1;
            }
        });
}

}  // namespace bvdt
