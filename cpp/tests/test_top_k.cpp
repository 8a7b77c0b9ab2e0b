#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "../kernels/top_k.hpp"
#include "lists.hpp"

using namespace bvdt;
using namespace bvdt::test;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

bool holds(const CandidateList& list, int32_t item) {
    for (int64_t s = 0; s < list.count(); ++s)
        if (list.item(s) == item) return true;
    return false;
}

// Candidates of query i with estimates that are `slack` below their divergences at most.
std::vector<Candidate> estimated(Generator& rng, const Points& p, int64_t i,
                                 const std::vector<int32_t>& candidates, double slack) {
    std::vector<Candidate> all;
    for (const int32_t j : candidates) all.emplace_back(p.divergence(i, j) - uniform(rng, 0, slack), j);
    return all;
}

ExactPoints exact(const Points& p) { return {p.x.data(), p.h.data(), p.u.data(), p.w.data(), p.d}; }

}  // namespace

TEST_CASE("a list keeps the k best") {
    Generator rng(26);
    for (const int64_t k : {1, 4, 9}) {
        std::vector<double> value(static_cast<size_t>(k), kNever);
        std::vector<int32_t> index(value.size(), -1);
        const TopList<double> list{value.data(), index.data(), k};
        std::vector<std::pair<double, int32_t>> offered;
        for (int32_t j : permutation(rng, 40)) {
            const double d = static_cast<double>(below(rng, 8));  // many ties
            offered.emplace_back(d, j);
            list.offer(j, d);
            list.offer(j, d);  // once is enough
        }
        std::sort(offered.begin(), offered.end());
        for (int64_t s = 0; s < k; ++s) {
            CHECK(value[s] == offered[s].first);
            CHECK(index[s] == offered[s].second);
        }
        CHECK(list.worst() == offered[static_cast<size_t>(k) - 1].first);
        CHECK(list.holds(offered[0].second));
        CHECK_FALSE(list.holds(offered.back().second));
    }
}

TEST_CASE("candidates who may be among the k best are kept, whatever the order of the offers") {
    Generator rng(61);
    for (const int64_t k : {1, 3, 16, 40})
        for (const int64_t n : {2, 50, 700}) {
            CandidateList best;
            best.start(k);
            std::vector<float> lower, upper;
            std::vector<int32_t> item, place;
            for (int64_t first = 0; first < n; first += 7) {  // seven at once, each lot with a gap of its own
                const float gap = 0.1f * static_cast<float>(uniform(rng));
                std::vector<float> value;
                place.clear(), item.clear();
                for (int64_t s = first; s < std::min(first + 7, n); ++s) {
                    value.push_back(static_cast<float>(uniform(rng)));
                    item.push_back(static_cast<int32_t>(s));
                    place.push_back(static_cast<int32_t>(s - first));
                    lower.push_back(value.back() + 2.0f), upper.push_back(lower.back() + gap);
                }
                const int64_t count = static_cast<int64_t>(value.size());
                best.offer({value.data(), place.data(), count, item.data(), 2.0f, gap});
            }
            best.drop_far();
            std::vector<float> sorted = upper;
            std::sort(sorted.begin(), sorted.end());
            const float limit = n < k ? std::numeric_limits<float>::infinity() : sorted[k - 1];
            CHECK(best.worst() >= limit);  // k are surely not above it
            for (int64_t s = 0; s < n; ++s)
                if (lower[s] <= limit) CHECK(holds(best, static_cast<int32_t>(s)));
            for (int64_t s = 0; s < best.count(); ++s) CHECK(best.lower(s) == lower[best.item(s)]);
        }
}

TEST_CASE("candidates of equal values are all kept, and few of them as they are") {
    CandidateList best;
    best.start(2);
    CHECK(best.worst() == std::numeric_limits<float>::infinity());
    const std::vector<float> value(90, 1.0f);
    const std::vector<int32_t> item = numbers(90);
    best.offer({value.data(), item.data(), 90, item.data(), 0.0f, 0.5f});
    best.drop_far();
    CHECK(best.count() == 90);
    best.start(200);
    CHECK(best.count() == 0);
    best.offer({value.data(), item.data(), 90, item.data(), 0.0f, 0.5f});
    best.drop_far();
    CHECK(best.count() == 90);
}

