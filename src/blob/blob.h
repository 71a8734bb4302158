/* The Blob service's records, and what its files share. The files of this folder decide and know
 * nothing of HTTP or XML; those of rest/ read requests and render answers.
 *
 * Spaces and partitions:
 *   account space    guid made from "blob/<account>" (blob_account_space)
 *     partition ""               INNER  "p": service properties (service/service_properties.h)
 *     partition <container>      LISTED "c": struct container; "D" <instant of the deletion be64> "c": of one that
 *                                was deleted and is kept (service/kept_deletion.h)
 *                                INNER  "d": that it was deleted (service/recent_deletion.h)
 *   container space  (container.space)
 *     partition <blob name>      LISTED 0x00: what became of many snapshots at once (snapshot_marks.h)
 *                                LISTED 0x01 <ticks be64>: struct blob of a snapshot, or of a previous version: its
 *                                date, or version id
 *                                LISTED 0xFF: struct blob of the base, committed or not
 *                                INNER: content's (content/content.h)
 *                                index: the base's tags (tag_index.h)
 * So snapshots and versions are returned before their base, as List Blobs shows them. What is soft-deleted keeps its key,
 * with the deletion in its record: lists that show it have it in its place, and its name finds it without a further read.
 * While there is a snapshot, deleted or not, there is a base; one that is gone for good leaves a record without
 * anything for that (blob_is_anchor()). The same of versions (version.h). decisions: 790, 791, 803 */
#ifndef LAGRA_BLOB_BLOB_H
#define LAGRA_BLOB_BLOB_H

#include "base/md5.h"
#include "service/copy_state.h"
#include "service/decision.h"
#include "service/http_properties.h"

struct service;

/* ---- what a request names ---- */

/* LEVEL_WEBSITE: a page of the static website: `blob` is its path. */
enum blob_level { LEVEL_SERVICE, LEVEL_CONTAINER, LEVEL_BLOB, LEVEL_WEBSITE };

/* Which state of a blob a request names. Where the kinds differ, a switch says so: a new kind is then met
 * everywhere. */
struct blob_ref {
    enum blob_ref_kind { BLOB_BASE, BLOB_SNAPSHOT, BLOB_VERSION } kind;
    instant at; /* of a snapshot or version; 0: of the base */
};
static const struct blob_ref blob_base = { .kind = BLOB_BASE };
static inline struct blob_ref blob_snapshot_ref(instant at)
{
    return (struct blob_ref){ .kind = BLOB_SNAPSHOT, .at = at };
}
static inline struct blob_ref blob_version_ref(instant id)
{
    return (struct blob_ref){ .kind = BLOB_VERSION, .at = id };
}
static inline bool blob_ref_is_base(struct blob_ref ref)
{
    return ref.kind == BLOB_BASE;
}

struct blob_resource {
    struct resource base;
    struct bytes container; /* ptr NULL at service level */
    struct bytes blob;      /* ptr NULL above blob level */
    struct blob_ref ref;    /* of the blob */
};
static inline const struct blob_resource *blob_resource(const struct resource *resource)
{
    return (const struct blob_resource *)(const void *)resource;
}
void blob_signed_names(const struct resource *resource, struct bytes *ret_container,
                       struct bytes *ret_blob);
/* returns OK, E_InvalidResourceName, E_InvalidUri, E_OutOfRangeInput */
enum error blob_check_names(const struct resource *resource);

/* ---- containers: container_record.c ---- */

struct container {
    struct guid space;
    instant created;
    struct etag etag;
    instant modified;
    struct lease lease;
    enum public_access public_access;
    struct bytes metadata;
    struct bytes policies; /* encoded, auth/policies.h */
    instant expires;       /* of one that was deleted and is kept; 0 of others */
    struct guid task;      /* that drops it then */
};
/* returns STORE_OK, STORE_NOT_FOUND, STORE_CORRUPT, STORE_IO; strings are in the arena */
enum store_result container_read(struct snapshot *snapshot, struct arena *arena,
                                 struct container *ret_container);
void container_write(struct changes *changes, struct arena *arena,
                     const struct container *container);
/* Deletes the record (not what is in the container: changes_drop_space()). */
void container_delete_record(struct changes *changes);
/* The same of one that was deleted at that instant, and is kept. */
enum store_result container_read_deleted(struct snapshot *snapshot, struct arena *arena,
                                         instant deleted, struct container *ret_container);
void container_write_deleted(struct changes *changes, struct arena *arena, instant deleted,
                             const struct container *container);
void container_delete_deleted(struct changes *changes, struct arena *arena, instant deleted);
/* deleted: 0: of one that there is. */
struct bytes container_record_key(struct arena *arena, instant deleted);
/* Is it the key of a container's record? *ret_deleted: 0: of one that there is */
bool container_key_read(struct bytes key, instant *ret_deleted);
/* Writes *container with a newer ETag and modification time than it has. */
void container_write_changed(struct decision *d, struct container *container);
/* For iterators: points into value. */
bool container_decode(struct bytes value, struct container *ret_container);

