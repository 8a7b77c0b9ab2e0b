// For every cluster of a chunk, a few others among which its nearest one is, and a limit: a cluster that is
// not among them costs at least that much. So most scans of all clusters are spared.
//
// Ward's cost is reducible: where A and B are each other's nearest, cost(A∪B, C) is no less than the smaller
// of cost(A, C) and cost(B, C), for every C. So merges never take a limit away, and the candidates of A∪B are
// those of A and of B, at the smaller of both limits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace bvdt {

// What is known before the first merge: a point's nearest others, −1 for nobody, and a cost that no point
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
    }

    double limit(int32_t cluster) const { return limit_[cluster]; }

    // The candidates as clusters, each once.
    const int32_t* begin(int32_t cluster) const { return place_.data() + cluster * kRoom; }
    const int32_t* end(int32_t cluster) const { return begin(cluster) + count_[cluster]; }

    void forget(int32_t cluster) {
        count_[cluster] = 0, limit_[cluster] = -std::numeric_limits<double>::infinity();
    }
    void set_limit(int32_t cluster, double limit) { limit_[cluster] = limit; }

    // Where there is no room for one more, all are forgotten.
    void add(int32_t cluster, int32_t place) {
        const int32_t other = cluster_of(place);
        if (other == cluster || std::find(begin(cluster), end(cluster), other) != end(cluster)) return;
        if (count_[cluster] == kRoom) return forget(cluster);
        place_[cluster * kRoom + count_[cluster]++] = other;
    }

    // Finds what has become of a cluster's candidates.
    void update(int32_t cluster) {
        const int32_t count = count_[cluster];
        count_[cluster] = 0;
        for (int32_t c = 0; c < count; ++c) add(cluster, place_[cluster * kRoom + c]);
    }

    // Cluster b becomes a part of a.
    void merge(int32_t a, int32_t b) {
        first_[b] = a;
        limit_[a] = std::min(limit_[a], limit_[b]);
        if (limit_[a] < 0) return forget(a);
        update(a);
        for (const int32_t* other = begin(b); other != end(b) && limit_[a] >= 0; ++other) add(a, *other);
    }

  private:
    std::vector<int32_t> place_, count_;  // (count, kRoom), (count,)
    std::vector<double> limit_;           // (count,)
    std::vector<int32_t> first_;  // (count,) of the cluster that a place belongs to, or on the way to it

    int32_t cluster_of(int32_t place) {
        while (first_[place] != place) place = first_[place] = first_[first_[place]];
        return place;
    }
};

}  // namespace bvdt
