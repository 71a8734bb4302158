/* lagra check on RADOS: pieces that nothing refers to. First those that no row of their owner names; then, while all rows
 * are read, those are taken out that a row elsewhere names, or a task that is to delete them. 24 bytes are held for each
 * object of the pool. It waits for the cluster. */
#ifndef LAGRA_STORE_RADOS_INSPECT_LEFTOVERS_H
#define LAGRA_STORE_RADOS_INSPECT_LEFTOVERS_H

#include "store/rados/rados_private.h"

struct suspects;
/* NULL: they cannot be read, logged. */
struct suspects *suspects_find(struct rados *rados);
/* A row refers to it, or a task deletes it. */
void suspects_clear(struct suspects *suspects, uint32_t incarnation, uint64_t number);
/* Logs how many are left, if any, and returns that; frees. */
size_t suspects_end(struct suspects *suspects);

#endif
