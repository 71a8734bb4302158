/* A request that is forwarded: sent to the owner of its cell as the client sent it, behind an envelope, and the response sent
 * to the client as it arrives. Bodies are not held: what the owner does not take is not read from the client, and the other
 * way round. An exchange and its link are of one worker.
 *
 *   FINDS      an owner, an idle link or a new one; waits for either
 *   SENDS      envelope, head, body; the response may come meanwhile
 *   RESPONDS   the response's body
 *
 * Failure. As long as nothing of the request was given to the kernel, it may be tried again: with another link, or with
 * another owner once the record of the cell names one, for FORWARD_PATIENCE_MS. So may a request that the
 * receiver refused because it does not own the cell, if none of its body was taken from the client. Afterwards 503 says that it was not
 * executed. Once any of it was sent the owner may have executed it: it is never sent again, and its client
 * loses the connection, as with a server that dies. decision: 951 */
#ifndef LAGRA_CLUSTER_FORWARD_H
#define LAGRA_CLUSTER_FORWARD_H

#include "cluster/forward_metrics.h"
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
enum http_step forward_head(struct exchange *exchange, const struct forwarding *of);
enum http_step forward_body(struct exchange *exchange, struct bytes data, size_t *ret_taken);
enum http_step forward_end(struct exchange *exchange);
void forward_done(struct exchange *exchange);
/* In head(), called again: Returns true if the request was not sent and waits for an owner, so it may as well be executed
 * here; ends its forwarding then. */
bool forward_cancel(struct exchange *exchange);

#endif
