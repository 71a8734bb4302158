/* The Blob service's records, and what its files share.
 *
 * Spaces and partitions:
 *   account space    guid made from "blob/<account>" (blob_account_space)
 *     partition ""               INNER  "p": service properties (service_properties.c)
 *     partition <container>      LISTED "c": struct container
 *   container space  (container.space)
 *     partition <blob name>      LISTED 0x01 <snapshot ticks be64>: struct blob of a snapshot
 *                                LISTED 0xFF: struct blob of the base, committed or not
 *                                INNER: content's (content/content.h)
 * So snapshots are returned before their base, as List Blobs gives them. */
#ifndef LAGRA_BLOB_BLOB_H
#define LAGRA_BLOB_BLOB_H

#include "concurrency/lease.h"
#include "service/metadata.h"
#include "service/operation.h"

/* ---- containers: container_record.c ---- */

enum public_access { ACCESS_PRIVATE, ACCESS_BLOB, ACCESS_CONTAINER };

struct container {
    struct guid space;
    instant created;
    struct etag etag;
    instant modified;
    struct lease lease;
    enum public_access public_access;
    struct bytes metadata;
    struct bytes policies; /* encoded SignedIdentifiers, container_acl.c */
};
/* returns STORE_OK, STORE_NOT_FOUND, STORE_CORRUPT, STORE_IO; strings are in the arena */
enum store_result container_read(struct snapshot *snapshot, struct arena *arena,
                                 struct container *ret_container);
void container_write(struct changes *changes, struct arena *arena,
                     const struct container *container);
/* For iterators: points into value. */
bool container_decode(struct bytes value, struct container *ret_container);

/* ---- blobs: blob_record.c ---- */

enum blob_type { BLOB_BLOCK, BLOB_PAGE, BLOB_APPEND };
enum access_tier { TIER_NONE, TIER_HOT, TIER_COOL, TIER_COLD, TIER_ARCHIVE };

/* Properties that Put Blob, Put Block List and Set Blob Properties set together. */
struct http_properties {
    struct bytes content_type, content_encoding, content_language, content_disposition,
        cache_control; /* ptr NULL: none */
    bool has_md5;
    uint8_t md5[16];
};

struct blob {
    enum blob_type type;
    bool uncommitted;    /* only uncommitted blocks: invisible but for include=uncommittedblobs */
    bool nothing_staged; /* no uncommitted blocks, without a read; false is always right */
    instant created;
    struct etag etag;   /* none while uncommitted */
    instant modified;   /* while uncommitted: the last Put Block */
    instant snapshot;   /* 0: base */
    struct lease lease; /* base only */
    struct content content;
    struct http_properties http;
    struct bytes metadata;
    enum access_tier tier; /* TIER_NONE: inferred (Hot) */
    instant tier_changed;
};

/* snapshot 0: the base; one that is uncommitted only is given too.
 * returns STORE_OK, STORE_NOT_FOUND, STORE_CORRUPT, STORE_IO; strings are in the arena */
enum store_result blob_read(struct snapshot *before, struct arena *arena, instant snapshot,
                            struct blob *ret_blob);
void blob_write(struct changes *changes, struct arena *arena, const struct blob *blob);
void blob_delete_record(struct changes *changes, struct arena *arena, instant snapshot);
/* For iterators: points into value. */
bool blob_decode(struct bytes value, struct blob *ret_blob);
/* What the record keys of all snapshots begin with. */
extern const struct bytes blob_snapshot_prefix;
/* Uncommitted blocks are dropped a week after the last Put Block of the blob: nobody sees them any
 * more, and the next change of the blob deletes them. rest: Put-Block, "Remarks" */
bool blocks_are_over(instant last_put, instant now);
/* What a content function or a record gave, as a wire error: a part that is missing is damage. The
 * changes collected so far are dropped. */
enum error blob_fail_content(struct decision *d, enum store_result result);
/* The blob of a call as a change of its properties or metadata begins: with a new ETag and
 * modification time, a lease that is over forgotten.
 * returns OK, E_BlobArchived */
enum error blob_begin_change(struct decision *d, struct blob *ret_blob);
/* "Hot"... as wire text; NULL for TIER_NONE. */
const char *access_tier_text(enum access_tier tier);

/* ---- what locate() and subject() find: d->state; subject.c ---- */

struct blob_state {
    struct container container; /* container and blob level */
    bool found;                 /* there is a record: `blob` holds it, perhaps uncommitted only */
    struct blob blob;
};
static inline struct blob_state *blob_state(struct decision *d)
{
    return (struct blob_state *)d->state;
}

struct guid blob_account_space(struct bytes account);
enum error blob_locate(struct decision *d, struct partition *ret_partition);
enum error blob_check_names(struct decision *d);

/* Subjects of the rows. */
enum error container_subject(struct decision *d); /* missing: E_ContainerNotFound */
/* Base or ?snapshot=; missing or uncommitted: E_BlobNotFound. */
enum error blob_subject(struct decision *d);
/* Base, may be missing; an uncommitted one does not exist but is in the state (Put Blob, Put Block,
 * Put Block List). */
enum error blob_subject_optional(struct decision *d);
/* Base or ?snapshot=, an uncommitted base counts; missing: E_BlobNotFound (Get Block List, Delete
 * Blob). */
enum error blob_subject_uncommitted(struct decision *d);

/* ---- blob_properties.c ---- */

/* What Get Blob and Get Blob Properties say of a blob, but for its MD5, length and tier. */
void blob_answer_properties(struct decision *d, const struct blob *blob);
/* x-ms-access-tier, -inferred, -change-time. */
void blob_answer_tier(struct decision *d, const struct blob *blob);

/* ---- the table and its functions ---- */

extern const struct service blob_service;

/* service: service_properties.c, account_information.c, list_containers.c */
decide_fn get_blob_service_properties, set_blob_service_properties, get_account_information,
    list_containers;
/* containers: create_container.c, container_properties.c, container_acl.c, delete_container.c,
 * list_blobs.c, lease.c */
decide_fn create_container, get_container_properties, get_container_metadata,
    set_container_metadata, get_container_acl, set_container_acl, delete_container, lease_container,
    list_blobs;
/* blobs: create_blob.c, put_blob.c, block.c, block_list.c, get_blob.c, blob_properties.c,
 * blob_metadata.c, snapshot_blob.c, delete_blob.c, lease.c */
decide_fn put_blob, put_block, put_block_list, get_block_list, get_blob, get_blob_properties,
    set_blob_properties, get_blob_metadata, set_blob_metadata, snapshot_blob, delete_blob,
    lease_blob;
check_fn check_list_containers, check_set_blob_service_properties, check_create_container,
    check_set_container_metadata, check_set_container_acl, check_lease, check_list_blobs,
    check_put_blob, check_put_block, check_put_block_list, check_get_block_list, check_get_blob,
    check_get_blob_properties, check_set_blob_properties, check_get_blob_metadata,
    check_set_blob_metadata, check_snapshot_blob, check_delete_blob;

#endif
