/* The source of a copy, as a request names it: a blob or a file, by its URL. open_source.h reads it.
 * rest: Copy-Blob, Copy-Blob-From-URL, Put-Blob-From-URL, Put-Block-From-URL */
#ifndef LAGRA_SOURCE_COPY_SOURCE_H
#define LAGRA_SOURCE_COPY_SOURCE_H

#include "base/url.h"
#include "base/crc.h"
#include "service/gather.h"
#include "service/request_body.h"

/* How errors of a source are answered. */
enum source_rule {
    /* CannotVerifyCopySource with the source's own status: operations that read the source before they
     * answer. */
    SOURCE_READ,
    /* Copy Blob: SourceConditionNotMet; within one account, the error of a read of the source. */
    SOURCE_COPIED,
};

/* Which checksums of the bytes the answer has. semantics 5, "Sums in the answer" */
enum source_sum {
    SOURCE_SUM_SENT, /* Content-MD5 when it was sent to be checked, else x-ms-content-crc64 */
    SOURCE_SUM_MD5,  /* Content-MD5: Append Block and Put Page From URL */
};

#define SOURCE_HEADERS_MAX 9

/* The source, as the headers of the request describe it. */
struct copy_source {
    enum source_rule rule;
    struct bytes sent; /* the URL as sent: x-ms-copy-source of the copy shows it so */
    struct bytes text; /* that as url_normal() has it */
    struct url url;
    struct bytes range;                             /* x-ms-source-range; ptr NULL: all of it */
    struct http_header headers[SOURCE_HEADERS_MAX]; /* of the read: its authorization, conditions */
    size_t header_count;
    bool reads_tags; /* index tags too, which needs a right of its own */
    bool expects_md5, expects_crc64;
    uint8_t md5[MD5_SIZE];
    char crc64[8];
    enum source_sum answered; /* by source_sums() */
};

/* returns OK; E_InvalidHeaderValue: not a URL of at most 2 KiB, a bad range or sum;
 * E_UnsupportedHeader; E_BothCrc64AndMd5HeaderPresent */
enum error copy_source_check(struct call *call, enum source_rule rule,
                             struct copy_source *ret_source);

/* The endpoint of the service of this server that has the source; NULL: it is on another server.
 * decision: 53 */
const struct endpoint *source_endpoint(const struct call *call, const struct copy_source *source);

/* The account and host that the read counts for. A source on this server is fast, and counts for the account
 * alone. */
struct pool_owner source_owner(struct arena *arena, struct bytes account, const struct url *url,
                               bool is_own);

/* Fails with E_CannotVerifyCopySource, with the status, the code and the message of `e`, the error of the
 * source. decision: 52 */
enum error source_cannot_verify(struct gathering *g, enum error e);

/* The checksums to compute; for operations that read the source before they answer. */
struct body_sums source_sums(struct call *call, struct copy_source *source, enum source_sum rule);

#endif
