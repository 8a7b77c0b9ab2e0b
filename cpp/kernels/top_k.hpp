// Lists of neighbors: the k best of what was offered, candidates known by bounds, and their re-rank.
//
// Lists are (N, k), each row ascending by (divergence, index) and filled up with index −1, divergence +∞.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace bvdt {

// The k best, ascending by value; places that none took hold index −1 and value +∞.
template <typename Value>
struct TopList {
    Value* value;    // (k,)
    int32_t* index;  // (k,)
    int64_t k;

    Value worst() const { return value[k - 1]; }
    bool holds(int32_t j) const { return std::find(index, index + k, j) != index + k; }

    // Whether j comes before the last; equal values go by index.
    bool takes(int32_t j, Value d) const { return d < worst() || (d == worst() && j < index[k - 1]); }

    // Puts j where it belongs, and the last one falls out; j is known to come before it.
    void insert(int32_t j, Value d) const {
        const auto before = [&](int64_t place) {
            return d < value[place] || (d == value[place] && j < index[place]);
        };
        int64_t place = k - 1;
        for (; place > 0 && before(place - 1); --place)
            value[place] = value[place - 1], index[place] = index[place - 1];
        value[place] = d, index[place] = j;
    }

    void offer(int32_t j, Value d) const {
        if (takes(j, d) && !holds(j)) insert(j, d);
    }
};

struct NeighborLists {
    int32_t* index;      // (N, k)
    double* divergence;  // (N, k)
    int64_t k;

    TopList<double> row(int64_t i) const { return {divergence + i * k, index + i * k, k}; }
};

// Candidates offered together: item[place[s]] has a value in from + value[s] … from + value[s] + gap.
struct Offers {
    const float* value;    // (count,)
    const int32_t* place;  // (count,)
    int64_t count;
    const int32_t* item;
    float from, gap;
};

// Candidates whose values are known by bounds: whoever may be among the k best is kept.
class CandidateList {
  public:
    void start(int64_t k);

    // What k of those offered are surely not above.
    float worst() const { return worst_; }

    void offer(const Offers& offers);

    void drop_far();  // whoever cannot be among the k best

    int64_t count() const { return count_; }
    int32_t item(int64_t s) const { return item_[s]; }
    float lower(int64_t s) const { return lower_[s]; }

  private:
    int64_t k_ = 0, count_ = 0, many_ = 0;  // `many`: when the list is pruned next
    float worst_ = 0;
    std::vector<float> lower_, upper_;
    std::vector<int32_t> item_;
};

// The points that candidates are ranked by: queries x, u; indexed points h, w.
struct ExactPoints {
    const double *x, *h;  // (n, d), (N, d)
    const double *u, *w;  // (n,), (N,)
    int64_t d;
};

using Candidate = std::pair<double, int32_t>;  // an estimate, and who it is

// Writes the k best of query i's candidates by the divergence itself. Where no divergence is below its
// estimate (`is_bound`) candidates need to ascend, and the far ones are left out unseen.
void rerank(const ExactPoints& points, int64_t i, const std::vector<Candidate>& candidates, bool is_bound,
            const TopList<double>& best);

}  // namespace bvdt
