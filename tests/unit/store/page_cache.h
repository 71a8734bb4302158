/* The kernel's page cache, as the store finds it. A file that was really dropped from it would not do:
 * asking for it without waiting begins to read it, and a disk may be quick. */
#ifndef LAGRA_TESTS_STORE_PAGE_CACHE_H
#define LAGRA_TESTS_STORE_PAGE_CACHE_H

#include <stdbool.h>

/* Nothing is in it. */
extern bool page_cache_is_empty;
/* Set when a file system could not tell whether it would wait. */
extern bool page_cache_is_unknown;

#endif
