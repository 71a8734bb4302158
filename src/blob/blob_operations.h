/* Parameters and results of the operations on blobs, implemented in blob_operations.c,
 * block_list.c, create_blob.c, delete_blob.c, immutability.c, website.c, and the files of these names
 * in rest/. */
#ifndef LAGRA_BLOB_BLOB_OPERATIONS_H
#define LAGRA_BLOB_BLOB_OPERATIONS_H

#include "blob/blob.h"
#include "blob/expiry.h"
#include "blob/immutability.h"
#include "blob/tier.h"
#include "service/read_range.h"
#include "service/request_body.h"

/* The source of the bytes, as the request names it: blob/rest/copy_source.h. */
struct copy_source;

/* The result of a write that creates a version. */
#define WRITES_VERSION(op)                                                                         \
    struct op##_result {                                                                           \
        struct result base;                                                                        \
        instant version; /* its id; 0: not a version */                                            \
    }

/* ---- writing an entire blob ---- */

/* Parameters that Put Blob and Put Block List share: create_blob.h. */
struct create_blob {
    struct http_properties http;
    struct bytes metadata;
    struct bytes tags;     /* encoded; ptr NULL: none */
    enum access_tier tier; /* TIER_NONE: absent */
    struct immutability_request immutability;
    struct body_sums sums;
};

struct put_blob_parameters {
    struct parameters base;
    struct create_blob create;
    struct copy_source *source; /* Put Blob From URL; the next two as well: */
    bool copies_properties;     /* properties absent from the request are copied from the source */
    bool copies_tags;           /* the tags of the source are copied */
};
/* Returns true if the request creates a directory of a hierarchical container, because it has no
 * bytes, and the metadata hdi_isfolder. decision: 1226 */
bool put_blob_is_of_directory(struct decision *d, const struct put_blob_parameters *p);
struct put_blob_result {
    struct result base;
    instant version;   /* its id, or 0 */
    bool is_directory; /* it created one */
};
OPERATION_DECLARE(put_blob);
OPERATION_DECLARE_PARSE(put_blob);
OPERATION_DECLARE_GATHERED(put_blob_from_url, put_blob);

/* ---- blocks ---- */

struct put_block_parameters {
    struct parameters base;
    struct bytes id;    /* base64 */
    uint32_t id_length; /* decoded */
    struct body_sums sums;
    struct copy_source *source; /* Put Block From URL */
};
OPERATION_NO_RESULT(put_block);
OPERATION_DECLARE(put_block);
OPERATION_DECLARE_PARSE(put_block);
OPERATION_DECLARE_GATHERED(put_block_from_url, put_block);

enum block_source { BLOCK_COMMITTED, BLOCK_UNCOMMITTED, BLOCK_LATEST, BLOCK_SOURCES };

struct block_choice {
    enum block_source source;
    struct bytes id; /* base64 */
};

struct put_block_list_parameters {
    struct parameters base;
    struct create_blob create;
    const struct block_choice *choices; /* in their order in the blob; set by parse */
    size_t choice_count;
};
WRITES_VERSION(put_block_list);
OPERATION_DECLARE(put_block_list);
OPERATION_DECLARE_PARSE(put_block_list);

struct get_block_list_parameters {
    struct parameters base;
    bool committed, uncommitted; /* which lists are requested */
};
struct block_run {
    const struct content_block *blocks;
    size_t count;
};
struct get_block_list_result {
    struct result base;
    struct block_run committed, uncommitted; /* empty unless requested */
    /* a committed blob exists; the following fields describe it */
    bool is_committed;
    uint64_t length;
};
OPERATION_DECLARE(get_block_list);

/* ---- append blobs ---- */

struct create_append_blob_parameters {
    struct parameters base;
    struct create_blob create;
};
WRITES_VERSION(create_append_blob);
OPERATION_DECLARE(create_append_blob);

struct append_block_parameters {
    struct parameters base;
    bool has_position, has_size_max;
    uint64_t position; /* required offset of the block */
    uint64_t size_max; /* maximum length of the blob after the append */
    struct body_sums sums;
    struct copy_source *source; /* Append Block From URL */
};
struct append_block_result {
    struct result base;
    uint64_t offset; /* offset of the block */
    uint32_t committed_blocks;
};
OPERATION_DECLARE(append_block);
OPERATION_DECLARE_PARSE(append_block);
OPERATION_DECLARE_GATHERED(append_block_from_url, append_block);

struct seal_append_blob_parameters {
    struct parameters base;
    bool has_position;
    uint64_t position; /* required length of the blob */
};
OPERATION_NO_RESULT(seal_append_blob);
OPERATION_DECLARE(seal_append_blob);

/* ---- reading ---- */

struct get_blob_parameters {
    struct parameters base;
    struct read_range range;
};
struct get_blob_result {
    struct result base;
    struct blob blob;
    struct read_part part;
    bool notes_access;   /* the last access time must be updated (access_time.h) */
    struct partition at; /* of the blob */
};
OPERATION_DECLARE(get_blob);

