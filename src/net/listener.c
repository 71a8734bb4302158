/* Opens the listening socket. Errors such as a port in use or an address of another machine
 * produce a message for the operator. */
#include "net/net_private.h"

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"

#define PROBLEM_MAX 512

/* Formats a message, which is valid until the next call. Main thread. */
static const char *problem(const char *format, ...) __attribute__((format(printf, 1, 2)));

static const char *problem(const char *format, ...)
{
    static char text[PROBLEM_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return text;
}

/* Returns the first IPv4 address, or else the first address. Clients' connection strings contain
 * 127.0.0.1, so "localhost" must mean that address. */
static const struct addrinfo *prefer_ipv4(const struct addrinfo *list)
{
    for (const struct addrinfo *a = list; a; a = a->ai_next) {
        if (a->ai_family == AF_INET)
            return a;
    }
    return list;
}

static const char *bind_problem(int error, const char *host, uint16_t port)
{
    if (error == EADDRINUSE)
        return problem("port %u of %s is in use: is another server running?", port, host);
    if (error == EACCES)
        return problem("no permission to listen on port %u of %s", port, host);
    if (error == EADDRNOTAVAIL)
        return problem("%s is not an address of this machine", host);
    return problem("cannot listen on port %u of %s: %s", port, host, strerrordesc_np(error));
}

static uint16_t bound_port(int fd)
{
    struct sockaddr_storage bound;
    socklen_t size = sizeof bound;

    if (getsockname(fd, (struct sockaddr *)&bound, &size) != 0)
        return 0;
    if (bound.ss_family == AF_INET6)
        return ntohs(((struct sockaddr_in6 *)&bound)->sin6_port);
    return ntohs(((struct sockaddr_in *)&bound)->sin_port);
}

int listener_open(const char *host, uint16_t port, uint16_t *ret_port, const char **ret_problem)
{
    struct addrinfo hints = { .ai_family = AF_UNSPEC,
                              .ai_socktype = SOCK_STREAM,
                              .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
    struct addrinfo *list = NULL;
    const struct addrinfo *address;
    char service[8];
    int on = 1;
    int error;
    int fd = -1;

    snprintf(service, sizeof service, "%u", port);
    error = getaddrinfo(host, service, &hints, &list);
    if (error != 0) {
        *ret_problem = problem("cannot resolve %s: %s", host, gai_strerror(error));
        return -1;
    }
    address = prefer_ipv4(list);
    fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd < 0 || bind(fd, address->ai_addr, address->ai_addrlen) != 0 ||
        listen(fd, SOMAXCONN) != 0) {
        *ret_problem = bind_problem(errno, host, port);
        if (fd >= 0)
            close(fd);
        fd = -1;
        goto out;
    }
    *ret_port = bound_port(fd);
out:
    freeaddrinfo(list);
    return fd;
}
