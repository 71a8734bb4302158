/* Asking other servers by HTTP or HTTPS: for clients, whose URLs name sources of copies, and for the program's own
 * commands, which ask a server of this machine by its Unix socket. Nothing else connects to anything.
 *
 * A client chooses the URL, so nothing is trusted: addresses are checked at each connection, those of redirects too
 * (addresses.h); there are limits of time and of bytes.
 *
 * A fetch belongs to one thread at a time, which its functions block. */
#ifndef LAGRA_FETCH_FETCH_H
#define LAGRA_FETCH_FETCH_H

#include "base/arena.h"
#include "fetch/addresses.h"

#define FETCH_REDIRECTS_MAX 5
/* Whenever it has been waited for so long, as many bytes must have come as at the least rate, a second:
 * else the fetch fails. Time in which nobody reads is not counted. decision: 284 */
#define FETCH_PATIENCE_MS   60000u
#define FETCH_RATE_MIN      ((size_t)16 << 10)

struct fetcher; /* what all fetches share */

struct fetcher_options {
    struct address_list allowed; /* beyond the public internet */
    const char *ca_path;  /* PEM file of the authorities that are trusted; NULL: the system's */
    unsigned patience_ms; /* of FETCH_PATIENCE_MS another; 0: that */
    bool trusts_all;      /* any address and certificate: where the operator names the server */
    const char
        *local_path; /* of a Unix socket, whatever host is asked; at most 107 bytes; NULL: none */
};
/* Main thread, once. What fetches (libcurl) is loaded when the first fetch is opened. */
struct fetcher *fetcher_new(const struct fetcher_options *options);
/* Ends all fetches with FETCH_STOPPED, soon, and those that begin from now on. Any thread. */
void fetcher_stop(struct fetcher *fetcher);
/* When no fetch is open. */
void fetcher_free(struct fetcher *fetcher);

enum fetch_result {
    FETCH_OK,
    FETCH_REFUSED, /* an address that is not permitted, or too many redirects */
    FETCH_FAILED, /* not found, not connected, cut, too slow, no TLS that can be trusted, no HTTP; libcurl cannot be loaded */
    FETCH_STOPPED,
};

struct fetch_header {
    struct bytes name, value; /* the name in lower case */
};

struct fetch_asked {
    struct bytes url;
    bool head_only;
    const char *method; /* another than GET, HEAD or POST; NULL: one of those */
    struct bytes body;  /* ptr not NULL: a POST of it */
    bool introduces;    /* begins with a header of the PROXY protocol, which names this machine */
    const struct fetch_header *headers;
    size_t header_count;
    unsigned seconds_max; /* of all of it; 0: as long as bytes come fast enough */
};

struct fetch;
/* Asks, and waits for the head of the answer. fetch_close() in any case. */
enum fetch_result fetch_open(struct fetcher *fetcher, const struct fetch_asked *asked,
                             struct fetch **ret_fetch);
/* After FETCH_OK. */
int fetch_status(const struct fetch *fetch);
/* Of several of one name the last; ptr NULL: none. Valid until fetch_close(). */
struct bytes fetch_header(const struct fetch *fetch, const char *name);
size_t fetch_header_count(const struct fetch *fetch);
struct fetch_header fetch_header_at(const struct fetch *fetch, size_t i);
/* Next 1..max bytes of the body; 0 at its end, which is the end that the head announced. */
enum fetch_result fetch_read(struct fetch *fetch, char *to, size_t max, size_t *ret_count);
/* What went wrong, for a log or a description. Static or until fetch_close(). */
const char *fetch_problem(const struct fetch *fetch);
void fetch_close(struct fetch *fetch);

#endif
