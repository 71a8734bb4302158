/* Inside of transfer/ only: whether what was copied is there. Of each item that the source lists a hash of what both sides
 * say of it is kept, 49 bytes, with the MD5 of its bytes where the source says one; then what the target lists is held
 * against them. One thread. */
#ifndef LAGRA_TRANSFER_COMPARE_H
#define LAGRA_TRANSFER_COMPARE_H

#include "transfer/item.h"

struct comparison;

struct comparison *comparison_new(void);
void comparison_free(struct comparison *comparison);
void comparison_expect(struct comparison *comparison, struct arena *arena, const struct item *item);
/* Once, between all that is expected and all that is met. */
void comparison_begin(struct comparison *comparison);

enum comparison_result {
    COMPARED_SAME,
    COMPARED_BYTES_DIFFER, /* their MD5s do */
    COMPARED_UNKNOWN,      /* the source has none that is like it */
};
/* Of an item that the target lists, with the states behind it: the worst of them. */
enum comparison_result comparison_meet(struct comparison *comparison, struct arena *arena,
                                       const struct item *item);
/* How many of those that are expected are the same, and how many were not met. */
uint64_t comparison_same(const struct comparison *comparison);
uint64_t comparison_missing(const struct comparison *comparison);

#endif
