/* Upper case as in Windows' file systems, for case-insensitive names: each UTF-16 code unit is
 * mapped by one table; there is no composition or decomposition, the length is unchanged, and code
 * points beyond the BMP are not mapped. [MS-UCODEREF] 3.1.5.3; decision: 311. Thread-safe. */
#ifndef LAGRA_TREE_UPCASE_H
#define LAGRA_TREE_UPCASE_H

#include "base/arena.h"

uint16_t upcase_unit(uint16_t unit);
/* text: UTF-8. The number of bytes may change, the number of UTF-16 code units does not. */
struct bytes upcase_text(struct arena *arena, struct bytes text);

#endif
