// The k best of what was offered, ascending by value; places that nobody took hold index −1 and value +∞.
#pragma once

#include <algorithm>
#include <cstdint>

namespace bvdt {

template <typename Value>
struct TopList {
    Value* value;    // (k,)
    int32_t* index;  // (k,)
    int64_t k;

    Value worst() const { return value[k - 1]; }
    bool holds(int32_t j) const { return std::find(index, index + k, j) != index + k; }

    // Puts j where it belongs, and the last one falls out; j is known to come before it. Ties go by index.
    void insert(int32_t j, Value d) const {
        const auto before = [&](int64_t place) {
            return d < value[place] || (d == value[place] && j < index[place]);
        };
        int64_t place = k - 1;
        for (; place > 0 && before(place - 1); --place)
            value[place] = value[place - 1], index[place] = index[place - 1];
        value[place] = d, index[place] = j;
    }
};

}  // namespace bvdt
