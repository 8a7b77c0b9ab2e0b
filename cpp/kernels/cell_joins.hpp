// Neighbours of neighbours of dense points, after a search by cells (steps of NN-descent, Dong et al. 2011).
//
// A point's links are the first of its list and those points, fewer than so many, whose lists hold it,
// nearest first. A pass compares the links of every point, and the point itself, with each other, a small
// matrix product, and offers each of a pair to the other's list.
//
// Everything is in places, the order of the cells: place p is point order[p], and links lead to near memory.
// Points and lists are kept there in single precision; what is found is ranked by the divergence at the end.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "cell_search.hpp"
#include "cell_store.hpp"
#include "large.hpp"
#include "top_list.hpp"

namespace bvdt {

constexpr int64_t kLongestList = 1 << 16;  // ranks are kept in 16 bits
constexpr int64_t kMostPlaces = 1 << 30;   // an entry of a list is twice a place and a bit

// Points in places: scale·d_ij = part_i + level_j − ⟨x_i, h_j⟩, less the two errors at most. Coordinates are
// counted from the means of all.
class PlacedPoints {
  public:
    PlacedPoints(const CellStore& cells, int threads);

    int64_t d() const { return d_; }
    const float* row(int64_t p) const { return (x_.empty() ? h_ : x_).data() + p * width_; }  // (d,)
    const float* centre(int64_t p) const { return h_.data() + p * width_; }                   // (d,)
    float part(int64_t p) const { return part_[p]; }        // less its error
    float level(int64_t p) const { return centre(p)[d_]; }  // likewise; beside its centre in memory
    int32_t place(int64_t point) const { return place_[point]; }

  private:
    int64_t d_, width_;
    std::vector<int32_t> place_;  // (N,)
    LargeVector<float> x_, h_;    // (N, width) ×2; x empty if it is h
    std::vector<float> part_;     // (N,)
};

// Who lists a place among the first of a list, by places: from whom, and at which rank, in any order.
struct Listed {
    std::vector<int64_t> first;  // (N + 1,)
    LargeVector<int32_t> from;
    LargeVector<uint16_t> rank;
};

// Lists in places that fill up, ascending by level − ⟨x, h⟩, then by place, and the links of a pass.
class PlacedLists {
  public:
    // Lists of k, each of which is to be begun before anything else; the first n_links of a list, by value,
    // lead on.
    PlacedLists(int64_t n, int64_t k, int64_t n_links);
    PlacedLists(PlacedLists&&) = default;

    // The list of place p holds these at first.
    void begin(int64_t p, const int32_t* place, const float* value, int64_t count);

    int64_t n() const { return n_; }
    int64_t k() const { return k_; }

    // Takes the links of the next pass from the lists. A link is fresh if no pass before has had it: of two
    // links that are both old, the pair was compared then.
    void link(int threads);
    const int32_t* links(int64_t p) const { return links_.data() + p * most_links_; }  // the fresh ones first
    int64_t n_links(int64_t p) const { return n_all_[p]; }                             // 0 before `link`
    int64_t n_fresh(int64_t p) const { return n_fresh_[p]; }

    // level − ⟨x, h⟩ of whoever is too far for the list of place p is not below this.
    float limit(int64_t p) const { return limit_[p].load(std::memory_order_relaxed); }

    void ask_for(int64_t p) const {  // the list, which is needed soon
        prefetch_ends<1>(value_.data() + p * k_, k_), prefetch_ends<1>(entry_.data() + p * k_, k_);
    }

    // Offers the list of place p others, each known by its place and its value; by several threads at once.
    // In which order does not matter: the best of all are the same, and a limit that has not fallen yet keeps
    // nobody out who belongs in.
    void offer(int64_t p, const int32_t* place, const float* value, int64_t count);

    // The list of place p: places, −1 after the last, and values.
    void read(int64_t p, int32_t* place, float* value) const;

  private:
    int64_t n_, k_, most_own_, most_links_;
    LargeVector<int32_t> entry_;             // (N, k) 2·place + 1 if fresh, or −1
    LargeVector<float> value_;               // (N, k)
    std::vector<std::atomic<float>> limit_;  // (N,)
    std::vector<std::atomic_flag> locks_;    // each of the places that leave the same remainder
    Listed listed_;                          // as of the last pass: new pages of memory cost more than it
    LargeVector<int32_t> links_;             // (N, most_links)
    std::vector<int32_t> n_all_, n_fresh_;   // (N,)

    TopList<float> list(int64_t p) { return {value_.data() + p * k_, entry_.data() + p * k_, k_}; }
    const int32_t* own(int64_t p) const { return entry_.data() + p * k_; }
    bool is_fresh(int64_t p, int64_t rank) const { return own(p)[rank] & 1; }
    void lower_limit(int64_t p);
};

// Begins the lists of the points of some cells with whom a search by cells is likely to find; pairs > k.
void begin_places(const CellStore& cells, const PlacedPoints& points, PlacedLists& lists,
                  const CellRange& range, int64_t pairs, int threads);

// One pass over the links of the places first … last − 1. The same for any number of threads.
void join_places(const PlacedPoints& points, PlacedLists& lists, int64_t first, int64_t last, int threads);

}  // namespace bvdt
