#include "core.hpp"

namespace bvdt {
void register_split(nb::module_&) {}
}  // namespace bvdt
