/* Records of the Blob service, and what its files share. The files in this folder contain the
 * decisions and know nothing of HTTP or XML; those in rest/ parse requests and render responses.
 *
 * Spaces and partitions:
 *   account space    guid made from "blob/<account>" (blob_account_space)
 *     partition ""               INNER  "p": service properties (properties/service_properties.h)
 *     partition <container>      LISTED "c": struct container
 *                                LISTED "D" <deletion time be64> "c": a soft-deleted container
 *                                (properties/soft_delete.h)
 *                                INNER  "d": a recent deletion (service/small_record.h)
 *   container space  (container.space)
 *     partition <blob name>      LISTED 0x00: marks of changes of many snapshots (snapshot_marks.h)
 *                                LISTED 0x01 <ticks be64>: struct blob of a snapshot or previous
 *                                version, by its date or version id
 *                                LISTED 0xFF: struct blob of the base, committed or not
 *                                INNER: records of contents (content/content.h)
 *                                index: the base's tags (tag_index.h)
 *     partition 0x00 "protection"  INNER "i": the protection of the container
 *   container space of a hierarchical container: a tree (tree/record.h), which several containers
 *   of the account may share (container_root.h); the partition of a file or directory has the
 *   records of a blob; index: deleted paths (kept_path_index.h); the partition of the
 *   protection has a slash and the name of the root directory behind its name if that has one
 * So snapshots and versions are returned before their base, which is the order of List Blobs.
 * Soft-deleted blobs keep their key, with the deletion in their record: listings that include them
 * find them in their place, and a lookup by name needs no second read. A blob with snapshots,
 * deleted or not, or with previous versions always has a base record; a base that is gone for good
 * leaves an empty record, the anchor (blob_is_anchor(), keep_blob.h). decisions: 790, 791, 803 */
#ifndef LAGRA_BLOB_BLOB_H
#define LAGRA_BLOB_BLOB_H

#include "base/md5.h"
#include "service/copy_state.h"
#include "service/decision.h"
#include "service/http_properties.h"

struct service;

/* ---- the resource of a request ---- */

/* LEVEL_WEBSITE: a page of the static website; `blob` is its path. */
enum blob_level { LEVEL_SERVICE, LEVEL_CONTAINER, LEVEL_BLOB, LEVEL_WEBSITE };

/* Which state of a blob a request names. Code that distinguishes them uses a switch, so that the
 * compiler finds every place when a kind is added. */
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
/* Returns OK, E_InvalidResourceName, E_InvalidUri, E_OutOfRangeInput. */
enum error blob_check_names(const struct resource *resource);
/* Decodes the path of a URL in place and normalizes it to stored names. Returns false if it is not
 * valid text. decision: 39 */
bool blob_decode_path(struct arena *arena, struct bytes *path); /* rest/resource.c */

/* ---- protection from changes: immutability.h ---- */

/* State of a time-based retention policy. Stored. */
enum policy_mode { POLICY_NONE, POLICY_UNLOCKED, POLICY_LOCKED };
/* Blobs to which a protected container permits appending. Stored. */
enum append_rule { APPEND_TO_NONE, APPEND_TO_APPEND_BLOBS, APPEND_TO_ALL };

/* Policy and legal hold of one blob, snapshot or version. */
struct blob_immutability {
    enum policy_mode mode;
    instant until; /* end of the retention, in whole seconds; 0 without a policy */
    bool has_hold;
};

/* Protection of all blobs of a container. */
struct container_immutability {
    /* immutable storage with versioning, which is never disabled: the blobs are versioned and have
     * policies and holds of their own, and `mode` and `days` are the default policy of new versions */
    bool has_versions;
    enum policy_mode mode; /* of the retention policy */
    uint32_t days;         /* of the retention; 0 without a policy */
    enum append_rule append;
    uint32_t extensions; /* of the locked policy */
    struct bytes holds;  /* tags of the legal holds, encoded; empty: none */
    bool holds_append;   /* the holds permit APPEND_TO_ALL */
    bool is_closed;      /* nothing can be created, because it is about to be deleted */
    struct bytes log;    /* changes of policy and holds, encoded */
};

