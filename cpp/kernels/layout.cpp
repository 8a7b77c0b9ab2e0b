#include "layout.hpp"

#include <algorithm>
#include <vector>

#include "parallel.hpp"
#include "platform.hpp"

namespace bvdt {
namespace {

constexpr int kWide = 4;           // nodes that a cubic spline touches
constexpr int64_t kBand = 8;       // rows of the mesh per turn of a thread; more than a spline is wide
constexpr int64_t kPoints = 1024;  // per turn of a thread
constexpr float kGrow = 0.2f, kShrink = 0.8f, kLeastGain = 0.01f;

// Where a coordinate lies: the first of the four nodes, and its distance from the second in units.
struct Place {
    int64_t first;
    float rest;
};

BVDT_INLINE Place place(float y, float low, float per_unit, int64_t size) {
    const float least = 1.0f, most = static_cast<float>(size - 2);
    const float at = (y - low) * per_unit;
    const float inside = at > least ? (at < most ? at : most) : least;  // what is not a number, too
    const int64_t node = std::min(static_cast<int64_t>(inside), size - 3);
    return {node - 1, inside - static_cast<float>(node)};
}

BVDT_INLINE void spline(float f, float* w) {
    const float g = 1 - f, sixth = 1.0f / 6;
    w[0] = g * g * g * sixth;
    w[1] = (4 - 3 * f * f * (2 - f)) * sixth;
    w[2] = (4 - 3 * g * g * (2 - g)) * sixth;
    w[3] = f * f * f * sixth;
}

BVDT_INLINE void spline_slope(float f, float* s) {
    const float g = 1 - f;
    s[0] = -0.5f * g * g;
    s[1] = f * (1.5f * f - 2);
    s[2] = g * (2 - 1.5f * g);
    s[3] = 0.5f * f * f;
}

struct Scale {
    float low[2], per_unit;
};

Scale scale_of(const Mesh& mesh) {
    return {{static_cast<float>(mesh.low[0]), static_cast<float>(mesh.low[1])},
            static_cast<float>(1 / mesh.unit)};
}

void spread_some(const float* y, const int32_t* point, int64_t count, const Scale& scale, const int64_t* size,
                 float* mass) {
    for (int64_t k = 0; k < count; ++k) {
        const float* const at = y + 2 * static_cast<int64_t>(point[k]);
        const Place row = place(at[0], scale.low[0], scale.per_unit, size[0]);
        const Place column = place(at[1], scale.low[1], scale.per_unit, size[1]);
        float w[kWide], v[kWide];
        spline(row.rest, w), spline(column.rest, v);
        float* to = mass + row.first * size[1] + column.first;
        for (int a = 0; a < kWide; ++a, to += size[1])
            for (int b = 0; b < kWide; ++b) to[b] += w[a] * v[b];
    }
}

void read_some(const float* y, int64_t first, int64_t last, const Scale& scale, const int64_t* size,
               const float* potential, float* out) {
    for (int64_t i = first; i < last; ++i) {
        const Place row = place(y[2 * i], scale.low[0], scale.per_unit, size[0]);
        const Place column = place(y[2 * i + 1], scale.low[1], scale.per_unit, size[1]);
        float w[kWide], v[kWide], w_slope[kWide], v_slope[kWide];
        spline(row.rest, w), spline(column.rest, v);
        spline_slope(row.rest, w_slope), spline_slope(column.rest, v_slope);
        const float* from = potential + row.first * size[1] + column.first;
        float along[kWide] = {}, down[kWide] = {};
        for (int a = 0; a < kWide; ++a, from += size[1])
            for (int b = 0; b < kWide; ++b) along[b] += w[a] * from[b], down[b] += w_slope[a] * from[b];
        float value = 0, slope[2] = {0, 0};
        for (int b = 0; b < kWide; ++b) {
            value += along[b] * v[b];
            slope[0] += down[b] * v[b];
            slope[1] += along[b] * v_slope[b];
        }
        out[3 * i] = value;
        out[3 * i + 1] = slope[0] * scale.per_unit;
        out[3 * i + 2] = slope[1] * scale.per_unit;
    }
}

void move_some(const SparseMatrix<float>& links, const float* others, const float* y, const float* potential,
               const Motion& motion, float* velocity, float* gain, float* moved, int64_t first,
               int64_t last) {
    const auto pull = static_cast<float>(motion.pull), push = static_cast<float>(motion.push);
    const auto rate = static_cast<float>(motion.rate), momentum = static_cast<float>(motion.momentum);
    for (int64_t i = first; i < last; ++i) {
        const float here[2] = {y[2 * i], y[2 * i + 1]};
        float drawn[2] = {0, 0};
        for (int64_t e = links.indptr[i]; e < links.indptr[i + 1]; ++e) {
            const float* const other = others + 2 * static_cast<int64_t>(links.indices[e]);
            const float r0 = other[0] - here[0], r1 = other[1] - here[1];
            const float strength = links.value[e] / (1 + r0 * r0 + r1 * r1);
            drawn[0] += strength * r0, drawn[1] += strength * r1;
        }
        for (int c = 0; c < 2; ++c) {
            const float force = pull * drawn[c] - push * potential[3 * i + 1 + c];
            float& v = velocity[2 * i + c];
            float& g = gain[2 * i + c];
            g = std::max((force > 0) == (v > 0) ? g + kGrow : g * kShrink, kLeastGain);
            v = momentum * v + rate * g * force;
            moved[2 * i + c] = here[c] + v;
        }
    }
}

}  // namespace

void spread_points(const float* y, int64_t n, const Mesh& mesh, float* mass, int threads) {
    const Scale scale = scale_of(mesh);
    const int64_t n_bands = (mesh.size[0] + kBand - 1) / kBand;
    const auto band_of = [&](int64_t i) {
        return place(y[2 * i], scale.low[0], scale.per_unit, mesh.size[0]).first / kBand;
    };
    std::vector<int64_t> end(n_bands + 1, 0);
    std::vector<int32_t> point(n), band(n);
    for (int64_t i = 0; i < n; ++i) ++end[(band[i] = static_cast<int32_t>(band_of(i))) + 1];
    for (int64_t b = 0; b < n_bands; ++b) end[b + 1] += end[b];
    std::vector<int64_t> next(end.begin(), end.end() - 1);
    for (int64_t i = 0; i < n; ++i) point[next[band[i]]++] = static_cast<int32_t>(i);
    std::fill_n(mass, mesh.size[0] * mesh.size[1], 0.0f);
    for (int64_t odd = 0; odd < 2; ++odd)  // a band's splines reach into the next one, never beyond it
        parallel_for((n_bands + 1 - odd) / 2, 1, threads, [&](int64_t half) {
            const int64_t b = 2 * half + odd;
            spread_some(y, point.data() + end[b], end[b + 1] - end[b], scale, mesh.size, mass);
        });
}

void read_potential(const float* y, int64_t n, const Mesh& mesh, const float* potential, float* out,
                    int threads) {
    const Scale scale = scale_of(mesh);
    parallel_stretches(n, kPoints, threads, [&](int64_t first, int64_t last) {
        read_some(y, first, last, scale, mesh.size, potential, out);
    });
}

void move_points(const SparseMatrix<float>& links, const float* others, const float* y,
                 const float* potential, const Motion& motion, float* velocity, float* gain, float* moved,
                 int threads) {
    parallel_stretches(links.n, kPoints, threads, [&](int64_t first, int64_t last) {
        move_some(links, others, y, potential, motion, velocity, gain, moved, first, last);
    });
}

}  // namespace bvdt
