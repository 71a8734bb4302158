/* The HTTP application that serves requests of all services. exchange.c describes the path of a
 * request from top to bottom. */
#ifndef LAGRA_REQUEST_REQUEST_H
#define LAGRA_REQUEST_REQUEST_H

#include "service/server.h"

/* HTTP application; the listener_tag of its requests is a struct endpoint. */
extern const struct http_application service_application;

/* Returns true if the request is for /-/live or /-/ready, which service_application serves at every
 * endpoint and without an account. */
bool health_is_asked(const struct request *request);

#endif
