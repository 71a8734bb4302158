/* Requests by the wire: the server's own acceptor and workers, over the sockets of net.h. The thread that works on a request is known by the number of its client, which the
 * request carries as x-ms-client-request-id. */
#ifndef LAGRA_SIM_WIRE_H
#define LAGRA_SIM_WIRE_H

#include "request.h"
#include "request/request.h"
#include "service/server.h"

/* Starts the http room in front of the endpoint. */
void wire_open(const struct endpoint *endpoint);
/* Requests of this process go to front ends (fleet.h). */
void wire_open_clients(void);
bool wire_is_open(void);
/* The service behind the doors of a front end. */
const struct http_application *wire_application(void);
/* When no client asks any more. */
void wire_close(void);

/* Sends the request on the client's connection, a new one if need be, and reads its answer: the ask
 * says how the client behaves. Returns when the request is over on both sides.
 *
 * framing      how the body goes
 * each_header  called for each of the answer, its name in lower case */
void wire_exchange(unsigned slot, const struct ask *ask, const struct request *request,
                   struct framing *framing, struct bytes body,
                   void (*each_header)(const struct http_header *header, struct reply *reply),
                   struct reply *reply);

#endif
