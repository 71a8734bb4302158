/* Inside content/ only: how a version of a page or unit takes the place of another. */
#ifndef LAGRA_CONTENT_SPARSE_WRITE_H
#define LAGRA_CONTENT_SPARSE_WRITE_H

#include "content/sparse.h"

#define GENERATION_KEY_SIZE 13
#define GENERATION_VERSION  1

/* The writer: of the newest generation, or content_collect() for a kept one. */
struct sparse_writer {
    const struct sparse_view *view;
    struct changes *changes;
    uint64_t id, stamp;
    uint32_t epoch;       /* of the versions that are written */
    uint64_t joins_above; /* parts written after this stamp need not be kept apart */
    bool has_older;       /* a generation before the epoch is kept: */
    uint32_t older;       /* the newest of them */
};

/* The newest generation's writer.
 * returns STORE_OK, STORE_CORRUPT: the content says that it was changed later */
enum store_result sparse_writer_open(const struct sparse_view *view, struct changes *changes,
                                     uint64_t stamp, struct sparse_writer *ret_writer);
/* What is known of the content's records once a body has been written. */
void sparse_note_kind(struct content *content, const struct body *body);
struct parts parts_copy(const struct parts *parts);
/* Writes `parts` as the page or unit is from now on. Deletes the version before, `old`, unless an
 * older generation sees it. */
void sparse_replace(const struct sparse_writer *writer, enum sparse_kind kind, uint64_t number,
                    const struct version *old, const struct parts *parts);

#endif
