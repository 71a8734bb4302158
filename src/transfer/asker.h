/* Internal to transfer/: requests to an account's services, signed with its key or a shared access
 * signature, and retried when a service is busy. Belongs to one thread at a time, which it
 * blocks. */
#ifndef LAGRA_TRANSFER_ASKER_H
#define LAGRA_TRANSFER_ASKER_H

#include "base/dates.h"
#include "fetch/client.h"
#include "transfer/endpoint.h"

/* x-ms-version for the Blob, Queue and File services. */
#define ASKER_VERSION     "2021-12-02"
/* Maximum size of a response other than blob data, such as a page of a listing. */
#define ASKER_LISTING_MAX ((size_t)64 << 20)
#define ASKER_HEADERS_MAX 400u

struct asker;

/* Returns NULL with *ret_problem, static, if libcurl cannot be loaded or the key is not base64. The
 * place remains the caller's. */
struct asker *asker_new(const struct account_place *place, const char *ca_path,
                        const char **ret_problem);
void asker_free(struct asker *asker);

struct asking {
    const char *method;
    enum endpoint_kind service;
    struct bytes path;  /* encoded: "/container/blob"; may be empty */
    struct bytes query; /* encoded, without '?'; may be empty */
    const struct fetch_header *headers;
    size_t header_count;
    struct bytes body; /* ptr NULL if none */
    /* requested bytes of a blob, the maximum size of the response; 0 for a listing */
    uint64_t range_bytes;
    int accepted;  /* a status other than 2xx that counts as success; 0 if none */
    bool is_probe; /* do not retry if there is no response */
};

/* Returns true if the status is 2xx, or the accepted one. Otherwise asker_problem() describes
 * request and response, without secrets. */
bool asker_ask(struct asker *asker, struct arena *arena, const struct asking *asking,
               struct fetch_client_answer *ret_answer);
/* Valid until the next request. */
const char *asker_problem(const struct asker *asker);
/* Returns true if the last request got no response. */
bool asker_was_unheard(const struct asker *asker);
bool asker_has_service(const struct asker *asker, enum endpoint_kind service);
/* Returns the service's time, at most a second late: from the date of its last response, or the
 * local clock if there is none. */
instant asker_now(const struct asker *asker);
/* Returns true if it uses a shared access signature, which does not grant access to access
 * policies. */
bool asker_is_shared(const struct asker *asker);

#endif
