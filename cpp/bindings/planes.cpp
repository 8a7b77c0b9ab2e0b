// Points and the planes between regions: see kernels/planes.hpp.
#include "../kernels/planes.hpp"

#include "arrays.hpp"

namespace bvdt {
namespace {

// Planes come before their children, so that every way ends.
void check_children(const int32_t* child, int64_t count) {
    for (int64_t p = 0; p < count; ++p)
        for (int side = 0; side < 2; ++side) {
            const int32_t next = child[2 * p + side];
            require(next < 0 || (next > p && next < count), "child[", p,
                    "] needs planes after its own, or regions; it has ", next);
        }
}

void find(Matrix<double> x, Matrix<double> h, Matrix<double> plane_x, Matrix<double> plane_h,
          Vector<double> border, Matrix<int32_t> child, MutableVector<int32_t> region, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const DensePoints points = dense_points(x, h);
    const int64_t count = rows(border);
    check_matrix("plane_x", rows(plane_x), columns(plane_x), count, points.d);
    check_matrix("plane_h", rows(plane_h), columns(plane_h), count, points.d);
    check_matrix("child", rows(child), columns(child), count, 2);
    check_children(child.data(), count);
    check_length("region", rows(region), points.n, "point");
    find_regions(points, {plane_x.data(), plane_h.data(), border.data(), child.data(), count}, region.data(),
                 threads);
}

}  // namespace

void register_planes(nb::module_& m) {
    using namespace nb::literals;
    m.def("find_regions", &find, "x"_a, "h"_a, "plane_x"_a, "plane_h"_a, "border"_a, "child"_a,
          "region"_a.noconvert(), "threads"_a);
}

}  // namespace bvdt