TEST_CASE("far candidates are dropped") {
    Generator rng(62);
    CandidateList best;
    best.start(10);
    const std::vector<int32_t> item = numbers(4000);
    std::vector<float> value(item.size());
    for (float& v : value) v = static_cast<float>(uniform(rng));
    for (int64_t first = 0; first < 4000; first += 100)
        best.offer({value.data() + first, item.data(), 100, item.data() + first, 0.0f, 1e-3f});
    best.drop_far();
    CHECK(best.count() < 100);
}

TEST_CASE("a re-rank gives the k best of the candidates, as sorting does") {
    Generator rng(63);
    for (const int64_t d : {1, 4, 30})
        for (const int64_t k : {1, 6})
            for (const int64_t width : {0, 3, 6, 17}) {
                const Points p(rng, 40, d);
                Lists found(1, k), bounded(1, k);
                for (int64_t i = 0; i < p.n; ++i) {
                    auto chosen = permutation(rng, p.n);
                    chosen.resize(static_cast<size_t>(width));
                    std::erase(chosen, static_cast<int32_t>(i));
                    std::vector<Candidate> candidates = estimated(rng, p, i, chosen, 0.5);
                    rerank(exact(p), i, candidates, false, found.view().row(0));  // in any order
                    std::sort(candidates.begin(), candidates.end());
                    rerank(exact(p), i, candidates, true, bounded.view().row(0));
                    const auto expected = nearest(p, i, chosen, k);
                    for (size_t s = 0; s < static_cast<size_t>(k); ++s) {
                        const bool there = s < expected.size();
                        CHECK(found.index[s] == (there ? expected[s].second : -1));
                        if (there)
                            CHECK(near(found.divergence[s], expected[s].first));
                        else
                            CHECK(found.divergence[s] == kNever);
                    }
                    CHECK(found.index == bounded.index);
                    CHECK(found.divergence == bounded.divergence);
                }
            }
}

TEST_CASE("a re-rank sees no one whose bound is too far") {
    Generator rng(64);
    const Points p(rng, 20, 3);
    Lists found(1, 2);
    std::vector<Candidate> candidates = estimated(rng, p, 0, {3, 8}, 0.0);
    std::sort(candidates.begin(), candidates.end());
    candidates.emplace_back(1e6, 8), candidates.emplace_back(1e6, 3);  // seen with the others: four at once
    for (int32_t j = 10; j < 20; ++j) candidates.emplace_back(1e6, j);
    for (const bool is_bound : {true, false}) {
        rerank(exact(p), 0, candidates, is_bound, found.view().row(0));
        std::vector<int32_t> seen{3, 8, 3, 8};
        if (!is_bound)
            for (int32_t j = 10; j < 20; ++j) seen.push_back(j);
        CHECK(near(found.divergence[0], nearest(p, 0, seen, 1)[0].first));
    }
}

TEST_CASE("a re-rank puts equal points by index, and no divergence below 0") {
    Generator rng(65);
    Points p(rng, 9, 2);
    std::fill(p.x.begin(), p.x.end(), 1.0), std::fill(p.h.begin(), p.h.end(), 2.0);
    std::fill(p.u.begin(), p.u.end(), 1.5), std::fill(p.w.begin(), p.w.end(), 2.0);  // u + w − ⟨x, h⟩ = −0.5
    Lists found(1, 3);
    std::vector<Candidate> candidates;
    for (const int32_t j : {7, 2, 5, 8, 4, 1}) candidates.emplace_back(-0.5, j);
    rerank(exact(p), 0, candidates, false, found.view().row(0));
    CHECK(found.index == std::vector<int32_t>{1, 2, 4});
    CHECK(found.divergence == std::vector<double>(3, 0.0));
}
