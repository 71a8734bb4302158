/* Internal to blob/rest/: parsing and response helpers shared by several operations. */
#ifndef LAGRA_BLOB_REST_REQUEST_H
#define LAGRA_BLOB_REST_REQUEST_H

#include "blob/blob_operations.h"
#include "blob/tier.h"
#include "service/answer.h"
#include "service/customer_key.h"
#include "service/http_headers.h"
#include "service/request_body.h"

/* Kinds of requests, for blob_refuse_unbuilt(). A feature that is not implemented is refused with
 * 400 UnsupportedHeader or UnsupportedQueryParameter naming it, because ignoring it would silently
 * give a wrong answer; with --loose it is ignored. */
enum blob_request_kind {
    REQUEST_READ = 1,   /* Get Blob, Get Blob Properties, Get Blob Metadata, Get Block List */
    REQUEST_CREATE = 2, /* Put Blob, Put Block List: replace the entire blob */
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
    REQUEST_TAGS = 16384,   /* Set Blob Tags: also of a version */
    REQUEST_POLICY = 32768, /* policies and holds, also of a snapshot or version */
};
/* Refuses features that are not implemented. Also refuses ?snapshot= and ?versionid=
 * (E_InvalidQueryParameterValue), except for reads, deletes and tiers, and ?versionid= for tags. */
enum error blob_refuse_unbuilt(struct call *call, enum blob_request_kind kind);

/* Reads a customer-provided key, and then refuses the rest like blob_refuse_unbuilt(). */
enum error blob_read_key(struct call *call, enum blob_request_kind kind, enum key_use use);
/* Reads the encryption scope of a copy, which cannot have a key, and then refuses the rest like
 * blob_refuse_unbuilt(). */
enum error blob_read_scope(struct call *call, enum blob_request_kind kind);
/* Reads the key of the copy source, NULL if none was sent, and then calls blob_read_key() for a
 * write. */
enum error blob_read_source_key(struct call *call, enum blob_request_kind kind,
                                const struct blob_key **ret_key);

/* Parses x-ms-blob-content-type and the like; with `standard`, the plain header replaces an absent
 * x-ms-blob- one (Put Blob).
 *
 * Returns OK; E_InvalidHeaderValue: the value could not be sent in a response; E_InvalidMd5:
 * x-ms-blob-content-md5 is not base64, or longer than MD5_STORED_MAX. */
enum error blob_parse_http_properties(struct call *call, enum standard_headers standard,
                                      struct http_properties *ret_http);

/* Parses x-ms-access-tier of a write; TIER_NONE if absent. Returns E_InvalidHeaderValue, also for a
 * tier of page blobs. */
enum error blob_parse_tier(struct call *call, enum access_tier *ret_tier);
/* Like blob_parse_tier(), but also accepts premium tiers. */
enum error blob_parse_any_tier(struct call *call, enum access_tier *ret_tier);

/* Parses x-ms-rehydrate-priority, standard if absent, which determines the duration. Returns OK,
 * E_InvalidHeaderValue. */
enum error blob_parse_rehydration(struct call *call, struct rehydration *ret_rehydration);

/* Parses x-ms-blob-content-length: whole pages, at most 8 TiB. Returns OK, E_InvalidHeaderValue. */
enum error blob_parse_page_length(struct call *call, bool *ret_has, uint64_t *ret_length);
/* Refuses the headers of Put Blob that only page blobs have. Returns OK, E_UnsupportedHeader. */
enum error blob_refuse_page_headers(struct call *call);

/* Adds x-ms-version-id of the blob written or read. 0: it is not a version. */
void blob_answer_version(struct answer *a, instant id);
/* Adds x-ms-request-server-encrypted: true, because the service is responsible for encryption, and
 * with_key, the request's scope or the hash of its key. */
void blob_answer_encrypted(struct answer *a, bool with_key);
/* Adds the headers of a write of bytes: Content-MD5, x-ms-content-crc64,
 * x-ms-request-server-encrypted. */
void blob_answer_written(struct answer *a, const struct body_sums *sums);

/* Adds the headers that HTTP defines: properties, ETag, Last-Modified, Accept-Ranges. */
void blob_answer_http_properties(struct answer *a, const struct blob *blob);
/* Adds the properties shown by Get Blob and Get Blob Properties, except MD5, length and tier. */
void blob_answer_properties(struct answer *a, const struct blob *blob);
/* Adds x-ms-access-tier, -inferred, -change-time. */
void blob_answer_tier(struct answer *a, const struct blob *blob);

struct immutability_request;
/* Reads the headers for the retention policy and the legal hold of a new blob, which demand a right
 * of their own. Returns OK, E_InvalidHeaderValue, E_MissingRequiredHeader. */
enum error immutability_from_headers(struct call *call, struct immutability_request *ret_request);
/* Adds the headers of a retention policy, if there is one. */
void answer_policy(struct answer *a, const struct blob_immutability *immutability);
/* Returns "unlocked" or "locked". */
const char *policy_mode_text(enum policy_mode mode);

/* ---- get_blob.c ---- */

/* Renders an error as a page if the request is to a website; otherwise returns false. */
bool website_answer_error(struct answer *a, enum error e, const struct problem *problem);

/* ---- names: resource.c ---- */

enum error blob_read_resource(struct call *call, struct bytes path, struct resource *ret_resource);

/* ---- shared by Put Blob, of every type, and Put Block List ---- */

#define CONTENT_TYPE_DEFAULT "application/octet-stream"

enum error create_blob_check(struct call *call, enum standard_headers standard,
                             enum body_sums_rule rule, struct create_blob *ret_given);

#endif
