#include "neighbors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "gram.hpp"
#include "lanes.hpp"
#include "likely_centres.hpp"
#include "parallel.hpp"
#include "top_list.hpp"
#include "vectors.hpp"

namespace bvdt {
namespace {

// -- dense points: tiles of rows against panels of centres, whose products stay in registers
// -----------------
//
// Single precision, of coordinates less an origin and in units of their size, tells which centres may belong
// into a list; double precision tells whether they do. With x' = (x − o)·s and h' = (h − p)·t
//     s·t·d_ij = r_i + l_j − ⟨x'_i, h'_j⟩,   r_i = st·(u_i − ⟨x_i − o, p⟩),   l_j = st·(w_j − ⟨o, h_j⟩)
// and a product errs by at most ρ·(‖x'‖² + ‖h'‖²)/2, a row's share and a centre's.

constexpr int64_t kRows = 6;     // compared at once; with 16 lanes their sums fill an AVX2 CPU's registers
constexpr int64_t kTurn = 192;   // rows per turn of a thread
constexpr int64_t kProbed = 10;  // panels that a row's first limit comes from, a cell's points
constexpr int64_t kSome = 64;    // points whose medians are the origin
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// An origin among some points and 1 / their usual size, by medians: one far point decides neither.
struct Frame {
    std::vector<double> origin;  // (d,)
    double scale = 1;

    Frame(const double* values, const int32_t* item, int64_t count, int64_t d)
        : origin(static_cast<size_t>(d)) {
        const int64_t used = std::min(count, kSome);
        std::vector<double> some(static_cast<size_t>(used));
        const auto row = [&](int64_t s) { return values + item[s * count / used] * d; };
        const auto median = [&] {
            std::nth_element(some.begin(), some.begin() + used / 2, some.end());
            return some[used / 2];
        };
        for (int64_t j = 0; j < d; ++j) {
            for (int64_t s = 0; s < used; ++s) some[s] = row(s)[j];
            origin[j] = median();
        }
        for (int64_t s = 0; s < used; ++s) {
            some[s] = 0;
            for (int64_t j = 0; j < d; ++j) some[s] = std::max(some[s], std::abs(row(s)[j] - origin[j]));
        }
        const double usual = median();
        if (usual > 1e-150 && usual < 1e150) scale = 1 / usual;
    }
};

void frame_row(const double* row, const double* origin, double scale, int64_t d, float* out) {
    BVDT_INDEPENDENT_LOOP
    for (int64_t j = 0; j < d; ++j) out[j] = static_cast<float>(scale * (row[j] - origin[j]));
}

// All of a chunk's rows, x', and centres, h' turned as (panels, d, 16).
struct ChunkFrame {
    const DensePoints& points;
    const Levels& levels;
    const int32_t* item;
    int64_t count, d, n_panels;
    double scale;
    std::vector<float> x, h;             // (count, d), (panels, d, 16)
    std::vector<float> row_part, level;  // (count,), (panels, 16) r, l − its error; +∞ after the last
    std::vector<float> error;            // (count,) of both

    ChunkFrame(const DensePoints& points_, const Levels& levels_, const int32_t* item_, int64_t count_)
        : points(points_), levels(levels_), item(item_), count(count_), d(points_.d) {
        const Frame of_x(points.x, item, count, d);
        const Frame of_h = points.h == points.x ? of_x : Frame(points.h, item, count, d);
        n_panels = (count + kLanes - 1) / kLanes, scale = of_x.scale * of_h.scale;
        x.resize(static_cast<size_t>(count * d)), row_part.resize(static_cast<size_t>(count));
        error.resize(row_part.size());
        h.assign(static_cast<size_t>(n_panels * d * kLanes), 0.0f);
        level.assign(static_cast<size_t>(n_panels * kLanes), kInfinity);
        std::vector<float> turned(static_cast<size_t>(d));
        const float rounding =
            std::numeric_limits<float>::epsilon() * (4.0f + 2.0f * std::sqrt(static_cast<float>(d)));
        for (int64_t a = 0; a < count; ++a) {
            const double *xa = points.x + item[a] * d, *ha = points.h + item[a] * d;
            float* const row = x.data() + a * d;
            frame_row(xa, of_x.origin.data(), of_x.scale, d, row);
            frame_row(ha, of_h.origin.data(), of_h.scale, d, turned.data());
            for (int64_t j = 0; j < d; ++j) h[(a / kLanes * d + j) * kLanes + a % kLanes] = turned[j];
            double along_x = 0, along_h = 0;
            float square_x = 0, square_h = 0;
            for (int64_t j = 0; j < d; ++j) {
                along_x += (xa[j] - of_x.origin[j]) * of_h.origin[j], along_h += of_x.origin[j] * ha[j];
                square_x += row[j] * row[j], square_h += turned[j] * turned[j];
            }
            const float own = static_cast<float>(scale * (levels.u[item[a]] - along_x));
            const float other = static_cast<float>(scale * (levels.w[item[a]] - along_h));
            const float own_error = rounding * (std::abs(own) + square_x);
            const float other_error = rounding * (std::abs(other) + square_h);
            row_part[a] = own - own_error, level[a] = other - other_error;
            error[a] = own_error + other_error;
            if (!std::isfinite(error[a])) error[a] = kInfinity;
            if (!std::isfinite(level[a])) level[a] = -kInfinity;  // too far for single precision: looked at
        }
    }

