// The k nearest centres of dense points by cells, an inverted file (DESIGN 2.9): a point is compared with
// those of the cells whose means are nearest to it.
//
// With cell means x̄, h̄, a row a of cell A and a centre b of cell B, x' = x_a − x̄_A, h' = h_b − h̄_B,
// ΔX = x̄_B − x̄_A and ΔH = h̄_B − h̄_A, the divergence falls into parts as small as the cells and their
// distance, so single precision is enough to rank:
//
//     d_ab = (u_a − ⟨x_a, h̄_A⟩ + c_A) − ⟨x', ΔH⟩                    a row's part, once a cell
//          + (w_b − ⟨x̄_B, h'⟩ − c_B) + ⟨ΔX, h'⟩                     a centre's part, once a cell of rows
//          + (c_B − c_A − ⟨x̄_A, ΔH⟩)
//          − ⟨x', h'⟩                                               the product
//
// with c the mean of w − ⟨x̄, h'⟩ over a cell. Centres are packed in blocks of 16: block t of cell B holds
// h' as (d, 16). x is multiplied by scale_x and h by scale_h, so that neither overflow nor underflow is near.
// What was found is then ranked in double precision.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "chunks.hpp"
#include "lanes.hpp"
#include "points.hpp"

namespace bvdt {
namespace {

constexpr int64_t kRows = 6;   // compared at once; with 16 lanes their sums fill an AVX2 CPU's registers
constexpr int64_t kReach = 4;  // points of the cells near to a cell, over those that a row is compared with
constexpr float kInfinity = std::numeric_limits<float>::infinity();

class Cells {
  public:
    const DensePoints points;
    int64_t n;
    std::vector<double> mean_x, mean_h;  // (n, d)
    std::vector<double> turned;          // (2d, n): h̄ above x̄
    std::vector<double> mean_level;      // (n,) c
    std::vector<double> self;            // (n,) ⟨x̄, h̄⟩
    std::vector<int64_t> blocks;         // (n + 1,) first block of a cell
    std::vector<float> panel;            // (n_blocks, d, 16) h'
    std::vector<float> level;            // (n_blocks, 16) w − ⟨x̄, h'⟩ − c, +∞ after a cell's last point
    double scale_x = 1, scale_h = 1;

    Cells(Matrix<double> x, Matrix<double> h, Vector<double> u, Vector<double> w, Vector<int32_t> order,
          Vector<int64_t> bounds, int threads);

    void search(int64_t first, int64_t last, int64_t pairs, const MutableMatrix<int32_t>& index,
                const MutableMatrix<double>& divergence, int threads) const;

    int64_t size(int64_t cell) const { return bounds_.data()[cell + 1] - bounds_.data()[cell]; }
    const int32_t* items(int64_t cell) const { return order_.data() + bounds_.data()[cell]; }
    double u(int64_t i) const { return u_.data()[i]; }
    double w(int64_t i) const { return w_.data()[i]; }
    double scale() const { return scale_x * scale_h; }

  private:
    Matrix<double> x_, h_;  // these keep the arrays alive
    Vector<double> u_, w_;
    Vector<int32_t> order_;
    Vector<int64_t> bounds_;

    void average(int64_t cell);
    void pack(int64_t cell);
};

double dot(const double* a, const double* b, int64_t d) {
    double sum = 0;
    for (int64_t j = 0; j < d; ++j) sum += a[j] * b[j];
    return sum;
}

void Cells::average(int64_t cell) {
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
    self[cell] = dot(x, h, d);
}

void Cells::pack(int64_t cell) {
    const int64_t d = points.d, count = size(cell);
    const double *x = mean_x.data() + cell * d, *h = mean_h.data() + cell * d;
    std::vector<double> own(static_cast<size_t>(count));
    for (int64_t b = 0; b < count; ++b) {
        const int64_t i = items(cell)[b];
        float* lane = panel.data() + (blocks[cell] + b / kLanes) * d * kLanes + b % kLanes;
        for (int64_t j = 0; j < d; ++j)
            lane[j * kLanes] = static_cast<float>(scale_h * (points.h[i * d + j] - h[j]));
        own[b] = w(i) - dot(x, points.h + i * d, d) + self[cell];
    }
    mean_level[cell] = std::accumulate(own.begin(), own.end(), 0.0) / static_cast<double>(count);
    for (int64_t b = 0; b < count; ++b)
        level[blocks[cell] * kLanes + b] = static_cast<float>(scale() * (own[b] - mean_level[cell]));
}

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

// out[t] −= xa·h[t]
BVDT_SIMD void subtract_scaled(double xa, const double* h, int64_t count, double* out) {
    for (int64_t t = 0; t < count; ++t) out[t] -= xa * h[t];
}

// The nearest cells of a cell by ⟨x̄_A − x̄_B, h̄_A − h̄_B⟩, its own first.
struct CellRanking {
    const Cells& cells;
    std::vector<double> score;
    std::vector<std::pair<double, int32_t>> ranked;

