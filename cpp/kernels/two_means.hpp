// 2-means of some points, found on a sample of them: where to cut them in two. docs/beyond.md, "Ward trees".
//
// With centers (x̄, h̄), point i belongs to the side with the smaller ⟨x_i − x̄, h_i − h̄⟩. The difference of the
// two is linear in the point: p_i = ⟨x_i, Δh⟩ + ⟨h_i, Δx⟩ with Δ = center₁ − center₀, and the border lies
// midway between the sides' mean projections. So d pairs of numbers hold a split.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "points.hpp"
#include "random.hpp"

namespace bvdt {

struct Border {
    double at = 0;
    bool found = false;
};

// Δ of one split, and the projections onto it.
struct DenseDelta {
    const DensePoints& points;
    std::vector<double> x, h;  // (d,); for self-dual data only x is kept

    explicit DenseDelta(const DensePoints& points_)
        : points(points_), x(static_cast<size_t>(points_.d)), h(x.size()) {}

    bool self_dual() const { return points.x == points.h; }
    void add(const int32_t* ids, const double* scale, int64_t count);
    void project(const int32_t* ids, int64_t count, double* p) const;
    void clear(const std::vector<int32_t>& ids);
};

struct SparseDelta {
    const SparsePoints& points;
    std::vector<Pair> value;  // (d,)

    explicit SparseDelta(const SparsePoints& points_)
        : points(points_), value(static_cast<size_t>(points_.d)) {}

    void add(const int32_t* ids, const double* scale, int64_t count);
    void project(const int32_t* ids, int64_t count, double* p) const;
    void clear(const std::vector<int32_t>& ids);
};

inline DenseDelta delta_for(const DensePoints& points) { return DenseDelta(points); }
inline SparseDelta delta_for(const SparsePoints& points) { return SparseDelta(points); }

template <typename Points>
class TwoMeans {
  public:
    TwoMeans(const Points& points, const double* weight)
        : points_(points), weight_(weight), delta_(delta_for(points)) {}

    // Finds Δ, for `project`, and returns the border; not found when the sample's points cannot be separated
    // apart. A few far points would draw it between them and all others, again at every level and in every
    // tree: a far side with less than the smallest share of the sample is left out, and the rest is cut.
    Border find(const int32_t* segment, int64_t n, double smallest_side, Random& random);

    void project(const int32_t* ids, int64_t count, double* p) const { delta_.project(ids, count, p); }

    // Δ is zero again, as it must be before the next `find`.
    void clear() { delta_.clear(sample_); }

  private:
    const Points& points_;
    const double* weight_;
    decltype(delta_for(std::declval<const Points&>())) delta_;  // zero between uses
    std::vector<double> p_, sample_weight_, share_;
    std::vector<uint8_t> side_;
    std::vector<int32_t> sample_;

    void choose_sample(const int32_t* segment, int64_t n, Random& random);
    void take(std::vector<int32_t> ids);
    void keep(uint8_t which);
    void project_sample();
    void add(int32_t id, double scale) { delta_.add(&id, &scale, 1); }
    bool seed(Random& random);
    Border cut_sample(Random& random);
    Border midpoint() const;
    bool is_far(bool side_kept) const;
};

}  // namespace bvdt
