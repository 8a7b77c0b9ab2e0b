// The k best of what was offered, ascending by value; places that nobody took hold index −1 and value +∞.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace bvdt {

enum class Ties { kByArrival, kByIndex };

template <typename Value>
struct TopList {
    Value* value;    // (k,)
    int32_t* index;  // (k,)
    int64_t k;

    Value worst() const { return value[k - 1]; }
    bool holds(int32_t j) const { return std::find(index, index + k, j) != index + k; }

    // Puts j where it belongs, and the last one falls out; j is known to come before it.
    template <Ties ties>
    void insert(int32_t j, Value d) const {
        const auto before = [&](int64_t place) {
            return d < value[place] || (ties == Ties::kByIndex && d == value[place] && j < index[place]);
        };
        int64_t place = k - 1;
        for (; place > 0 && before(place - 1); --place)
            value[place] = value[place - 1], index[place] = index[place - 1];
        value[place] = d, index[place] = j;
    }
};

// The same for long lists, in no order: twice as many are collected, then the farther half is dropped, which
// takes a few steps per offer where a sorted list moves half of itself.
template <typename Value>
class LongList {
  public:
    Value worst = std::numeric_limits<Value>::infinity();  // of the k best when they were last counted

    void begin(int64_t k) {
        k_ = static_cast<size_t>(k), item_.clear(), item_.reserve(2 * k_);
        worst = std::numeric_limits<Value>::infinity();
    }
    void offer(int32_t j, Value d) {
        item_.emplace_back(d, j);
        if (item_.size() == 2 * k_) shorten();
    }
    // The k best; of equal values the smaller indices.
    const std::vector<std::pair<Value, int32_t>>& best() {
        if (item_.size() > k_) shorten();
        return item_;
    }

  private:
    size_t k_ = 0;
    std::vector<std::pair<Value, int32_t>> item_;

    void shorten() {
        std::nth_element(item_.begin(), item_.begin() + static_cast<int64_t>(k_) - 1, item_.end());
        item_.resize(k_);
        worst = item_.back().first;
    }
};

}  // namespace bvdt
