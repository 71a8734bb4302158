/* What a proxy says in a request's headers of the client that it stands before: X-Forwarded-For, -Proto and -Host, or
 * Forwarded. Pure. Inside http/ only. Any thread.
 *
 * Each proxy of a chain adds to the right of a list, so what stands left of the last proxy that is trusted may come
 * from anybody. The client is the last address of the list that is not one of a trusted proxy.
 * rfc: 7239 4, 5, 6; decision: 362 */
#ifndef LAGRA_HTTP_FORWARDED_H
#define LAGRA_HTTP_FORWARDED_H

#include "http/http.h"

/* Addresses of one request: more are refused. */
#define FORWARDED_HOPS_MAX 32u

struct forwarded {
    bool has_client;      /* the headers say who it is */
    bool client_is_known; /* by an address; else it is "unknown", or a name of the proxy's own */
    bool is_tls;          /* the client reached the first of the trusted proxies by TLS */
    uint8_t client[ADDRESS_SIZE];
    uint16_t port;     /* 0: not said */
    struct bytes host; /* that the client asked for; ptr NULL: not said. In the headers */
};

/* Is it a header by which a proxy tells of its client? name: in lower case. Of X-Real-IP no more is read. */
bool forwarded_is_name(struct bytes name);
/* Reads the headers of a request that a trusted proxy sent.
 *
 * returns  0, or 400: malformed, or of both kinds: one of them may be the client's own, passed through */
int forwarded_read(const struct request *request, const struct address_list *proxies,
                   struct forwarded *ret_forwarded);

#endif