    // Below which a level less its product may belong into row a's list.
    float limit(int64_t a, const TopList<double>& list) const {
        const float limit = static_cast<float>(scale * list.worst()) * (1 + 1e-6f) - row_part[a];
        return std::isnan(limit) ? kInfinity : std::nextafter(limit, kInfinity);
    }

    double divergence(int64_t a, int64_t b) const {
        const double *xa = points.x + item[a] * d, *hb = points.h + item[b] * d;
        const double inner = dot<Order::kEightSums>(xa, hb, d);
        return std::max(levels.u[item[a]] + levels.w[item[b]] - inner, 0.0);
    }
};

// What stands side by side in the chunk's order lies in a ball. Where rows and centres are of one space, with
//     l_j − ⟨x_i, h_j⟩ = (l_j − ‖h_j‖²/2) + ‖x_i − h_j‖²/2 − ‖x_i‖²/2,
// no centre of a panel is nearer to a row of a tile than the two balls are. So most panels are passed over
// where points form groups or have few coordinates.
struct PanelBalls {
    const ChunkFrame& chunk;
    float rounding = 0;         // of a square, relative to the squares it was made of
    std::vector<float> centre;  // (panels / 16, d, 16) means, turned; none where x is not h
    std::vector<float> radius;  // (panels,)
    std::vector<float> least;   // (panels,) min_j l_j − ‖h_j‖²/2, less its error

    explicit PanelBalls(const ChunkFrame& of) : chunk(of) {
        if (chunk.points.x != chunk.points.h) return;
        const int64_t d = chunk.d, room = (chunk.n_panels + kLanes - 1) / kLanes * kLanes;
        rounding = std::numeric_limits<float>::epsilon() * (16.0f + 8.0f * std::sqrt(static_cast<float>(d)));
        centre.assign(static_cast<size_t>(room * d), 0.0f);
        radius.resize(static_cast<size_t>(chunk.n_panels)), least.resize(radius.size());
        std::vector<float> mean(static_cast<size_t>(d));
        for (int64_t p = 0; p < chunk.n_panels; ++p) {
            const int64_t first = p * kLanes, last = std::min(first + kLanes, chunk.count);
            radius[p] = ball(first, last, mean.data()), least[p] = kInfinity;
            for (int64_t j = 0; j < d; ++j) centre[(p / kLanes * d + j) * kLanes + p % kLanes] = mean[j];
            for (int64_t a = first; a < last; ++a)
                least[p] = std::min(least[p], chunk.level[a] - (0.5f + rounding) * square(a));
        }
    }

    float square(int64_t a) const {
        const float* const row = chunk.x.data() + a * chunk.d;
        return dot<Order::kEightSums>(row, row, chunk.d);
    }

    // How far some points reach from their mean.
    float ball(int64_t first, int64_t last, float* mean) const {
        const int64_t d = chunk.d;
        const float share = 1 / static_cast<float>(last - first);
        std::fill_n(mean, d, 0.0f);
        for (int64_t a = first; a < last; ++a)
            for (int64_t j = 0; j < d; ++j) mean[j] += share * chunk.x[a * d + j];
        float largest = 0;
        for (int64_t a = first; a < last; ++a) {
            float sum = 0;
            for (int64_t j = 0; j < d; ++j)
                sum += (chunk.x[a * d + j] - mean[j]) * (chunk.x[a * d + j] - mean[j]);
            if (!(sum <= largest)) largest = sum;  // so is what is not a number
        }
        return std::sqrt(largest);
    }
};

// A tile of rows beside all panels.
struct TileBall {
    std::vector<float> mean, nearest;  // (d,), (panels,) what no centre of a panel is below; −∞ if unknown
    float square[kRows] = {};          // ‖x_r‖²/2 and its error

