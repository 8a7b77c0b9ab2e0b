// For every cluster of a chunk, a few others among which its nearest one is, and a limit: a cluster that is
// not among them costs at least that much. So most scans of all clusters are spared.
//
// Ward's cost is reducible: where A and B are each other's nearest, cost(A∪B, C) is no less than the smaller
// of cost(A, C) and cost(B, C), for every C. So merges never take a limit away, and the candidates of A∪B are
// those of A and of B, at the smaller of both limits or above. A scan that was not spared makes new ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace bvdt {

// What is known before the first merge: a point's nearest others, −1 for none, and a cost that no point
// beyond them is below.
struct WardNear {
    const int32_t* index = nullptr;  // (N, k) points
    const double* limit = nullptr;   // (N,)
    int64_t k = 0;
};

// Clusters go by the places of points in the chunk, each by that of its first point.
class Candidates {
  public:
    static constexpr int64_t kRoom = 40;

    // None, and no limit.
    void prepare(int64_t count) {
        place_.resize(static_cast<size_t>(count * kRoom)), count_.assign(static_cast<size_t>(count), 0);
        limit_.assign(static_cast<size_t>(count), -std::numeric_limits<double>::infinity());
        first_.resize(static_cast<size_t>(count));
        for (int64_t s = 0; s < count; ++s) first_[s] = static_cast<int32_t>(s);
        turn_.assign(static_cast<size_t>(count), turns_ = 0);
    }

    double limit(int32_t cluster) const { return limit_[cluster]; }

    // The candidates as clusters, each once.
    const int32_t* begin(int32_t cluster) const { return place_.data() + cluster * kRoom; }
    const int32_t* end(int32_t cluster) const { return begin(cluster) + count_[cluster]; }

    void forget(int32_t cluster) {
        count_[cluster] = 0, limit_[cluster] = -std::numeric_limits<double>::infinity();
    }

    // Finds what has become of a cluster's candidates.
    void update(int32_t cluster) {
        begin_list(cluster);
        take(cluster, cluster);
    }

    // At most kRoom clusters, each once.
    void set(int32_t cluster, const int32_t* others, int64_t count, double limit) {
        std::copy_n(others, count, place_.data() + cluster * kRoom);
        count_[cluster] = static_cast<int32_t>(count), limit_[cluster] = limit;
    }

    // Cluster b becomes a part of a; others cost at least `limit`.
    void merge(int32_t a, int32_t b, double limit) {
        first_[b] = a;
        limit_[a] = limit;
        if (limit_[a] < 0) return forget(a);
        begin_list(a);
        take(a, a);
        if (!take(a, b)) forget(a);
    }

  private:
    std::vector<int32_t> place_, count_;  // (count, kRoom), (count,)
    std::vector<double> limit_;           // (count,)
    std::vector<int32_t> first_;  // (count,) of the cluster that a place belongs to, or on the way to it
    std::vector<int32_t> turn_;   // (count,) in which a cluster was last put into a list
    int32_t turns_ = 0;

    void begin_list(int32_t cluster) {
        if (turns_ == std::numeric_limits<int32_t>::max()) turn_.assign(turn_.size(), turns_ = 0);
        turn_[cluster] = ++turns_;  // not its own candidate
    }

    // Adds another list's clusters, or renews a list from itself; false where there is no room for all.
    bool take(int32_t to, int32_t from) {
        const int32_t count = count_[from];
        int32_t end = to == from ? 0 : count_[to];
        for (int32_t c = 0; c < count; ++c) {
            const int32_t other = cluster_of(place_[from * kRoom + c]);
            if (turn_[other] == turns_) continue;
            if (end == kRoom) return false;
            turn_[other] = turns_;
            place_[to * kRoom + end++] = other;
        }
        count_[to] = end;
        return true;
    }

    int32_t cluster_of(int32_t place) {
        while (first_[place] != place) place = first_[place] = first_[first_[place]];
        return place;
    }
};

}  // namespace bvdt
