/* Reads the client's address from the request headers of a proxy: X-Forwarded-For, -Proto and
 * -Host, or Forwarded. Pure. Internal to http/. Thread-safe.
 *
 * Each proxy appends to the right of a list, so anything to the left of the first untrusted address
 * may be forged. That address, the rightmost one not belonging to a trusted proxy, is the client.
 * rfc: 7239 4, 5, 6; decision: 362 */
#ifndef LAGRA_HTTP_FORWARDED_H
#define LAGRA_HTTP_FORWARDED_H

#include "http/http.h"

/* Maximum number of addresses in a request */
#define FORWARDED_HOPS_MAX 32u

struct forwarded {
    bool has_client; /* the headers name a client */
    /* false if the proxy sent "unknown" or a name instead of an address */
    bool client_is_known;
    bool is_tls; /* the client reached the first trusted proxy over TLS */
    uint8_t client[ADDRESS_SIZE];
    uint16_t port; /* 0 if unknown */
    /* host requested by the client; ptr NULL if unknown. Points into the headers */
    struct bytes host;
};

/* Returns true for a header in which a proxy reports its client. name: lower case. X-Real-IP is
 * recognized but not read. */
bool forwarded_is_name(struct bytes name);
/* Reads the headers of a request from a trusted proxy. Returns 0, or 400 if they are malformed or
 * of both kinds, because one of them may come from the client itself. */
int forwarded_read(const struct request *request, const struct address_list *proxies,
                   struct forwarded *ret_forwarded);

#endif