    explicit CellRanking(const Cells& c) : cells(c) {
        score.resize(static_cast<size_t>(c.n)), ranked.resize(static_cast<size_t>(c.n));
    }

    // So many cells that they hold `least` points, if there are as many.
    int64_t nearest(int64_t cell, int64_t count, int64_t least) {
        constexpr int64_t kStretch = 512;  // scores that stay in the first-level cache
        const int64_t d = cells.points.d;
        for (int64_t first = 0; first < cells.n; first += kStretch) {
            const int64_t length = std::min(kStretch, cells.n - first);
            std::copy_n(cells.self.data() + first, length, score.data() + first);
            for (int64_t j = 0; j < 2 * d; ++j) {
                const double with = j < d ? cells.mean_x[cell * d + j] : cells.mean_h[cell * d + j - d];
                subtract_scaled(with, cells.turned.data() + j * cells.n + first, length,
                                score.data() + first);
            }
        }
        score[cell] = -std::numeric_limits<double>::infinity();
        for (int64_t b = 0; b < cells.n; ++b) ranked[b] = {score[b], static_cast<int32_t>(b)};
        for (count = std::min(count, cells.n);; count = std::min(2 * count, cells.n)) {
            if (count < cells.n) std::nth_element(ranked.begin(), ranked.begin() + count, ranked.end());
            int64_t held = 0;
            for (int64_t c = 0; c < count; ++c) held += cells.size(ranked[c].second);
            if (held >= least || count == cells.n) break;
        }
        std::sort(ranked.begin(), ranked.begin() + count);
        return count;
    }
};

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

// out (rows, stride): products of all rows with all blocks of a panel.
template <int Width>
BVDT_INLINE void multiply_all_lanes(const float* x, int64_t rows, int64_t d, const float* panel,
                                    int64_t n_blocks, float* out) {
    using Part = Lanes<float, Width>;
    for (int64_t first = 0; first < rows; first += kRows) {
        const float* tile[kRows];
        for (int64_t r = 0; r < kRows; ++r) tile[r] = x + std::min(first + r, rows - 1) * d;
        for (int64_t b = 0; b < n_blocks; ++b) {
            Part products[kRows];
            multiply(tile, panel + b * d * kLanes, d, products);
            for (int64_t r = 0; r < std::min(kRows, rows - first); ++r)
                Part::at(out + ((first + r) * n_blocks + b) * kLanes) = products[r];
        }
    }
}
BVDT_EACH_WIDTH(multiply_all,
                (const float* x, int64_t rows, int64_t d, const float* panel, int64_t n_blocks, float* out),
                (x, rows, d, panel, n_blocks, out))

// out = level + constant + ⟨delta, panel⟩ for every centre of a cell; delta's values are 16 apart.
template <int Width>
BVDT_INLINE void add_along_lanes(const float* level, float constant, const float* delta, const float* panel,
                                 int64_t n_blocks, int64_t d, float* out) {
    using Sum = Lanes<float, Width>;
    for (int64_t b = 0; b < n_blocks; ++b) {
        Sum sum = Sum::at(level + b * kLanes) + constant;
        for (int64_t j = 0; j < d; ++j) sum += delta[j * kLanes] * Sum::at(panel + (b * d + j) * kLanes);
        Sum::at(out + b * kLanes) = sum;
    }
}
BVDT_EACH_WIDTH(add_along,
                (const float* level, float constant, const float* delta, const float* panel, int64_t n_blocks,
                 int64_t d, float* out),
                (level, constant, delta, panel, n_blocks, d, out))

// The row's k best so far, ascending.
struct Best {
    float* value;    // (k,)
    int32_t* index;  // (k,)
    int32_t own;     // the row's own point

