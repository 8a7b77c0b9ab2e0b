// Sums over the tree: one value per node from the points below, one per point from the nodes above.
#include "../kernels/node_sums.hpp"
#include "arrays.hpp"

namespace bvdt {
namespace {

void check_tree(const Vector<int32_t>& size, const Vector<int32_t>& order, int threads) {
    check_threads(threads);
    const int64_t n = check_sizes(size.data(), rows(size), threads);
    check_length("order", rows(order), n, "point");
    check_distinct("order", order.data(), n, n);
}

NewVector<double> node_sums_of(Vector<double> values, Vector<int32_t> size, Vector<int32_t> order,
                               int threads) {
    std::vector<double> out;
    {
        ReleasedGil release;
        check_tree(size, order, threads);
        check_length("values", rows(values), rows(order), "point");
        out.resize(size.size());
        node_sums(values.data(), size.data(), order.data(), rows(size), out.data(), threads);
    }
    return to_numpy(std::move(out));
}

NewVector<double> path_sums_of(Vector<double> values, Vector<int32_t> size, Vector<int32_t> order,
                               int threads) {
    std::vector<double> out;
    {
        ReleasedGil release;
        check_tree(size, order, threads);
        check_length("values", rows(values), rows(size), "node");
        out.resize(order.size());
        path_sums(values.data(), size.data(), order.data(), rows(size), out.data(), threads);
    }
    return to_numpy(std::move(out));
}

}  // namespace

void register_sums(nb::module_& m) {
    using namespace nb::literals;
    m.def("node_sums", &node_sums_of, "values"_a, "size"_a, "order"_a, "threads"_a);
    m.def("path_sums", &path_sums_of, "values"_a, "size"_a, "order"_a, "threads"_a);
}

}  // namespace bvdt
