/* Create Permission and Get Permission: parameters and results; permissions of files. */
#ifndef LAGRA_FILE_PERMISSION_OPERATIONS_H
#define LAGRA_FILE_PERMISSION_OPERATIONS_H

#include "acl/security_descriptor.h"
#include "file/file.h"

struct create_permission_parameters {
    struct parameters base;
    struct bytes descriptor; /* canonical; set by parse */
};
struct create_permission_result {
    struct result base;
    uint64_t number;
};
OPERATION_DECLARE(create_permission);
OPERATION_DECLARE_PARSE(create_permission);

struct get_permission_parameters {
    struct parameters base;
    struct bytes key; /* as sent */
    bool binary;      /* binary format requested */
};
struct get_permission_result {
    struct result base;
    struct bytes canonical;
    struct security_descriptor descriptor; /* canonical, decoded */
};
OPERATION_DECLARE(get_permission);

/* Permissions of directories and files: the number of a descriptor of the share
 * (permission_store.h).
 * rest: Create-Permission, Create-File "x-ms-file-permission" */

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
 * Returns OK, or an error of permission_find_key(). */
enum error permission_settle(struct decision *d, const struct permission_given *given,
                             struct file *file);

#endif
