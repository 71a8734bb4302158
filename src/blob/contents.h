/* Inside blob/ only: what becomes of the contents that the blobs of one name let go of, because
 * they are overwritten or deleted. A sequence is shared by base and snapshots and ends with its
 * last holder; a sparse content has a generation for each of them. */
#ifndef LAGRA_BLOB_CONTENTS_H
#define LAGRA_BLOB_CONTENTS_H

#include "blob/blob.h"
#include "blob/uncommitted.h"

/* What goes with the blobs that one change deletes. Zeroed: nothing. */
struct ended_contents {
    struct ended {
        struct content content;
        bool is_base;
        uint32_t holders; /* blobs among those deleted that share it */
    } * items;
    size_t count;
    size_t capacity;
    uint64_t newest; /* id */
};
/* One blob more is deleted. Snapshots come from the oldest to the newest, the base last. */
void contents_end(struct decision *d, struct ended_contents *ended, const struct blob *blob);
/* Gives all of them up.
 * base  the content of the base blob where that stays: brought up to date; NULL where it goes
 *       too */
enum store_result contents_unref(struct decision *d, const struct ended_contents *ended,
                                 struct content *base);
/* Gives up the content that the base blob had until now, `was`, whose place `content` takes.
 * *content is brought up to date.
 * blocks: what `content` is made of, which stays; none: of bytes that are no blocks */
enum store_result contents_replace(struct decision *d, const struct content *was,
                                   struct content *content, const struct content_block *blocks,
                                   size_t count);
/* After one snapshot was deleted, or the base overwritten: deletes what of an appended content only
 * that one had. except: the snapshot that is deleted in the same changes; 0: none is. */
enum store_result contents_cut_tail(struct decision *d, const struct content *content,
                                    instant except);
/* Gives up the uncommitted blocks of a blob that is written or deleted, but for `blocks`, of which it is made from
 * now on; NULL: all of them. */
enum store_result contents_drop_staged(struct decision *d, const struct named_blocks *blocks);

#endif
