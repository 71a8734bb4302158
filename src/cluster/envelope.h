/* The envelope of a forwarded request. It precedes the request header on a connection between two
 * front ends of a cluster (http_application.introduce). Pure.
 *
 *   0   4  "LgFw"
 *   4   1  version of the protocol (protocol.h)
 *   5   1  service: 0 Blob, 1 Queue, 2 Table, 3 File, 4 Data Lake; 5 for a front end's own request
 *          (peer.h), which has no flags
 *   6   1  flags: 1 the client's address is known, 2 the client used TLS, 4 a proxy had forwarded
 *          the request, 8 an authority follows, 16 the body is sent only after a 100 response; since
 *          version 6: 32 a list of pieces is understood as the body of the response (piece_list.h)
 *   7   1  hops, always 1, because a forwarded request is never forwarded again
 *   8   4  cell; big-endian, like all numbers
 *   12  8  incarnation of the cell's intended owner
 *   20  16 client address; zeros if unknown
 *   36  2  client port; 0 if unknown
 *   38  2  length of the authority
 *   40  8  incarnation under which the container was placed in the cell; 0 if unknown
 *   48  8  renewal of the owner's lease that the front end had read, by the owner's clock
 *          (owner_record.renewed_ns)
 *   56  16 request id (x-ms-request-id); zeros in a front end's own request
 *   72  .. authority (host[:port]) that the client requested, if a trusted proxy supplied it and it
 *          differs from the request's Host header
 *
 * The request follows as the client sent it, so that the owner can check its signature. */
#ifndef LAGRA_CLUSTER_ENVELOPE_H
#define LAGRA_CLUSTER_ENVELOPE_H

#include "http/http.h"

#define ENVELOPE_BYTES         72u
#define ENVELOPE_AUTHORITY_MAX 300u /* longer than any DNS name with a port */
/* value of `service` for a front end's own request, which has no client */
#define ENVELOPE_OF_PEER       5u
#define ENVELOPE_SERVICES      6u
_Static_assert(ENVELOPE_BYTES + ENVELOPE_AUTHORITY_MAX <= INTRODUCTION_MAX, "fits");

struct envelope {
    unsigned version; /* of the protocol, understood by both front ends */
    unsigned service;
    uint32_t cell;
    uint64_t incarnation;
    uint64_t renewed_ns;
    struct http_introduction said; /* `size` is set by envelope_read() */
};

/* Writes an envelope whose authority has at most ENVELOPE_AUTHORITY_MAX bytes. Returns its size. */
size_t envelope_write(const struct envelope *envelope, char to[INTRODUCTION_MAX]);
/* Reads an envelope from the start of the input. The authority points into the input. */
enum http_introduced envelope_read(struct bytes input, struct envelope *ret_envelope);

#endif
