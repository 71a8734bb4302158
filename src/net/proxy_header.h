/* The PROXY protocol: a header that a proxy sends before the bytes of its client, with the client's
 * address. Version 1 is a line of text, version 2 is binary. Pure. Internal to net/. Thread-safe.
 * source: haproxy.org/download/2.6/doc/proxy-protocol.txt */
#ifndef LAGRA_NET_PROXY_HEADER_H
#define LAGRA_NET_PROXY_HEADER_H

#include "base/address.h"

/* A longer header is malformed. Addresses need 52 bytes, and HAProxy's TLS fields a few hundred; the
 * protocol limits senders to 536. */
#define PROXY_HEADER_MAX 4096u

struct proxy_header {
    size_t size; /* of the header, in bytes */
    bool
        has_client; /* false: the proxy speaks for itself (LOCAL, UNKNOWN), or has no address for its client */
    bool
        is_tls; /* the client reached the proxy by TLS (PP2_TYPE_SSL); false also where it does not say */
    uint8_t client[ADDRESS_SIZE];
    uint16_t port; /* of the client */
};

enum proxy_found {
    PROXY_PART,      /* the bytes may be the start of a header */
    PROXY_WHOLE,     /* *ret_header is set */
    PROXY_MALFORMED, /* or not a header */
};
enum proxy_found proxy_header_find(struct bytes input, struct proxy_header *ret_header);

#endif
