#include <doctest/doctest.h>

#include "../kernels/conjugate.hpp"
#include "../kernels/rows.hpp"
#include "../kernels/walk_product.hpp"
#include "blocks.hpp"

using namespace bvdt;
using namespace bvdt::test;

namespace {

struct Lists {
    std::vector<int32_t> indices, weight;
    std::vector<double> dense;  // (n, n) in the points' own order

    Lists(Generator& rng, int64_t n, int64_t k, double unit) : dense(static_cast<size_t>(n * n), 0.0) {
        for (int64_t i = 0; i < n; ++i)
            for (int64_t e = 0; e < k; ++e) {
                const int64_t j = below(rng, n);
                const bool free =
                    j != i && dense[i * n + j] == 0 && (e == 0 || indices.back() >= 0) && below(rng, 5);
                indices.push_back(free ? static_cast<int32_t>(j) : -1);
                weight.push_back(free ? static_cast<int32_t>(1 + below(rng, 1000)) : 0);
                if (free) dense[i * n + j] = unit * weight.back();
            }
    }
};

}  // namespace

TEST_CASE("weights are whole numbers that sum to the total, in the formula's proportions") {
    Generator rng(31);
    const int64_t n = 50, k = 6;
    auto d = uniforms(rng, n * k);
    d[3] = d[k] = d[2 * k + 1] = std::numeric_limits<double>::infinity();
    std::fill_n(d.begin() + 4 * k, k, 0.0);
    std::fill_n(d.begin() + 5 * k, k, std::numeric_limits<double>::infinity());
    std::vector<int32_t> weight(static_cast<size_t>(n * k));
    std::vector<double> cost(static_cast<size_t>(n)), logs(cost);
    weigh_lists(d.data(), n, k, 3, 1 << 20, {weight.data(), cost.data(), logs.data()}, 2);
    for (int64_t i = 0; i < n; ++i) {
        double last = 0, sum = 0, spent = 0, entropy = 0;
        for (int64_t j = 0; j < k; ++j)
            if (std::isfinite(d[i * k + j])) last = std::max(last, d[i * k + j]);
        const auto e = [&](int64_t j) {
            const double here = d[i * k + j];
            return std::isfinite(here) ? std::exp(last > 0 ? -3 * here / last : 0) : 0.0;
        };
        int64_t whole = 0;
        for (int64_t j = 0; j < k; ++j) sum += e(j), whole += weight[i * k + j];
        CHECK(whole == (sum > 0 ? 1 << 20 : 0));
        for (int64_t j = 0; j < k && sum > 0; ++j) {
            CHECK(std::abs(weight[i * k + j] - e(j) / sum * (1 << 20)) < k);
            if (e(j) > 0) spent += e(j) / sum * d[i * k + j], entropy += e(j) / sum * std::log(e(j) / sum);
        }
        CHECK(near(cost[i], spent));
        CHECK(near(logs[i], entropy));
    }
}

TEST_CASE("near and far field in one product, in the tree's order") {
    Generator rng(32);
    for (const int64_t n : {2, 3, 90})
        for (const int64_t subtree : {1, 16, 256}) {
            const Tree tree = random_tree(rng, n);
            const auto q = uniforms(rng, tree.n_nodes() - 1);
            const auto far_matrix = dense_matrix(tree, random_blocks(rng, tree, 0), q);
            const CoarsestProduct far(tree.size.data(), tree.order.data(), tree.n_nodes(), q.data(), subtree);
            const Lists lists(rng, n, 5, 0.001);
            const Links links(lists.indices.data(), lists.weight.data(), 0.001, 5, tree.order.data(), n, 2);
            const Links back = links.transposed(), mean = links.mean(2);
            const auto a = uniforms(rng, n), b = uniforms(rng, n), c = uniforms(rng, n), d = uniforms(rng, n);
            const WalkScales scales{a.data(), b.data(), c.data(), d.data(), 0.7};
            for (const int64_t k : {1, 2, 32, 45})
                for (int kind = 0; kind < 3; ++kind)
                    for (const bool with_far : {false, true}) {
                        const auto v = uniforms(rng, n * k, -1);  // by place
                        std::vector<double> slow(v.size()), out(v.size()), one(v.size()), dots(2 * k),
                            sum(2 * k, 0.0), alone(k);
                        for (int64_t i = 0; i < n; ++i)
                            for (int64_t x = 0; x < k; ++x) slow[i * k + x] = 0.7 * v[i * k + x];
                        for (int64_t i = 0; i < n; ++i)
                            for (int64_t j = 0; j < n; ++j) {
                                const int64_t p = tree.order[i], o = tree.order[j];
                                const double there = lists.dense[p * n + o], here = lists.dense[o * n + p];
                                const double link = kind == 0 ? there : kind == 1 ? here : (there + here) / 2;
                                const double entry =
                                    b[i] * link * a[j] + with_far * d[i] * far_matrix[p * n + o] * c[j];
                                for (int64_t x = 0; x < k; ++x) slow[i * k + x] += entry * v[j * k + x];
                            }
                        const Links& used = kind == 0 ? links : kind == 1 ? back : mean;
                        const CoarsestProduct* const tied = with_far ? &far : nullptr;
                        multiply_walk({tied, &used}, scales, v.data(), out.data(), k, false, false,
                                      dots.data(), 2, 2);
                        multiply_walk({tied, &used}, scales, v.data(), one.data(), k, false, false,
                                      alone.data(), 1, 1);
                        CHECK(one == out);
                        for (size_t e = 0; e < v.size(); ++e) {
                            CHECK(near(out[e], slow[e]));
                            sum[e % k] += v[e] * slow[e], sum[k + e % k] += slow[e] * slow[e];
                        }
                        for (int64_t x = 0; x < 2 * k; ++x) CHECK(near(dots[x], sum[x]));
                        CHECK(std::equal(alone.begin(), alone.end(), dots.begin()));
                    }
        }
}

