#include "gram.hpp"

#include <algorithm>

#include "lanes.hpp"

namespace bvdt {
namespace {

// A tile of 64 sums stays in registers while one item's frequent features are added up: the loop in which
// sparse chunks spend their time.
constexpr int64_t kTile = 64;

void add_tile(const int32_t* column, const float* x, int64_t count, const float* panel, double* out) {
    using Sum = Lanes<float>;
    Sum s0{}, s1{}, s2{}, s3{};
    for (int64_t e = 0; e < count; ++e) {
        const Sum* h = &Sum::at(panel + column[e] * kTile);
        s0 += x[e] * h[0], s1 += x[e] * h[1], s2 += x[e] * h[2], s3 += x[e] * h[3];
    }
    float sum[kTile];
    Sum::at(sum) = s0, Sum::at(sum + 16) = s1, Sum::at(sum + 32) = s2, Sum::at(sum + 48) = s3;
    for (int64_t t = 0; t < kTile; ++t) out[t] += static_cast<double>(sum[t]);
}

}  // namespace

void SparseGram::compute(const SparsePoints& points, const int32_t* item, int64_t k, bool exactly) {
    stride = (k + kTile - 1) / kTile * kTile;
    value.assign(static_cast<size_t>(k * stride), 0.0);
    number_columns(points, item, k, exactly);
    file_entries(points, item, k);
    add_frequent(k);
    add_rare(points, item, k);
    for (int32_t feature : features) column[feature] = -1;
}

void SparseGram::number_columns(const SparsePoints& points, const int32_t* item, int64_t k, bool exactly) {
    column.resize(static_cast<size_t>(points.d), -1);
    features.clear();
    std::vector<int64_t> count;
    for (int64_t a = 0; a < k; ++a)
        for (int64_t e = points.indptr[item[a]]; e < points.indptr[item[a] + 1]; ++e) {
            int32_t& c = column[points.indices[e]];
            if (c < 0) {
                c = static_cast<int32_t>(features.size());
                features.push_back(points.indices[e]), count.push_back(0);
            }
            ++count[c];
        }
    frequent.assign(features.size(), -1), postings.assign(features.size() + 1, 0);
    n_frequent = 0;
    for (size_t c = 0; c < features.size(); ++c) {
        const bool often = !exactly && 16 * count[c] > k;
        if (often) frequent[c] = n_frequent++;
        postings[c + 1] = postings[c] + (often ? 0 : count[c]);
    }
}

void SparseGram::file_entries(const SparsePoints& points, const int32_t* item, int64_t k) {
    posting_item.resize(static_cast<size_t>(postings.back()));
    posting_h.resize(static_cast<size_t>(postings.back()));
    std::vector<int64_t> next(postings.begin(), postings.end() - 1);
    begin.assign(1, 0), frequent_column.clear(), frequent_x.clear(), frequent_h.clear();
    for (int64_t a = 0; a < k; ++a) {
        for (int64_t e = points.indptr[item[a]]; e < points.indptr[item[a] + 1]; ++e) {
            const int32_t c = column[points.indices[e]];
            if (frequent[c] >= 0) {
                frequent_column.push_back(frequent[c]);
                frequent_x.push_back(static_cast<float>(points.x[e]));
                frequent_h.push_back(static_cast<float>(points.h[e]));
            } else {
                posting_item[next[c]] = static_cast<int32_t>(a), posting_h[next[c]++] = points.h[e];
            }
        }
        begin.push_back(static_cast<int64_t>(frequent_column.size()));
    }
}

void SparseGram::add_frequent(int64_t k) {
    panel.resize(static_cast<size_t>(n_frequent * kTile));
    for (int64_t first = 0; first < k; first += kTile) {
        std::fill(panel.begin(), panel.end(), 0.0f);
        for (int64_t b = first; b < std::min(k, first + kTile); ++b)
            for (int64_t e = begin[b]; e < begin[b + 1]; ++e)
                panel[frequent_column[e] * kTile + b - first] = frequent_h[e];
        for (int64_t a = 0; a < k; ++a)
            add_tile(frequent_column.data() + begin[a], frequent_x.data() + begin[a], begin[a + 1] - begin[a],
                     panel.data(), value.data() + a * stride + first);
    }
}

void SparseGram::add_rare(const SparsePoints& points, const int32_t* item, int64_t k) {
    for (int64_t a = 0; a < k; ++a) {
        double* row = value.data() + a * stride;
        for (int64_t e = points.indptr[item[a]]; e < points.indptr[item[a] + 1]; ++e) {
            const int32_t c = column[points.indices[e]];
            for (int64_t p = postings[c]; p < postings[c + 1]; ++p)
                row[posting_item[p]] += points.x[e] * posting_h[p];
        }
    }
}

}  // namespace bvdt
