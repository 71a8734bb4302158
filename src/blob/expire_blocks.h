/* Inside blob/ only: deletes uncommitted blocks when they expire, a week after the last Put Block.
 * rest: Put-Block, "Remarks"
 *
 * Each set of uncommitted blocks has one deferred task, added with its first block. If blocks were
 * added to the set later, the task reschedules itself when it is due. */
#ifndef LAGRA_BLOB_EXPIRE_BLOCKS_H
#define LAGRA_BLOB_EXPIRE_BLOCKS_H

#include "blob/uncommitted.h"
#include "service/deferred_tasks.h"

/* Kinds of deferred tasks of the Blob service. Stored: never reuse a number. */
enum { TASK_EXPIRE_BLOCKS = 0x100 };

/* Adds the task of a set, due when the set expires. */
void expire_blocks_defer(struct changes *changes, struct uncommitted *total);
/* Runs the task. */
task_fn expire_blocks;

#endif
