/* Upper case as Windows' file systems take it, for names that are compared without regard to case:
 * each UTF-16 code unit by itself, by one table; nothing is composed or decomposed, no length changes,
 * and code points beyond the BMP are as they are. [MS-UCODEREF] 3.1.5.3; decision: 311. Any thread. */
#ifndef LAGRA_TREE_UPCASE_H
#define LAGRA_TREE_UPCASE_H

#include "base/arena.h"

uint16_t upcase_unit(uint16_t unit);
/* text: UTF-8. Its bytes may become more or fewer, its UTF-16 code units do not. */
struct bytes upcase_text(struct arena *arena, struct bytes text);

#endif
