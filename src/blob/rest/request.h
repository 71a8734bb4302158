/* Inside blob/rest/ only: what several operations read from a request or put into an answer. */
#ifndef LAGRA_BLOB_REST_REQUEST_H
#define LAGRA_BLOB_REST_REQUEST_H

#include "blob/blob_operations.h"
#include "blob/tier.h"
#include "service/answer.h"
#include "service/http_headers.h"
#include "service/request_body.h"

/* What a request may be asked for that is not built yet. It would be a silent wrong answer to
 * ignore it, so it is refused: 400 UnsupportedHeader or UnsupportedQueryParameter naming it;
 * --loose ignores it on the operator's word. */
enum blob_request_kind {
    REQUEST_READ = 1,   /* Get Blob, Get Blob Properties, Get Blob Metadata, Get Block List */
    REQUEST_CREATE = 2, /* Put Blob, Put Block List: the whole state of a blob is given */
    REQUEST_BLOCK = 4,  /* Put Block */
    REQUEST_CHANGE = 8, /* Set Blob Metadata, Set Blob Properties, Snapshot Blob */
    REQUEST_DELETE = 16,
    REQUEST_LEASE = 32,
    REQUEST_COPY = 64,          /* Copy Blob From URL, Put Blob From URL, Put Block From URL */
    REQUEST_APPEND = 128,       /* Append Block, Append Blob Seal */
    REQUEST_PAGES = 256,        /* Put Page */
    REQUEST_TIER = 512,         /* also of a snapshot or version */
    REQUEST_APPEND_FROM = 1024, /* Append Block From URL */
    REQUEST_PAGES_FROM = 2048,  /* Put Page From URL */
    REQUEST_COPY_BLOB = 4096,   /* Copy Blob */
    REQUEST_UNDELETE = 8192,
    REQUEST_TAGS = 16384, /* Set Blob Tags: also of a version */
};
/* Also refuses ?snapshot= and ?versionid= (E_InvalidQueryParameterValue), but of reads, deletes and tiers, and of tags of
 * versions. */
enum error blob_refuse_unbuilt(struct call *call, enum blob_request_kind kind);

/* x-ms-blob-content-type and so on; with `standard`, the plain header where the x-ms-blob- one is
 * absent (Put Blob).
 * returns OK; E_InvalidHeaderValue: a text that cannot be sent back; E_InvalidMd5:
 * x-ms-blob-content-md5 is not base64, or longer than MD5_STORED_MAX */
enum error blob_parse_http_properties(struct call *call, enum standard_headers standard,
                                      struct http_properties *ret_http);

/* x-ms-access-tier of a write; TIER_NONE when absent. E_InvalidHeaderValue, also of one that only
 * page blobs have. */
enum error blob_parse_tier(struct call *call, enum access_tier *ret_tier);
/* As blob_parse_tier(), premium tiers too. */
enum error blob_parse_any_tier(struct call *call, enum access_tier *ret_tier);

/* x-ms-rehydrate-priority, standard when absent; and so how long it takes. E_InvalidHeaderValue */
enum error blob_parse_rehydration(struct call *call, struct rehydration *ret_rehydration);

/* x-ms-blob-content-length: whole pages, at most 8 TiB. E_InvalidHeaderValue */
enum error blob_parse_page_length(struct call *call, bool *ret_has, uint64_t *ret_length);
/* What Put Blob has of page blobs only. E_UnsupportedHeader */
enum error blob_refuse_page_headers(struct call *call);

/* Bytes of a block's id before base64, which must be 1..BLOCK_ID_MAX; 0 when the text is no base64.
 * rest: Put-Block "blockid" */
size_t block_id_length(struct arena *arena, struct bytes id);

/* x-ms-version-id: of what a write made, or of what is read; 0: it is no version. */
void blob_answer_version(struct answer *a, instant id);
/* x-ms-request-server-encrypted: the word says that the service took care of it. */
void blob_answer_encrypted(struct answer *a);
/* The same, behind Content-MD5 and x-ms-content-crc64: of a write of bytes. */
void blob_answer_written(struct answer *a, const struct body_sums *sums);

/* Status, bytes, range and MD5 of what Get Blob found. */
void blob_answer_content(struct answer *a, const struct get_blob_parameters *p,
                         const struct get_blob_result *r);
/* What HTTP has of a blob: its properties, ETag, Last-Modified, Accept-Ranges. */
void blob_answer_http_properties(struct answer *a, const struct blob *blob);
/* What Get Blob and Get Blob Properties say of a blob, but for its MD5, length and tier. */
void blob_answer_properties(struct answer *a, const struct blob *blob);
/* x-ms-access-tier, -inferred, -change-time. */
void blob_answer_tier(struct answer *a, const struct blob *blob);

/* ---- containers: container_operations.c ---- */

/* "container", "blob"; NULL for a private container. */
const char *public_access_text(enum public_access access);

/* ---- website.c ---- */

/* Renders an error as a page, if the request is one to a website; else returns false. */
bool website_answer_error(struct answer *a, enum error e, const struct problem *problem);

/* ---- names: resource.c ---- */

enum error blob_read_resource(struct call *call, struct bytes path, struct resource *ret_resource);

/* ---- what Put Blob, of every type, and Put Block List have in common: create_blob.c ---- */

#define CONTENT_TYPE_DEFAULT "application/octet-stream"

enum error create_blob_check(struct call *call, enum standard_headers standard,
                             enum body_sums_rule rule, struct create_blob *ret_given);

#endif
