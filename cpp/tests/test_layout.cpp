#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "../kernels/layout.hpp"
#include "cases.hpp"

using namespace bvdt;
using namespace bvdt::test;

namespace {

// The cubic B-spline about 0.
double bump(double x) {
    const double t = std::abs(x);
    if (t >= 2) return 0;
    return t < 1 ? (4 - 6 * t * t + 3 * t * t * t) / 6 : (2 - t) * (2 - t) * (2 - t) / 6;
}

double bump_slope(double x) {
    const double t = std::abs(x), sign = x < 0 ? -1 : 1;
    if (t >= 2) return 0;
    return sign * (t < 1 ? (-12 * t + 9 * t * t) / 6 : -(2 - t) * (2 - t) / 2);
}

struct Case {
    Mesh mesh{{-3.0, -2.0}, 0.5, {37, 21}};
    int64_t n = 700;
    std::vector<float> y;

    explicit Case(Generator& rng) {
        for (int64_t i = 0; i < n; ++i) {  // at least a unit from the border, so that splines lie inside
            y.push_back(static_cast<float>(uniform(rng, -2.4, 14.4)));
            y.push_back(static_cast<float>(uniform(rng, -1.4, 7.1)));
        }
    }
    double offset(int64_t i, int c, int64_t node) const {
        return (y[2 * i + c] - mesh.low[c]) / mesh.unit - static_cast<double>(node);
    }
    int64_t n_nodes() const { return mesh.size[0] * mesh.size[1]; }
};

bool close(double a, double b) { return std::abs(a - b) <= 2e-4 * (1 + std::abs(b)); }

}  // namespace

TEST_CASE("points spread on a mesh, on any number of threads") {
    Generator rng(5);
    const Case c(rng);
    std::vector<float> one(c.n_nodes(), -1.0f), three(c.n_nodes(), -2.0f);
    spread_points(c.y.data(), c.n, c.mesh, one.data(), 1);
    spread_points(c.y.data(), c.n, c.mesh, three.data(), 3);
    CHECK(one == three);
    double total = 0;
    for (int64_t a = 0; a < c.mesh.size[0]; ++a)
        for (int64_t b = 0; b < c.mesh.size[1]; ++b) {
            double slow = 0;
            for (int64_t i = 0; i < c.n; ++i) slow += bump(c.offset(i, 0, a)) * bump(c.offset(i, 1, b));
            CHECK(close(one[a * c.mesh.size[1] + b], slow));
            total += one[a * c.mesh.size[1] + b];
        }
    CHECK(close(total, static_cast<double>(c.n)));  // nothing is lost
}

TEST_CASE("a potential and its slopes where points lie") {
    Generator rng(6);
    const Case c(rng);
    std::vector<float> potential, one(3 * c.n), two(3 * c.n);
    for (int64_t k = 0; k < c.n_nodes(); ++k) potential.push_back(static_cast<float>(uniform(rng, -1)));
    read_potential(c.y.data(), c.n, c.mesh, potential.data(), one.data(), 1);
    read_potential(c.y.data(), c.n, c.mesh, potential.data(), two.data(), 2);
    CHECK(one == two);
    for (int64_t i = 0; i < c.n; ++i) {
        double value = 0, slope[2] = {0, 0};
        for (int64_t a = 0; a < c.mesh.size[0]; ++a)
            for (int64_t b = 0; b < c.mesh.size[1]; ++b) {
                const double at = potential[a * c.mesh.size[1] + b], u = c.offset(i, 0, a),
                             v = c.offset(i, 1, b);
                value += at * bump(u) * bump(v);
                slope[0] += at * bump_slope(u) * bump(v) / c.mesh.unit;
                slope[1] += at * bump(u) * bump_slope(v) / c.mesh.unit;
            }
        CHECK(close(one[3 * i], value));
        CHECK(close(one[3 * i + 1], slope[0]));
        CHECK(close(one[3 * i + 2], slope[1]));
    }
}

TEST_CASE("places outside the mesh, and those that are no number, are taken to its border") {
    const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> y{1e30f, -1e30f, inf, -inf, nan, nan, 0.0f, 7.9f};
    const Mesh mesh{{0.0, 0.0}, 1.0, {5, 4}};
    std::vector<float> mass(20), out(12);
    spread_points(y.data(), 4, mesh, mass.data(), 1);
    read_potential(y.data(), 4, mesh, mass.data(), out.data(), 1);
    double total = 0;
    for (const float m : mass) total += m;
    CHECK(close(total, 4.0));
}

TEST_CASE("a step by links and potential, with momentum and gains") {
    Generator rng(7);
    const int64_t n = 60, m = 40;
    std::vector<int64_t> indptr{0};
    std::vector<int32_t> indices;
    std::vector<float> value, y, others, potential, velocity, gain;
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t e = below(rng, 9); e > 0; --e) {
            indices.push_back(static_cast<int32_t>(below(rng, m)));
            value.push_back(static_cast<float>(uniform(rng, 0)));
        }
        indptr.push_back(static_cast<int64_t>(indices.size()));
    }
    const auto fill = [&](std::vector<float>& to, int64_t count, double low) {
        for (int64_t k = 0; k < count; ++k) to.push_back(static_cast<float>(uniform(rng, low)));
    };
    fill(y, 2 * n, -1), fill(others, 2 * m, -1), fill(potential, 3 * n, -1);
    fill(velocity, 2 * n, -1), fill(gain, 2 * n, 0);
    const Motion motion{1.5, 0.25, 0.3, 0.8};
    auto v = velocity, g = gain;
    std::vector<float> moved(2 * n);
    move_points({indptr.data(), indices.data(), value.data(), n, m}, others.data(), y.data(),
                potential.data(), motion, v.data(), g.data(), moved.data(), 2);
    for (int64_t i = 0; i < n; ++i)
        for (int c = 0; c < 2; ++c) {
            double force = -motion.push * potential[3 * i + 1 + c];
            for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) {
                const double r0 = others[2 * indices[e]] - y[2 * i],
                             r1 = others[2 * indices[e] + 1] - y[2 * i + 1];
                force += motion.pull * value[e] * (c == 0 ? r0 : r1) / (1 + r0 * r0 + r1 * r1);
            }
            const double before = velocity[2 * i + c], old = gain[2 * i + c];
            const double grown = std::max((force > 0) == (before > 0) ? old + 0.2 : old * 0.8, 0.01);
            CHECK(close(g[2 * i + c], grown));
            CHECK(close(v[2 * i + c], 0.8 * before + 0.3 * grown * force));
            CHECK(close(moved[2 * i + c], y[2 * i + c] + v[2 * i + c]));
        }
}
