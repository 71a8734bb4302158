/* See fixture.h. */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static struct http_server *server;

int fixture_start(void **state)
{
    struct net_listen listen = { .host = "127.0.0.1" };
    const char *problem = NULL;

    (void)state;
    echo_start();
    server = http_start(&listen, &http_limits_default, &echo_application, NULL, &problem);
    return server ? 0 : -1;
}

int fixture_stop(void **state)
{
    (void)state;
    http_stop(server, 1);
    echo_stop();
    return 0;
}

struct client *fixture_client(void)
{
    return client_open(http_port(server));
}

int fixture_all_done(void **state)
{
    (void)state;
    for (int i = 0; i < CLIENT_PATIENCE_MS && echo_heads() != echo_dones(); i++)
        usleep(1000);
    return echo_heads() == echo_dones() ? 0 : -1;
}

void fixture_expect(struct client *client, int status, const char *body)
{
    struct reply reply;

    client_read(client, &reply);
    assert_int_equal(reply.status, status);
    assert_string_equal(reply.body, body);
    reply_release(&reply);
}
