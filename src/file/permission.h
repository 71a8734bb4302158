/* Permissions of directories and files: the number of a descriptor of the share
 * (permission_store.h).
 * rest: Create-Permission, Create-File "x-ms-file-permission" */
#ifndef LAGRA_FILE_PERMISSION_H
#define LAGRA_FILE_PERMISSION_H

#include "file/file.h"

/* Permission requested. */
enum permission_kind {
    PERMISSION_KEPT,       /* "preserve": unchanged */
    PERMISSION_INHERITED,  /* "inherit": from the directory; the default for new nodes */
    PERMISSION_DESCRIPTOR, /* a new descriptor */
    PERMISSION_KEY,        /* an existing descriptor, by key */
};
struct permission_given {
    enum permission_kind kind;
    struct bytes descriptor; /* canonical */
    struct bytes key;        /* as sent */
};

/* Sets file->permission of the node at file_state(d)->place as requested. Adds at most one part.
 * returns OK, or an error of permission_find_key() */
enum error permission_settle(struct decision *d, const struct permission_given *given,
                             struct file *file);

#endif
