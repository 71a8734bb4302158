/* The envelope of a forwarded request, which stands in front of its head on a connection between two front ends of a
 * cluster (http_application.introduce). Pure.
 *
 *   0   4  "LgFw"
 *   4   1  version, 2
 *   5   1  service: 0 Blob, 1 Queue, 2 Table, 3 File; 4: a request of a front end itself (peer.h), with no flags
 *   6   1  flags: 1 the client's address is known, 2 the client used TLS, 4 a proxy had forwarded the request,
 *          8 an authority follows, 16 the body is sent only after a response of 100
 *   7   1  hops, 1: a forwarded request is never forwarded again
 *   8   4  cell, big-endian, as all numbers
 *   12  8  incarnation of the cell's owner that is meant
 *   20  16 address of the client; zeros if it is not known
 *   36  2  its port; 0 too
 *   38  2  length of the authority
 *   40  8  incarnation under which the container was placed in the cell; 0: none is known
 *   48  .. authority (host[:port]) that the client asked for, where a trusted proxy says it and the head does not
 *
 * The request follows as the client sent it, so that the owner can check its signature. A new version gets a new number,
 * and front ends of the version before refuse it: forwarding stops during a rolling upgrade, nothing else. */
#ifndef LAGRA_CLUSTER_ENVELOPE_H
#define LAGRA_CLUSTER_ENVELOPE_H

#include "http/http.h"

#define ENVELOPE_BYTES         48u
#define ENVELOPE_AUTHORITY_MAX 300u /* a DNS name with a port is shorter */
#define ENVELOPE_OF_PEER       4u /* as service: sent by a front end on its own behalf, for no client */
#define ENVELOPE_SERVICES      5u
_Static_assert(ENVELOPE_BYTES + ENVELOPE_AUTHORITY_MAX <= INTRODUCTION_MAX, "fits");

struct envelope {
    unsigned service;
    uint32_t cell;
    uint64_t incarnation;
    struct http_introduction said; /* size: set by envelope_read() */
};

/* Writes an envelope, whose authority has at most ENVELOPE_AUTHORITY_MAX bytes. Returns its size. */
size_t envelope_write(const struct envelope *envelope, char to[INTRODUCTION_MAX]);
/* Reads an envelope from the start of the input; its authority points into that. */
enum http_introduced envelope_read(struct bytes input, struct envelope *ret_envelope);

#endif
