/* Inside blob/rest/ only: the source of a copy, as a request names it, and open for reading.
 * rest: Copy-Blob, Copy-Blob-From-URL, Put-Blob-From-URL, Put-Block-From-URL */
#ifndef LAGRA_BLOB_REST_COPY_SOURCE_H
#define LAGRA_BLOB_REST_COPY_SOURCE_H

#include "base/url.h"
#include "blob/copy_blob.h"
#include "blob/rest/request.h"
#include "service/gather.h"
#include "service/inner.h"

/* How what is wrong with a source is answered. */
enum source_rule {
    /* CannotVerifyCopySource with the source's own status: the operations whose source is read at
     * once. */
    SOURCE_READ,
    /* Copy Blob: SourceConditionNotMet; within one account, what a read of the source would be
     * answered. */
    SOURCE_COPIED,
};

/* Which sums of the bytes are answered. semantics 5, "Sums in the answer" */
enum source_sum {
    SOURCE_SUM_SENT, /* Content-MD5 when it was sent to be checked, else x-ms-content-crc64 */
    SOURCE_SUM_MD5,  /* Content-MD5: Append Block and Put Page From URL */
};

#define SOURCE_HEADERS_MAX 8

/* What the headers say of the source. */
struct copy_source {
    enum source_rule rule;
    struct bytes text; /* the URL as sent */
    struct url url;
    struct bytes range;                             /* x-ms-source-range; ptr NULL: all of it */
    struct http_header headers[SOURCE_HEADERS_MAX]; /* of the read: who asks, conditions */
    size_t header_count;
    bool reads_tags; /* index tags too: who asks needs the right to */
    bool expects_md5, expects_crc64;
    uint8_t md5[MD5_SIZE];
    char crc64[8];
    enum source_sum answered; /* by source_sums() */
};

/* returns OK; E_InvalidHeaderValue: not a URL of at most 2 KiB, a bad range or sum;
 * E_UnsupportedHeader; E_BothCrc64AndMd5HeaderPresent */
enum error copy_source_check(struct call *call, enum source_rule rule,
                             struct copy_source *ret_source);

/* Does it lie on this server? decision: 53 */
bool source_is_own(const struct call *call, const struct copy_source *source);

/* A source that may be read, and what is known of it. Of an own blob one state is read, whatever
 * becomes of the blob meanwhile. */
struct open_source {
    bool is_own;
    struct inner *inner;       /* of an own one */
    struct blob blob;          /* of a remote one: type and what headers say */
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

/* Makes the reader of an own source, at its first byte that is asked for; once. */
void source_begin(struct gathering *g, struct open_source *open);

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

/* What is wrong with a source, as an answer: E_CannotVerifyCopySource, with the status, the code
 * and the message of `e`. decision: 52 */
enum error source_cannot_verify(struct gathering *g, enum error e);

/* The bytes of the source, as a block: it has a byte, and at most what the limits, the largest of
 * which is `max`, allow. Opens and closes it.
 * returns OK, E_RequestBodyTooLarge, as source_open() and source_gather() */
enum error source_gather_block(struct gathering *g, const struct copy_source *source,
                               const struct size_limit *limits, uint64_t max);

/* Asked for by the check of the operations that read at once. */
struct body_sums source_sums(struct call *call, struct copy_source *source, enum source_sum rule);

#endif
