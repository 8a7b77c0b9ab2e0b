// The compiled core: small, stateless functions of plain arrays; only Cells keeps arrays, packed for many
// calls. No kernel knows a divergence's φ;
// all of them work on the lifted form d_ij = u_i + w_j − ⟨x_i, h_j⟩.
#include "core.hpp"

NB_MODULE(_core, m) {
    bvdt::register_anchor(m);
    bvdt::register_blocks(m);
    bvdt::register_curve(m);
    bvdt::register_optimum(m);
    bvdt::register_product(m);
    bvdt::register_product_column(m);
    bvdt::register_split(m);
    bvdt::register_ward(m);
    bvdt::register_merges(m);
    bvdt::register_neighbors(m);
    bvdt::register_cells(m);
}