/* ---- containers: container_record.c ---- */

struct container_root {
    /* of that directory in the root of the tree (container_root.h); zero: the root of the tree */
    struct guid name;
    bool is_shared; /* the tree has the root directories of other containers too */
};

struct container {
    struct guid space;
    instant created;
    struct etag etag;
    instant modified;
    struct lease lease;
    enum public_access public_access;
    struct bytes metadata;
    struct bytes policies;      /* encoded, auth/policies.h */
    bool hierarchical;          /* its blobs are the nodes of a tree; set when it is created */
    struct container_root root; /* of a hierarchical one */
    struct bytes owner; /* of a hierarchical one: user who created it; empty: the superuser */
    struct container_immutability immutability;
    instant expires;  /* when a soft-deleted container expires; 0 for others */
    struct guid task; /* that drops it then */
};
/* Returns STORE_OK, STORE_NOT_FOUND, STORE_CORRUPT, STORE_IO. Strings are in the arena. */
enum store_result container_read(struct read_view *snapshot, struct arena *arena,
                                 struct container *ret_container);
void container_write(struct changes *changes, struct arena *arena,
                     const struct container *container);
/* Deletes the record, but not the contents of the container. */
void container_delete_record(struct changes *changes);
/* The same for a soft-deleted container, by the time of its deletion. */
enum store_result container_read_deleted(struct read_view *snapshot, struct arena *arena,
                                         instant deleted, struct container *ret_container);
void container_write_deleted(struct changes *changes, struct arena *arena, instant deleted,
                             const struct container *container);
void container_delete_deleted(struct changes *changes, struct arena *arena, instant deleted);
/* deleted: time of the deletion; 0: an existing container */
struct bytes container_record_key(struct arena *arena, instant deleted);
/* Returns true if it is the key of a container's record. *ret_deleted: as container_record_key() */
bool container_key_read(struct bytes key, instant *ret_deleted);
/* Writes *container with a newer ETag and modification time. */
void container_write_changed(struct decision *d, struct container *container);
/* For iterators: the strings point into value. */
bool container_decode(struct bytes value, struct container *ret_container);
/* Returns the partition with a second record of the protection of a container, for tasks and
 * pending copies, which do not know their container: see container_protection_guard(). root: name
 * of the root directory; zero if it is the root of the tree, or the container is not hierarchical.
 * Returns STORE_OK, STORE_NOT_FOUND if it never had any, or another error of the store. */
struct partition container_protection_partition(struct arena *arena, struct guid space,
                                                const struct guid *root);
void container_protection_write(struct changes *changes, struct arena *arena,
                                const struct container_immutability *immutability);
void container_protection_delete(struct changes *changes);
enum store_result container_protection_read(struct read_view *view, struct arena *arena,
                                            struct container_immutability *ret_immutability);

/* ---- blobs: blob_record.c ---- */

