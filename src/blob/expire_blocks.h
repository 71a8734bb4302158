/* Inside blob/ only: uncommitted blocks that nobody commits are deleted when they expire, a week
 * after the last Put Block. rest: Put-Block, "Remarks"
 *
 * Each set of uncommitted blocks has one deferred task, added with its first
 * block. When the task is due and the set has been added to since, it is put off. */
#ifndef LAGRA_BLOB_EXPIRE_BLOCKS_H
#define LAGRA_BLOB_EXPIRE_BLOCKS_H

#include "blob/uncommitted.h"
#include "service/deferred_tasks.h"

/* Kinds of the Blob service in the list of deferred tasks. Stored: never given to anything
 * else. */
enum { TASK_EXPIRE_BLOCKS = 0x100 };

/* Adds the task of a set, due when it will have expired. */
void expire_blocks_defer(struct changes *changes, struct uncommitted *total);
/* Does it. */
task_fn expire_blocks;

#endif
