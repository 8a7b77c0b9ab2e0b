#include "../kernels/recurrence.hpp"

#include <doctest/doctest.h>

#include <utility>

#include "blocks.hpp"

using namespace bvdt;
using namespace bvdt::test;

TEST_CASE("a recurrence of the walk, step by step with the dense matrix") {
    Generator rng(31);
    const int64_t n = 150, steps = 4;
    const Tree one = random_tree(rng, n), two = random_tree(rng, n);
    const auto q = uniforms(rng, 2 * n - 2, 0, 0.01), r = uniforms(rng, 2 * n - 2, 0, 0.01);
    const CoarsestProduct first =
        CoarsestProduct(one.size.data(), one.order.data(), 2 * n - 1, q.data(), {64, 200}).symmetric();
    const CoarsestProduct second =
        CoarsestProduct(two.size.data(), two.order.data(), 2 * n - 1, r.data(), {64, 200}).symmetric();
    const std::vector<float> share{0.3f, 0.2f};
    std::vector<float> scale(static_cast<size_t>(n)), value;
    for (float& s : scale) s = static_cast<float>(uniform(rng, 0.5, 1.5));
    std::vector<int64_t> indptr{0};
    std::vector<int32_t> indices;
    std::vector<double> S(static_cast<size_t>(n * n), 0.0), unit(S), image(S), other(S);
    for (int64_t i = 0; i < n; ++i) {
        for (int32_t j = 0; j < n; ++j)
            if (uniform(rng) < 0.05) {
                indices.push_back(j), value.push_back(static_cast<float>(uniform(rng, 0, 0.1)));
                S[i * n + j] = value.back();
            }
        indptr.push_back(static_cast<int64_t>(indices.size()));
        unit[i * n + i] = 1;
    }
    first.apply(unit.data(), image.data(), n, false, 1), second.apply(unit.data(), other.data(), n, false, 1);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
            S[i * n + j] += scale[i] * scale[j] *
                            (static_cast<double>(share[0]) * image[i * n + j] +
                             static_cast<double>(share[1]) * other[i * n + j]);
    const WalkParts walk{
        {indptr.data(), indices.data(), value.data(), n, n}, {&first, &second}, share, scale.data()};
    for (const int64_t m : {1, 8, 20, 33})
        for (const auto& [with_start, with_rest] : {std::pair{true, false}, {true, true}, {false, true}}) {
            const auto floats = [&](int64_t count) {
                const auto drawn = uniforms(rng, count, -1, 1);
                return std::vector<float>(drawn.begin(), drawn.end());
            };
            const auto a = floats(steps * m), b = floats(steps * m);
            auto start = uniforms(rng, n * m, -1, 1), rest = uniforms(rng, n * m, -1, 1);
            const double size = with_rest ? 1e-200 : 1e200;  // single precision has neither
            for (double& value : start) value *= with_start ? size : 0;
            for (double& value : rest) value *= with_rest ? size : 0;
            std::vector<double> now(start), before(now.size(), 0.0);
            for (int64_t t = 0; t < steps; ++t) {
                std::vector<double> next(now.size());
                for (int64_t i = 0; i < n; ++i)
                    for (int64_t c = 0; c < m; ++c) {
                        double sum = 0;
                        for (int64_t j = 0; j < n; ++j) sum += S[i * n + j] * now[j * m + c];
                        const double moved = (sum + 0.25 * now[i * m + c] + rest[i * m + c]) / 0.75;
                        next[i * m + c] = a[t * m + c] * moved - b[t * m + c] * before[i * m + c];
                    }
                before = now, now = next;
            }
            for (const int threads : {1, 2}) {
                std::vector<double> y(start.size());
                recur(walk,
                      {-0.25f, 0.75f, a.data(), b.data(), steps, m, with_start ? start.data() : nullptr,
                       with_rest ? rest.data() : nullptr},
                      y.data(), threads);
                for (size_t e = 0; e < y.size(); ++e) CHECK(near(y[e] / size, now[e] / size, 1e-5));
            }
        }
}
