// Inner products ⟨x_a, h_b⟩ of all pairs of sparse items in one chunk: what Ward's costs and nearest centers
// start from.
#pragma once

#include <vector>

#include "points.hpp"

namespace bvdt {

// value[a, b] = ⟨x_a, h_b⟩, rows `stride` apart. Rare features through postings; frequent ones, which carry
// most of the products, as dense panels of kTile items in single precision.
struct SparseGram {
    std::vector<double> value;  // (k, stride)
    int64_t stride = 0;

    // `exactly`: in double precision throughout, whatever other items are in the chunk.
    void compute(const SparsePoints& points, const int32_t* item, int64_t k, bool exactly = false);

  private:
    std::vector<int32_t> column;              // feature -> column of the chunk, −1 when absent
    std::vector<int32_t> features, frequent;  // column -> feature; column -> place among frequent or −1
    std::vector<int64_t> postings;            // column -> first posting, one more at the end
    std::vector<int32_t> posting_item;
    std::vector<double> posting_h;
    std::vector<int64_t> begin;  // item -> first of its frequent entries
    std::vector<int32_t> frequent_column;
    std::vector<float> frequent_x, frequent_h, panel;
    int32_t n_frequent = 0;

    void number_columns(const SparsePoints& points, const int32_t* item, int64_t k, bool exactly);
    void file_entries(const SparsePoints& points, const int32_t* item, int64_t k);
    void add_frequent(int64_t k);
    void add_rare(const SparsePoints& points, const int32_t* item, int64_t k);
};

}  // namespace bvdt
