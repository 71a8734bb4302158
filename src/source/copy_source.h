/* The source of a copy as described by a request: the URL of a blob or a file. open_source.h reads
 * it. rest: Copy-Blob, Copy-Blob-From-URL, Put-Blob-From-URL, Put-Block-From-URL */
#ifndef LAGRA_SOURCE_COPY_SOURCE_H
#define LAGRA_SOURCE_COPY_SOURCE_H

#include "base/url.h"
#include "base/crc.h"
#include "request/gather.h"
#include "service/request_body.h"

/* How errors of the source are reported. */
enum source_rule {
    /* CannotVerifyCopySource with the source's status: for operations that read the source before
     * they respond. */
    SOURCE_READ,
    /* Copy Blob: SourceConditionNotMet; within one account, the error of reading the source. */
    SOURCE_COPIED,
};

/* Checksums of the bytes in the response. semantics 5, "Sums in the answer" */
enum source_sum {
    SOURCE_SUM_SENT, /* Content-MD5 if it was sent for checking, else x-ms-content-crc64 */
    SOURCE_SUM_MD5,  /* Content-MD5: Append Block and Put Page From URL */
};

#define SOURCE_HEADERS_MAX 9

/* The source, according to the request headers. */
struct copy_source {
    enum source_rule rule;
    struct bytes sent; /* the URL as sent, which the copy's x-ms-copy-source shows */
    struct bytes text; /* the URL after url_normal() */
    struct url url;
    /* x-ms-source-range; ptr NULL means the entire source */
    struct bytes range;
    /* headers for reading the source: authorization and conditions */
    struct http_header headers[SOURCE_HEADERS_MAX];
    size_t header_count;
    const struct blob_key *key; /* of a source encrypted by the customer, or NULL */
    bool reads_tags;            /* also read index tags, which requires an additional right */
    bool expects_md5, expects_crc64;
    uint8_t md5[MD5_SIZE];
    char crc64[8];
    enum source_sum answered; /* set by source_sums() */
};

/* Reads the source from the request. Returns OK; E_InvalidHeaderValue if it is not a URL of at most
 * 2 KiB, or a range or checksum is invalid; E_UnsupportedHeader; E_BothCrc64AndMd5HeaderPresent. */
enum error copy_source_check(struct call *call, enum source_rule rule,
                             struct copy_source *ret_source);

/* Checks that the header of a write from a URL is "update". Returns OK, E_MissingRequiredHeader,
 * E_InvalidHeaderValue. */
enum error source_check_update(struct call *call, const char *name);

/* Returns the endpoint of this server that has the source, or NULL if it is on another server.
 * decision: 53 */
const struct endpoint *source_endpoint(const struct call *call, const struct copy_source *source);

/* Returns the account and host whose share of the gather threads the read uses. A read from this
 * server is short, so it is charged to the account only. */
struct pool_owner source_owner(struct arena *arena, struct bytes account, const struct url *url,
                               bool is_own);

/* Fails with E_CannotVerifyCopySource and the status, code and message of `e`, the source's error.
 * decision: 52 */
enum error source_cannot_verify(struct gathering *g, enum error e);

/* Returns the checksums to compute; for operations that read the source before they respond. */
struct body_sums source_sums(struct call *call, struct copy_source *source, enum source_sum rule);

#endif
