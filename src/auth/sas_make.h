/* Creates shared access signatures: the counterpart of sas.c. Uses the same parsing of the fields
 * and the same string to sign, so that the two always agree. rest: Create-account-SAS,
 * Create-service-SAS, Create-user-delegation-SAS. Thread-safe. */
#ifndef LAGRA_AUTH_SAS_MAKE_H
#define LAGRA_AUTH_SAS_MAKE_H

#include "base/arena.h"

struct sas_making {
    struct bytes query;   /* the fields except sig, as in a URL: "sv=..&sp=..", and the snapshot */
    char service;         /* 'b', 'q', 't', 'f'; any for an account SAS */
    struct bytes account; /* decoded names; a table's is in the query too */
    struct bytes container;
    struct bytes object; /* ptr NULL: the SAS is for the container */
    bool is_directory;   /* the object is a blob directory */
};

/* Returns the string to sign (HMAC-SHA256 with a key of the account, or with a user delegation
 * key). Returns ptr NULL if this server would reject the fields as malformed, and sets *ret_problem
 * to a sentence, static or in the arena. */
struct bytes sas_make_string(struct arena *arena, const struct sas_making *making,
                             struct bytes *ret_problem);

#endif
