// Ward's agglomeration of one chunk of dense points from the clusters' means alone: a cluster's costs with
// all others are found when they are asked for. That is 3k scans of k means instead of a matrix of k² costs
// that is read and written all over, so where points have few coordinates it is several times faster, and it
// needs O(k) memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lanes.hpp"
#include "points.hpp"
#include "ward_candidates.hpp"

namespace bvdt {

constexpr int64_t kAtOnce = 4;  // panels whose sums stay in registers

struct Merge {
    int32_t a, b;  // places in the chunk; a stands for the merged cluster from now on
    double cost;
};

// A nearest-neighbor chain: each cluster's nearest one, until two are each other's and merge.
//
// `Value` is double, or float for points with x = h: then scans are in single precision, of points centered
// and scaled, and all clusters that could be the nearest by its rounding are compared in double precision.
template <typename Value>
class MeansChain {
  public:
    void prepare(const DensePoints& points, const int32_t* item, const double* weight, int64_t count);

    // Takes over what is known of every point's nearest others, for `Value` float, whose costs do not depend
    // on how they are found. place_of: a point's place in the chunk, −1 for those outside.
    template <typename PlaceOf>
    void know(const WardNear& near, const int32_t* item, const PlaceOf& place_of) {
        static_assert(sizeof(Value) == sizeof(float));
        listed_ = true;
        candidates_.prepare(slots_);
        for (int32_t s = 0; s < slots_; ++s) {
            const int32_t* const others = near.index + item[s] * near.k;
            if (near.k > Candidates::kRoom) continue;
            near_.clear();
            for (int64_t e = 0; e < near.k && others[e] >= 0; ++e)
                if (const int32_t other = place_of(others[e]); other >= 0 && other != s)
                    near_.push_back(other);
            candidates_.set(s, near_.data(), static_cast<int64_t>(near_.size()), near.limit[item[s]]);
        }
    }

    template <typename Emit>
    void run(const Emit& emit) {
        std::vector<int32_t> chain;
        std::vector<double> link;  // cost of each with the one before
        while (live_ > 1) {
            if (chain.empty()) {
                compact();
                chain.push_back(smallest()), link.push_back(0);
            }
            const int32_t a = chain.back();
            const int32_t before = chain.size() > 1 ? chain[chain.size() - 2] : -1;
            const Found found = nearest(a, before);
            // Links get shorter and shorter, or rounding could lead the chain round in circles.
            if (before < 0 || (found.slot != before && found.cost < link.back())) {
                chain.push_back(found.slot), link.push_back(found.cost);
                continue;
            }
            const double cost = link.back();
            chain.resize(chain.size() - 2), link.resize(link.size() - 2);
            emit(merge(a < before ? a : before, a < before ? before : a, cost));
        }
    }

  private:
    static constexpr int64_t kSlots = 64 / sizeof(Value);  // side by side in a panel
    static constexpr int64_t kRoom = kAtOnce * kSlots;
    struct Found {
        int32_t slot;
        double cost;
    };

    int64_t slots_ = 0, live_ = 0, d_ = 0;
    double point_ = 1;    // the least size
    double width_ = 1.5;  // of the nearest one's cost: up to which others become candidates
    bool self_dual_ = true;
    std::vector<double> x_, h_, size_,
        height_;                 // (slots, d) ×2, (slots,) ×2: means, points, last merge's cost
    std::vector<int32_t> name_;  // (slots,) place in the chunk
    std::vector<int32_t> slot_;  // (places,) the other way
    Candidates candidates_;
    bool listed_ = false;         // whether there are candidates
    std::vector<double> origin_;  // (d,)
    double scale_ = 1;
    std::vector<Value> panel_x_, panel_h_;  // (panels, d, kSlots)
    std::vector<Value> points_, dead_;      // (padded slots,) sizes; +∞ for slots that are no cluster, else 0
    std::vector<Value> cost_;               // (padded slots,) of the last scan
    std::vector<Value> least_;              // (panels / kAtOnce, kSlots) of so many panels of it
    std::vector<int32_t> close_;            // (panels,) where those begin that may hold the nearest
    std::vector<int32_t> near_;             // clusters that the last scan found near
    std::vector<Value> row_x_, row_h_;      // (d,) of the cluster that is scanned for

    // Whole panels, as many as are scanned at once.
    int64_t padded() const { return (slots_ + kRoom - 1) / kRoom * kRoom; }
    const double* h_of(int64_t slot) const { return (self_dual_ ? x_ : h_).data() + slot * d_; }
    void center();
    void pack(int64_t slot);
    void pack_all();
    void compact();
    void scan(int32_t a);
    double exact_cost(int32_t a, int32_t b) const;
    double slack(int32_t a, double least) const;
    int32_t smallest();
    Found nearest(int32_t a, int32_t before);
    Found among_candidates(int32_t a, int32_t before);
    Found among_all(int32_t a, int32_t before);
    void list(int32_t a, double wide);
    double limit_of_both(int32_t a, int32_t b, double cost) const;
    bool better(const Found& one, const Found& other, int32_t before) const;
    Merge merge(int32_t a, int32_t b, double cost);
};

}  // namespace bvdt
