/* Sends many requests to one server over one connection, for the commands that copy accounts.
 * Bodies are in memory in both directions, up to a limit. The operator has named the server, so any
 * address is permitted, but its responses are not trusted: redirects are not followed, headers are
 * parsed like those of copy sources (head.h), and bodies are limited.
 *
 * A client belongs to one thread at a time, which it blocks. */
#ifndef LAGRA_FETCH_CLIENT_H
#define LAGRA_FETCH_CLIENT_H

#include "fetch/head.h"

struct fetch_client;

/* Creates a client. ca_path: PEM file with trusted certificate authorities; NULL means the
 * system's. Returns NULL, after logging it, if libcurl cannot be loaded. */
struct fetch_client *fetch_client_new(const char *ca_path);
void fetch_client_free(struct fetch_client *client);

struct fetch_client_request {
    const char *method;
    struct bytes url;
    const struct fetch_header
        *headers; /* a request with a control character in a header is not sent */
    size_t header_count;
    struct bytes body;     /* ptr NULL if none */
    size_t answer_max;     /* maximum size of the response body */
    uint64_t range_length; /* expected size of the body, to allocate it at once; or 0 */
};

struct fetch_client_answer {
    int status;
    struct fetch_head head;
    struct bytes body;
};

/* Sends the request and reads the entire response into the arena. Returns false if there is no
 * valid response. */
bool fetch_client_ask(struct fetch_client *client, struct arena *arena,
                      const struct fetch_client_request *request,
                      struct fetch_client_answer *ret_answer);
/* Describes why the last request failed. Valid until the next one. */
const char *fetch_client_problem(const struct fetch_client *client);

#endif
