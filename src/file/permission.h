/* Permissions of directories and files: the number of one of their share's descriptors
 * (permission_store.h). rest: Create-Permission, Create-File "x-ms-file-permission" */
#ifndef LAGRA_FILE_PERMISSION_H
#define LAGRA_FILE_PERMISSION_H

#include "file/file.h"

/* What a request asks for. */
enum permission_kind {
    PERMISSION_KEPT,       /* "preserve": as it is */
    PERMISSION_INHERITED,  /* "inherit": of the directory it is in; of what is new, by default */
    PERMISSION_DESCRIPTOR, /* its own */
    PERMISSION_KEY,        /* the key of one */
};
struct permission_given {
    enum permission_kind kind;
    struct bytes descriptor; /* canonical */
    struct bytes key;        /* as sent */
};

/* Sets file->permission, of what file_state(d)->place names, to what is asked for. At most one part
 * is added to the decision.
 * returns OK; E_InvalidHeaderValue: the share has no permission of that key; as decision_fail_store()
 */
enum error permission_settle(struct decision *d, const struct permission_given *given,
                             struct file *file);

#endif