TEST_CASE("a three-term step is made of the product, and reports its residual") {
    Generator rng(34);
    const int64_t n = 90, m = 7;
    const Tree tree = random_tree(rng, n);
    const auto q = uniforms(rng, tree.n_nodes() - 1);
    const CoarsestProduct far(tree.size.data(), tree.order.data(), tree.n_nodes(), q.data(), 16);
    const Lists lists(rng, n, 5, 0.001);
    const Links links(lists.indices.data(), lists.weight.data(), 0.001, 5, tree.order.data(), n, 2);
    const auto a = uniforms(rng, n), b = uniforms(rng, n), c = uniforms(rng, n), d = uniforms(rng, n);
    const WalkScales scales{a.data(), b.data(), c.data(), d.data(), 0, 0.6, 1.7};
    std::vector<double> nears(b), fars(d);
    for (auto& value : nears) value *= 0.6;
    for (auto& value : fars) value *= 1.7;
    const WalkScales written{a.data(), nears.data(), c.data(), fars.data(), 0};  // without the two factors
    std::vector<double> by(static_cast<size_t>(n));
    std::vector<int32_t> row(static_cast<size_t>(n), -1);
    for (int64_t i = 0; i < n; ++i) by[i] = 0.5 + static_cast<double>(below(rng, 10));
    for (int32_t i = 0; i < m; ++i) row[5 * i + 1] = i;
    for (const int64_t k : {1, 10, 32, 45})
        for (const CoarsestProduct* const tied : {static_cast<const CoarsestProduct*>(nullptr), &far})
            for (int sample = 0; sample < 2; ++sample) {
                const auto next = uniforms(rng, k), now = uniforms(rng, k), before = uniforms(rng, k);
                const auto v = uniforms(rng, n * k, -1), held = uniforms(rng, n * k, -1);
                const auto given = uniforms(rng, m * k);
                std::vector<double> product(v.size()), out(held), one(held), sums(3 * k), same(3 * k),
                    slow(3 * k, 0.0);
                multiply_walk({tied, &links}, written, v.data(), product.data(), k, false, false, nullptr, 0,
                              1);
                const auto take = [&](std::vector<double>& to, std::vector<double>& reported, int threads) {
                    step_walk<double>(
                        {tied, &links}, scales, v.data(), to.data(), k,
                        {row.data(), given.data(), by.data(), 0.1, next.data(), now.data(), before.data()},
                        reported.empty() ? nullptr : reported.data(), threads);
                };
                take(out, sums, 2), take(one, same, 1);
                CHECK(out == one);
                CHECK(sums == same);
                std::vector<double> bare(held), none;
                take(bare, none, 2);
                CHECK(out == bare);
                for (int64_t i = 0; i < n; ++i)
                    for (int64_t x = 0; x < k; ++x) {
                        const int64_t e = i * k + x;
                        double g = product[e];
                        if (row[i] >= 0) g += 0.1 * given[row[i] * k + x];
                        g *= by[i];
                        const double left = (g - v[e]) / by[i];
                        slow[x] += std::abs(left), slow[k + x] += std::abs(g) / by[i];
                        slow[2 * k + x] += left * left;
                        CHECK(near(out[e], next[x] * g + now[x] * v[e] + before[x] * held[e]));
                    }
                for (int64_t x = 0; x < 3 * k; ++x) CHECK(near(sums[x], slow[x]));
            }
}

