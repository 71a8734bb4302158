/* Location and credentials of an account: a URL with a key or a shared access signature, or a
 * connection string. Pure. rest: Configure Azure Storage connection strings */
#ifndef LAGRA_TRANSFER_ENDPOINT_H
#define LAGRA_TRANSFER_ENDPOINT_H

#include "base/arena.h"

/* The services of an account, and the Data Lake endpoint, which serves the data of the Blob
 * service. */
enum endpoint_kind {
    ENDPOINT_BLOB,
    ENDPOINT_QUEUE,
    ENDPOINT_TABLE,
    ENDPOINT_FILE,
    ENDPOINT_SERVICES,
    ENDPOINT_DFS = ENDPOINT_SERVICES,
    ENDPOINT_KINDS
};
extern const char *const service_names[ENDPOINT_KINDS];

struct account_endpoint {
    struct bytes account;
    struct bytes key; /* base64; ptr NULL if none */
    struct bytes sas; /* without '?'; ptr NULL if none */
    /* without trailing '/'; ptr NULL if there is no such service */
    struct bytes urls[ENDPOINT_KINDS];
};

/* Parses "DefaultEndpointsProtocol=..;AccountName=..;AccountKey=..;BlobEndpoint=.." or
 * "UseDevelopmentStorage=true". Returns NULL, or a static error message. */
const char *endpoint_read_connection(struct arena *arena, struct bytes text,
                                     struct account_endpoint *ret_place);
/* Parses the URL of an account's Blob service, and derives the other endpoints:
 * ACCOUNT.blob.SUFFIX, or HOST:PORT/ACCOUNT, where they use the following four ports. A query is a
 * shared access signature. Returns the results of endpoint_read_connection(). */
const char *endpoint_read_url(struct arena *arena, struct bytes url,
                              struct account_endpoint *ret_place);

#endif
