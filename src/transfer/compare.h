/* Internal to transfer/. Compares the final listing of the target with a second listing of the
 * source, made after everything was copied and independent of the first one. Stores a digest of
 * each item listed by the target, and of each snapshot listed by the source. Single-threaded.
 * decision: 905 */
#ifndef LAGRA_TRANSFER_COMPARE_H
#define LAGRA_TRANSFER_COMPARE_H

#include "transfer/item.h"

struct comparison;

struct comparison_count {
    uint64_t same, differing, missing; /* items of the source, each snapshot counted */
};

/* Receives problems, one at a time. */
typedef void comparison_report(void *context, const char *problem);

struct comparison *comparison_new(comparison_report *report, void *context);
void comparison_free(struct comparison *comparison);
/* Adds an item listed by the target, with all its states. */
void comparison_add(struct comparison *comparison, struct arena *arena, const struct item *item);
/* Ends the target's listing. The source's listing follows. */
void comparison_begin(struct comparison *comparison);
/* Compares an item listed by the source, with all its states in any order. Reports it if it is
 * missing or differs; comparison_end() compares snapshots and versions. */
void comparison_meet(struct comparison *comparison, struct arena *arena, const struct item *item);
/* Ends the source's listing. Compares snapshots and versions of blobs that still exist at the
 * source, in the order in which they were taken. */
void comparison_end(struct comparison *comparison, struct arena *arena);
struct comparison_count comparison_count(const struct comparison *comparison);

#endif
