// The forces of a map: see kernels/layout.hpp.
#include "../kernels/layout.hpp"

#include <cmath>

#include "arrays.hpp"

namespace bvdt {
namespace {

Mesh checked_mesh(double low0, double low1, double unit, int64_t n_rows, int64_t n_columns) {
    require(n_rows >= 4 && n_columns >= 4, "the mesh needs at least 4 nodes each way; it has ", n_rows, " × ",
            n_columns);
    require(std::isfinite(low0) && std::isfinite(low1) && std::isfinite(unit) && unit > 0,
            "the mesh needs a finite corner and a unit > 0; they are (", low0, ", ", low1, ") and ", unit);
    return {{low0, low1}, unit, {n_rows, n_columns}};
}

void spread(Matrix<float> y, double low0, double low1, double unit, MutableMatrix<float> mass, int threads) {
    ReleasedGil release;
    check_threads(threads);
    check_matrix("y", rows(y), columns(y), rows(y), 2);
    const Mesh mesh = checked_mesh(low0, low1, unit, rows(mass), columns(mass));
    spread_points(y.data(), rows(y), mesh, mass.data(), threads);
}

void read(Matrix<float> y, double low0, double low1, double unit, Matrix<float> potential,
          MutableMatrix<float> out, int threads) {
    ReleasedGil release;
    check_threads(threads);
    check_matrix("y", rows(y), columns(y), rows(y), 2);
    check_matrix("out", rows(out), columns(out), rows(y), 3);
    const Mesh mesh = checked_mesh(low0, low1, unit, rows(potential), columns(potential));
    read_potential(y.data(), rows(y), mesh, potential.data(), out.data(), threads);
}

void move(Vector<int64_t> indptr, Vector<int32_t> indices, Vector<float> value, Matrix<float> others,
          Matrix<float> y, Matrix<float> potential, double pull, double push, double rate, double momentum,
          MutableMatrix<float> velocity, MutableMatrix<float> gain, MutableMatrix<float> moved, int threads) {
    ReleasedGil release;
    check_threads(threads);
    require(rows(indptr) >= 1, "indptr needs one entry per row and one more; it is empty");
    check_length("value", rows(value), rows(indices), "index");
    const int64_t n = rows(indptr) - 1, m = rows(others);
    check_csr({indptr.data(), indices.data(), nullptr, n, m}, rows(indices), threads);
    check_matrix("others", m, columns(others), m, 2);
    check_matrix("y", rows(y), columns(y), n, 2);
    check_matrix("potential", rows(potential), columns(potential), n, 3);
    check_matrix("velocity", rows(velocity), columns(velocity), n, 2);
    check_matrix("gain", rows(gain), columns(gain), n, 2);
    check_matrix("moved", rows(moved), columns(moved), n, 2);
    move_points({indptr.data(), indices.data(), value.data(), n, m}, others.data(), y.data(),
                potential.data(), {pull, push, rate, momentum}, velocity.data(), gain.data(), moved.data(),
                threads);
}

}  // namespace

void register_layout(nb::module_& m) {
    using namespace nb::literals;
    m.def("spread_points", &spread, "y"_a.noconvert(), "low0"_a, "low1"_a, "unit"_a, "mass"_a.noconvert(),
          "threads"_a);
    m.def("read_potential", &read, "y"_a.noconvert(), "low0"_a, "low1"_a, "unit"_a, "potential"_a.noconvert(),
          "out"_a.noconvert(), "threads"_a);
    m.def("move_points", &move, "indptr"_a, "indices"_a, "value"_a.noconvert(), "others"_a.noconvert(),
          "y"_a.noconvert(), "potential"_a.noconvert(), "pull"_a, "push"_a, "rate"_a, "momentum"_a,
          "velocity"_a.noconvert(), "gain"_a.noconvert(), "moved"_a.noconvert(), "threads"_a);
}

}  // namespace bvdt
