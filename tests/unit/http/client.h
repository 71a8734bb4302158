/* A client on a plain socket or TLS, for tests of the http room: sends any bytes, reads answers. */
#ifndef LAGRA_TESTS_CLIENT_H
#define LAGRA_TESTS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How long anything may take that must come: a loaded machine is slow. */
#define CLIENT_PATIENCE_MS 60000

struct client;

/* An answer; head and body are NUL-terminated as well. */
struct reply {
    int status; /* 0: the connection ended, or CLIENT_PATIENCE_MS went by, before a complete answer */
    char *head;
    char *body;
    size_t body_size;
};

struct client *client_open(uint16_t port);
/* From another address of the loopback network: 127.0.0.HOST. */
struct client *client_open_from(uint16_t port, unsigned host);
/* NULL when the connection is refused. */
struct client *client_try(uint16_t port);
/* TLS; any certificate is taken. NULL when the handshake fails. */
struct client *client_open_tls(uint16_t port);
void client_close(struct client *client);

/* Sends all of it; false when the server has closed. */
bool client_send_bytes(struct client *client, const void *bytes, size_t size);
bool client_send(struct client *client, const char *text);
bool client_sendf(struct client *client, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Sends nothing more, and says so; answers can still be read. */
void client_half_close(struct client *client);

/* The next answer: a body as long as Content-Length says; none for 1xx, 204, 304. */
void client_read(struct client *client, struct reply *ret_reply);
/* As client_read() for an answer to HEAD. */
void client_read_head(struct client *client, struct reply *ret_reply);
void reply_release(struct reply *reply);
/* The value of a header, up to the line's end; NULL without it. Kept until the next call. */
const char *reply_header(const struct reply *reply, const char *name);

/* Whether the server closes within so many milliseconds, sending nothing more. */
bool client_sees_end(struct client *client, int timeout_ms);
/* Whether there are bytes to read within so many milliseconds. */
bool client_sees_bytes(struct client *client, int timeout_ms);

#endif
