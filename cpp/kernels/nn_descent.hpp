// NN-descent (Dong et al. 2011) on the neighbor lists of all points, dense or sparse: in an iteration
// the forward neighbors of every point, the first of its list, and its reverse neighbors, whose lists hold
// it, are compared with each other, a local join, and each of a pair is offered to the other's list.
//
// Everything is in places, an order in which near points stand side by side: place p is point order[p], and
// neighbors lead to near memory. Estimates level − ⟨x, h⟩ are in single precision; the lists are ranked by
// the divergence at the end.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "gram.hpp"
#include "ivf.hpp"
#include "large.hpp"
#include "top_k.hpp"

namespace bvdt {

constexpr int64_t kLongestList = 1 << 16;  // ranks are kept in 16 bits
constexpr int64_t kMostPlaces = 1 << 30;   // an entry of a list is twice a place and a bit

// What a thread finds in a local join: each member's hits among the others; places are those in the join.
class JoinHits {
  public:
    void make_room(int64_t n_rows, int64_t n_columns);
    Hits& operator[](int64_t row) { return hits_[static_cast<size_t>(row)]; }

  private:
    LargeVector<float> value_;
    LargeVector<int32_t> place_;
    std::vector<Hits> hits_;
};

// Dense points in places, in coordinates less the mean of all. No divergence is below part + estimate.
class DenseRows {
  public:
    DenseRows(const InvertedLists& lists, int threads);

    int64_t n() const { return static_cast<int64_t>(part_.size()); }
    double divergence(int64_t p, float estimate) const;  // at least
    void prefetch(int64_t p) const { prefetch_ends<0>(center(p), d_ + 1); }

    // Compares members of a join with each other.
    class Join {
      public:
        explicit Join(const DenseRows& rows) : rows_(rows) {}
        void gather(const int32_t* member, int64_t count);
        // Members first … last − 1 with the first n_columns; hits are below the row's limit.
        void compare(int64_t first, int64_t last, int64_t n_columns, const float* limit);
        // The first member with all: they are its hits.
        void compare_first(const int32_t* member, int64_t count);
        JoinHits hits;

      private:
        const DenseRows& rows_;
        const int32_t* member_ = nullptr;
        LargeVector<float> panels_;  // (panels, d, 16)
        std::vector<float> level_;   // (panels, 16)
    };

  private:
    int64_t d_, width_;
    double scale_;
    LargeVector<float> x_, h_;  // (N, width) ×2; x empty if it is h; the level, less its error, beside h
    std::vector<float> part_;   // (N,) u − ⟨x, mean⟩ in units of the scale, less its error

    const float* row(int64_t p) const { return (x_.empty() ? h_ : x_).data() + p * width_; }  // (d,)
    const float* center(int64_t p) const { return h_.data() + p * width_; }                   // (d,)
};

// Sparse points in places.
class SparsePlaces {
  public:
    SparsePlaces(const SparsePoints& points, const double* u, const double* w, const int32_t* order)
        : points_(points), u_(u), w_(w), order_(order, order + points.n) {}

    int64_t n() const { return points_.n; }
    double divergence(int64_t p, float estimate) const {
        return u_[order_[static_cast<size_t>(p)]] + static_cast<double>(estimate);
    }
    void prefetch(int64_t) const {}

    class Join {
      public:
        explicit Join(const SparsePlaces& rows) : rows_(rows), row_(rows.points_.d) {}
        void gather(const int32_t* member, int64_t count);
        void compare(int64_t first, int64_t last, int64_t n_columns, const float* limit);
        void compare_first(const int32_t* member, int64_t count);
        JoinHits hits;

      private:
        const SparsePlaces& rows_;
        std::vector<int32_t> item_;  // points
        SparseGram gram_;            // of the members
        SpreadRow row_;
    };

  private:
    SparsePoints points_;
    const double *u_, *w_;
    std::vector<int32_t> order_;
};

// The reverse of lists: who lists a place among the first of its list, and at which rank, in any order.
struct Reverse {
    std::vector<int64_t> first;  // (N + 1,)
    LargeVector<int32_t> from;
    LargeVector<uint16_t> rank;
};

// Lists in places that fill up, ascending by estimate, then by place, and the neighbors of an iteration.
class GrowingLists {
  public:
    // Lists of k, each of which is to be begun before anything else; the first n_forward lead on.
    GrowingLists(int64_t n, int64_t k, int64_t n_forward);
    GrowingLists(GrowingLists&&) = default;

    int64_t n() const { return n_; }
    int64_t k() const { return k_; }

    void clear(int64_t p);

    // Takes the neighbors of the next iteration from the lists. A neighbor is new if no iteration before has
    // had it: of two that are both old, the pair was compared then, but for reverse neighbors that were too
    // many.
    void link(int threads);
    const int32_t* neighbors(int64_t p) const { return neighbors_.data() + p * most_; }  // the new ones first
    int64_t n_neighbors(int64_t p) const { return n_all_[static_cast<size_t>(p)]; }      // 0 before `link`
    int64_t n_new(int64_t p) const { return n_new_[static_cast<size_t>(p)]; }

    // What is not below this is too far for the list of place p.
    float limit(int64_t p) const { return limit_[static_cast<size_t>(p)].load(std::memory_order_relaxed); }
    void prefetch(int64_t p) const { prefetch_ends<1>(value(p), k_), prefetch_ends<1>(entry(p), k_); }

    // Offers the list of place p others by their places and estimates; by several threads at once. In which
    // order does not matter: the best of all are the same, and a limit that has not fallen yet excludes none
    // out who belongs in.
    void offer(int64_t p, const Hits& hits);

    // The list of place p: places, −1 after the last, and estimates.
    void read(int64_t p, int32_t* place, float* estimate) const;

  private:
    int64_t n_, k_, n_forward_, most_;
    LargeVector<int32_t> entry_;             // (N, k) 2·place + 1 if new, or −1
    LargeVector<float> value_;               // (N, k)
    std::vector<std::atomic<float>> limit_;  // (N,)
    std::vector<std::atomic_flag> locks_;    // each of the places that leave the same remainder
    Reverse reverse_;                        // as of the last iteration: new pages of memory cost more
    LargeVector<int32_t> neighbors_;         // (N, most)
    std::vector<int32_t> n_all_, n_new_;     // (N,)

    const int32_t* entry(int64_t p) const { return entry_.data() + p * k_; }
    const float* value(int64_t p) const { return value_.data() + p * k_; }
    TopList<float> list(int64_t p) { return {value_.data() + p * k_, entry_.data() + p * k_, k_}; }
    void reverse(int threads);
    void lower_limit(int64_t p);
};

// Points and their places.
struct Places {
    std::vector<int32_t> order, place;  // (N,) ×2: order[place[i]] is i

    Places(const int32_t* order_, int64_t n);
};

// Begins the lists of all places with those given (N, k) of points, −1 after the last.
template <typename Rows>
void begin_lists(const Rows& rows, GrowingLists& lists, const Places& places, const int32_t* given,
                 int threads);

// The local joins of the places first … last − 1. The same for any number of threads.
template <typename Rows>
void join_lists(const Rows& rows, GrowingLists& lists, int64_t first, int64_t last, int threads);

}  // namespace bvdt