    BVDT_INLINE void place(const PanelBalls& balls, int64_t first, int64_t n_rows) {
        using Part = Lanes<float>;
        const int64_t d = balls.chunk.d, stride = d * kLanes, n_panels = balls.chunk.n_panels;
        mean.resize(static_cast<size_t>(d)), nearest.resize(balls.centre.size() / static_cast<size_t>(d));
        const float radius = balls.ball(first, first + n_rows, mean.data());
        for (int64_t r = 0; r < kRows; ++r)
            square[r] = (0.5f + balls.rounding) * balls.square(first + std::min(r, n_rows - 1));
        for (size_t p = 0; p * kLanes < nearest.size(); ++p) {
            const float* const turned = balls.centre.data() + static_cast<int64_t>(p) * stride;
            Part sum{};
            for (int64_t j = 0; j < d; ++j) {
                const Part apart = mean[j] - Part::at(turned + j * kLanes);
                sum += apart * apart;
            }
            Part::at(nearest.data() + p * kLanes) = sum;
        }
        const float sure = 1 - balls.rounding;
        float* const value = nearest.data();
        const float *const of = balls.radius.data(), *const least = balls.least.data();
        BVDT_INDEPENDENT_LOOP
        for (int64_t p = 0; p < n_panels; ++p) {
            const float apart = std::sqrt(value[p]) * sure - radius - of[p];
            const float bound = 0.5f * sure * apart * apart + least[p];
            value[p] = apart > 0 ? bound : -kInfinity;
        }
    }