TEST_CASE("steps of conjugate gradients, on any number of threads") {
    Generator rng(33);
    for (const int64_t k : {1, 3, 10}) {
        const int64_t n = 9001;
        const auto f = uniforms(rng, n * k), p = uniforms(rng, n * k), r = uniforms(rng, n * k),
                   ap = uniforms(rng, n * k), length = uniforms(rng, k), turn = uniforms(rng, k);
        std::vector<double> dots(static_cast<size_t>(k)), again(dots), squares(dots), wanted(dots);
        column_dots(p.data(), r.data(), n, k, dots.data(), 1);
        column_dots(p.data(), r.data(), n, k, again.data(), 2);
        CHECK(dots == again);
        auto solution = f, rest = r, along = p;
        conjugate_step<double>(
            {solution.data(), rest.data(), along.data(), ap.data(), length.data(), turn.data(), n, k},
            squares.data(), 1);
        auto f_new = f, r_new = r, p_new = p;
        conjugate_step<double>(
            {f_new.data(), r_new.data(), p_new.data(), ap.data(), length.data(), turn.data(), n, k},
            again.data(), 2);
        CHECK(f_new == solution);
        CHECK(r_new == rest);
        CHECK(p_new == along);
        CHECK(again == squares);
        std::vector<double> sum(static_cast<size_t>(k), 0.0);
        for (int64_t e = 0; e < n * k; ++e) {
            const double left = r[e] - length[e % k] * ap[e];
            sum[e % k] += p[e] * r[e], wanted[e % k] += left * left;
            CHECK(near(rest[e], left));
            CHECK(near(solution[e], f[e] + length[e % k] * p[e]));
            CHECK(near(along[e], left + turn[e % k] * p[e]));
        }
        for (int64_t x = 0; x < k; ++x) {
            CHECK(near(dots[x], sum[x]));
            CHECK(near(squares[x], wanted[x]));
        }
    }
}

TEST_CASE("rows taken, put back and blended, on any number of threads") {
    Generator rng(34);
    const int64_t n = 5000, k = 3;
    const auto order = permutation(rng, n);
    const auto v = uniforms(rng, n * k), before = uniforms(rng, n * k), given = uniforms(rng, n * k);
    std::vector<double> there(v.size()), back(v.size());
    take_rows(v.data(), order.data(), 2.0, n, k, there.data(), 2);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t c = 0; c < k; ++c) CHECK(there[i * k + c] == 2 * v[order[i] * k + c]);
    put_rows(there.data(), order.data(), static_cast<double*>(nullptr), n, k, back.data(), 2);
    for (size_t e = 0; e < v.size(); ++e) CHECK(back[e] == 2 * v[e]);
    for (const int32_t* used : {static_cast<const int32_t*>(nullptr), order.data()}) {
        auto one = v, two = v;
        std::vector<double> change(k), size(k), change_two(k), size_two(k), changed(k, 0.0), sizes(k, 0.0);
        StepChange first{change.data(), size.data(), 0.2, 0, false},
            second{change_two.data(), size_two.data(), 2, 0, true};  // no entry changes by 2
        blend_rows(one.data(), before.data(), given.data(), used, 0.9, n, k, first, 1);
        blend_rows(two.data(), before.data(), given.data(), used, 0.9, n, k, second, 2);
        CHECK(first.beyond);
        CHECK(!second.beyond);
        CHECK(one == two);
        CHECK(change == change_two);
        CHECK(size == size_two);
        for (int64_t i = 0; i < n; ++i)
            for (int64_t c = 0; c < k; ++c) {
                const double wanted = 0.9 * v[i * k + c] + 0.1 * given[(used ? used[i] : i) * k + c];
                CHECK(near(one[i * k + c], wanted));
                changed[c] += std::abs(wanted - before[i * k + c]), sizes[c] += std::abs(wanted);
            }
        for (int64_t c = 0; c < k; ++c) {
            CHECK(near(change[c], changed[c]));
            CHECK(near(size[c], sizes[c]));
        }
    }
}