    void offer(int64_t k, int32_t j, float d) const {
        if (j == own) return;
        int64_t place = k - 1;
        for (; place > 0 && d < value[place - 1]; --place)
            value[place] = value[place - 1], index[place] = index[place - 1];
        value[place] = d, index[place] = j;
    }
};

// Offers kRows rows the centres of a cell. A row's divergences are row_part + centre_part − product; a block
// is looked at more closely only if one of them is below the row's worst.
template <int Width>
BVDT_INLINE void compare_lanes(const float* const* x, const float* row_part, const Best* best, int64_t k,
                               const float* panel, const float* centre_part, const int32_t* item,
                               int64_t n_blocks, int64_t d) {
    using Part = Lanes<float, Width>;
    float limit[kRows];
    for (int64_t r = 0; r < kRows; ++r) limit[r] = best[r].value[k - 1] - row_part[r];
    for (int64_t b = 0; b < n_blocks; ++b) {
        Part rest[kRows];
        multiply(x, panel + b * d * kLanes, d, rest);
        const Part part = Part::at(centre_part + b * kLanes);
        Signs<Width> below;
        for (int64_t r = 0; r < kRows; ++r) rest[r] = part - rest[r], below.add(rest[r] - limit[r]);
        if (!below.any()) continue;
        for (int64_t r = 0; r < kRows; ++r) {
            Signs<Width> here;
            here.add(rest[r] - limit[r]);
            if (!here.any()) continue;
            float value[kLanes];
            Part::at(value) = rest[r];
            for (int64_t t = 0; t < kLanes; ++t)
                if (value[t] < limit[r]) {
                    best[r].offer(k, item[b * kLanes + t], value[t] + row_part[r]);
                    limit[r] = best[r].value[k - 1] - row_part[r];
                }
        }
    }
}
BVDT_EACH_WIDTH(compare,
                (const float* const* x, const float* row_part, const Best* best, int64_t k,
                 const float* panel, const float* centre_part, const int32_t* item, int64_t n_blocks,
                 int64_t d),
                (x, row_part, best, k, panel, centre_part, item, n_blocks, d))

// The smallest of some thresholds at which the scores up to it hold at least so many points.
BVDT_SIMD float threshold(const float* score, const int32_t* size, int64_t count, int64_t points) {
    float low = kInfinity, high = -kInfinity;
    for (int64_t c = 0; c < count; ++c) low = std::min(low, score[c]), high = std::max(high, score[c]);
    for (int step = 0; step < 8; ++step) {
        const float middle = low + (high - low) / 2;
        int32_t held = 0;
        for (int64_t c = 0; c < count; ++c) held += score[c] <= middle ? size[c] : 0;
        (held >= points ? high : low) = middle;
    }
    return high;
}

// All rows of one cell against the cells near to it.
struct CellSearch {
    const Cells& cells;
    CellRanking ranking;
    int64_t k;
    std::vector<float> x, h, row_part;              // (rows, d) ×2, (rows,)
    std::vector<float> delta_x, delta_h;            // (blocks of cells, d, 16)
    std::vector<float> along_h, along_x, distance;  // (rows, cells) ⟨x', ΔH⟩, ⟨h', ΔX⟩; (cells,)
    std::vector<int32_t> size;                      // (cells,)
    std::vector<int32_t> chosen, n_chosen;          // (cells, rows) rows to compare with a cell; (cells,)
    std::vector<float> value, centre_part;          // (rows, k), (lanes of a cell,)
    std::vector<int32_t> index;                     // (rows, k)
    std::vector<std::pair<double, int32_t>> exact;
    std::vector<float> nothing;  // (k,) −∞: a list that takes no one

    CellSearch(const Cells& c, int64_t k_)
        : cells(c), ranking(c), k(k_), nothing(static_cast<size_t>(k_), -kInfinity) {}

    void run(int64_t cell, int64_t pairs, int64_t n_near, int32_t* out_index, double* out_divergence) {
        const int64_t n_rows = cells.size(cell), count = ranking.nearest(cell, n_near, pairs);
        center_rows(cell);
        rank_cells(cell, count, pairs);
        value.assign(static_cast<size_t>(n_rows * k), kInfinity);
        index.assign(static_cast<size_t>(n_rows * k), -1);
        for (int64_t c = 0; c < count; ++c) compare_with(cell, c, padded(count));
        for (int64_t a = 0; a < n_rows; ++a)
            write_exactly(cells.items(cell)[a], a, out_index, out_divergence);
    }

  private:
    static int64_t padded(int64_t count) { return (count + kLanes - 1) / kLanes * kLanes; }