    // What a panel's nearest centre must not exceed to belong into a list.
    float reach(const float* limit, int64_t n_rows) const {
        float most = -kInfinity;
        for (int64_t r = 0; r < n_rows; ++r) most = std::max(most, limit[r] + square[r]);
        return most;
    }
};

// products[r] = ⟨x_r, panel⟩
BVDT_INLINE void multiply(const float* const* x, const float* panel, int64_t d, Lanes<float>* products) {
    Lanes<float> sum[kRows] = {};
    for (int64_t j = 0; j < d; ++j) {
        const auto& h = Lanes<float>::at(panel + j * kLanes);
        for (int64_t r = 0; r < kRows; ++r) sum[r] += x[r][j] * h;
    }
    for (int64_t r = 0; r < kRows; ++r) products[r] = sum[r];
}

// Limits of kRows rows that let few more than k centres in, from the panels of the tile's own place on: the
// least of every lane are 16 different centres, and no k-th nearest is further than the k-th of these. Lists
// that begin so take a third of what they would, filled as centres come. At most 15 neighbours.
BVDT_INLINE void first_limits(const ChunkFrame& chunk, const float* const* x, int64_t first, int64_t n_rows,
                              int64_t k, float* limit) {
    using Part = Lanes<float>;
    Part low[kRows];
    for (int64_t r = 0; r < kRows; ++r) low[r] = Part{} + kInfinity;
    float error = 0;
    const int64_t begin = first / kLanes, end = std::min(begin + kProbed, chunk.n_panels);
    for (int64_t panel = begin; panel < end; ++panel) {
        Part rest[kRows];
        multiply(x, chunk.h.data() + panel * kLanes * chunk.d, chunk.d, rest);
        const Part level = Part::at(chunk.level.data() + panel * kLanes);
        for (int64_t r = 0; r < kRows; ++r) rest[r] = level - rest[r], low[r] = lesser(low[r], rest[r]);
        for (int64_t b = panel * kLanes; b < std::min((panel + 1) * kLanes, chunk.count); ++b)
            error = std::max(error, chunk.error[b]);
    }
    for (int64_t r = 0; r < n_rows; ++r) {
        float value[kLanes];
        Part::at(value) = low[r];
        std::nth_element(value, value + k, value + kLanes);  // the row itself is among them
        const float most = std::nextafter(value[k] + 2 * (error + chunk.error[first + r]), kInfinity);
        if (most < limit[r]) limit[r] = most;
    }
}

// Offers kRows rows from the first on all centres but themselves, from their own panel on: in an order in
// which near points are close the lists are nearly done at once, and few panels are looked at more closely.
void compare(const PanelBalls& balls, int64_t first, int64_t n_rows, TileBall& tile, LikelyCentres* found,
             const NeighborLists& lists) {
    const ChunkFrame& chunk = balls.chunk;
    const bool bounded = !balls.radius.empty();
    using Part = Lanes<float>;
    const float* x[kRows];
    float limit[kRows];
    for (int64_t r = 0; r < kRows; ++r) {
        x[r] = chunk.x.data() + (first + std::min(r, n_rows - 1)) * chunk.d;
        limit[r] = r < n_rows ? chunk.limit(first + r, list_of(lists, chunk.item[first + r])) : -kInfinity;
        found[r].begin(lists.k);
    }
    if (lists.k < kLanes) first_limits(chunk, x, first, n_rows, lists.k, limit);
    if (bounded) tile.place(balls, first, n_rows);
    float reach = tile.reach(limit, n_rows);
    int64_t panel = first / kLanes;
    for (int64_t turn = 0; turn < chunk.n_panels;
         ++turn, panel = panel + 1 < chunk.n_panels ? panel + 1 : 0) {
        const int64_t at = panel * kLanes;
        if (bounded && tile.nearest[panel] >= reach) continue;
        Part rest[kRows];
        multiply(x, chunk.h.data() + at * chunk.d, chunk.d, rest);
        const Part level = Part::at(chunk.level.data() + at);
        Signs<float> below;
        for (int64_t r = 0; r < kRows; ++r) rest[r] = level - rest[r], below.add(rest[r] - limit[r]);
        if (!below.any()) continue;
        bool shortened = false;
        for (int64_t r = 0; r < n_rows; ++r) {
            Signs<float> here;
            here.add(rest[r] - limit[r]);
            if (!here.any()) continue;
            float value[kLanes];
            Part::at(value) = rest[r];
            found[r].offer(value, static_cast<int32_t>(at), std::min(kLanes, chunk.count - at), limit[r]);
            if (!found[r].full()) continue;
            limit[r] = found[r].shortened(chunk.error.data(), first + r, lists.k, limit[r]);
            shortened = true;
        }
        if (shortened && bounded) reach = tile.reach(limit, n_rows);
    }
    for (int64_t r = 0; r < n_rows; ++r) {
        found[r].shortened(chunk.error.data(), first + r, lists.k, limit[r]);
        found[r].insert_into(list_of(lists, chunk.item[first + r]), first + r, chunk.item,
                             [&](int64_t b) { return chunk.divergence(first + r, b); });
    }
}

}  // namespace

// Threads share the rows of a chunk, since dense points come in one chunk as a rule.
void chunk_neighbors(const DensePoints& points, const Levels& levels, const PointChunks& chunks,
                     const NeighborLists& lists, int threads) {
    for (int64_t c = 0; c < chunks.count; ++c) {
        const int64_t size = chunks.bounds[c + 1] - chunks.bounds[c];
        if (size == 0) continue;
        const ChunkFrame chunk(points, levels, chunks.order + chunks.bounds[c], size);
        const PanelBalls balls(chunk);
        parallel_stretches<BriefTeam>(size, kTurn, threads, [&](int64_t begin, int64_t end) {
            TileBall tile;
            std::array<LikelyCentres, kRows> found;
            for (int64_t first = begin; first < end; first += kRows)
                compare(balls, first, std::min(kRows, end - first), tile, found.data(), lists);
        });
    }
}

void chunk_neighbors(const SparsePoints& points, const Levels& levels, const PointChunks& chunks,
                     const NeighborLists& lists, int threads) {
    parallel_for(
        chunks.count, 1, threads, [] { return SparseGram{}; },
        [&](int64_t c, SparseGram& gram) {
            const int32_t* item = chunks.order + chunks.bounds[c];
            const int64_t size = chunks.bounds[c + 1] - chunks.bounds[c];
            gram.compute(points, item, size);
            for (int64_t a = 0; a < size; ++a) {
                const double* inner = gram.value.data() + a * gram.stride;
                const double ua = levels.u[item[a]];
                const TopList<double> list = list_of(lists, item[a]);
                for (int64_t b = 0; b < size; ++b) {
                    const double d = ua + levels.w[item[b]] - inner[b];
                    if (d <= list.worst() && b != a) offer(list, item[b], std::max(d, 0.0));
                }
            }
        });
}

}  // namespace bvdt
