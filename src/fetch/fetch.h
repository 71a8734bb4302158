/* Sends requests to other servers over HTTP or HTTPS: for clients, whose URLs name sources of
 * copies, and for the program's own commands, which use a local server's Unix socket. All other
 * outgoing requests use client.h.
 *
 * A client chooses the URL, so nothing is trusted: the address of each connection is checked, also
 * after redirects (fetch.h), and time and size are limited.
 *
 * A fetch belongs to one thread at a time, which its functions block. */
#ifndef LAGRA_FETCH_FETCH_H
#define LAGRA_FETCH_FETCH_H

#include "base/address.h"
#include "base/arena.h"

#include <sys/socket.h>

#define FETCH_REDIRECTS_MAX 5
/* A fetch fails if, after waiting for this long, fewer bytes have arrived than the minimum rate per
 * second would yield. Time in which the caller does not read is not counted. decision: 284 */
#define FETCH_PATIENCE_MS   60000u
#define FETCH_RATE_MIN      ((size_t)16 << 10)

struct fetcher; /* shared by all fetches */

struct fetcher_options {
    struct address_list allowed; /* in addition to the public internet */
    const char
        *ca_path; /* PEM file with trusted certificate authorities; NULL means the system's */
    unsigned timeout_ms; /* replaces FETCH_PATIENCE_MS unless 0 */
    /* accepts any address and certificate: if the operator has named the server */
    bool trusts_all;
    const char
        *local_path; /* path of a Unix socket to use for all hosts, at most 107 bytes; or NULL */
};
/* Main thread, once. libcurl is loaded when the first fetch is opened. */
struct fetcher *fetcher_new(const struct fetcher_options *options);
/* Soon ends all current and later fetches with FETCH_STOPPED. Thread-safe. */
void fetcher_stop(struct fetcher *fetcher);
/* No fetch may be open. */
void fetcher_free(struct fetcher *fetcher);

enum fetch_result {
    FETCH_OK,
    FETCH_REFUSED, /* the address is not permitted, or too many redirects */
    /* not found, not connected, aborted, too slow, untrusted TLS, not HTTP, or libcurl cannot be
     * loaded */
    FETCH_FAILED,
    FETCH_STOPPED,
};

struct fetch_header {
    struct bytes name, value; /* name in lower case */
};

struct fetch_asked {
    struct bytes url;
    bool head_only;
    const char *method; /* a method other than GET, HEAD or POST, or NULL */
    struct bytes body;  /* ptr not NULL means the body of a POST */
    bool introduces;    /* starts with a PROXY protocol header that names this machine */
    const struct fetch_header *headers;
    size_t header_count;
    /* limit for the entire fetch; 0 means none as long as the rate is sufficient */
    unsigned seconds_max;
};

struct fetch;
/* Sends the request and waits for the response header. Call fetch_close() in any case. */
enum fetch_result fetch_open(struct fetcher *fetcher, const struct fetch_asked *asked,
                             struct fetch **ret_fetch);
/* Valid after FETCH_OK. */
int fetch_status(const struct fetch *fetch);
/* Returns the last header of this name; ptr NULL if none exists. Valid until fetch_close(). */
struct bytes fetch_header(const struct fetch *fetch, const char *name);
size_t fetch_header_count(const struct fetch *fetch);
struct fetch_header fetch_header_at(const struct fetch *fetch, size_t i);
/* Reads the next 1..max bytes of the body; 0 at the end announced by the header. */
enum fetch_result fetch_read(struct fetch *fetch, char *to, size_t max, size_t *ret_count);
/* Returns an error description for a log or a client. Static or valid until fetch_close(). */
const char *fetch_problem(const struct fetch *fetch);
void fetch_close(struct fetch *fetch);

/* The addresses that this server connects to on behalf of its clients. A client supplies a URL;
 * whatever its host resolves to, addresses outside of the public internet are refused unless the
 * operator has allowed them. Pure. rfc: 6890 2.2 */

/* Returns true if connections to the address are permitted. Mapped IPv4 addresses are treated as
 * IPv4. allowed: in addition to the public internet */
bool addresses_permit(const struct address_list *allowed, const struct sockaddr *address);

#endif