OPERATION_NO_PARAMETERS(get_blob_properties);
struct get_blob_properties_result {
    struct result base;
    struct blob blob;
};
OPERATION_DECLARE(get_blob_properties);

OPERATION_NO_PARAMETERS(get_blob_metadata);
struct get_blob_metadata_result {
    struct result base;
    struct bytes metadata;
};
OPERATION_DECLARE(get_blob_metadata);

/* ---- changing ---- */

enum sequence_action { SEQUENCE_KEPT, SEQUENCE_MAX, SEQUENCE_UPDATE, SEQUENCE_INCREMENT };

struct set_blob_properties_parameters {
    struct parameters base;
    struct http_properties http; /* all properties: those absent from the request are cleared */
    bool keeps_http;             /* unless none was sent, but only properties of page blobs: */
    bool has_length;
    uint64_t length; /* whole pages, at most PAGE_BLOB_MAX */
    enum sequence_action action;
    uint64_t sequence_number; /* of SEQUENCE_MAX and SEQUENCE_UPDATE */
};
struct set_blob_properties_result {
    struct result base;
    bool is_page_blob;
    uint64_t sequence_number;
};
OPERATION_DECLARE(set_blob_properties);

struct set_blob_metadata_parameters {
    struct parameters base;
    struct bytes metadata;
};
WRITES_VERSION(set_blob_metadata);
OPERATION_DECLARE(set_blob_metadata);

struct lease_blob_parameters {
    struct parameters base;
    struct lease_request request;
};
struct lease_blob_result {
    struct result base;
    struct lease_result lease;
    struct guid id; /* of the lease */
};
OPERATION_DECLARE(lease_blob);

struct snapshot_blob_parameters {
    struct parameters base;
    struct bytes metadata; /* of the snapshot; empty: copied from the base */
};
struct snapshot_blob_result {
    struct result base;
    instant snapshot;
    instant version; /* id of the base from now on; 0: not a version */
};
OPERATION_DECLARE(snapshot_blob);

enum delete_snapshots { SNAPSHOTS_REFUSED, SNAPSHOTS_INCLUDED, SNAPSHOTS_ONLY };

struct delete_blob_parameters {
    struct parameters base;
    enum delete_snapshots snapshots;
};
struct delete_blob_result {
    struct result base;
    bool is_kept;    /* it is soft-deleted, or retained as a version */
    instant deleted; /* of a retained path of a hierarchical container (kept_paths.h); or 0 */
};
OPERATION_DECLARE(delete_blob);

OPERATION_NO_PARAMETERS(delete_blob_permanently);
OPERATION_NO_RESULT(delete_blob_permanently);
OPERATION_DECLARE(delete_blob_permanently);

struct undelete_blob_parameters {
    struct parameters base;
    instant deleted; /* of the deletion, in a hierarchical container; 0 for the newest */
};
struct undelete_blob_result {
    struct result base;
    struct blob blob; /* in a hierarchical container */
};
OPERATION_DECLARE(undelete_blob);

struct set_blob_expiry_parameters {
    struct parameters base;
    struct expiry_request expiry;
};
OPERATION_NO_RESULT(set_blob_expiry);
OPERATION_DECLARE(set_blob_expiry);

struct set_blob_immutability_policy_parameters {
    struct parameters base;
    bool has_mode;
    enum policy_mode mode; /* if has_mode */
    instant until;
};
struct set_blob_immutability_policy_result {
    struct result base;
    struct blob_immutability immutability;
};
OPERATION_DECLARE(set_blob_immutability_policy);

OPERATION_NO_PARAMETERS(delete_blob_immutability_policy);
OPERATION_NO_RESULT(delete_blob_immutability_policy);
OPERATION_DECLARE(delete_blob_immutability_policy);

struct set_blob_legal_hold_parameters {
    struct parameters base;
    bool hold;
};
OPERATION_NO_RESULT(set_blob_legal_hold);
OPERATION_DECLARE(set_blob_legal_hold);

struct set_blob_tier_parameters {
    struct parameters base;
    enum access_tier tier;
    struct rehydration rehydration; /* of an archived blob */
};
struct set_blob_tier_result {
    struct result base;
    bool is_pending; /* the blob stays archived until it is rehydrated */
};
OPERATION_DECLARE(set_blob_tier);

/* The static website of an account: the blobs of its container "$web", which anyone may read at the
 * host <account>.web.<domain>, whatever the public access of the container.
 * rest: Set-Blob-Service-Properties "StaticWebsite"; docs: Static website hosting in Azure Storage;
 * decision: 108 */

struct website_parameters {
    struct parameters base;
    struct get_blob_parameters read;
};
struct website_result {
    struct result base;
    struct get_blob_result read;
    bool is_error_document; /* the blob is the error document, sent for a missing page */
};
OPERATION_DECLARE(website);

#endif
