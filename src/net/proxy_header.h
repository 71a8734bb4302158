/* The PROXY protocol: a header with the client's address that a proxy sends before the client's
 * bytes. Version 1 is a line of text, version 2 is binary. Pure. Internal to net/. Thread-safe.
 * source: haproxy.org/download/2.6/doc/proxy-protocol.txt */
#ifndef LAGRA_NET_PROXY_HEADER_H
#define LAGRA_NET_PROXY_HEADER_H

#include "base/address.h"

/* Maximum size of a header; a longer one is malformed. Addresses need 52 bytes, and HAProxy's TLS
 * fields a few hundred. The protocol limits senders to 536 bytes. */
#define PROXY_HEADER_MAX 4096u

struct proxy_header {
    size_t size; /* size of the header in bytes */
    /* false if the proxy speaks for itself (LOCAL, UNKNOWN) or has no address for its client */
    bool has_client;
    bool is_tls; /* the client reached the proxy over TLS (PP2_TYPE_SSL); false if not specified */
    uint8_t client[ADDRESS_SIZE];
    uint16_t port; /* of the client */
};

enum proxy_found {
    PROXY_PART,      /* incomplete: may be the start of a header */
    PROXY_WHOLE,     /* *ret_header is set */
    PROXY_MALFORMED, /* malformed, or not a header */
};
enum proxy_found proxy_header_find(struct bytes input, struct proxy_header *ret_header);

#endif
