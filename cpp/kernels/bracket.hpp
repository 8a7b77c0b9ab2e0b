// The k best of what was offered by bounds: each item's value is known to be in an interval. Whoever may be
// among the k best is kept, to be valued exactly at the end.
#pragma once

#include <cstdint>
#include <vector>

namespace bvdt {

// Items offered together: item[place[s]] has a value in from + value[s] … from + value[s] + gap.
struct Offers {
    const float* value;    // (count,)
    const int32_t* place;  // (count,)
    int64_t count;
    const int32_t* item;
    float from, gap;
};

class Bracket {
  public:
    void start(int64_t k);

    // What k of those offered are surely not above.
    float worst() const { return worst_; }

    void offer(const Offers& offers);

    void drop_far();  // whoever cannot be among the k best

    // Those who are left.
    const int32_t* begin() const { return item_.data(); }
    const int32_t* end() const { return item_.data() + count_; }
    float likely(int64_t s) const { return lower_[s] + (upper_[s] - lower_[s]) / 2; }  // of *(begin() + s)

  private:
    int64_t k_ = 0, count_ = 0, many_ = 0;  // `many`: whoever is too far is dropped then
    float worst_ = 0;
    std::vector<float> lower_, upper_;
    std::vector<int32_t> item_;
};

}  // namespace bvdt
