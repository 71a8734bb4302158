/* Serves the echo application, for tests/wire and for measuring the http room alone:
 * echo_server PORT [WORKERS]. Ends at SIGTERM or SIGINT. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "echo.h"

int main(int count, char **arguments)
{
    struct http_limits limits = http_limits_default;
    struct net_listen listen = { .host = "127.0.0.1" };
    const char *problem = NULL;
    struct http_server *server;
    sigset_t signals;
    int signal_seen;

    if (count < 2) {
        fprintf(stderr, "usage: echo_server PORT [WORKERS]\n");
        return 2;
    }
    listen.port = (uint16_t)strtoul(arguments[1], NULL, 10);
    if (count > 2)
        limits.net.workers = (unsigned)strtoul(arguments[2], NULL, 10);
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    echo_start();
    server = http_start(&listen, &limits, &echo_application, NULL, &problem);
    if (!server) {
        fprintf(stderr, "%s\n", problem);
        return 1;
    }
    printf("%u\n", http_port(server));
    fflush(stdout);
    sigwait(&signals, &signal_seen);
    http_stop(server, 1);
    echo_stop();
    return 0;
}
