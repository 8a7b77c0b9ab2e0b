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
        const double per = last > 0 ? last : 1;  // all centers at 0: equal weights
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

Links Links::mean(int threads) const {
    const Links back = transposed();  // columns ascend in its rows
    Links out(order_, unit_ / 2);
    const auto lists = [&](int64_t i, int32_t j) {
        const int32_t* const last = column_.data() + first_[i + 1];
        return std::find(column_.data() + first_[i], last, j) != last;
    };
    parallel_stretches(n_points(), kRows, threads, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
            out.first_[i + 1] =
                first_[i + 1] - first_[i] +
                std::count_if(back.column_.data() + back.first_[i], back.column_.data() + back.first_[i + 1],
                              [&](int32_t j) { return !lists(i, j); });
    });
    out.make_room();
    parallel_stretches(n_points(), kRows, threads, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const int32_t* const head = back.column_.data() + back.first_[i];
            const int32_t* const tail = back.column_.data() + back.first_[i + 1];
            int64_t to = out.first_[i];
            for (int64_t e = first_[i]; e < first_[i + 1]; ++e, ++to) {
                const int32_t* const found = std::lower_bound(head, tail, column_[e]);
                const bool mutual = found != tail && *found == column_[e];
                out.column_[to] = column_[e];
                out.weight_[to] = weight_[e] + (mutual ? back.weight_[found - back.column_.data()] : 0);
            }
            for (const int32_t* from = head; from != tail; ++from)
                if (!lists(i, *from)) {
                    out.column_[to] = *from;
                    out.weight_[to++] = back.weight_[from - back.column_.data()];
                }
        }
    });
    return out;
}

}  // namespace bvdt
