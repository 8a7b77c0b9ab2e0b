// Points of cells in whole numbers of 8 bits, of which a CPU multiplies 64 at once where it multiplies 16
// numbers in single precision: enough to tell that most centres are too far.
//
// A vector v is step·q + e with |q| ≤ 127. Of a row x' and a centre h',
//
//     |⟨x', h'⟩ − step_x·step_h·⟨q_x, q_h⟩| ≤ ‖e_x‖‖h'‖ + ‖step_x·q_x‖‖e_h‖
//
// so products of whole numbers bound a divergence from below and from above. A cell has one step, by most of
// its centres; one that is too far for it is never passed over.
#pragma once

#include <cstdint>
#include <vector>

#include "lanes.hpp"

namespace bvdt {

constexpr int64_t kQuad = 4;                   // coordinates side by side, multiplied and added up as one
constexpr int64_t kMostCoordinates = 1 << 15;  // whose sum of products has 31 bits
constexpr int32_t kCoarse = 128;               // of a fine row
constexpr int32_t kZero = 128;                 // bytes of centres have no sign: this stands for 0

// Whether this CPU multiplies bytes faster than numbers.
bool multiplies_bytes();

inline int64_t quads(int64_t d) { return (d + kQuad - 1) / kQuad; }

struct CellBytes {
    std::vector<uint8_t> panels;             // (n_panels, quads, 16, 4) q + 128
    std::vector<float> step, length, error;  // (n_cells,) and the largest ‖h'‖, ‖e‖
    std::vector<float> slack;                // (n_panels, 16) 0; +∞: too far for the step
    std::vector<char> has_far;               // (n_cells,)

    bool empty() const { return step.empty(); }
    void resize(int64_t n_cells, int64_t n_panels, int64_t d);
    // Rounds cell `cell`, whose `count` centres are in float panels (panels, d, 16) from `first_panel` on.
    void round(int64_t cell, const float* from, int64_t first_panel, int64_t count, int64_t d);
};

// Rows in whole numbers, each with a step of its own.
struct ByteRows {
    std::vector<int32_t> quad;               // (rows, quads) four numbers each
    std::vector<float> step, length, error;  // (rows,) and ‖step·q‖, ‖e‖
    std::vector<int32_t> sum;                // (rows,) Σq

    void round(const float* x, int64_t n_rows, int64_t d);
};

// One row in whole numbers of 15 bits, 128·coarse + fine.
struct FineRow {
    std::vector<int32_t> coarse, fine;  // (quads,)
    float step = 1, length = 0, error = 0;
    int32_t coarse_sum = 0, fine_sum = 0;

    void round(const float* x, int64_t d);

  private:
    std::vector<int8_t> high_, low_;  // the same, one by one
};

}  // namespace bvdt
