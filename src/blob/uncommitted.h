/* Internal to blob/ and dfs/: the uncommitted blocks of a blob, which Put Block adds and Put Block
 * List commits or drops; bytes appended at the Data Lake endpoint are stored as blocks too.
 * rest: Put-Block; semantics 5; decision: 1202
 *
 * They form a set. After they are dropped, the next Put Block starts a new set with other keys, so
 * a large set can be deleted later in steps.
 *
 *   INNER  'U'                            1 version (1), v number of blocks, v bytes in a decoded
 *                                         id, v time of the last Put Block, v set, v time at which
 *                                         the task is due, 16 id of the task
 *   INNER  'v', 8 set be, base64 id       a block, by content_block_encode() */
#ifndef LAGRA_BLOB_UNCOMMITTED_H
#define LAGRA_BLOB_UNCOMMITTED_H

#include "content/content.h"
#include "service/deferred_tasks.h"

#define UNCOMMITTED_BLOCKS_MAX   100000
#define UNCOMMITTED_ID_MAX       126u /* 64 bytes are 88 in base64 */
/* id_length of bytes appended at the Data Lake endpoint; their ids are positions, be64 */
#define UNCOMMITTED_AT_POSITIONS 0u

struct uncommitted {
    uint32_t count;
    uint32_t id_length; /* of the decoded ids; all have the same length */
    instant last_put;
    uint64_t set; /* the time of its first Put Block */
    /* The task that deletes them in a week: expire_blocks(). */
    instant task_due;
    struct guid task;
};
/* Reads the totals; count 0: there are no blocks. */
enum store_result uncommitted_read(struct read_view *before, struct arena *arena,
                                   struct uncommitted *ret_total);
/* Adds or replaces a block, and updates and writes *total; at most once per list of changes. If
 * total->count is 0, a new set starts. total->id_length: of the blocks. block_id: base64, or a
 * position; at most UNCOMMITTED_ID_MAX bytes. encryption: as in struct content_block */
enum store_result uncommitted_put(struct read_view *before, struct changes *changes,
                                  struct arena *arena, struct uncommitted *total, instant now,
                                  struct bytes block_id, const struct body *body,
                                  struct bytes encryption);
/* Writes only the totals. */
void uncommitted_write(struct changes *changes, struct arena *arena,
                       const struct uncommitted *total);
/* Returns the value of an INNER record without the id of the task, if it is that of the totals. */
struct bytes uncommitted_without_task(struct arena *arena, const struct record *record);
/* Returns STORE_OK, STORE_NOT_FOUND if there is no such block, or an error of the store. */
enum store_result uncommitted_find(struct read_view *before, struct arena *arena,
                                   const struct uncommitted *total, struct bytes block_id,
                                   struct content_block *ret_block);
/* Lists all blocks in bytewise order of their ids. */
enum store_result uncommitted_list(struct read_view *before, struct arena *arena,
                                   const struct uncommitted *total,
                                   struct content_block **ret_blocks, size_t *ret_count);

/* The blocks of new content, and the uncommitted ones from which they were chosen. */
struct named_blocks {
    const struct content_block *named; /* in their order in the content */
    size_t named_count;
    const struct content_block *staged; /* everything that uncommitted_list() returned */
    size_t staged_count;
};
/* Deletes all uncommitted blocks and their task, with the bytes that `blocks->named` does not use
 * (blocks NULL: all). If there are many, most are left to content_collect() and *ret_more is set to
 * true. */
enum store_result uncommitted_drop(struct read_view *before, struct changes *changes,
                                   struct arena *arena, const struct uncommitted *total,
                                   const struct named_blocks *blocks, bool *ret_more);
/* Deletes blocks that are now part of the content, but not all blocks of the set. Updates and
 * writes *total. */
void uncommitted_take(struct changes *changes, struct arena *arena, struct uncommitted *total,
                      const struct content_block *blocks, size_t count);

/* Deletes uncommitted blocks when they expire, a week after the last Put Block.
 * rest: Put-Block, "Remarks"
 *
 * Each set of uncommitted blocks has one deferred task, added with its first block. If blocks were
 * added to the set later, the task reschedules itself when it is due. */

/* Kinds of deferred tasks of the Blob service. Stored: never reuse a number. */
enum { TASK_EXPIRE_BLOCKS = 0x100 };

/* Adds the task of a set, due when the set expires. */
void expire_blocks_defer(struct changes *changes, struct uncommitted *total);
/* Runs the task. */
task_fn expire_blocks;

/* Stages the body of the request as a block of the subject; at most once per list of changes.
 * total: from contents_read_staged(). id_length: of all blocks of the set
 *
 * Returns OK, E_UncommittedBlockCountExceedsLimit, or an error of decision_fail_content(). */
enum error uncommitted_stage(struct decision *d, struct uncommitted *total, struct bytes id,
                             uint32_t id_length); /* block_list.c */

#endif
