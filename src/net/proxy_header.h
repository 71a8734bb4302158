/* The PROXY protocol: what a proxy writes before the bytes of its client, so that the server learns who that is.
 * Version 1 is a line of text, version 2 is binary. Pure. Inside net/ only. Any thread.
 * source: haproxy.org/download/2.6/doc/proxy-protocol.txt */
#ifndef LAGRA_NET_PROXY_HEADER_H
#define LAGRA_NET_PROXY_HEADER_H

#include "base/address.h"

/* A longer one is malformed. Addresses take 52 bytes, and what HAProxy can say of TLS a few hundred; the protocol
 * itself asks senders to stay within 536. */
#define PROXY_HEADER_MAX 4096u

struct proxy_header {
    size_t size; /* bytes that it has */
    bool
        has_client; /* false: the proxy speaks for itself (LOCAL, UNKNOWN), or has no address for its client */
    bool
        is_tls; /* the client reached the proxy by TLS (PP2_TYPE_SSL); false also where it does not say */
    uint8_t client[ADDRESS_SIZE];
    uint16_t port; /* of the client */
};

enum proxy_found {
    PROXY_PART,      /* all that is there may be the begin of one */
    PROXY_WHOLE,     /* *ret_header is set */
    PROXY_MALFORMED, /* also where there is none */
};
enum proxy_found proxy_header_find(struct bytes input, struct proxy_header *ret_header);

#endif
