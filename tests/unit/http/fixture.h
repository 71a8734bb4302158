/* A server with the echo application and default limits, for a group of tests. */
#ifndef LAGRA_TESTS_HTTP_FIXTURE_H
#define LAGRA_TESTS_HTTP_FIXTURE_H

#include "client.h"
#include "echo.h"

/* Group set-up and teardown. */
int fixture_start(void **state);
int fixture_stop(void **state);
/* Teardown of each test: every head() has had its done(). */
int fixture_all_done(void **state);

struct client *fixture_client(void);
/* Asserts that the next answer has this status and this body. */
void fixture_expect(struct client *client, int status, const char *body);

#define GET(target) "GET " target " HTTP/1.1\r\nHost: x\r\n\r\n"

#endif
