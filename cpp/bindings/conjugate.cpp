// Steps of conjugate gradients and of label spreading: see kernels/conjugate.hpp, rows.hpp and
// class_rows.hpp.
#include "../kernels/conjugate.hpp"

#include <nanobind/stl/optional.h>

#include "../kernels/class_rows.hpp"
#include "../kernels/rows.hpp"

#include "arrays.hpp"

namespace bvdt {
namespace {

template <typename T>
void dots(Matrix<T> a, Matrix<T> b, MutableVector<double> out, int threads) {
    ReleasedGil release;
    check_threads(threads);
    check_matrix("b", rows(b), columns(b), rows(a), columns(a));
    check_length("out", rows(out), columns(a), "column");
    column_dots(a.data(), b.data(), rows(a), columns(a), out.data(), threads);
}

template <typename T>
void step(MutableMatrix<T> f, MutableMatrix<T> r, MutableMatrix<T> p, Matrix<T> ap, Vector<T> step_size,
          Vector<T> beta, MutableVector<double> squares, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const int64_t n = rows(f), k = columns(f);
    check_matrix("r", rows(r), columns(r), n, k);
    check_matrix("p", rows(p), columns(p), n, k);
    check_matrix("ap", rows(ap), columns(ap), n, k);
    check_length("step_size", rows(step_size), k, "column");
    check_length("beta", rows(beta), k, "column");
    check_length("squares", rows(squares), k, "column");
    conjugate_step<T>({f.data(), r.data(), p.data(), ap.data(), step_size.data(), beta.data(), n, k},
                      squares.data(), threads);
}

int64_t checked_order(const Vector<int32_t>& order, int64_t n, int threads) {
    check_threads(threads);
    check_length("order", rows(order), n, "row");
    check_indices("order", order.data(), n, n, threads);
    return n;
}

template <typename T>
void take(Matrix<T> v, Vector<int32_t> order, double factor, MutableMatrix<T> out, int threads) {
    ReleasedGil release;
    const int64_t n = checked_order(order, rows(v), threads);
    check_matrix("out", rows(out), columns(out), n, columns(v));
    take_rows(v.data(), order.data(), static_cast<T>(factor), n, columns(v), out.data(), threads);
}

template <typename T>
void put(Matrix<T> v, Vector<int32_t> order, std::optional<Vector<double>> factor, MutableMatrix<T> out,
         int threads) {
    ReleasedGil release;
    const int64_t n = checked_order(order, rows(v), threads);
    if (factor) check_length("factor", rows(*factor), n, "row");
    check_matrix("out", rows(out), columns(out), n, columns(v));
    put_rows(v.data(), order.data(), factor ? factor->data() : nullptr, n, columns(v), out.data(), threads);
}

template <typename T>
void cut(MutableMatrix<T> v, int threads) {
    ReleasedGil release;
    check_threads(threads);
    cut_below_zero(v.data(), rows(v) * columns(v), threads);
}

void count(Matrix<double> scores, Vector<double> divisor, MutableVector<int64_t> found, int threads) {
    ReleasedGil release;
    check_threads(threads);
    check_length("divisor", rows(divisor), columns(scores), "column");
    check_length("count", rows(found), columns(scores), "column");
    count_classes(scores.data(), divisor.data(), rows(scores), columns(scores), found.data(), threads);
}

void distribute(MutableMatrix<double> scores, Vector<double> divisor, Vector<double> prior,
                MutableVector<int32_t> best, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const int64_t n = rows(scores), k = columns(scores);
    check_length("divisor", rows(divisor), k, "column");
    check_length("prior", rows(prior), k, "column");
    check_length("best", rows(best), n, "row");
    distribute_rows(scores.data(), divisor.data(), prior.data(), n, k, best.data(), threads);
}

template <typename T>
bool blend(MutableMatrix<T> step, Matrix<T> before, Matrix<T> given, std::optional<Vector<int32_t>> order,
           double alpha, double tol, double rounding, MutableVector<double> change,
           MutableVector<double> total, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const int64_t n = rows(step), k = columns(step);
    check_matrix("before", rows(before), columns(before), n, k);
    check_matrix("given", rows(given), columns(given), n, k);
    if (order) checked_order(*order, n, threads);
    check_length("change", rows(change), k, "column");
    check_length("total", rows(total), k, "column");
    StepChange made{change.data(), total.data(), tol, rounding, false};
    blend_rows(step.data(), before.data(), given.data(), order ? order->data() : nullptr, alpha, n, k, made,
               threads);
    return made.beyond;
}

template <typename T>
void register_steps(nb::module_& m) {
    using namespace nb::literals;
    m.def("column_dots", &dots<T>, "a"_a.noconvert(), "b"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
    m.def("take_rows", &take<T>, "v"_a.noconvert(), "order"_a, "factor"_a, "out"_a.noconvert(), "threads"_a);
    m.def("put_rows", &put<T>, "v"_a.noconvert(), "order"_a, "factor"_a.none(), "out"_a.noconvert(),
          "threads"_a);
    m.def("cut_below_zero", &cut<T>, "v"_a.noconvert(), "threads"_a);
    m.def("blend_rows", &blend<T>, "step"_a.noconvert(), "before"_a.noconvert(), "given"_a.noconvert(),
          "order"_a.none(), "alpha"_a, "tol"_a, "rounding"_a, "change"_a.noconvert(), "total"_a.noconvert(),
          "threads"_a);
    m.def("conjugate_step", &step<T>, "f"_a.noconvert(), "r"_a.noconvert(), "p"_a.noconvert(),
          "ap"_a.noconvert(), "step_size"_a.noconvert(), "beta"_a.noconvert(), "squares"_a.noconvert(),
          "threads"_a);
}

}  // namespace

void register_conjugate(nb::module_& m) {
    using namespace nb::literals;
    m.def("count_classes", &count, "scores"_a, "divisor"_a, "count"_a.noconvert(), "threads"_a);
    m.def("distribute_rows", &distribute, "scores"_a.noconvert(), "divisor"_a, "prior"_a,
          "best"_a.noconvert(), "threads"_a);
    register_steps<double>(m);
    register_steps<float>(m);
}

}  // namespace bvdt
