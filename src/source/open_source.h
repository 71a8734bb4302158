/* The source of a copy, open for reading: on this server (own_source.h) or on
 * another (remote_source.h). */
#ifndef LAGRA_SOURCE_OPEN_SOURCE_H
#define LAGRA_SOURCE_OPEN_SOURCE_H

#include "source/copy_source.h"
#include "service/inner.h"
#include "source/copied_bytes.h"

/* A source that may be read, and what is known of it. Of an own one, one state is read, whatever
 * becomes of the blob meanwhile. */
struct open_source {
    bool is_own;
    struct inner *inner;       /* of an own one */
    bool by_key;               /* of an own one: who asks has the key of its account */
    struct source_facts facts; /* of a remote one: what headers say */
    struct bytes etag;         /* as it goes out; ptr NULL: it has none */
    struct snapshot *snapshot; /* of an own one, until the reader has it */
    struct content_reader *reader;
    struct fetch *fetch; /* of a remote one */
    uint64_t offset,
        length;    /* of its bytes that are asked for; length HTTP_LENGTH_UNKNOWN: not known */
    uint64_t skip; /* of a remote one that sends all of itself: bytes before those */
};

/* Finds the source and looks whether it may be read; source_close() in any case.
 * returns OK, or what the request is answered with. Thread that may block. */
enum error source_open(struct gathering *g, const struct copy_source *source,
                       struct open_source *ret_open);

/* Called now and then while bytes are read; what it returns but OK ends the reading. */
struct source_watch {
    enum error (*look)(struct source_watch *watch, uint64_t bytes_read);
};
/* Gathers its bytes: at most `max`.
 *
 * ret_blocks  keeps the committed blocks of the source apart; NULL: it does not matter
 * watch       NULL: nobody
 * returns     OK, E_RequestBodyTooLarge, E_Md5Mismatch, E_Crc64Mismatch .. */
enum error source_gather(struct gathering *g, const struct copy_source *source,
                         struct open_source *open, uint64_t max, struct copied_bytes *ret_blocks,
                         struct source_watch *watch);
void source_close(struct open_source *open);

/* The bytes of the source, as a block: it has a byte, and at most what the limits, the largest of
 * which is `max`, allow. Opens and closes it.
 * returns OK, E_RequestBodyTooLarge, as source_open() and source_gather() */
enum error source_gather_block(struct gathering *g, const struct copy_source *source,
                               const struct size_limit *limits, uint64_t max);

#endif
