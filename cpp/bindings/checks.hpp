// What the bindings look at before a kernel runs: shapes, and every value that could send it outside an array
// or keep it running for ever. All of it O(size). A failed check throws std::invalid_argument, Python's
// ValueError, with a sentence: the object, what it needs, and its value.
//
// Plain pointers and numbers, without nanobind.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "../kernels/points.hpp"

namespace bvdt {

// A word of a sentence. No stream: its locale is not set up where the C++ library is linked into the module.
inline std::string word(const char* text) { return text; }
inline std::string word(const std::string& text) { return text; }
inline std::string word(std::integral auto value) { return std::to_string(value); }
inline std::string word(double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%g", value);
    return digits;
}

template <typename... Words>
void require(bool holds, const Words&... sentence) {
    if (holds) return;
    std::string message;
    ((message += word(sentence)), ...);
    throw std::invalid_argument(message);
}

void check_threads(int threads);

// `name` needs so many entries, one per `what`.
void check_length(const char* name, int64_t length, int64_t needed, const char* what);

// Every value in 0 … limit − 1 (from `least` on: −1 where that stands for none).
void check_indices(const char* name, const int32_t* values, int64_t count, int64_t limit, int threads = 1,
                   int32_t least = 0);

// Each of 0 … limit − 1 at most once.
void check_distinct(const char* name, const int32_t* values, int64_t count, int64_t limit);

// Each of 0 … count − 1 once.
void check_permutation(const char* name, const int32_t* values, int64_t count, int threads);

// Offsets that start at `first` or later, ascend, strictly or not, and end at `last` or before.
struct Ends {
    int64_t first, last;
    bool exactly;  // they start at first and end at last
};
void check_offsets(const char* name, const int64_t* offsets, int64_t count, const Ends& ends,
                   bool may_be_equal);

// Numbers of points: within the range in which Ward's costs, products of two of them in single precision, are
// neither zero, infinite, nor not a number.
void check_weights(const double* weight, int64_t count, int threads);

// Shares from 0 to `most`.
void check_shares(const char* name, const double* values, int64_t count, double most);

void check_finite(const char* name, const double* values, int64_t count, int threads);

// A CSR matrix of which nnz entries are stored; or only the rows named, whose other rows no one will read.
void check_csr(const SparseRows& rows, int64_t nnz, int threads);
void check_csr_rows(const SparseRows& rows, int64_t nnz, const int32_t* row, int64_t count, int threads);

// Pre-order sizes of a binary tree; returns its number of points.
int64_t check_sizes(const int32_t* size, int64_t n_nodes, int threads);
// The same with every node's parent (−1 for the root), or with its first leaf.
int64_t check_parents(const int32_t* size, const int32_t* parent, int64_t n_nodes, int threads);
void check_starts(const int32_t* size, const int32_t* start, int64_t n_nodes);

// Blocks grouped by one of their nodes: those of node k are first[k] … first[k + 1], `other` their other
// node.
void check_blocks(const int64_t* first, int64_t n_first, const int32_t* other, int64_t n_blocks,
                  int64_t n_nodes, int threads);

// Merges inside chunks, of places of which the second is gone afterwards: chunk c has the places bounds[c] …
// bounds[c + 1], which have been checked, and one merge fewer.
void check_pairs(const int32_t* pairs, const int64_t* bounds, int64_t n_chunks, int threads);

// Merges of clusters: point i is cluster i, merge t makes cluster N + t, and each is merged once.
void check_linkage(const int32_t* linkage, int64_t n_merges, int threads);

}  // namespace bvdt
