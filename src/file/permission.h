/* Permissions of directories and files: security descriptors, kept once in a share and named by their
 * keys. rest: Create-Permission, Create-File "x-ms-file-permission" */
#ifndef LAGRA_FILE_PERMISSION_H
#define LAGRA_FILE_PERMISSION_H

#include "service/decision.h"

/* What a request asks for. */
enum permission_kind {
    PERMISSION_KEPT,      /* "preserve": as it is */
    PERMISSION_INHERITED, /* "inherit": that of the directory it is in; of what is new, by default */
    PERMISSION_TEXT,      /* a descriptor */
    PERMISSION_KEY,       /* the key of one */
};
struct permission_given {
    enum permission_kind kind;
    struct bytes text; /* the descriptor, or the key */
};

/* Sets *permission, which is that of the directory or file as it was (0: none), to what is asked for.
 * returns OK; E_FileInvalidPermission, ... */
enum error permission_settle(struct decision *d, const struct permission_given *given,
                             uint64_t *permission);
/* The key as answers have it: "1*2". */
struct bytes permission_key_text(struct arena *arena, uint64_t permission);

#endif
