#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "../kernels/cell_screen.hpp"
#include "../kernels/cell_search.hpp"
#include "lists.hpp"

using namespace bvdt;
using namespace bvdt::test;

namespace {

std::vector<float> numbers(Generator& rng, int64_t count, float size) {
    std::vector<float> out(static_cast<size_t>(count));
    for (float& value : out) value = size * static_cast<float>(2 * uniform(rng) - 1);
    return out;
}

// The j-th number of four that stand in one.
int32_t number_in(const std::vector<int32_t>& quad, int64_t j) {
    int8_t part[kQuad];
    std::memcpy(part, &quad[j / kQuad], sizeof part);
    return part[j % kQuad];
}

int32_t byte_in(const CellBytes& bytes, int64_t d, int64_t place, int64_t j) {
    const int64_t panel = place / kLanes, lane = place % kLanes;
    return bytes.panels[((panel * quads(d) + j / kQuad) * kLanes + lane) * kQuad + j % kQuad] - kZero;
}

// 40 centres in panels; one of them is far.
struct Cell {
    static constexpr int64_t count = 40, n_panels = 3;
    int64_t d;
    std::vector<float> panels;
    CellBytes bytes;

    Cell(Generator& rng, int64_t d_) : d(d_), panels(numbers(rng, n_panels * d_ * kLanes, 0.7f)) {
        for (int64_t j = 0; j < d; ++j) panels[j * kLanes + 5] *= 50;
        bytes.resize(1, n_panels, d);
        bytes.round(0, panels.data(), 0, count, d);
    }
    float at(int64_t place, int64_t j) const {
        return panels[(place / kLanes * d + j) * kLanes + place % kLanes];
    }
};

}  // namespace

TEST_CASE("products of whole numbers are as near to those of numbers as they say") {
    Generator rng(71);
    for (const int64_t d : {1, 4, 5, 50}) {
        const Cell cell(rng, d);
        CHECK(cell.bytes.has_far[0] == 1);
        const int64_t n_rows = 9;
        const std::vector<float> x = numbers(rng, n_rows * d, 3.0f);
        ByteRows rows;
        rows.round(x.data(), n_rows, d);
        for (int64_t a = 0; a < n_rows; ++a) {
            int32_t sum = 0;
            for (int64_t j = 0; j < d; ++j) sum += number_in(rows.quad, a * quads(d) * kQuad + j);
            CHECK(sum == rows.sum[a]);
            FineRow fine;
            fine.round(x.data() + a * d, d);
            CHECK(fine.error <= 0.51 * fine.step * std::sqrt(static_cast<double>(d)));
            CHECK(fine.step * 100 < rows.step[a]);
            for (int64_t place = 0; place < Cell::count; ++place) {
                if (place == 5) {
                    CHECK(cell.bytes.slack[place] == std::numeric_limits<float>::infinity());
                    continue;
                }
                double exact = 0, whole = 0, finer = 0;
                for (int64_t j = 0; j < d; ++j) {
                    const int32_t q = byte_in(cell.bytes, d, place, j);
                    exact += double{x[a * d + j]} * cell.at(place, j);
                    whole += double(number_in(rows.quad, a * quads(d) * kQuad + j)) * q;
                    finer += double(kCoarse * number_in(fine.coarse, j) + number_in(fine.fine, j)) * q;
                }
                const double step = cell.bytes.step[0], length = cell.bytes.length[0];
                CHECK(std::abs(exact - rows.step[a] * step * whole) <=
                      rows.error[a] * length + rows.length[a] * cell.bytes.error[0] + 1e-6);
                CHECK(std::abs(exact - fine.step * step * finer) <=
                      fine.error * length + fine.length * cell.bytes.error[0] + 1e-6);
            }
        }
    }
}

TEST_CASE("a screen by bytes finds what their products say") {
    if (!multiplies_bytes()) return;
    Generator rng(72);
    for (const int64_t d : {3, 20, 64}) {
        const Cell cell(rng, d);
        const std::vector<float> x = numbers(rng, kRows * d, 1.0f), level = numbers(rng, 3 * kLanes, 2.0f);
        ByteRows bytes;
        bytes.round(x.data(), kRows, d);
        const ScreenCentres centres{nullptr, cell.bytes.panels.data(), level.data(), 3, d};
        std::vector<float> value(kRows * 4 * kLanes);
        std::vector<int32_t> place(value.size());
        ScreenRows rows;
        Hits hits[kRows];
        for (int64_t r = 0; r < kRows; ++r) {
            rows.x[r] = nullptr, rows.quad[r] = bytes.quad.data() + r * quads(d);
            rows.scale[r] = bytes.step[r] * cell.bytes.step[0], rows.zero[r] = -kZero * bytes.sum[r];
            rows.limit[r] = r == 4 ? -std::numeric_limits<float>::infinity() : 0.3f * static_cast<float>(r);
            hits[r] = {value.data() + r * 4 * kLanes, place.data() + r * 4 * kLanes, 0};
        }
        screen(rows, centres, hits);
        for (int64_t r = 0; r < kRows; ++r) {
            int64_t found = 0;
            for (int64_t b = 0; b < 3 * kLanes; ++b) {
                int32_t product = 0;
                for (int64_t j = 0; j < d; ++j)
                    product += number_in(bytes.quad, r * quads(d) * kQuad + j) * byte_in(cell.bytes, d, b, j);
                const float expected = level[b] - rows.scale[r] * static_cast<float>(product);
                if (found < hits[r].count && hits[r].place[found] == b) {
                    CHECK(near(hits[r].value[found], expected, 1e-5));
                    ++found;
                } else {
                    CHECK(expected >= rows.limit[r] - 1e-5);
                }
            }
            CHECK(found == hits[r].count);
        }
    }
}

TEST_CASE("bytes and numbers lead to the same lists") {
    if (!multiplies_bytes()) return;
    Generator rng(73);
    for (const int64_t d : {2, 7, 40}) {
        Points p(rng, 300, d);
        for (int64_t j = 0; j < d; ++j) p.x[11 * d + j] *= 30;  // a row that is far from its cell
        const auto order = permutation(rng, p.n);
        std::vector<int64_t> bounds{0, 1, 80, 81, 200, 300};
        Lists lists[2] = {Lists(p.n, 5), Lists(p.n, 5)};
        for (const bool by_bytes : {false, true}) {
            const CellStore cells(p.dense(), p.u.data(), p.w.data(), order.data(), bounds.data(), 5, 2,
                                  by_bytes);
            CHECK(cells.bytes.empty() == !by_bytes);
            CHECK(cells.panels.empty() == by_bytes);
            search_cells(cells, {0, cells.n}, p.n, lists[by_bytes].view(), 2);
        }
        CHECK(lists[0].divergence == lists[1].divergence);
        for (size_t s = 0; s < lists[0].index.size(); ++s)  // of divergences cut off at 0 any will do
            CHECK((lists[0].divergence[s] == 0 || lists[0].index[s] == lists[1].index[s]));
    }
}
