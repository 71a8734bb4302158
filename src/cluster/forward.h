/* A request that is forwarded: sent to the owner of its cell as the client sent it, behind an envelope, and the response sent
 * to the client as it arrives. Bodies are not held: what the owner does not take is not read from the client, and the other
 * way round. An exchange and its link are of one worker.
 *
 *   FINDS      an owner, an idle link or a new one; waits for either
 *   SENDS      envelope, head, body; the response may come meanwhile
 *   RESPONDS   the response's body
 *
 * In a cluster with several cells a request goes to the cell that the front end knows its container to be in, else to the
 * root. The receiver may know better: it refuses the request (FORWARD_NOT_OWNER), and names the cell and the incarnation of the
 * placement if it is the root. The request then goes there, with the part of its body that was sent before, which
 * is kept up to FORWARD_KEPT_MAX. A longer body is sent only after the receiver has found the container (envelope.h, "100"). So
 * a request is never refused only because a placement has changed. decision: 994
 *
 * Failure. As long as nothing of the request was given to the kernel, it may be tried again: with another link, or with
 * another owner once the record of the cell names one, for FORWARD_PATIENCE_MS. So may a request that the
 * receiver refused because it does not own the cell, if none of its body was taken from the client. Afterwards 503 says that it was not
 * executed. Once any of it was sent the owner may have executed it: it is never sent again, and its client
 * loses the connection, as with a server that dies. decision: 951 */
#ifndef LAGRA_CLUSTER_FORWARD_H
#define LAGRA_CLUSTER_FORWARD_H

#include "base/arena.h"
#include "cluster/forward_metrics.h"
#include "cluster/placements.h"
#include "cluster/route.h"
#include "http/http.h"

#define FORWARD_PATIENCE_MS 3000u
/* Status of the internal endpoint of a front end that does not own the cell, or not under the incarnation that was meant. No
 * response of a service has it. rfc: 9110 15.5.20 */
#define FORWARD_NOT_OWNER   421
/* A header of that response from an owner that stops, or was another one: it will not own the cell under that incarnation
 * again. */
#define FORWARD_LEAVES      "Lagra-Owner"
#define FORWARD_LEAVES_SAYS "leaves"
#define FORWARD_PATH_READY  "/-/ready"
/* Its headers where a container is in another cell, or where a cell has it no more: then both are 0. */
#define FORWARD_CELL        "x-lagra-cell"
#define FORWARD_PLACEMENT   "x-lagra-placement"
/* Bodies up to this are kept until there is a response, and so are entity group transactions: the root sees in their body which
 * table they are about. */
#define FORWARD_KEPT_MAX    ((size_t)16 << 10)
#define FORWARD_BATCH_MAX   ((size_t)4 << 20)
/* A request is sent to other cells at most so often: more would mean that cells do not agree for long. */
#define FORWARD_MOVES_MAX   16u

/* What is logged of a forwarded request once it has ended. */
struct forward_logged {
    const char *service; /* its name; static */
    enum forward_result result;
    const struct request *request;
    int status;     /* 0 without a response */
    const char *to; /* address and port of the owner; "": none was found */
    uint64_t ns;
    uint64_t received, sent; /* bytes of bodies, from the client and to it */
};

/* Where a request goes. */
struct forward_to {
    uint32_t cell;
    uint64_t placement; /* incarnation of the container's placement there; 0: none is known */
    bool is_divided;    /* there are several cells */
    struct bytes key;   /* of the container in the front end's placements; empty: it names none */
    struct placements *placements; /* what the responses say of it */
    /* The part of the body that was taken from the client, if all of it is kept. */
    struct arena *kept_arena; /* NULL: nothing is kept */
    struct text kept;
    size_t kept_max;
    bool is_kept; /* all of it */
};
/* Keeps what was taken from the client, if possible. */
void forward_keep(struct forward_to *to, struct exchange *exchange, struct bytes data);
/* Notes what a refusal says of the container's cell. Returns false if it says nothing. */
bool forward_learn(struct forward_to *to, const struct response *response);

/* How the requests of one service are forwarded. Constant. */
struct forwarding {
    struct route *route;
    struct net_key *key;
    unsigned service;
    const char *name; /* of the service; static */
    bool is_json;     /* errors of the Table service */
    void (*log)(const struct forward_logged *logged);
};

/* The functions of an http_application. The first call of head() creates exchange->application. */
enum http_step forward_head(struct exchange *exchange, const struct forwarding *of,
                            struct forward_to *to);
/* Begins to forward a request whose body has been taken as far as `to` has kept it; in the function of the exchange that is
 * called then, instead of that one's first call. in_body: more of the body may follow */
void forward_begin(struct exchange *exchange, const struct forwarding *of, struct forward_to *to);
enum http_step forward_body(struct exchange *exchange, struct bytes data, size_t *ret_taken);
enum http_step forward_end(struct exchange *exchange);
void forward_done(struct exchange *exchange);
/* In head(), called again: Returns true if the request is for this cell, was not sent, and waits for an owner, so it may as
 * well be executed here; ends its forwarding then. */
bool forward_cancel(struct exchange *exchange, uint32_t cell);

#endif
