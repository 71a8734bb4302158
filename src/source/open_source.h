/* The source of a copy, open for reading: on this server (own_source.h) or on
 * another (remote_source.h). */
#ifndef LAGRA_SOURCE_OPEN_SOURCE_H
#define LAGRA_SOURCE_OPEN_SOURCE_H

#include "source/copy_source.h"
#include "service/inner.h"
#include "source/copied_bytes.h"
#include "source/pending_source.h"

/* A source that may be read, and its properties. Of an own source, all reads see one state, even if the blob
 * is changed or deleted meanwhile. */
struct open_source {
    bool is_own;
    struct inner *inner; /* of an own one */
    bool by_key;         /* of an own one: the request was signed with the key of its account */
    struct source_facts facts; /* of a remote one: what headers say */
    struct bytes etag;         /* as it goes out; ptr NULL: it has none */
    struct snapshot *snapshot; /* of an own one, until the reader has it */
    struct content_reader *reader;
    struct fetch *fetch; /* of a remote one */
    uint64_t offset,
        length;    /* of its bytes that are asked for; length HTTP_LENGTH_UNKNOWN: not known */
    uint64_t skip; /* of a remote one that sends all of itself: bytes before those */
};

/* Finds the source and checks that it may be read; call source_close() in any case.
 * returns OK, or the error to answer with. Thread that may block. */
enum error source_open(struct gathering *g, const struct copy_source *source,
                       struct open_source *ret_open);

/* Called now and then while bytes are read; any result but OK ends the reading, and is its result. */
struct source_watch {
    enum error (*look)(struct source_watch *watch, uint64_t bytes_read);
};
/* Gathers its bytes: at most `max`.
 *
 * ret_blocks  keeps the committed blocks of the source apart; NULL: it does not matter
 * watch       NULL: nothing is called
 * returns     OK, E_RequestBodyTooLarge, E_Md5Mismatch, E_Crc64Mismatch .. */
enum error source_gather(struct gathering *g, const struct copy_source *source,
                         struct open_source *open, uint64_t max, struct copied_bytes *ret_blocks,
                         struct source_watch *watch);
void source_close(struct open_source *open);
/* What a copy with this id needs to read it again later: whose it is, or what authorizes the read.
 * Without `begun`. */
struct pending_source source_pending(const struct gathering *g, const struct copy_source *source,
                                     const struct open_source *open, struct guid id);

/* The bytes of the source, as a block: it has a byte, and at most what the limits, the largest of
 * which is `max`, allow. Opens and closes it.
 * returns OK, E_RequestBodyTooLarge, as source_open() and source_gather() */
enum error source_gather_block(struct gathering *g, const struct copy_source *source,
                               const struct size_limit *limits, uint64_t max);

#endif
