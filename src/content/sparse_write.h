/* Replaces a version of a page or unit. Internal to content/. */
#ifndef LAGRA_CONTENT_SPARSE_WRITE_H
#define LAGRA_CONTENT_SPARSE_WRITE_H

#include "content/sparse.h"

#define GENERATION_KEY_SIZE 13
#define GENERATION_VERSION  1

/* Writes one generation: the newest one, or for content_collect() a retained one. */
struct sparse_writer {
    const struct sparse_view *view;
    struct changes *changes;
    uint64_t id, stamp;
    uint32_t epoch;       /* epoch of the versions to write */
    uint64_t joins_after; /* adjacent parts written after this stamp may be joined */
    bool has_older;       /* a generation before the epoch is retained */
    uint32_t older;       /* the newest such generation */
};

/* Opens a writer for the newest generation. Returns STORE_OK, or STORE_CORRUPT if the content's
 * last change is in the future. */
enum store_result sparse_writer_open(const struct sparse_view *view, struct changes *changes,
                                     uint64_t stamp, struct sparse_writer *ret_writer);
/* Sets the content's flags for the kinds of records that writing the body has created. */
void sparse_note_kind(struct content *content, const struct body *body);
struct parts parts_copy(const struct parts *parts);
/* Writes `parts` as the new version of the page or unit. Deletes the previous version, `old`,
 * unless an older generation contains it. */
void sparse_replace(const struct sparse_writer *writer, enum sparse_kind kind, uint64_t number,
                    const struct version *old, const struct parts *parts);

#endif
