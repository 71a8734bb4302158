/* An open source of a copy: on this server (open_source.h), in another cell of its cluster
 * (cell_source.h), or on another server (open_source.h). */
#ifndef LAGRA_SOURCE_OPEN_SOURCE_H
#define LAGRA_SOURCE_OPEN_SOURCE_H

#include "request/local_source_read.h"
#include "source/copied_bytes.h"
#include "source/copy_source.h"
#include "source/pending_source.h"

struct cell_source;

/* A readable source, and its properties. All reads of a local source see one state, even if the
 * blob is then changed or deleted. */
struct open_source {
    bool is_own; /* on this server, or in another cell */
    /* Of an own source: */
    const struct operation *operation; /* that was decided, of the service of the source */
    const struct result *result;       /* result of the operation */
    struct bytes account;
    bool by_key;                   /* the request was signed with the key of its account */
    struct source_read *inner;     /* NULL in another cell */
    struct cell_source *elsewhere; /* in another cell; NULL here */
    struct source_facts facts;     /* of a remote source: according to its headers */
    struct bytes etag;             /* as sent in headers; ptr NULL if none */
    struct read_view *snapshot;    /* local source, until the reader takes it over */
    struct content_reader *reader;
    const struct blob_key *key; /* of a local source, or NULL */
    struct fetch *fetch;        /* remote source */
    uint64_t offset, length;    /* of the requested bytes; HTTP_LENGTH_UNKNOWN if unknown */
    uint64_t skip; /* remote source that sends everything: bytes before the requested ones */
};

/* Finds the source and checks that it may be read. The caller must call source_close() in any case.
 * Returns OK, or the error for the response. May block. */
enum error source_open(struct gathering *g, const struct copy_source *source,
                       struct open_source *ret_open);

/* Called from time to time while bytes are read; any result other than OK ends the reading with
 * that result. */
struct source_watch {
    enum error (*look)(struct source_watch *watch, uint64_t bytes_read);
};
/* Gathers the requested bytes: at most `max`.
 *
 * ret_blocks  returns the committed blocks of the source separately; NULL if not needed
 * watch       NULL if none exists
 * returns     OK, E_RequestBodyTooLarge, E_Md5Mismatch, E_Crc64Mismatch .. */
enum error source_gather(struct gathering *g, const struct copy_source *source,
                         struct open_source *open, uint64_t max, struct copied_bytes *ret_blocks,
                         struct source_watch *watch);
void source_close(struct open_source *open);
/* Returns the data that a copy with this id needs to read the source again later: its account, or
 * the authorization. Does not set `begun`. */
struct pending_source source_pending(const struct gathering *g, const struct copy_source *source,
                                     const struct open_source *open, struct guid id);

/* Gathers the source as a block: at least one byte, and at most the limits, the greatest of which
 * is `max`. Opens and closes the source. Returns OK, E_RequestBodyTooLarge, or an error of
 * source_open() and source_gather(). */
enum error source_gather_block(struct gathering *g, const struct copy_source *source,
                               const struct size_limit *limits, uint64_t max);

/* A copy source on another server. */

/* Like source_open(). */
enum error remote_open(struct gathering *g, const struct copy_source *source,
                       struct open_source *open);
/* Reads the next 1..max of the requested bytes; *ret_count is 0 at the end. */
enum error remote_read(struct gathering *g, struct open_source *open, char *to, size_t max,
                       size_t *ret_count);

/* Internal to source/: a copy source that is a blob or a file in the cell that this process serves,
 * read by an internal request. */

/* Like source_open(). Returns E_MisdirectedRequest if the source's container is in another cell, or
 * may be; g->call->problem->elsewhere says in which one.
 *
 * placement  incarnation under which the container was placed in this cell; 0 means none is known
 */
enum error own_open(struct gathering *g, const struct endpoint *endpoint,
                    const struct copy_source *source, uint64_t placement, struct open_source *open);
/* Formats the ETag of a local source as it appears in headers. */
struct bytes own_etag(struct gathering *g, struct etag etag);
/* Returns the committed blocks. Call before own_begin(). */
enum error own_blocks(struct gathering *g, struct open_source *open,
                      struct copied_bytes *ret_blocks);
/* Opens the reader at the first requested byte; once. */
void own_begin(struct gathering *g, struct open_source *open);
/* Reads the next 1..max of the requested bytes; *ret_count is 0 at the end. */
enum error own_read(struct gathering *g, struct open_source *open, char *to, size_t max,
                    size_t *ret_count);
/* Closes the source, if it is open. */
void own_close(struct open_source *open);

#endif
