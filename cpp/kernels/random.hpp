// Counter-based random numbers (splitmix64): a segment's stream depends on the seed and its place alone, so
// results do not depend on which thread runs it.
#pragma once

#include <cstdint>
#include <vector>

namespace bvdt {

inline uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t z = a + 0x9E3779B97F4A7C15ULL * (b + 1);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

class Random {
  public:
    explicit Random(uint64_t seed) : seed_(seed) {}

    double uniform() { return static_cast<double>(mix(seed_, counter_++) >> 11) * 0x1.0p-53; }

    int64_t below(int64_t n) { return static_cast<int64_t>(uniform() * static_cast<double>(n)); }

    // Index drawn in proportion to the weights (at least one of them positive).
    int64_t pick(const std::vector<double>& weight) {
        double total = 0;
        for (double w : weight) total += w;
        double left = uniform() * total;
        int64_t last = 0;
        for (size_t s = 0; s < weight.size(); ++s) {
            if (weight[s] <= 0) continue;
            last = static_cast<int64_t>(s);
            left -= weight[s];
            if (left < 0) break;
        }
        return last;
    }

  private:
    uint64_t seed_, counter_ = 0;
};

}  // namespace bvdt
