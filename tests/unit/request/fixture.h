/* A call and its decision, made by hand: headers are "name: value" lines. */
#ifndef LAGRA_TESTS_REQUEST_FIXTURE_H
#define LAGRA_TESTS_REQUEST_FIXTURE_H

/* Before cmocka, whose macro fail() would take the name of ours. */
#include "request/request_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct fixture {
    struct arena *arena;
    struct accounts *accounts;
    struct server_options options;
    struct endpoint endpoint;
    struct exchange exchange;
    struct work work;
};

int fixture_set_up(void **state);
int fixture_tear_down(void **state);
/* The request of the next route() or check. target: raw; headers: NULL-terminated list. */
void fixture_request(struct fixture *f, enum http_method method, const char *target,
                     const char *const *headers);

#endif