    void center_rows(int64_t cell) {
        const int64_t d = cells.points.d, n_rows = cells.size(cell);
        const double *mean_x = cells.mean_x.data() + cell * d, *mean_h = cells.mean_h.data() + cell * d;
        x.resize(static_cast<size_t>(n_rows * d)), h.resize(static_cast<size_t>(n_rows * d));
        row_part.resize(static_cast<size_t>(n_rows));
        for (int64_t a = 0; a < n_rows; ++a) {
            const int64_t i = cells.items(cell)[a];
            const double *xi = cells.points.x + i * d, *hi = cells.points.h + i * d;
            for (int64_t j = 0; j < d; ++j) {
                x[a * d + j] = static_cast<float>(cells.scale_x * (xi[j] - mean_x[j]));
                h[a * d + j] = static_cast<float>(cells.scale_h * (hi[j] - mean_h[j]));
            }
            const double part = cells.u(i) - dot(xi, mean_h, d) + cells.mean_level[cell];
            row_part[a] = static_cast<float>(cells.scale() * part);
        }
    }

    // How near the cells' means are to each row, ⟨x_a − x̄_B, h_a − h̄_B⟩, and the limit up to which the row is
    // compared with a cell.
    void rank_cells(int64_t cell, int64_t count, int64_t pairs) {
        const int64_t d = cells.points.d, n_rows = cells.size(cell), stride = padded(count);
        delta_x.assign(static_cast<size_t>(stride * d), 0.0f), delta_h.assign(delta_x.size(), 0.0f);
        distance.assign(static_cast<size_t>(stride), kInfinity), size.assign(distance.size(), 0);
        for (int64_t c = 0; c < count; ++c) {
            const int64_t to = ranking.ranked[c].second, lane = c / kLanes * d * kLanes + c % kLanes;
            float sum = 0;
            for (int64_t j = 0; j < d; ++j) {
                const double dx = cells.scale_x * (cells.mean_x[to * d + j] - cells.mean_x[cell * d + j]);
                const double dh = cells.scale_h * (cells.mean_h[to * d + j] - cells.mean_h[cell * d + j]);
                delta_x[lane + j * kLanes] = static_cast<float>(dx);
                delta_h[lane + j * kLanes] = static_cast<float>(dh);
                sum += static_cast<float>(dx * dh);
            }
            distance[c] = sum, size[c] = static_cast<int32_t>(cells.size(to));
        }
        along_h.resize(static_cast<size_t>(n_rows * stride)), along_x.resize(along_h.size());
        multiply_all(x.data(), n_rows, d, delta_h.data(), stride / kLanes, along_h.data());
        multiply_all(h.data(), n_rows, d, delta_x.data(), stride / kLanes, along_x.data());
        chosen.resize(static_cast<size_t>(n_rows * count)), n_chosen.assign(static_cast<size_t>(count), 0);
        for (int64_t a = 0; a < n_rows; ++a) {
            float* score = along_x.data() + a * stride;  // from here on the whole score
            for (int64_t c = 0; c < count; ++c) score[c] = distance[c] - along_h[a * stride + c] - score[c];
            const float limit = threshold(score, size.data(), count, pairs);
            for (int64_t c = 0; c < count; ++c) {  // without branches: half of the cells are chosen
                chosen[c * n_rows + n_chosen[c]] = static_cast<int32_t>(a);
                n_chosen[c] += score[c] <= limit;
            }
        }
    }

    void compare_with(int64_t cell, int64_t c, int64_t stride) {
        const int64_t n_here = n_chosen[c];
        if (n_here == 0) return;
        const int32_t* rows_here = chosen.data() + c * cells.size(cell);
        const int64_t d = cells.points.d, to = ranking.ranked[c].second;
        const int64_t n_blocks = cells.blocks[to + 1] - cells.blocks[to];
        const float* panel = cells.panel.data() + cells.blocks[to] * d * kLanes;
        find_centre_part(cell, to, panel, n_blocks, delta_x.data() + c / kLanes * d * kLanes + c % kLanes);
        for (int64_t first = 0; first < n_here; first += kRows) {
            const float* tile[kRows];
            float part[kRows];
            Best best[kRows];
            for (int64_t r = 0; r < kRows; ++r) {
                const bool real = first + r < n_here;
                const int64_t a = rows_here[real ? first + r : first];
                tile[r] = x.data() + a * d;
                part[r] = row_part[a] - along_h[a * stride + c];
                best[r] = {value.data() + a * k, index.data() + a * k, cells.items(cell)[a]};
                if (!real) best[r].value = nothing.data();
            }
            compare(tile, part, best, k, panel, centre_part.data(), cells.items(to), n_blocks, d);
        }
    }

