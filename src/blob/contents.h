/* Internal to blob/ and dfs/: releases the contents of the blobs of one name that are overwritten
 * or deleted. A sequence is shared by the base and its snapshots, and deleted with the last of
 * them; sparse content has a generation for each of them. */
#ifndef LAGRA_BLOB_CONTENTS_H
#define LAGRA_BLOB_CONTENTS_H

#include "blob/blob.h"
#include "blob/uncommitted.h"

/* Contents of the blobs that one change deletes. Zeroed: none. */
struct ended_contents {
    struct ended {
        struct content content;
        bool is_base;
        uint32_t holders; /* deleted blobs that share it */
    } * items;
    size_t count;
    size_t capacity;
    uint64_t newest; /* id */
};
/* Adds the content of a deleted blob. Call in order: snapshots from oldest to newest, then the
 * base. */
void contents_end(struct decision *d, struct ended_contents *ended, const struct blob *blob);
/* Releases them all.
 *
 * base  the content of the base if it is not deleted, which is updated; NULL otherwise */
enum store_result content_release_reference(struct decision *d, const struct ended_contents *ended,
                                            struct content *base);
/* Releases `was`, the old content of the base, which `content` replaces. *content is updated.
 *
 * blocks: blocks of `content`, which are retained; none if it does not consist of blocks */
enum store_result contents_replace(struct decision *d, const struct content *was,
                                   struct content *content, const struct content_block *blocks,
                                   size_t count);
/* Deletes the tail of appended content that only the deleted snapshot or the overwritten base used.
 * except: date of the snapshot that is deleted in the same changes, or 0 */
enum store_result contents_cut_tail(struct decision *d, const struct content *content,
                                    instant except);
/* Reads the totals of the staged blocks. Expired blocks do not count, and are deleted with this
 * change. */
enum store_result contents_read_staged(struct decision *d, struct uncommitted *ret_total);
/* Releases the uncommitted blocks of a blob that is written or deleted, except `blocks`, which it
 * now consists of; NULL: all of them. */
enum store_result contents_drop_staged(struct decision *d, const struct named_blocks *blocks);

#endif
