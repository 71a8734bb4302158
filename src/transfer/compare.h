/* Internal to transfer/. Compares what the target lists at the end with a second listing of the source, made after everything
 * was copied and independent of the first one. Keeps a digest of each item that the target lists, and of each snapshot
 * that the source lists. Single-threaded. decision: 905 */
#ifndef LAGRA_TRANSFER_COMPARE_H
#define LAGRA_TRANSFER_COMPARE_H

#include "transfer/item.h"

struct comparison;

struct comparison_count {
    uint64_t same, differing, missing; /* items of the source, each snapshot counted */
};

/* Takes problems, one at a time. */
typedef void comparison_report(void *context, const char *problem);

struct comparison *comparison_new(comparison_report *report, void *context);
void comparison_free(struct comparison *comparison);
/* Adds an item that the target lists, with all its states. */
void comparison_add(struct comparison *comparison, struct arena *arena, const struct item *item);
/* Ends the target's listing. The source's listing follows. */
void comparison_begin(struct comparison *comparison);
/* Compares an item that the source lists, with all its states in any order. Reports it if it is missing or differs; snapshots
 * and versions are compared by comparison_end(). */
void comparison_meet(struct comparison *comparison, struct arena *arena, const struct item *item);
/* Ends the source's listing. Compares snapshots and versions of blobs that still exist at the source: the target has them
 * in the order in which they were taken. */
void comparison_end(struct comparison *comparison, struct arena *arena);
struct comparison_count comparison_count(const struct comparison *comparison);

#endif
