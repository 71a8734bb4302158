/* Client information in a proxy's request headers: X-Forwarded-For, -Proto and -Host, or Forwarded.
 * Pure. Internal to http/. Thread-safe.
 *
 * Each proxy of a chain appends to the right of a list, so the part to the left of the last trusted
 * proxy may be forged. The client is the last address of the list that is not one of a trusted
 * proxy. rfc: 7239 4, 5, 6; decision: 362 */
#ifndef LAGRA_HTTP_FORWARDED_H
#define LAGRA_HTTP_FORWARDED_H

#include "http/http.h"

/* Maximum addresses in a request. */
#define FORWARDED_HOPS_MAX 32u

struct forwarded {
    bool has_client; /* the headers name a client */
    /* its address is known; else it is "unknown", or a name chosen by the proxy */
    bool client_is_known;
    bool is_tls; /* the client reached the first trusted proxy over TLS */
    uint8_t client[ADDRESS_SIZE];
    uint16_t port; /* 0 if unknown */
    /* host requested by the client; ptr NULL if unknown. Points into the headers */
    struct bytes host;
};

/* Returns true for headers by which proxies report their client. name: in lower case. X-Real-IP is
 * only recognized, not read. */
bool forwarded_is_name(struct bytes name);
/* Reads the headers of a request sent by a trusted proxy. Returns 0, or 400 if they are malformed,
 * or of both kinds, since one of them may be the client's own, passed through. */
int forwarded_read(const struct request *request, const struct address_list *proxies,
                   struct forwarded *ret_forwarded);

#endif
