#include "links.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "parallel.hpp"

namespace bvdt {
namespace {

constexpr int64_t kRows = 1024;  // per turn of a thread
constexpr double kNobody = std::numeric_limits<double>::infinity();

}  // namespace

void weigh_lists(const double* divergences, int64_t n, int64_t k, double fall, int32_t total,
                 const ListWeights& out, int threads) {
    const auto scratch = [&] { return std::vector<double>(static_cast<size_t>(k)); };
    parallel_for(n, kRows, threads, scratch, [&](int64_t i, std::vector<double>& e) {
        const double* const d = divergences + i * k;
        int32_t* const weight = out.weight + i * k;
        double last = 0, sum = 0, spent = 0;
        for (int64_t j = 0; j < k; ++j)
            if (d[j] < kNobody) last = std::max(last, d[j]);
        const double per = last > 0 ? last : 1;  // all centres at 0: equal weights
        for (int64_t j = 0; j < k; ++j) {
            e[j] = d[j] < kNobody ? std::exp(-fall * std::max(d[j] / per, 0.0)) : 0;
            if (e[j] > 0) sum += e[j], spent += e[j] * d[j];
        }
        out.cost[i] = sum > 0 ? spent / sum : 0;
        out.logs[i] = sum > 0 ? -fall * (out.cost[i] / per) - std::log(sum) : 0;
        int32_t left = sum > 0 ? total : 0;
        for (int64_t j = 0; j < k; ++j) {
            weight[j] = sum > 0 ? static_cast<int32_t>(total * (e[j] / sum)) : 0;
            left -= weight[j];
        }
        if (left > 0) weight[std::max_element(e.begin(), e.end()) - e.begin()] += left;  // less than k units
    });
}

int64_t linked_parts(const int32_t* listed, int64_t n, int64_t k, int32_t* part) {
    std::iota(part, part + n, 0);  // each point's way to the first point of its part
    const auto first_of = [&](int32_t i) {
        while (part[i] != i) i = part[i] = part[part[i]];
        return i;
    };
    for (int64_t i = 0; i < n; ++i)
        for (int64_t e = i * k; e < (i + 1) * k; ++e) {
            if (listed[e] < 0) continue;
            const int32_t one = first_of(static_cast<int32_t>(i)), other = first_of(listed[e]);
            part[std::max(one, other)] = std::min(one, other);
        }
    int32_t count = 0;
    for (int64_t i = 0; i < n; ++i)  // a way leads to a point before, whose number is there already
        part[i] = part[i] == i ? count++ : part[part[i]];
    return count;
}

void Links::make_room() {
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    column_.resize(static_cast<size_t>(first_.back())), weight_.resize(column_.size());
}

Links::Links(const int32_t* indices, const int32_t* weight, double unit, int64_t k, const int32_t* order,
             int64_t n, int threads)
    : Links(std::make_shared<const std::vector<int32_t>>(order, order + n), unit) {
    std::vector<int32_t> place(static_cast<size_t>(n));
    parallel_stretches(n, kRows, threads, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const int32_t* list = indices + order[i] * k;
            place[order[i]] = static_cast<int32_t>(i);
            first_[i + 1] = std::count_if(list, list + k, [](int32_t j) { return j >= 0; });
        }
    });
    make_room();
    parallel_stretches(n, kRows, threads, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            int64_t to = first_[i];
            for (int64_t e = order[i] * k; e < (order[i] + 1) * k; ++e)
                if (indices[e] >= 0) column_[to] = place[indices[e]], weight_[to++] = weight[e];
        }
    });
}

Links Links::transposed() const {
    Links out(order_, unit_);
    for (const int32_t j : column_) ++out.first_[j + 1];
    out.make_room();
    std::vector<int64_t> next(out.first_.begin(), out.first_.end() - 1);
    for (int64_t i = 0; i < n_points(); ++i)
        for (int64_t e = first_[i]; e < first_[i + 1]; ++e) {
            const int64_t to = next[column_[e]]++;
            out.column_[to] = static_cast<int32_t>(i), out.weight_[to] = weight_[e];
        }
    return out;
}

MeanLinks::MeanLinks(const int32_t* listed, int64_t k, double unit, const int32_t* order, int64_t n,
                     int threads)
    : links_(std::make_shared<const std::vector<int32_t>>(order, order + n), unit / 2),
      own_(static_cast<size_t>(n)) {
    std::vector<int64_t>& first = links_.first_;
    LargeVector<char> back(static_cast<size_t>(n * k));  // of every link whether there is one back
    parallel_stretches(n, kRows, threads, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const int32_t* const list = listed + i * k;
            own_[i] = static_cast<int32_t>(std::find(list, list + k, -1) - list);
            for (int64_t e = 0; e < own_[i]; ++e) {
                const int32_t* const theirs = listed + list[e] * k;
                back[i * k + e] = std::find(theirs, theirs + k, static_cast<int32_t>(i)) != theirs + k;
            }
        }
    });
    for (int64_t i = 0; i < n; ++i) {
        first[i + 1] += own_[i];
        for (int64_t e = i * k; e < i * k + own_[i]; ++e) first[listed[e] + 1] += !back[e];
    }
    links_.make_room();
    parallel_stretches(n, kRows, threads, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
            std::copy_n(listed + i * k, own_[i], links_.column_.data() + first[i]);
    });
    std::vector<int32_t> filled(own_);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t e = i * k; e < i * k + own_[i]; ++e)
            if (!back[e]) links_.column_[first[listed[e]] + filled[listed[e]]++] = static_cast<int32_t>(i);
}

void MeanLinks::weigh(const int32_t* weight, int64_t first, int64_t last, int64_t k) {
    for (int64_t i = first; i < last; ++i)
        std::copy_n(weight + (i - first) * k, own_[i], links_.weight_.data() + links_.first_[i]);
}

void MeanLinks::join(int threads) {
    const std::vector<int64_t>& first = links_.first_;
    const int32_t* const column = links_.column_.data();
    int32_t* const weight = links_.weight_.data();
    // Where row i has j as a link of its own, or its end.
    const auto place = [&](int64_t i, int64_t j) {
        return std::find(column + first[i], column + first[i] + own_[i], static_cast<int32_t>(j)) - column;
    };
    // A pair of links is summed by the row that comes first, a link without one back is read by the row it
    // goes to: no entry is touched by two threads.
    parallel_stretches(links_.n_points(), kRows, threads, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const int64_t tail = first[i] + own_[i];
            for (int64_t e = first[i]; e < tail; ++e) {
                if (column[e] < i) continue;
                const int64_t other = place(column[e], i);
                if (other == first[column[e]] + own_[column[e]]) continue;
                weight[e] = weight[other] = weight[e] + weight[other];
            }
            for (int64_t e = tail; e < first[i + 1]; ++e) weight[e] = weight[place(column[e], i)];
        }
    });
}

}  // namespace bvdt