/* ---- blobs: blob_record.c ---- */

enum blob_type { BLOB_BLOCK, BLOB_PAGE, BLOB_APPEND };
/* "BlockBlob", "PageBlob", "AppendBlob" */
const char *blob_type_text(enum blob_type type);
enum access_tier {
    TIER_NONE,
    TIER_HOT,
    TIER_COOL,
    TIER_COLD,
    TIER_ARCHIVE,
    TIER_P4, /* of page blobs, in order of size, from here */
    TIER_P6,
    TIER_P10,
    TIER_P15,
    TIER_P20,
    TIER_P30,
    TIER_P40,
    TIER_P50,
    TIER_P60,
    TIER_P70,
    TIER_P80,
};
#define TIER_LAST TIER_P80
static inline bool tier_is_premium(enum access_tier tier)
{
    return tier >= TIER_P4;
}

/* Of an append blob. rest: Append-Block "Remarks" */
#define APPENDED_BLOCKS_MAX 50000u
/* rest: Put-Blob "x-ms-blob-sequence-number" */
#define SEQUENCE_NUMBER_MAX INT64_MAX

/* Of a page blob that Incremental Copy Blob made, and of its snapshots. */
struct incremental_copy {
    bool is_one;
    bool is_whole; /* the content is that of the snapshot made last: differences may be added */
    struct bytes source;     /* path of the URL of the blob whose snapshots are copied */
    instant source_snapshot; /* copied last; 0: none was */
    instant snapshot;        /* made of it */
};

/* What Delete Blob, or what overwrote it, has kept under the account's retention policy. */
struct blob_deletion {
    instant at;      /* 0: it is not soft-deleted */
    instant expires; /* nobody sees it from then on, and a task deletes it */
};

struct blob {
    enum blob_type type;
    bool uncommitted;    /* only uncommitted blocks: invisible but for include=uncommittedblobs */
    bool nothing_staged; /* no uncommitted blocks, without a read; false is always right */
    bool
        without_snapshots; /* of a base: it has none, but for soft-deleted ones, without a read; false
                             * is always right */
    bool has_deleted;      /* of a base: it may have soft-deleted snapshots; true is always right */
    struct blob_deletion deletion;
    instant created;
    struct etag etag;    /* none while uncommitted */
    instant modified;    /* while uncommitted: the last Put Block */
    struct blob_ref ref; /* what it is */
    struct lease lease;  /* base only */
    struct content content;
    struct http_properties http;
    struct bytes metadata;
    enum access_tier tier; /* TIER_NONE: inferred (Hot) */
    instant tier_changed;
    enum access_tier rehydrates_to; /* of an archived blob; TIER_NONE: it does not */
    bool is_rehydrated_fast;        /* with high priority */
    instant rehydrated_at;          /* when it will be back */
    uint64_t sequence_number;       /* of a page blob, 0..SEQUENCE_NUMBER_MAX */
    uint32_t committed_blocks;      /* of an append blob */
    bool is_sealed;                 /* an append blob that takes no blocks any more */
    struct bytes tags; /* index tags, encoded (concurrency/tags.h); ptr NULL: none. Who changes a
                        * base's calls tag_index_update() */
    struct copy_state copy;
    struct incremental_copy incremental;
    /* Of a base, as of version.h: */
    bool
        is_version; /* it is the current version; of one that is uncommitted: others are there, and none is current */
    instant
        newest_version; /* no version id of the blob was greater, and the current version has it; 0: none was given */
    uint64_t
        last_length; /* of one that is uncommitted, with versions: of the version that was current last */
};

/* The id of a version, current or previous; 0: it is none. */
static inline instant blob_version_id(const struct blob *blob)
{
    if (blob->ref.kind == BLOB_VERSION)
        return blob->ref.at;
    return blob->is_version && !blob->uncommitted ? blob->newest_version : 0;
}
/* Is there no current version of it, but previous ones? */
static inline bool blob_has_versions_only(const struct blob *blob)
{
    return blob->is_version && blob->uncommitted;
}

/* Does it stand where a base was, only because there are snapshots? To everybody there is no blob. */
static inline bool blob_is_anchor(const struct blob *blob)
{
    return blob->uncommitted && blob->nothing_staged;
}

/* A base that is uncommitted only is given too; the current version is the base. What is soft-deleted is STORE_NOT_FOUND,
 * and *ret_blob may be changed.
 * returns STORE_OK, STORE_NOT_FOUND, STORE_CORRUPT, STORE_IO; strings are in the arena */
