/* The record of a directory or a file: everything but its name and its bytes. It lies in the node's
 * partition, beside the records of the tree (tree/record.h) and of content (content.h).
 *
 *   partition <id>      INNER "f"   struct file
 *
 * Snapshots of the share keep it (tree/README.md, "Snapshots"), each with a snapshot of the content.
 *
 * The root directory has no record until one is written. */
#ifndef LAGRA_FILE_FILE_RECORD_H
#define LAGRA_FILE_FILE_RECORD_H

#include "service/decision.h"
#include "service/copy_state.h"
#include "service/http_properties.h"
#include "tree/tree.h"

/* As SMB has them (MS-FSCC 2.6). Stored: never renumbered. */
enum {
    ATTRIBUTE_READ_ONLY = 0x1,
    ATTRIBUTE_HIDDEN = 0x2,
    ATTRIBUTE_SYSTEM = 0x4,
    ATTRIBUTE_DIRECTORY = 0x10,
    ATTRIBUTE_ARCHIVE = 0x20,
    ATTRIBUTE_TEMPORARY = 0x100,
    ATTRIBUTE_OFFLINE = 0x1000,
    ATTRIBUTE_NOT_CONTENT_INDEXED = 0x2000,
    ATTRIBUTE_NO_SCRUB_DATA = 0x20000,
    ATTRIBUTES_ALL = 0x23137,
};

/* rest: Create-File "x-ms-content-length" */
#define FILE_LENGTH_MAX (UINT64_C(4) << 40)

struct file {
    enum tree_kind kind;
    struct etag etag;
    instant modified;
    uint32_t attributes;                         /* ATTRIBUTE_ bits; DIRECTORY by kind */
    instant created, accessed, written, changed; /* what SMB shows; a client may set them */
    uint64_t permission;                         /* its number: permission_store.h */
    struct bytes metadata;
    /* Of a file only; all zero of a directory. */
    struct content content; /* sparse */
    struct http_properties http;
    struct lease lease;
    struct copy_state copy;
    /* As it was read, until it is kept for the snapshots that see it; value.ptr NULL: there is nothing. */
    struct tree_record stored;
};

/* As the tree has it, or its snapshot. before: of the node's partition. Strings are in the arena.
 * returns STORE_OK, STORE_NOT_FOUND, STORE_CORRUPT, STORE_WAIT, STORE_CONFLICT, STORE_IO */
enum store_result file_read(const struct tree *tree, struct snapshot *before, struct arena *arena,
                            struct file *ret_file);
/* Keeps the file as it was read for the snapshots that see it, with its content: before the content is
 * changed. The two below do it too. d: of a directory or file in the tree file_state(d)->tree. part: of
 * the node, with changes. */
void file_keep(struct decision *d, struct decision_part *part, struct file *file);
/* All writes of records go through these two. */
void file_write(struct decision *d, struct decision_part *part, const struct file *file);
/* Deletes the record and the contents. */
void file_delete(struct decision *d, struct decision_part *part, const struct file *file);
/* Gives the file another content of the partition. The old one is kept for the snapshots that see it. As
 * file_keep() */
void file_replace_content(struct decision *d, struct decision_part *part, struct file *file,
                          const struct content *content);
/* The record's value. */
struct bytes file_encode(struct arena *arena, const struct file *file);
/* Points into value. False: it is malformed. */
bool file_decode(struct bytes value, struct file *ret_file);
/* Deletes the content of a record that no snapshot sees any more. */
tree_forget_fn file_forget;

#endif