    // level + ⟨ΔX, h'⟩ + (c_B − c_A − ⟨x̄_A, ΔH⟩) of every centre of cell `to`.
    void find_centre_part(int64_t cell, int64_t to, const float* panel, int64_t n_blocks, const float* dx) {
        const int64_t d = cells.points.d;
        double between = cells.mean_level[to] - cells.mean_level[cell];
        for (int64_t j = 0; j < d; ++j)
            between -= cells.mean_x[cell * d + j] * (cells.mean_h[to * d + j] - cells.mean_h[cell * d + j]);
        const float constant = static_cast<float>(cells.scale() * between);
        centre_part.resize(static_cast<size_t>(n_blocks * kLanes));
        add_along(cells.level.data() + cells.blocks[to] * kLanes, constant, dx, panel, n_blocks, d,
                  centre_part.data());
    }

    void write_exactly(int64_t i, int64_t a, int32_t* out_index, double* out_divergence) {
        const int64_t d = cells.points.d;
        exact.clear();
        for (int64_t s = 0; s < k; ++s) {
            const int32_t j = index[a * k + s];
            if (j < 0) break;
            const double inner = dot(cells.points.x + i * d, cells.points.h + int64_t{j} * d, d);
            exact.emplace_back(std::max(cells.u(i) + cells.w(j) - inner, 0.0), j);
        }
        std::sort(exact.begin(), exact.end());
        for (size_t s = 0; s < exact.size(); ++s)
            out_divergence[i * k + s] = exact[s].first, out_index[i * k + s] = exact[s].second;
    }
};

Cells::Cells(Matrix<double> x, Matrix<double> h, Vector<double> u, Vector<double> w, Vector<int32_t> order,
             Vector<int64_t> bounds, int threads)
    : points(dense_points(x, h)),
      n(static_cast<int64_t>(bounds.shape(0)) - 1),
      x_(std::move(x)),
      h_(std::move(h)),
      u_(std::move(u)),
      w_(std::move(w)),
      order_(std::move(order)),
      bounds_(std::move(bounds)) {
    require(static_cast<int64_t>(u_.shape(0)) == points.n && static_cast<int64_t>(w_.shape(0)) == points.n,
            "Cells: u and w must have one value a point");
    check_order(order_, points.n);
    require(n >= 1 && bounds_.data()[0] == 0 && bounds_.data()[n] == points.n && threads >= 1,
            "Cells: bounds must match the points");
    blocks.push_back(0);
    for (int64_t cell = 0; cell < n; ++cell) {
        require(size(cell) > 0, "Cells: bounds must ascend");
        blocks.push_back(blocks.back() + (size(cell) + kLanes - 1) / kLanes);
    }
    const size_t values = static_cast<size_t>(n * points.d);
    mean_x.assign(values, 0.0), mean_h.assign(values, 0.0), turned.resize(2 * values);
    self.resize(static_cast<size_t>(n)), mean_level.resize(static_cast<size_t>(n));
    panel.assign(static_cast<size_t>(blocks.back() * points.d * kLanes), 0.0f);
    level.assign(static_cast<size_t>(blocks.back() * kLanes), kInfinity);
    nb::gil_scoped_release release;
    scale_x = inverse_spread(points.x, points.n, points.d);
    scale_h = points.h == points.x ? scale_x : inverse_spread(points.h, points.n, points.d);
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads) if (threads > 1)
    for (int64_t cell = 0; cell < n; ++cell) average(cell), pack(cell);
}

void Cells::search(int64_t first, int64_t last, int64_t pairs, const MutableMatrix<int32_t>& index,
                   const MutableMatrix<double>& divergence, int threads) const {
    const int64_t k = static_cast<int64_t>(index.shape(1));
    require(static_cast<int64_t>(index.shape(0)) == points.n && divergence.shape(0) == index.shape(0) &&
                divergence.shape(1) == index.shape(1) && k >= 1,
            "Cells: index and divergence must be (N, k), k at least 1");
    require(0 <= first && first <= last && last <= n && pairs > k && threads >= 1,
            "Cells: needs cells that there are and more pairs than neighbours");
    const int64_t n_near = (kReach * pairs * n + points.n - 1) / points.n;
    nb::gil_scoped_release release;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        CellSearch search(*this, k);
#pragma omp for schedule(dynamic)
        for (int64_t cell = first; cell < last; ++cell)
            search.run(cell, pairs, n_near, index.data(), divergence.data());
    }
}

}  // namespace

void register_cells(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Cells>(m, "Cells")
        .def(nb::init<Matrix<double>, Matrix<double>, Vector<double>, Vector<double>, Vector<int32_t>,
                      Vector<int64_t>, int>(),
             "x"_a, "h"_a, "u"_a, "w"_a, "order"_a, "bounds"_a, "threads"_a)
        .def("search", &Cells::search, "first"_a, "last"_a, "pairs"_a, "index"_a.noconvert(),
             "divergence"_a.noconvert(), "threads"_a);
}

}  // namespace bvdt
