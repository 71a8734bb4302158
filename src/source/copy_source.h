/* The source of a copy, as a request names it: a blob or a file, by its URL. open_source.h reads it.
 * rest: Copy-Blob, Copy-Blob-From-URL, Put-Blob-From-URL, Put-Block-From-URL */
#ifndef LAGRA_SOURCE_COPY_SOURCE_H
#define LAGRA_SOURCE_COPY_SOURCE_H

#include "base/url.h"
#include "base/crc.h"
#include "service/gather.h"
#include "service/request_body.h"

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

#define SOURCE_HEADERS_MAX 9

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

/* The endpoint of the service of this server that it lies in; NULL: it lies on another server.
 * decision: 53 */
const struct endpoint *source_endpoint(const struct call *call, const struct copy_source *source);

/* Whom reading it is counted for: what is on this server comes fast, and counts for its account alone. */
struct pool_owner source_owner(struct arena *arena, struct bytes account, const struct url *url,
                               bool is_own);

/* What is wrong with a source, as an answer: E_CannotVerifyCopySource, with the status, the code
 * and the message of `e`. decision: 52 */
enum error source_cannot_verify(struct gathering *g, enum error e);

/* Asked for by the check of the operations that read at once. */
struct body_sums source_sums(struct call *call, struct copy_source *source, enum source_sum rule);

#endif
