#include "cell_screen.hpp"

#include <algorithm>

#include "take_below.hpp"

namespace bvdt {
namespace {

void screen_numbers(const ScreenRows& rows, const ScreenCentres& centres, Hits* hits) {
    using Part = Lanes<float>;
    for (int64_t b = 0; b < centres.n_panels; ++b) {
        Part rest[kRows];
        multiply(rows.x, centres.panels + b * centres.d * kLanes, centres.d, rest);
        const Part part = Part::at(centres.level + b * kLanes);
        Signs<float> below;
        for (int64_t r = 0; r < kRows; ++r) rest[r] = part - rest[r], below.add(rest[r] - rows.limit[r]);
        if (!below.any()) continue;
        for (int64_t r = 0; r < kRows; ++r) {
            Signs<float> here;
            here.add(rest[r] - rows.limit[r]);
            if (!here.any()) continue;
            float value[kLanes];
            Part::at(value) = rest[r];
            Hits& to = hits[r];
            to.count += take_below(value, rows.limit[r], static_cast<int32_t>(b * kLanes),
                                   to.value + to.count, to.place + to.count);
        }
    }
}

}  // namespace

void screen(const ScreenRows& rows, const ScreenCentres& centres, Hits* hits) {
    for (int64_t r = 0; r < kRows; ++r) hits[r].count = 0;
    screen_numbers(rows, centres, hits);
}

}  // namespace bvdt
