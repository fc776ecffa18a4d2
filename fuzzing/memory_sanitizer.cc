// MemorySanitizer takes memory for unset that only code without it has written. That of the C++ library is:
// what our code reads of it afterwards is said to be set here.

#include "fuzzing/harness.h"

#ifdef ESPALIER_FUZZ_MEMORY_SANITIZER

#include <sanitizer/msan_interface.h>

#include <map>

extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names of std::_Rb_tree_insert_and_rebalance and of
// what stands for it.
void __real__ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(bool, std::_Rb_tree_node_base*,
                                                                              std::_Rb_tree_node_base*,
                                                                              std::_Rb_tree_node_base&);

void __wrap__ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(
    bool left, std::_Rb_tree_node_base* node, std::_Rb_tree_node_base* parent,
    std::_Rb_tree_node_base& header) {
  __real__ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(left, node, parent, header);
  __msan_unpoison(node, sizeof(*node));
}
// NOLINTEND(bugprone-reserved-identifier)

}  // extern "C"

#endif
