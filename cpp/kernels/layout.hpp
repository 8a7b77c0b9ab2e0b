// Forces of a map in two dimensions (t-SNE, van der Maaten and Hinton 2008): every point is drawn to those it
// is linked with and pushed off by all. The push of all pairs goes over a mesh (Linderman et al. 2019): the
// points are spread on it, Python convolves it by FFT, and every point reads the potential where it lies.
// Both ways by cubic B-splines, whose slope is smooth (as in Essmann et al. 1995).
#pragma once

#include <cstdint>

#include "sparse_product.hpp"

namespace bvdt {

// Node (a, b) lies at low + unit·(a, b); at least four nodes each way. A point outside is taken to its
// border.
struct Mesh {
    double low[2], unit;
    int64_t size[2];
};

// mass (size[0], size[1]) = Σ_i B(y_i − node), every node's sum in the same order on any number of threads.
void spread_points(const float* y, int64_t n, const Mesh& mesh, float* mass, int threads);

// Potential and its slope at each point, out (n, 3) = (φ, ∂φ/∂y_0, ∂φ/∂y_1).
void read_potential(const float* y, int64_t n, const Mesh& mesh, const float* potential, float* out,
                    int threads);

struct Motion {
    double pull, push;  // factors of the two forces
    double rate, momentum;
};

// One step of gradient descent with momentum and a gain per coordinate (Jacobs 1988). Point i is drawn to the
// rows of `others` that its links name, by link·(y_j − y_i)/(1 + ‖y_i − y_j‖²), and pushed down the slope of
// the potential, which is (n, 3) as above. y, velocity and gain are (n, 2), moved (n, 2) are the new places.
void move_points(const SparseMatrix<float>& links, const float* others, const float* y,
                 const float* potential, const Motion& motion, float* velocity, float* gain, float* moved,
                 int threads);

}  // namespace bvdt
