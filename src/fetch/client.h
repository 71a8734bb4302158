/* Asking one server again and again over one connection, for the commands that copy accounts. Bodies are in memory, both
 * ways, up to a limit. The operator has named the server, so any address is connected to; what it answers is not
 * trusted: no redirect is followed, heads are read as those of copy sources (head.h), bodies have a limit.
 *
 * A client belongs to one thread at a time, which it blocks. */
#ifndef LAGRA_FETCH_CLIENT_H
#define LAGRA_FETCH_CLIENT_H

#include "fetch/head.h"

struct fetch_client;

/* ca_path: PEM file of the authorities that are trusted; NULL: the system's. NULL: libcurl cannot be loaded, which the log
 * says. */
struct fetch_client *fetch_client_new(const char *ca_path);
void fetch_client_free(struct fetch_client *client);

struct fetch_client_request {
    const char *method;
    struct bytes url;
    const struct fetch_header
        *headers; /* one with a control character in it is not sent, nor the request */
    size_t header_count;
    struct bytes body;     /* ptr NULL: none */
    size_t answer_max;     /* bytes of the answer's body */
    uint64_t range_length; /* of the body that is expected, or 0: its memory is taken at once */
};

struct fetch_client_answer {
    int status;
    struct fetch_head head;
    struct bytes body;
};

/* Sends the request and reads the whole answer, into the arena. False: there is no answer that could be read. */
bool fetch_client_ask(struct fetch_client *client, struct arena *arena,
                      const struct fetch_client_request *request,
                      struct fetch_client_answer *ret_answer);
/* Why there is none. Until the next request. */
const char *fetch_client_problem(const struct fetch_client *client);

#endif
