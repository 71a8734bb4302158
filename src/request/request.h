/* The path of a request: the HTTP application that serves every service. exchange.c has the whole path, top down. */
#ifndef LAGRA_REQUEST_REQUEST_H
#define LAGRA_REQUEST_REQUEST_H

#include "service/server.h"

/* The listener_tag of its requests is a struct endpoint. */
extern const struct http_application service_application;

/* Returns whether the request is for /-/live or /-/ready, which service_application serves at every endpoint and
 * without an account. */
bool health_is_asked(const struct request *request);

#endif
