// The optimum and the bound as a function of β: see kernels/optimum.hpp and kernels/curve.hpp.
#include "../kernels/curve.hpp"
#include "../kernels/optimum.hpp"
#include "arrays.hpp"

namespace bvdt {
namespace {

struct Blocks {
    Vector<int32_t> size, parent;
    Vector<double> dbar;
    double bandwidth;

    BlockWeights coarsest(int threads) const {
        const BlockWeights weights = checked(nullptr, nullptr, threads);
        require(rows(dbar) + 1 == rows(size), "mean_divergence needs one entry per block, ", rows(size) - 1,
                "; it has ", rows(dbar));
        return weights;
    }

    BlockWeights any(const Vector<int64_t>& first, const Vector<int32_t>& cols, int threads) const {
        const BlockWeights weights = checked(first.data(), cols.data(), threads);
        check_blocks(first.data(), rows(first), cols.data(), rows(cols), rows(size), threads);
        check_length("mean_divergence", rows(dbar), rows(cols), "block");
        return weights;
    }

  private:
    BlockWeights checked(const int64_t* first, const int32_t* cols, int threads) const {
        check_threads(threads);
        check_length("parent", rows(parent), rows(size), "node");
        check_parents(size.data(), parent.data(), rows(size), threads);
        require(bandwidth > 0, "bandwidth needs a value > 0; it is ", bandwidth);
        return {size.data(), parent.data(), rows(size), first, cols, dbar.data(), bandwidth};
    }
};

struct Out {
    MutableVector<double> q, log_value, mass_below;

    Solution checked(int64_t n_blocks, int64_t n_nodes) const {
        check_length("q", rows(q), n_blocks, "block");
        check_length("log_value", rows(log_value), n_nodes, "node");
        check_length("mass_below", rows(mass_below), n_nodes, "node");
        return {q.data(), log_value.data(), mass_below.data()};
    }
};

void optimum_coarsest(Vector<int32_t> size, Vector<int32_t> parent, Vector<double> dbar, double bandwidth,
                      MutableVector<double> q, MutableVector<double> log_value,
                      MutableVector<double> mass_below, int threads) {
    ReleasedGil release;
    const BlockWeights weights = Blocks{size, parent, dbar, bandwidth}.coarsest(threads);
    optimum(weights, Out{q, log_value, mass_below}.checked(rows(dbar), rows(size)), threads);
}

void optimum_blocks(Vector<int32_t> size, Vector<int32_t> parent, Vector<int64_t> first, Vector<int32_t> cols,
                    Vector<double> dbar, double bandwidth, MutableVector<double> q,
                    MutableVector<double> log_value, MutableVector<double> mass_below, int threads) {
    ReleasedGil release;
    const BlockWeights weights = Blocks{size, parent, dbar, bandwidth}.any(first, cols, threads);
    optimum(weights, Out{q, log_value, mass_below}.checked(rows(dbar), rows(size)), threads);
}

nb::tuple to_tuple(const Curve& curve) {
    return nb::make_tuple(curve.value, curve.entropy, curve.mean, curve.variance);
}

nb::tuple curve_coarsest(Vector<int32_t> size, Vector<int32_t> parent, Vector<double> dbar, double bandwidth,
                         int threads) {
    Curve curve;
    {
        ReleasedGil release;
        curve = bound_curve(Blocks{size, parent, dbar, bandwidth}.coarsest(threads), threads);
    }
    return to_tuple(curve);
}

nb::tuple curve_blocks(Vector<int32_t> size, Vector<int32_t> parent, Vector<int64_t> first,
                       Vector<int32_t> cols, Vector<double> dbar, double bandwidth, int threads) {
    Curve curve;
    {
        ReleasedGil release;
        curve = bound_curve(Blocks{size, parent, dbar, bandwidth}.any(first, cols, threads), threads);
    }
    return to_tuple(curve);
}

}  // namespace

void register_bound(nb::module_& m) {
    using namespace nb::literals;
    m.def("optimum_coarsest", &optimum_coarsest, "size"_a, "parent"_a, "mean_divergence"_a, "bandwidth"_a,
          "q"_a.noconvert(), "log_value"_a.noconvert(), "mass_below"_a.noconvert(), "threads"_a);
    m.def("optimum_blocks", &optimum_blocks, "size"_a, "parent"_a, "first"_a, "cols"_a, "mean_divergence"_a,
          "bandwidth"_a, "q"_a.noconvert(), "log_value"_a.noconvert(), "mass_below"_a.noconvert(),
          "threads"_a);
    m.def("curve_coarsest", &curve_coarsest, "size"_a, "parent"_a, "mean_divergence"_a, "bandwidth"_a,
          "threads"_a);
    m.def("curve_blocks", &curve_blocks, "size"_a, "parent"_a, "first"_a, "cols"_a, "mean_divergence"_a,
          "bandwidth"_a, "threads"_a);
}

}  // namespace bvdt
