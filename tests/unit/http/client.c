/* See client.h. */
#include "client.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAD_MAX 65536

struct client {
    int fd;
    gnutls_session_t tls;
    gnutls_certificate_credentials_t credentials;
};

static struct client *open_from(uint16_t port, unsigned host)
{
    struct client *client = calloc(1, sizeof *client);
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr_in own = { .sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(0x7F000000u + host) };
    struct timeval patience = { .tv_sec = CLIENT_PATIENCE_MS / 1000 };
    int on = 1;
    int result;

    assert(client);
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert(client->fd >= 0);
    setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(client->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    result = bind(client->fd, (struct sockaddr *)&own, sizeof own);
    assert(result == 0);
    result = connect(client->fd, (struct sockaddr *)&address, sizeof address);
    if (result == 0)
        return client;
    close(client->fd);
    free(client);
    return NULL;
}

struct client *client_open_from(uint16_t port, unsigned host)
{
    struct client *client = open_from(port, host);

    assert(client);
    return client;
}

struct client *client_open(uint16_t port)
{
    return client_open_from(port, 1);
}

struct client *client_try(uint16_t port)
{
    return open_from(port, 1);
}

struct client *client_open_tls(uint16_t port)
{
    struct client *client = client_open(port);
    int result;

    gnutls_certificate_allocate_credentials(&client->credentials);
    gnutls_init(&client->tls, GNUTLS_CLIENT);
    gnutls_set_default_priority(client->tls);
    gnutls_credentials_set(client->tls, GNUTLS_CRD_CERTIFICATE, client->credentials);
    gnutls_transport_set_int(client->tls, client->fd);
    do
        result = gnutls_handshake(client->tls);
    while (result < 0 && !gnutls_error_is_fatal(result));
    if (result == 0)
        return client;
    client_close(client);
    return NULL;
}

void client_close(struct client *client)
{
    if (client->tls) {
        gnutls_deinit(client->tls);
        gnutls_certificate_free_credentials(client->credentials);
    }
    close(client->fd);
    free(client);
}

bool client_send_bytes(struct client *client, const void *bytes, size_t size)
{
    const char *from = bytes;

    while (size > 0) {
        ssize_t n = client->tls ? gnutls_record_send(client->tls, from, size)
                                : send(client->fd, from, size, MSG_NOSIGNAL);

        if (n <= 0)
            return false;
        from += n;
        size -= (size_t)n;
    }
    return true;
}

void client_half_close(struct client *client)
{
    if (client->tls)
        gnutls_bye(client->tls, GNUTLS_SHUT_WR);
    shutdown(client->fd, SHUT_WR);
}

bool client_send(struct client *client, const char *text)
{
    return client_send_bytes(client, text, strlen(text));
}

bool client_sendf(struct client *client, const char *format, ...)
{
    char text[4096];
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    assert(length >= 0 && (size_t)length < sizeof text);
    return client_send_bytes(client, text, (size_t)length);
}

static ssize_t receive(struct client *client, void *to, size_t size)
{
    return client->tls ? gnutls_record_recv(client->tls, to, size) : recv(client->fd, to, size, 0);
}

static bool receive_all(struct client *client, char *to, size_t size)
{
    while (size > 0) {
        ssize_t n = receive(client, to, size);

        if (n <= 0)
            return false;
        to += n;
        size -= (size_t)n;
    }
    return true;
}

/* Some bytes of a head, up to its end: nothing of what follows is taken. TLS cannot look ahead, so there it is
 * byte by byte. */
static ssize_t receive_some_of_head(struct client *client, char *head, size_t size)
{
    size_t before = size < 3 ? size : 3; /* bytes of the blank line that may be there */
    ssize_t n;
    char *end;

    if (client->tls)
        return receive(client, head + size, 1);
    n = recv(client->fd, head + size, HEAD_MAX - 1 - size, MSG_PEEK);
    if (n <= 0)
        return n;
    end = memmem(head + size - before, (size_t)n + before, "\r\n\r\n", 4);
    return recv(client->fd, head + size, end ? (size_t)(end + 4 - (head + size)) : (size_t)n, 0);
}

static bool receive_head(struct client *client, char *head)
{
    size_t size = 0;

    while (size < HEAD_MAX - 1) {
        ssize_t n = receive_some_of_head(client, head, size);

        if (n <= 0)
            return false;
        size += (size_t)n;
        head[size] = '\0';
        if (size >= 4 && memcmp(head + size - 4, "\r\n\r\n", 4) == 0)
            return true;
    }
    return false;
}

const char *reply_header(const struct reply *reply, const char *name)
{
    static char value[1024];
    size_t name_size = strlen(name);

    for (const char *line = reply->head; line; line = strstr(line, "\r\n")) {
        if (*line == '\r')
            line += 2;
        if (strncasecmp(line, name, name_size) == 0 && line[name_size] == ':') {
            const char *from = line + name_size + 1;
            size_t size;

            from += strspn(from, " ");
            size = strcspn(from, "\r");
            assert(size < sizeof value);
            memcpy(value, from, size);
            value[size] = '\0';
            return value;
        }
    }
    return NULL;
}

static void read_reply(struct client *client, bool with_body, struct reply *ret_reply)
{
    struct reply reply = { .head = calloc(1, HEAD_MAX) };
    const char *length;
    int status;

    assert(reply.head);
    if (!receive_head(client, reply.head) || strncmp(reply.head, "HTTP/1.1 ", 9) != 0) {
        *ret_reply = reply;
        return;
    }
    status = (int)strtol(reply.head + 9, NULL, 10);
    length = reply_header(&reply, "Content-Length");
    if (with_body && length && status >= 200 && status != 204 && status != 304)
        reply.body_size = strtoul(length, NULL, 10);
    reply.body = calloc(1, reply.body_size + 1);
    assert(reply.body);
    if (receive_all(client, reply.body, reply.body_size))
        reply.status = status;
    *ret_reply = reply;
}

void client_read(struct client *client, struct reply *ret_reply)
{
    read_reply(client, true, ret_reply);
}

void client_read_head(struct client *client, struct reply *ret_reply)
{
    read_reply(client, false, ret_reply);
}

void reply_release(struct reply *reply)
{
    free(reply->head);
    free(reply->body);
    *reply = (struct reply){ 0 };
}

bool client_sees_bytes(struct client *client, int timeout_ms)
{
    struct pollfd poller = { .fd = client->fd, .events = POLLIN };
    char byte;

    return poll(&poller, 1, timeout_ms) == 1 && recv(client->fd, &byte, 1, MSG_PEEK) == 1;
}

bool client_sees_end(struct client *client, int timeout_ms)
{
    struct pollfd poller = { .fd = client->fd, .events = POLLIN };
    char byte;
    ssize_t n;

    if (poll(&poller, 1, timeout_ms) != 1)
        return false;
    n = recv(client->fd, &byte, 1, 0);
    return n == 0 || (n < 0 && errno == ECONNRESET);
}
