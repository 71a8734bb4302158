/* Inside blob/ only: the uncommitted blocks of a blob: what Put Block staged, until Put Block List
 * takes or drops it. rest: Put-Block; semantics 5
 *
 * They form a set. When they are dropped, the next Put Block begins another set under other keys,
 * so a large one can be deleted later and step by step.
 *
 *   INNER  'U'                            1 version (1), v number of blocks, v bytes in a decoded
 *                                         id, v instant of the last Put Block, v set, v instant
 *                                         that the task is due at, 16 id of the task
 *   INNER  'v', 8 set be, base64 id       a block, by content_block_encode() */
#ifndef LAGRA_BLOB_UNCOMMITTED_H
#define LAGRA_BLOB_UNCOMMITTED_H

#include "content/content.h"

#define UNCOMMITTED_BLOCKS_MAX 100000
#define UNCOMMITTED_ID_MAX     126u /* 64 bytes are 88 in base64 */

struct uncommitted {
    uint32_t count;
    uint32_t id_length; /* of the decoded ids; all are equal */
    instant last_put;
    uint64_t set; /* the instant of its first Put Block */
    /* The task that deletes them in a week (expire_blocks.h). */
    instant task_due;
    struct guid task;
};
/* count 0: none. */
enum store_result uncommitted_read(struct snapshot *before, struct arena *arena,
                                   struct uncommitted *ret_total);
/* Adds or replaces one block; once in a list of changes. *total is brought up to date and written.
 * With total->count 0 a new set begins. block_id: base64 text, at most UNCOMMITTED_ID_MAX bytes. */
enum store_result uncommitted_put(struct snapshot *before, struct changes *changes,
                                  struct arena *arena, struct uncommitted *total, instant now,
                                  struct bytes block_id, const struct body *body);
/* The total alone. */
void uncommitted_write(struct changes *changes, struct arena *arena,
                       const struct uncommitted *total);
/* returns STORE_OK, STORE_NOT_FOUND (no such block), or as the store */
enum store_result uncommitted_find(struct snapshot *before, struct arena *arena,
                                   const struct uncommitted *total, struct bytes block_id,
                                   struct content_block *ret_block);
/* All, in alphabetical (bytewise) order of their ids. */
enum store_result uncommitted_list(struct snapshot *before, struct arena *arena,
                                   const struct uncommitted *total,
                                   struct content_block **ret_blocks, size_t *ret_count);

/* Blocks of a new content, and what it was chosen from. */
struct named_blocks {
    const struct content_block *named; /* in the order of the content */
    size_t named_count;
    const struct content_block *staged; /* all that uncommitted_list() returned */
    size_t staged_count;
};
/* Deletes all of them and their task, with all bytes that `named` does not refer to (NULL: nothing is named). When
 * they are many, most is left to content_collect() and *ret_more is set to true. */
enum store_result uncommitted_drop(struct snapshot *before, struct changes *changes,
                                   struct arena *arena, const struct uncommitted *total,
                                   const struct named_blocks *blocks, bool *ret_more);

#endif