enum store_result blob_read(struct snapshot *before, struct arena *arena, struct blob_ref ref,
                            struct blob *ret_blob);
/* The same, but what is soft-deleted is given too, expired or not. */
enum store_result blob_read_kept(struct snapshot *before, struct arena *arena, struct blob_ref ref,
                                 struct blob *ret_blob);
/* The same of the base (0), or of the snapshot or version of that date, whichever there is. */
enum store_result blob_read_dated(struct snapshot *before, struct arena *arena, instant at,
                                  struct blob *ret_blob);
void blob_write(struct changes *changes, struct arena *arena, const struct blob *blob);
void blob_delete_record(struct changes *changes, struct arena *arena, struct blob_ref ref);
/* The key of its record. */
struct bytes blob_record_key(struct arena *arena, struct blob_ref ref);
/* The value of the record. */
void blob_encode(struct text *out, const struct blob *blob);
/* For iterators: points into value. */
bool blob_decode(struct bytes value, struct blob *ret_blob);
/* What the record keys of all snapshots and versions begin with. */
extern const struct bytes blob_snapshot_prefix;
/* The records of the snapshots and versions from that date on, in order; 0: of all. Before marks are applied. */
struct scan *blob_scan_snapshots(struct snapshot *before, instant from);
/* Uncommitted blocks expire a week after the last Put Block of the blob: nobody sees them any more,
 * and a deferred task deletes them. rest: Put-Block, "Remarks" */
bool blocks_expired(instant last_put, instant now);
/* The first instant at which they are expired. */
instant blocks_expire_at(instant last_put);
/* Keeps the decision's clock above the version ids that the blob gave, which may be ahead of it (version.h). */
void blob_keep_above(struct decision *d, const struct blob *base);
/* The blob of a call as a change of its properties or metadata begins: with a new ETag and
 * modification time, a lease that expired or was broken forgotten.
 * returns OK, as blob_refuse_archived() (blob/tier.h) */
enum error blob_begin_change(struct decision *d, struct blob *ret_blob);

/* Bytes of a block's id before base64. rest: Put-Block "blockid" */
#define BLOCK_ID_MAX 64

/* ---- what locate() and subject() find: d->state; subject.c ---- */

struct blob_state {
    struct subject_state base;
    struct container container; /* container and blob level */
    bool found;                 /* there is a record: `blob` holds it, perhaps uncommitted only */
    bool is_kept; /* there is none, but one that is soft-deleted, which `blob` holds */
    struct blob blob;
};
static inline struct blob_state *blob_state(struct decision *d)
{
    return (struct blob_state *)(void *)d->state;
}
static inline const struct blob_resource *blob_asked(const struct decision *d)
{
    return blob_resource(d->input->resource);
}

struct guid blob_account_space(struct bytes account);
enum error blob_locate(struct decision *d, struct partition *ret_partition);
enum error blob_permit_facts(struct decision *d, struct permit_facts *ret_facts);
/* Does the service alone make and fill a container of this name? decision: 44, 510 */
bool container_is_of_service(struct bytes name);

/* Subjects of the rows. */
enum error container_subject(struct decision *d); /* missing: E_ContainerNotFound */
/* As container_subject(); one that was deleted a moment ago does not exist, and is no error (Delete
 * Container). decision: 62 */
enum error container_subject_deleted(struct decision *d);
/* Base, ?snapshot= or ?versionid=; missing or uncommitted: E_BlobNotFound. The current version is the base. */
enum error blob_subject(struct decision *d);
/* As blob_subject(), also the destination of incremental copies (Get Blob Properties). The others
 * refuse it: E_OperationNotAllowedOnIncrementalCopyBlob. */
enum error blob_subject_shown(struct decision *d);
/* As blob_subject_optional(), also the destination of incremental copies (Incremental Copy
 * Blob). */
enum error blob_subject_incremental(struct decision *d);
/* Base, also while a copy to it is pending; missing: E_BlobNotFound (Abort Copy Blob). The others
 * refuse to change it then: E_PendingCopyOperation. */
enum error blob_subject_copied(struct decision *d);
/* Base, may be missing; an uncommitted one does not exist but is in the state (Put Blob, Put Block,
 * Put Block List). */
enum error blob_subject_optional(struct decision *d);
/* Base, ?snapshot= or ?versionid=, an uncommitted base counts; missing: E_BlobNotFound (Get Block List, Delete
 * Blob). */
enum error blob_subject_uncommitted(struct decision *d);

/* Base, ?snapshot= or ?versionid=, what is soft-deleted counts; missing: E_BlobNotFound (Delete Blob with deletetype). */
enum error blob_subject_kept(struct decision *d);
/* Base, which need not be there, nor be more than uncommitted or soft-deleted (Undelete Blob). */
enum error blob_subject_undeleted(struct decision *d);

extern const struct service blob_service;

#endif
