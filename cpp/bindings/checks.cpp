#include "checks.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "../kernels/parallel.hpp"
#include "../kernels/tree.hpp"

namespace bvdt {
namespace {

constexpr double kLightest = 1e-6, kHeaviest = 1e12;  // see check_weights

// The first of 0 … count − 1 for which `holds` does not, or −1: all at once, and in order only to report.
template <typename Holds>
int64_t first_broken(int64_t count, int threads, const Holds& holds) {
    if (all_hold(count, threads, holds)) return -1;
    int64_t i = 0;
    while (holds(i)) ++i;
    return i;
}

// `needed` as in "order[3] needs 0…9; it is 12".
template <typename T, typename... Needed>
void require_entries(int64_t broken, const char* name, const T* values, const Needed&... needed) {
    if (broken >= 0) require(false, name, "[", broken, "] needs ", needed..., "; it is ", values[broken]);
}

// A leaf, or a node whose children are inside the array and its own in number.
bool has_children(const int32_t* size, int64_t n_nodes, int64_t k) {
    if (size[k] == 1) return true;  // else inside the array first: the left one's size finds the right child
    return size[k] > 1 && size[k] <= (n_nodes - k + 1) / 2 && size[k + 1] >= 1 && size[k + 1] < size[k] &&
           int64_t{size[k + 1]} + size[right_child(size, k)] == size[k];
}

void check_root(const int32_t* size, int64_t n_nodes) {
    require(n_nodes >= 3 && n_nodes % 2 == 1 && size[0] == (n_nodes + 1) / 2,
            "size needs 2N − 1 nodes in pre-order with size[0] = N ≥ 2; it has ", n_nodes);
}

void refuse_size(const int32_t* size, int64_t broken) {
    if (broken >= 0)
        require(false, "size is not a pre-order: size[", broken, "] = ", size[broken],
                " is not the sum of its children's sizes");
}

// Whether all values are in least … limit − 1; least is 0 or −1.
bool are_indices(const int32_t* values, int64_t count, int64_t limit, int32_t least) {
    const uint32_t from = static_cast<uint32_t>(least);
    const uint32_t behind = static_cast<uint32_t>(std::clamp<int64_t>(limit, 0, int64_t{1} << 31)) - from;
    uint32_t outside = 0;
    for (int64_t i = 0; i < count; ++i) outside |= static_cast<uint32_t>(values[i]) - from >= behind;
    return outside == 0;
}

bool is_index(int64_t value, int64_t limit) {
    return static_cast<uint64_t>(value) < static_cast<uint64_t>(limit);
}

// Whether `count` values, all in 0 … count − 1, are each of these numbers once. A thread notes those that it
// meets in bits of its own: they lie all over, and threads would wait for each other's cache lines.
bool are_all_met(const int32_t* values, int64_t count, int threads) {
    const int64_t n_words = (count + 63) / 64;
    const int64_t length = std::max<int64_t>(1 << 15, (count + threads - 1) / threads);
    std::vector<std::vector<uint64_t>> met(static_cast<size_t>((count + length - 1) / length));
    parallel_stretches(count, length, threads, [&](int64_t first, int64_t last) {
        std::vector<uint64_t>& bits = met[first / length];
        bits.assign(static_cast<size_t>(n_words), 0);
        for (int64_t i = first; i < last; ++i) bits[values[i] / 64] |= uint64_t{1} << values[i] % 64;
    });
    return all_hold(n_words, threads, [&](int64_t word) {
        uint64_t bits = word + 1 < n_words || count % 64 == 0 ? 0 : ~uint64_t{0} << count % 64;
        for (const auto& some : met) bits |= some[word];
        return bits == ~uint64_t{0};
    });
}

}  // namespace

void check_threads(int threads) { require(threads >= 1, "threads needs at least 1; it is ", threads); }

void check_length(const char* name, int64_t length, int64_t needed, const char* what) {
    require(length == needed, name, " needs one entry per ", what, ", ", needed, "; it has ", length);
}

void check_indices(const char* name, const int32_t* values, int64_t count, int64_t limit, int threads,
                   int32_t least) {
    std::atomic<bool> all{true};
    parallel_stretches(count, 1 << 15, count < kSerialChecks ? 1 : threads, [&](int64_t first, int64_t last) {
        if (!are_indices(values + first, last - first, limit, least)) all.store(false);
    });
    if (all.load()) return;
    const auto holds = [&](int64_t i) { return values[i] >= least && values[i] < limit; };
    require_entries(first_broken(count, 1, holds), name, values, "an index in ", least, "…", limit - 1);
}

void check_distinct(const char* name, const int32_t* values, int64_t count, int64_t limit) {
    check_indices(name, values, count, limit);
    std::vector<bool> met(static_cast<size_t>(limit), false);
    for (int64_t i = 0; i < count; ++i) {
        require(!met[values[i]], name, " needs each index once; ", values[i], " is there twice");
        met[values[i]] = true;
    }
}

void check_permutation(const char* name, const int32_t* values, int64_t count, int threads) {
    check_indices(name, values, count, count, threads);
    if (!are_all_met(values, count, threads)) check_distinct(name, values, count, count);
}

void check_offsets(const char* name, const int64_t* offsets, int64_t count, const Ends& ends,
                   bool may_be_equal) {
    require(count >= 2, name, " needs at least 2 entries; it has ", count);
    const int64_t first = offsets[0], last = offsets[count - 1];
    if (ends.exactly)
        require(first == ends.first && last == ends.last, name, " needs to run from ", ends.first, " to ",
                ends.last, "; it runs from ", first, " to ", last);
    else
        require(first >= ends.first && last <= ends.last, name, " needs to stay in ", ends.first, "…",
                ends.last, "; it runs from ", first, " to ", last);
    const auto ascends = [&](int64_t i) {
        return offsets[i] < offsets[i + 1] || (may_be_equal && offsets[i] == offsets[i + 1]);
    };
    const int64_t broken = first_broken(count - 1, 1, ascends);
    if (broken >= 0)
        require(false, name, " needs to ascend; ", offsets[broken + 1], " follows ", offsets[broken]);
}

void check_weights(const double* weight, int64_t count, int threads) {
    const auto holds = [&](int64_t i) { return weight[i] >= kLightest && weight[i] <= kHeaviest; };
    require_entries(first_broken(count, threads, holds), "weight", weight, "a value from ", kLightest, " to ",
                    kHeaviest);
}

void check_shares(const char* name, const double* values, int64_t count, double most) {
    const auto holds = [&](int64_t i) { return values[i] >= 0 && values[i] <= most; };
    require_entries(first_broken(count, 1, holds), name, values, "a share in 0…", most);
}

void check_finite(const char* name, const double* values, int64_t count, int threads) {
    const auto holds = [&](int64_t i) { return std::isfinite(values[i]); };
    require_entries(first_broken(count, threads, holds), name, values, "a finite value");
}

namespace {

void check_csr_ends(const SparseRows& rows, int64_t nnz) {
    require(rows.d >= 0, "d needs at least 0; it is ", rows.d);
    require(rows.indptr[0] == 0 && rows.indptr[rows.n] == nnz, "indptr needs to run from 0 to ", nnz,
            "; it runs from ", rows.indptr[0], " to ", rows.indptr[rows.n]);
}

}  // namespace

void check_csr(const SparseRows& rows, int64_t nnz, int threads) {
    check_csr_ends(rows, nnz);
    const auto ascends = [&](int64_t i) { return rows.indptr[i] <= rows.indptr[i + 1]; };
    require_entries(first_broken(rows.n, threads, ascends), "indptr", rows.indptr, "not to exceed the next");
    check_indices("indices", rows.indices, nnz, rows.d, threads);
}

void check_csr_rows(const SparseRows& rows, int64_t nnz, const int32_t* row, int64_t count, int threads) {
    if (2 * count > rows.n) return check_csr(rows, nnz, threads);  // one stretch is read faster than its rows
    check_csr_ends(rows, nnz);
    const auto holds = [&](int64_t s) {
        const int64_t begin = rows.indptr[row[s]], end = rows.indptr[row[s] + 1];
        if (begin < 0 || begin > end || end > nnz) return false;
        return are_indices(rows.indices + begin, end - begin, rows.d, 0);
    };
    const int64_t broken = first_broken(count, threads, holds);
    if (broken >= 0)
        require(false, "row ", row[broken], " needs entries in 0…", nnz, " and indices in 0…", rows.d - 1,
                "; it has others");
}

int64_t check_sizes(const int32_t* size, int64_t n_nodes, int threads) {
    check_root(size, n_nodes);
    const auto fits = [&](int64_t k) { return has_children(size, n_nodes, k); };
    refuse_size(size, first_broken(n_nodes, threads, fits));
    return size[0];
}

int64_t check_parents(const int32_t* size, const int32_t* parent, int64_t n_nodes, int threads) {
    check_root(size, n_nodes);
    const auto fits = [&](int64_t k) {
        return has_children(size, n_nodes, k) &&
               (size[k] == 1 || (parent[k + 1] == k && parent[right_child(size, k)] == k));
    };
    const int64_t broken = first_broken(n_nodes, threads, fits);
    if (broken < 0) return size[0];
    refuse_size(size, has_children(size, n_nodes, broken) ? -1 : broken);
    require(false, "parent is not that of a pre-order tree: a child of node ", broken, " has another");
    return 0;
}

void check_starts(const int32_t* size, const int32_t* start, int64_t n_nodes) {
    int64_t leaf = 0;
    for (int64_t k = 0; k < n_nodes; leaf += size[k++] == 1)
        require(start[k] == leaf, "start[", k, "] needs the number of leaves before, ", leaf, "; it is ",
                start[k]);
}

void check_blocks(const int64_t* first, int64_t n_first, const int32_t* other, int64_t n_blocks,
                  int64_t n_nodes, int threads) {
    require(n_first == n_nodes + 1, "first needs ", n_nodes + 1,
            " entries, one per node and one more; it has ", n_first);
    check_offsets("first", first, n_first, {0, n_blocks, true}, true);
    check_indices("other", other, n_blocks, n_nodes, threads);
}

void check_pairs(const int32_t* pairs, const int64_t* bounds, int64_t n_chunks, int threads) {
    std::vector<int64_t> broken(static_cast<size_t>(n_chunks), -1);
    const auto gone = [] { return std::vector<uint8_t>{}; };
    parallel_for(n_chunks, 16, threads, gone, [&](int64_t c, std::vector<uint8_t>& gone_at) {
        const int64_t size = bounds[c + 1] - bounds[c];
        gone_at.assign(static_cast<size_t>(size), 0);
        for (int64_t t = bounds[c] - c; t < bounds[c + 1] - (c + 1) && broken[c] < 0; ++t) {
            const int64_t a = pairs[2 * t] - bounds[c], b = pairs[2 * t + 1] - bounds[c];
            if (!is_index(a, size) || !is_index(b, size) || a == b || gone_at[a] || gone_at[b])
                broken[c] = t;
            else
                gone_at[b] = 1;
        }
    });
    for (const int64_t t : broken)
        if (t >= 0)
            require(false, "pairs[", t, "] = (", pairs[2 * t], ", ", pairs[2 * t + 1],
                    ") needs two places in its chunk that are not gone");
}

void check_linkage(const int32_t* linkage, int64_t n_merges, int threads) {
    const int64_t n = n_merges + 1;
    const auto is_made = [&](int64_t e) { return is_index(linkage[e], n + e / 2); };
    if (all_hold(2 * n_merges, threads, is_made) && are_all_met(linkage, 2 * n_merges, threads)) return;
    std::vector<bool> merged(static_cast<size_t>(2 * n - 1), false);
    for (int64_t t = 0; t < n_merges; ++t) {
        const int32_t a = linkage[2 * t], b = linkage[2 * t + 1];
        require(a != b && is_index(a, n + t) && is_index(b, n + t) && !merged[a] && !merged[b], "linkage[", t,
                "] needs two clusters made before it, each merged once; it has ", a, " and ", b);
        merged[a] = merged[b] = true;
    }
}

}  // namespace bvdt
