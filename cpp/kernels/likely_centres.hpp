// Centres that may belong into a row's list, by single precision. Of more than k the farther ones are dropped
// from time to time, which takes a few steps per centre where a sorted list takes fifty.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "lanes.hpp"
#include "neighbors.hpp"
#include "top_list.hpp"

namespace bvdt {

class LikelyCentres {
  public:
    void begin(int64_t k) {
        count_ = 0;
        make_room(std::max(room_, 2 * k + kSpare));
    }
    bool full() const { return count_ >= room_; }

    // Those of up to 16 centres from `first` on that are below the limit; what is not a number may be
    // anywhere.
    BVDT_INLINE void offer(const float* value, int32_t first, int64_t n_centres, float limit) {
        float* const value_to = value_.data() + count_;
        int32_t* const centre_to = centre_.data() + count_;
        int64_t taken = 0;
        for (int32_t lane = 0; lane < n_centres; ++lane) {
            value_to[taken] = value[lane], centre_to[taken] = first + lane;
            taken += !(value[lane] >= limit);
        }
        count_ += taken;
    }

    // A limit that leaves the k nearest others of a row in, and drops what is beyond it. The row itself may
    // be among them, so k + 1 of them are below `most`, which is found by halves. More room where all stay.
    // error: (centres,) half of what a row's and a centre's part of a value may be too low.
    BVDT_INLINE float shortened(const float* error, int64_t row, int64_t k, float limit) {
        if (count_ > k + kFew) {
            float low = kInfinity, most = -kInfinity;
            for (int64_t i = 0; i < count_; ++i) {
                low = value_[i] > -kInfinity && value_[i] < low ? value_[i] : low;
                most = value_[i] > most ? value_[i] : most;
            }
            most = std::min(limit, std::nextafter(most, kInfinity));
            for (int halves = 0; halves < kMostHalves; ++halves) {
                const float middle = low + (most - low) / 2;
                int64_t below = 0;
                for (int64_t i = 0; i < count_; ++i) below += value_[i] < middle;
                (below > k ? most : low) = middle;
                if (below > k && below <= k + kFew) break;
            }
            keep_below(most, error, row, limit);
        }
        if (2 * count_ > room_) make_room(2 * room_);
        return limit;
    }

    // Into the row's list, by double precision; item: the point that each centre is.
    template <typename Divergence>
    void insert_into(const TopList<double>& list, int64_t row, const int32_t* item,
                     const Divergence& divergence) {
        exact_.clear();
        for (int64_t i = 0; i < count_; ++i) {
            const double d = divergence(centre_[i]);
            if (centre_[i] != row && !std::isnan(d)) exact_.emplace_back(d, item[centre_[i]]);
        }
        const bool fresh = list.index[0] < 0;
        if (fresh) std::sort(exact_.begin(), exact_.end());
        const int64_t n_first = fresh ? std::min<int64_t>(list.k, static_cast<int64_t>(exact_.size())) : 0;
        for (int64_t i = 0; i < n_first; ++i)
            list.value[i] = exact_[i].first, list.index[i] = exact_[i].second;
        for (size_t i = static_cast<size_t>(n_first); i < exact_.size(); ++i)
            if (comes_before_last(list, exact_[i].second, exact_[i].first))
                list.insert(exact_[i].second, exact_[i].first);
    }

  private:
    static constexpr float kInfinity = std::numeric_limits<float>::infinity();
    static constexpr int64_t kSpare = 64, kFew = 4;
    static constexpr int kMostHalves = 12;
    std::vector<float> value_;     // levels less products; room for 16 more than room_
    std::vector<int32_t> centre_;  // in the chunk
    std::vector<std::pair<double, int32_t>> exact_;
    int64_t count_ = 0, room_ = 0;

    void make_room(int64_t room) {
        room_ = room;
        value_.resize(room_ + kLanes), centre_.resize(room_ + kLanes);
    }

    // Lowers the limit to `most` and the errors of both.
    BVDT_INLINE void keep_below(float most, const float* error, int64_t row, float& limit) {
        float largest = 0;
        for (int64_t i = 0; i < count_; ++i) largest = std::max(largest, error[centre_[i]]);
        const float sure = std::nextafter(most + 2 * (largest + error[row]), kInfinity);
        if (!(sure < limit)) return;
        limit = sure;
        int64_t kept = 0;
        for (int64_t i = 0; i < count_; ++i) {
            value_[kept] = value_[i], centre_[kept] = centre_[i];
            kept += !(value_[i] >= limit);
        }
        count_ = kept;
    }
};

}  // namespace bvdt
