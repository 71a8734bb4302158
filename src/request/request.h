/* The HTTP application that serves requests of all services. exchange.c describes the path of a
 * request from top to bottom. */
#ifndef LAGRA_REQUEST_REQUEST_H
#define LAGRA_REQUEST_REQUEST_H

#include "service/server.h"

/* HTTP application; the listener_tag of its requests is a struct endpoint. */
extern const struct http_application service_application;

/* Returns true if the request is for /-/live or /-/ready, which service_application serves at every
 * endpoint and without an account. */
bool is_health_request(const struct request *request);

/* Finds the names in a request before it is authenticated and without knowing any account. A front
 * end of a cluster uses them to find the cell that executes the request. */

/* Finds the account, without "-secondary", and the container, queue, table or share, in the form in
 * which the service compares names. Returns false if the request contains no such name, has it in
 * its body, or is malformed. Any cell can then respond.
 *
 * endpoint  endpoint of the service; only `service` and `options` are used, `accounts` is NULL */
bool request_names(const struct endpoint *endpoint, const struct request *request,
                   struct arena *arena, struct bytes *ret_account, struct bytes *ret_container);

#endif