enum blob_type { BLOB_BLOCK, BLOB_PAGE, BLOB_APPEND };
/* Returns "BlockBlob", "PageBlob" or "AppendBlob". */
const char *blob_type_text(enum blob_type type);
enum access_tier {
    TIER_NONE,
    TIER_HOT,
    TIER_COOL,
    TIER_COLD,
    TIER_ARCHIVE,
    TIER_P4, /* tiers of page blobs from here on, by size */
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

/* State of a page blob that Incremental Copy Blob created, and of its snapshots. */
struct incremental_copy {
    bool is_one;
    bool is_whole;       /* the content is that of the last snapshot: differences may be added */
    struct bytes source; /* path of the URL of the blob whose snapshots are copied */
    instant source_snapshot; /* copied last; 0: none yet */
    instant snapshot;        /* created from it */
};

/* Soft deletion of a blob that was deleted or overwritten. */
struct blob_deletion {
    instant at;      /* 0: it is not soft-deleted */
    instant expires; /* from then on it is hidden, and a task deletes it */
};

/* Encryption of content and metadata: see encryption.h. */
struct encryption {
    bool by_customer; /* with a key that the requests provide */
    uint8_t key_hash[KEY_HASH_SIZE];
};

/* When a file of a hierarchical container expires: see expiry.h. */
struct blob_expiry {
    instant at;       /* 0: never */
    struct guid task; /* that deletes it then */
};

struct blob {
    enum blob_type type;
    /* has only uncommitted blocks: visible only with include=uncommittedblobs */
    bool uncommitted;
    bool is_directory;      /* in a hierarchical container: without content */
    bool nothing_staged;    /* known to have no uncommitted blocks; false is always safe */
    bool without_snapshots; /* base: known to have no live snapshots; false is always safe */
    bool has_deleted;       /* base: may have soft-deleted snapshots; true is always safe */
    struct blob_deletion deletion;
    instant created;
    struct etag etag;    /* none while uncommitted */
    instant modified;    /* while uncommitted: time of the last Put Block */
    struct blob_ref ref; /* base, snapshot or version */
    struct lease lease;  /* base only */
    struct content content;
    struct http_properties http;
    struct encryption encryption;
    struct bytes metadata;
    bool metadata_is_encrypted; /* see encryption_open() */
    enum access_tier tier;      /* TIER_NONE: inferred (Hot) */
    instant tier_changed;
    enum access_tier rehydrates_to; /* of an archived blob; TIER_NONE: it is not being rehydrated */
    bool is_rehydrated_fast;        /* with high priority */
    instant rehydrated_at;          /* when the rehydration ends */
    uint64_t sequence_number;       /* of a page blob, 0..SEQUENCE_NUMBER_MAX */
    uint32_t committed_blocks;      /* of an append blob */
    bool is_sealed;                 /* an append blob that accepts no more blocks */
    /* index tags, encoded (concurrency/tags.h), or ptr NULL; searches see those of a committed
     * base */
    struct bytes tags;
    struct copy_state copy;
    struct incremental_copy incremental;
    struct bytes acl; /* in a hierarchical container (access_control.h); ptr NULL: the default */
    /* of a soft-deleted file or directory of a hierarchical container (kept_paths.h): its path in
     * the tree (container_tree_path()); ptr NULL for other blobs */
    struct bytes deleted_path;
    struct blob_immutability immutability;
    struct blob_expiry expiry;       /* base only */
    struct bytes encryption_context; /* from Path Create, stored unencrypted; or ptr NULL */
    instant accessed;                /* last access (access_time.h); 0: not tracked */
    /* Of a base; see keep_blob.h: */
    bool is_version;        /* current version; if uncommitted: only previous ones */
    instant newest_version; /* greatest version id, of the current version; 0: none */
    uint64_t last_length;   /* if uncommitted, with versions: length of the last current version */
};

/* Returns the id of a version, current or previous, or 0 if the blob is not a version. */
static inline instant blob_version_id(const struct blob *blob)
{
    if (blob->ref.kind == BLOB_VERSION)
        return blob->ref.at;
    return blob->is_version && !blob->uncommitted ? blob->newest_version : 0;
}
/* Returns true if the blob has previous versions but no current one. */
static inline bool blob_has_versions_only(const struct blob *blob)
{
    return blob->is_version && blob->uncommitted;
}

/* Returns true for a record kept only for the snapshots of a base that is gone. Clients see no
 * blob. */
static inline bool blob_is_anchor(const struct blob *blob)
{
    return blob->uncommitted && blob->nothing_staged;
}

/* Returns true for a file that has expired, which no client sees. */
static inline bool blob_has_expired(const struct blob *blob, instant now)
{
    return blob->expiry.at > 0 && blob->expiry.at <= now;
}

/* Reads a blob; the base may be uncommitted, and the current version is the base. Returns
 * STORE_NOT_FOUND if it is soft-deleted; *ret_blob may be changed then.
 *
 * Returns STORE_OK, STORE_NOT_FOUND, STORE_CORRUPT, STORE_IO. Strings are in the arena. */
enum store_result blob_read(struct read_view *before, struct arena *arena, struct blob_ref ref,
                            struct blob *ret_blob);
/* Like blob_read(), but also reads soft-deleted blobs, expired or not. */
enum store_result blob_read_kept(struct read_view *before, struct arena *arena, struct blob_ref ref,
                                 struct blob *ret_blob);
/* Like blob_read_kept(), for the base (0), or the snapshot or version of that date, whichever
 * exists. */
enum store_result blob_read_dated(struct read_view *before, struct arena *arena, instant at,
                                  struct blob *ret_blob);
/* Replaces the record *was by *now; either may be NULL. All blobs, snapshots and versions change
 * through this function; the indexes of tags (tag_index.h) and deleted paths (kept_path_index.h),
 * and the task of an expiry (expiry.h)
 * follow. */
void blob_change(struct decision *d, const struct blob *was, const struct blob *now);
/* Writes a record and nothing else. Only for blob_change(), new directories, access control lists,
 * and tests. */
void blob_write(struct changes *changes, struct arena *arena, const struct blob *blob);
/* Returns the key of the blob's record. */
struct bytes blob_record_key(struct arena *arena, struct blob_ref ref);
/* Appends the value of the record. */
void blob_encode(struct text *out, const struct blob *blob);
/* Metadata name by which Hadoop's drivers, azcopy and the SDKs mark directories; the value is
 * "true". */
#define BLOB_DIRECTORY_MARK "hdi_isfolder"
bool blob_metadata_is_directory(struct bytes metadata); /* namespace.c */
/* Returns the metadata that clients of the Blob service see: of a directory, also hdi_isfolder. */
struct bytes blob_shown_metadata(struct arena *arena, const struct blob *blob); /* namespace.c */
/* Returns true if the length of the metadata fits the encryption. (encryption.c) */
bool blob_encryption_is_valid(const struct blob *blob);
/* For iterators: the strings point into value. */
bool blob_decode(struct bytes value, struct blob *ret_blob);
/* Prefix of the record keys of all snapshots and versions. */
extern const struct bytes blob_snapshot_prefix;
/* Scans the records of snapshots and versions in order, from that date on; 0: all. Marks are not
 * applied. */
struct scan *blob_scan_snapshots(struct read_view *before, instant from);
/* Returns the time at which uncommitted blocks expire, a week after the blob's last Put Block.
 * rest: Put-Block, "Remarks" */
static inline instant blocks_expire_at(instant last_put)
{
    return last_put + 7 * TICKS_PER_DAY + 1;
}
/* Returns true if they have expired: they are hidden, and a deferred task deletes them. */
static inline bool blocks_expired(instant last_put, instant now)
{
    return now >= blocks_expire_at(last_put);
}
/* Advances the decision's clock beyond the version ids of the blob, which may be ahead of it
 * (keep_blob.h). */
void blob_keep_above(struct decision *d, const struct blob *base);
/* Starts changing the properties or metadata of the call's blob: gives it a new ETag and
 * modification time and clears an expired or broken lease.
 *
 * Returns OK, or an error of blob_refuse_archived() (blob/tier.h). */
enum error blob_begin_change(struct decision *d, struct blob *ret_blob);

/* Maximum length of a decoded block id. rest: Put-Block "blockid" */
#define BLOCK_ID_MAX 64

/* ---- the result of locate() and subject(), in d->state; subject.c ---- */

struct blob_state {
    struct subject_state base;
    struct container container; /* at container and blob level */
    struct blob_node *node; /* at blob level of a hierarchical container (namespace.h); or NULL */
    bool found;             /* `blob` holds the record, which may be uncommitted */
    bool is_kept;           /* not found, but `blob` holds a soft-deleted one */
    bool has_expired;       /* not found, but `blob` holds a file that has expired */
    struct blob blob;
};
static inline struct blob_state *blob_state(struct decision *d)
{
    return (struct blob_state *)(void *)d->state;
}
/* Returns the record of the requested blob, which may be soft-deleted or uncommitted, or NULL. */
static inline const struct blob *stored_blob(struct decision *d)
{
    const struct blob_state *state = blob_state(d);

    return state->found || state->is_kept ? &state->blob : NULL;
}
static inline const struct blob_resource *blob_asked(const struct decision *d)
{
    return blob_resource(d->input->resource);
}

struct guid blob_account_space(struct bytes account);
enum error blob_locate(struct decision *d, struct partition *ret_partition);
enum error blob_permit_facts(struct decision *d, struct permit_facts *ret_facts);
/* What an operation does to its blob: bits in the row's column `passes`, for blob_enter(). */
enum {
    NEEDS_READ = 1,      /* reads content or properties */
    NEEDS_CREATE = 2,    /* creates the blob if it does not exist */
    NEEDS_CONTENT = 4,   /* writes content */
    NEEDS_METADATA = 8,  /* writes properties or metadata, or the lease */
    NEEDS_TIER = 16,     /* changes the tier */
    NEEDS_SNAPSHOT = 32, /* creates a snapshot */
    NEEDS_DESTROY = 64,  /* deletes */
    NEEDS_TAGS = 128,    /* writes index tags */
    NEEDS_PUT = 512,     /* Put Blob: with hdi_isfolder it creates a directory */
    NEEDS_NAME = 256,    /* renames, or creates a directory: opens the parent directory too */
    NEEDS_STATUS = 4096, /* reads properties without metadata, or the access control list */
    NEEDS_ACL = 1024,    /* changes the access control list */
    NEEDS_LIST = 2048,   /* lists a directory; at container level */
    /* what a policy or a legal hold may refuse, beside NEEDS_CREATE, _SNAPSHOT and _DESTROY: */
    NEEDS_CHANGE = 8192,   /* changes content, properties or metadata in place */
    NEEDS_APPEND = 16384,  /* appends content */
    NEEDS_REPLACE = 32768, /* replaces the blob if it exists; implied by NEEDS_CREATE */
};
/* Refuses what the blob does not permit, and gives a blob that will be created its place in a
 * hierarchical container. */
enum error blob_enter(struct decision *d);
/* Returns true for the names of containers that only the service creates and fills. decision: 44,
 * 510 */
bool container_is_of_service(struct bytes name);

/* Subject functions of the operation tables. */
enum error container_subject(struct decision *d); /* if missing: E_ContainerNotFound */
/* Like container_subject(), but returns OK if the missing container was deleted a moment ago
 * (Delete Container). decision: 62 */
enum error container_subject_deleted(struct decision *d);
/* Base, ?snapshot= or ?versionid=; if missing or uncommitted: E_BlobNotFound. The current version
 * is the base. */
enum error blob_subject(struct decision *d);
/* Like blob_subject(), but allows the destination of incremental copies (Get Blob Properties), for
 * which the others fail with E_OperationNotAllowedOnIncrementalCopyBlob. */
enum error blob_subject_readable(struct decision *d);
/* Like blob_subject_optional(), but allows the destination of incremental copies (Incremental Copy
 * Blob). */
enum error blob_subject_incremental(struct decision *d);
/* Base, also while a copy to it is pending, when the others fail with E_PendingCopyOperation; if
 * missing: E_BlobNotFound (Abort Copy Blob). */
enum error blob_subject_copied(struct decision *d);
/* Base, which may be missing. An uncommitted one counts as missing but is in the state (Put Blob,
 * Put Block, Put Block List). */
enum error blob_subject_optional(struct decision *d);
/* Base, even if uncommitted, ?snapshot= or ?versionid=; if missing: E_BlobNotFound (Get Block List,
 * Delete Blob). */
enum error blob_subject_uncommitted(struct decision *d);

/* Base, ?snapshot= or ?versionid=, even if soft-deleted; if missing: E_BlobNotFound (Delete Blob
 * with deletetype). */
enum error blob_subject_kept(struct decision *d);
/* Base, which may be missing, uncommitted or soft-deleted (Undelete Blob). */
enum error blob_subject_undeleted(struct decision *d);

extern const struct service blob_service;

struct container_type;
extern const struct container_type blob_container; /* rest/container_operations.c */

extern const struct restore_functions blob_restore; /* container_restore.c */
extern const struct usage_functions blob_usage;     /* container_record.c */
extern const struct part_functions blob_parts;      /* container_root.c */

#endif
