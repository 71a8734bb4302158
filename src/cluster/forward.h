/* A forwarded request. It is sent to the owner of its cell as the client sent it, after an
 * envelope, and the response is passed to the client as it arrives. Bodies are not buffered. If the
 * owner stops reading, the client is not read from either, and vice versa. An exchange and its link
 * belong to one worker.
 *
 *   FINDS      an owner, and an idle or new link to it; waits for either
 *   SENDS      envelope, header, body; the response may already arrive
 *   RESPONDS   the response's body
 *
 * In a cluster with several cells, a request goes to the cell in which the front end knows its
 * container to be, or to the root if it does not know. The receiver may know better. It then
 * refuses the request (FORWARD_NOT_OWNER) and, if it is the root, names the cell and the
 * incarnation of the placement. The request then goes there, together with the part of its body
 * that was already sent, which is kept up to FORWARD_KEPT_MAX. A longer body is sent only after the
 * receiver has found the container (flag 16 in envelope.h). So a request is never refused only
 * because a placement has changed. decision: 994
 *
 * Failures. Until any byte of the request was given to the kernel, it may be tried again for up to
 * FORWARD_PATIENCE_MS, with another link, or with another owner once the cell's record names one.
 * The same applies to a request that the receiver refused because it does not own the cell, unless
 * part of its body was read from the client and not kept. After that, a 503 reports that the
 * request was not executed. Once any byte was sent and was not refused, the owner may have executed
 * the request. It is then never sent again, and the client's connection is closed, as if the server
 * had died. decision: 951 */
#ifndef LAGRA_CLUSTER_FORWARD_H
#define LAGRA_CLUSTER_FORWARD_H

#include "base/arena.h"
#include "cluster/forward_metrics.h"
#include "cluster/placements.h"
#include "cluster/route.h"
#include "http/http.h"

#define FORWARD_PATIENCE_MS 3000u
/* Maximum age of the last read of the owner's record. A front end that was paused reads it again
 * before it sends anything, because the owner would refuse an older renewal. */
#define FORWARD_FRESH_MS    1000u
/* Status returned by the internal endpoint of a front end that does not own the cell, or not under
 * the requested incarnation. No service returns it. rfc: 9110 15.5.20 */
#define FORWARD_NOT_OWNER   421
/* Header of that response. Sent by an owner that is stopping, or whose incarnation is newer, so
 * that the requested incarnation will not own the cell again. */
#define FORWARD_LEAVES      "Lagra-Owner"
#define FORWARD_LEAVES_SAYS "leaves"
#define FORWARD_PATH_READY  "/-/ready"
/* Headers of that response if the container is in another cell. Both are 0 if the cell no longer
 * has the container. */
#define FORWARD_CELL        "x-lagra-cell"
#define FORWARD_PLACEMENT   "x-lagra-placement"
/* Header of a response whose body is a list of pieces: the length of the body that it stands for.
 * Only if the envelope asked for it; never passed on to clients. */
#define FORWARD_PIECES      "x-lagra-pieces"
/* Size limits of bodies that are kept until there is a response. Entity group transactions have the
 * larger limit, because the root finds the name of their table only in the body. */
#define FORWARD_KEPT_MAX    ((size_t)16 << 10)
#define FORWARD_BATCH_MAX   ((size_t)4 << 20)
/* Limit on how often a request is sent on to another cell. More moves would mean that the cells
 * disagree for a long time. */
#define FORWARD_MOVES_MAX   16u

/* Log record of a forwarded request that has ended. */
struct forward_logged {
    const char *service; /* service name; static */
    enum forward_result result;
    const struct request *request;
    int status; /* 0 if there was no response */
    uint32_t cell;
    const char *to;          /* address and port of the owner; "" if none was found */
    uint64_t ns, waited_ns;  /* in all; until it was sent */
    uint64_t received, sent; /* body bytes from the client and to the client */
    bool is_direct;          /* this front end read the body from files */
};

/* Destination of a request. */
struct forward_to {
    uint32_t cell;
    uint64_t placement; /* incarnation of the container's placement there; 0 if unknown */
    bool is_divided;    /* the cluster has several cells */
    struct bytes key;   /* container's key in `placements`; empty if the request names none */
    struct placements *placements; /* updated from responses */
    /* Part of the body that was read from the client, while all of it is kept. */
    struct arena *kept_arena; /* NULL if nothing is kept */
    struct text kept;
    size_t kept_max;
    bool is_kept; /* true while all of it is kept */
};
/* Keeps data that was read from the client, if it fits. */
void forward_keep(struct forward_to *to, struct exchange *exchange, struct bytes data);
/* Updates the destination from a refusal that reports the container's cell. Returns false if it
 * reports none. */
bool forward_learn(struct forward_to *to, const struct response *response);

/* Forwarding settings of one service. Constant. */
struct forwarding {
    struct route *route;
    struct net_key *key;
    unsigned service;
    const char *name;      /* service name; static */
    bool is_json;          /* errors have the form of the Table service */
    struct direct *direct; /* reads bodies from the files of cells, or NULL */
    void (*log)(const struct forward_logged *logged);
};

/* Functions of an http_application. The first call of forward_head() creates
 * exchange->application. */
enum http_step forward_head(struct exchange *exchange, const struct forwarding *of,
                            struct forward_to *to);
/* Starts to forward a request after its body was read and kept in `to`. The caller then calls
 * forward_end() in the same function of the exchange. */
void forward_begin(struct exchange *exchange, const struct forwarding *of, struct forward_to *to);
enum http_step forward_body(struct exchange *exchange, struct bytes data, size_t *ret_taken);
enum http_step forward_end(struct exchange *exchange);
void forward_done(struct exchange *exchange);
/* For a repeated call of head(). Returns true if the request is for this cell, was not sent and is
 * still waiting for an owner, so that it can be executed here. Ends the forwarding in that case. */
bool forward_cancel(struct exchange *exchange, uint32_t cell);

#endif
