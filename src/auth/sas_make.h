/* Making shared access signatures: the other side of sas.c, by the same reading of the fields and the same string to
 * sign, so that what is made here is what is checked there.
 * rest: Create-account-SAS, Create-service-SAS, Create-user-delegation-SAS. Any thread. */
#ifndef LAGRA_AUTH_SAS_MAKE_H
#define LAGRA_AUTH_SAS_MAKE_H

#include "base/arena.h"

struct sas_making {
    struct bytes query;   /* the fields but sig, as in a URL: "sv=..&sp=..", and the snapshot's */
    char service;         /* 'b', 'q', 't', 'f'; of an account's, any */
    struct bytes account; /* names, decoded; a table's is in the query too */
    struct bytes container;
    struct bytes object; /* ptr NULL: it is of the container */
    bool is_directory;   /* the object is a directory of blobs */
};

/* Returns what has to be signed (HMAC-SHA256 with a key of the account, or with a user delegation key); ptr NULL
 * for fields that this server would take for malformed, and *ret_problem, a sentence: static or in the arena. */
struct bytes sas_make_string(struct arena *arena, const struct sas_making *making,
                             struct bytes *ret_problem);

#endif
