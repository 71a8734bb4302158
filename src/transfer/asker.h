/* Inside of transfer/ only: requests of an account's services, signed with its key or by its shared access signature, and
 * made again where a service asks for patience. Belongs to one thread at a time, which it blocks. */
#ifndef LAGRA_TRANSFER_ASKER_H
#define LAGRA_TRANSFER_ASKER_H

#include "base/dates.h"
#include "fetch/client.h"
#include "transfer/endpoint.h"

/* Of the Blob, Queue and File services. */
#define ASKER_VERSION     "2021-12-02"
/* Of an answer that is no bytes of a blob: a page of a listing. */
#define ASKER_LISTING_MAX ((size_t)64 << 20)
#define ASKER_HEADERS_MAX 400u

struct asker;

/* NULL: libcurl cannot be loaded, or the key is no base64: *ret_problem, static. The place stays the caller's. */
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
    struct bytes body; /* ptr NULL: none */
    uint64_t
        range_bytes; /* of a blob that are asked for: the answer has no more; 0: it is a listing */
    int accepted;    /* a status beside 2xx that is no problem; 0: none */
    bool is_probe;   /* it is asked once: that there is no answer is one */
};

/* Whether the answer's status is 2xx, or the accepted one. Else asker_problem() says what was asked and answered, without
 * anything secret. */
bool asker_ask(struct asker *asker, struct arena *arena, const struct asking *asking,
               struct fetch_client_answer *ret_answer);
/* Until the next request. */
const char *asker_problem(const struct asker *asker);
/* Nothing was answered to the last request. */
bool asker_was_unheard(const struct asker *asker);
bool asker_has_service(const struct asker *asker, enum endpoint_kind service);
/* Returns the time at the service, at most a second behind it: by the date of its last response, or by the local clock if it has
 * sent none. */
instant asker_now(const struct asker *asker);
/* It asks by a shared access signature, which opens no access policies. */
bool asker_is_shared(const struct asker *asker);

#endif
