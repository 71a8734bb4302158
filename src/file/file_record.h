/* The record of a directory or a file: everything except its name and its data. It is stored in
 * the node's partition, next to the records of the tree (tree/record.h) and of content
 * (content.h).
 *
 *   partition <id>      INNER "f"   struct file
 *
 * Share snapshots retain it (tree/README.md, "Snapshots"), each with a snapshot of the content.
 *
 * The root directory has no record until its first change. */
#ifndef LAGRA_FILE_FILE_RECORD_H
#define LAGRA_FILE_FILE_RECORD_H

#include "service/decision.h"
#include "service/copy_state.h"
#include "service/http_properties.h"
#include "tree/tree.h"

/* MS-FSCC 2.6. Stored, so values must not change. */
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
    uint32_t attributes;                         /* ATTRIBUTE_*; DIRECTORY follows from kind */
    instant created, accessed, written, changed; /* SMB times, settable by clients */
    uint64_t permission;                         /* permission number: permission_store.h */
    struct bytes metadata;
    /* Files only; zero for directories. */
    struct content content; /* sparse */
    struct http_properties http;
    struct lease lease;
    struct copy_state copy;
    /* The record as it was read, until file_keep() retains it for snapshots; value.ptr NULL if
     * there is nothing to retain. */
    struct tree_record stored;
};

/* Reads the record in the tree's current state or its snapshot. before: of the node's partition.
 * Strings are in the arena.
 * Returns STORE_OK, STORE_NOT_FOUND, STORE_CORRUPT, STORE_WAIT, STORE_CONFLICT, STORE_IO. */
enum store_result file_read(const struct tree *tree, struct read_view *before, struct arena *arena,
                            struct file *ret_file);
/* Retains the file as it was read, with its content, for the share snapshots that contain it. Must
 * be called before the content is changed; file_write() and file_delete() call it themselves. d:
 * decision on a node in file_state(d)->tree. part: the node's, with changes */
void file_keep(struct decision *d, struct decision_part *part, struct file *file);
/* Writes the record. */
void file_write(struct decision *d, struct decision_part *part, const struct file *file);
/* Deletes the record and the content. */
void file_delete(struct decision *d, struct decision_part *part, const struct file *file);
/* Replaces the file's content by another content of the partition. Retains the old one for
 * snapshots, like file_keep(). */
void file_replace_content(struct decision *d, struct decision_part *part, struct file *file,
                          const struct content *content);
/* Returns the value of the record. */
struct bytes file_encode(struct arena *arena, const struct file *file);
/* Decodes a record; *ret_file points into value. Returns false if it is malformed. */
bool file_decode(struct bytes value, struct file *ret_file);
/* Deletes the content of a record that no snapshot needs any more. */
tree_forget_fn file_forget;

#endif
