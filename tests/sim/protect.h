/* Protection (service "protect"): the clients, the model and the judge are those of blobs, but the
 * operator's retention policies and legal holds protect containers, blob versions have policies and
 * holds of their own, and blobs are written with one of a few keys of customers. In half of the runs
 * blobs have versions, and a container gets immutable storage with versioning.
 *
 * The model decides by the instant that the server read for its decision. Days of a retention last
 * three seconds unless the wall clock is set, which then ends retention by jumps of hours and days.
 *
 * docs/immutability.md, docs/encryption.md */
#ifndef LAGRA_SIM_PROTECT_H
#define LAGRA_SIM_PROTECT_H

#include "request.h"

/* The protection of a container. */
struct protection {
    bool has_versions, is_closed, holds_append;
    enum protect_mode mode;
    enum protect_append append;
    unsigned days, extensions, tags;
};

/* That of a blob, snapshot or version. */
struct shield {
    enum protect_mode mode;
    uint64_t until; /* in ticks; 0: none */
    bool hold;
};

/* Returns whether this run is one of protection. */
bool protect_is_on(void);
/* Returns whether requests of this run have keys: by sockets they cannot, which have no TLS. */
bool protect_has_keys(void);
/* The length of a day of retention in ticks. The server's checks of retention use it, too (small_limits.h). */
uint64_t protect_day(void);

/* Returns whether a container, as it is now, may not be replaced by a restore. decision: 1409 */
bool protect_forbids_replacing(unsigned container);

/* ---- clients: protect_script.c ---- */

struct draws;
enum op protect_draw_op(struct draws *draws);
/* Adds protection to a request that is drawn otherwise. */
void protect_draw(struct draws *draws, unsigned client, unsigned number, struct ask *ask);

/* ---- requests: protect_request.c ---- */

struct http_header;
struct arena;
/* Adds at most this many headers to a request. */
#define PROTECT_HEADERS 6u
unsigned protect_headers(const struct ask *ask, struct arena *arena, struct http_header *to);
void protect_read_header(const struct http_header *header, struct reply *reply);
/* Returns whether only the operator can send the request. */
bool protect_is_of_operator(const struct ask *ask);
/* Sends such a request. The slot is that of the client in whose place it is sent. */
void protect_send(struct server *server, unsigned slot, const struct ask *ask, struct reply *reply);
void protect_format(const struct ask *ask, char *to, size_t size);

/* ---- comparison: protect_compare.c ---- */

const char *protect_compare_container(const struct protection *protection,
                                      const struct reply *reply);
/* A response of the operator's requests, which shows everything. */
const char *protect_compare_all(const struct protection *protection, const struct reply *reply);
const char *protect_compare_blob(const struct shield *shield, unsigned key,
                                 const struct reply *reply);
/* An entry of a list of blobs. from, to: its XML */
const char *protect_compare_entry(const struct shield *shield, unsigned key, const char *from,
                                  const char *to);

#endif
