/* Where an account is, and what opens it: a URL with a key or a shared access signature, or a connection string. Pure.
 * rest: Configure Azure Storage connection strings */
#ifndef LAGRA_TRANSFER_ENDPOINT_H
#define LAGRA_TRANSFER_ENDPOINT_H

#include "base/arena.h"

enum endpoint_kind { ENDPOINT_BLOB, ENDPOINT_QUEUE, ENDPOINT_TABLE, ENDPOINT_FILE, ENDPOINT_KINDS };
extern const char *const service_names[ENDPOINT_KINDS];

struct account_place {
    struct bytes account;
    struct bytes key;                  /* base64; ptr NULL: none */
    struct bytes sas;                  /* without '?'; ptr NULL: none */
    struct bytes urls[ENDPOINT_KINDS]; /* without a last '/'; ptr NULL: it has no such service */
};

/* "DefaultEndpointsProtocol=..;AccountName=..;AccountKey=..;BlobEndpoint=.." or "UseDevelopmentStorage=true".
 *
 * returns NULL, or what is wrong with it (static) */
const char *place_read_connection(struct arena *arena, struct bytes text,
                                  struct account_place *ret_place);
/* The URL of an account's Blob service, of which those of the other services are derived: ACCOUNT.blob.SUFFIX, or
 * HOST:PORT/ACCOUNT, where they have the three ports behind. A query is a shared access signature. As above. */
const char *place_read_url(struct arena *arena, struct bytes url, struct account_place *ret_place);

#endif
