/* The key and the encoding of a blob's record.
 *
 * Value, version 1:  version u8 | type u8 | flags u8 (1 uncommitted, 2 has MD5, 4 nothing staged,
 *   8 content is alone, 16 content is without pieces, 32 content has runs, 64 content is in a
 *   chain, 128 has an MD5 of another length) | created | etag | modified | snapshot |
 *   lease | content id, length, block count | content type, encoding, language,
 *   disposition, cache control (bytes) | MD5 (16 bytes, if flagged 2; bytes, if flagged 128) |
 *   metadata (bytes) | tier u8 | tier changed | extras, and then, each if its bit is set there:
 *   sparse: epoch, kept, stamp, sealed at of the content | committed blocks | sequence number |
 *   tags (bytes) | rehydration: tier u8, high priority u8, time |
 *   copy: status u8, id 16 bytes, source (bytes), copied, total, completed, description (bytes) |
 *   incremental copy: whole u8, source (bytes), snapshot of the source, snapshot made of it |
 *   deletion: time, time at which it expires, and in a hierarchical container path (bytes) |
 *   newest version, and of an uncommitted base last length | access control list (bytes) |
 *   expiry of a base: time, id of the task 16 bytes | encryption context (bytes) |
 *   SHA-256 of the customer's key 32 bytes; the metadata is then encrypted: salt 16 bytes, GCM tag
 *   16 bytes, the bytes | retention policy: mode u8, time of its end | last access
 * Fields that most blobs do not have get another bit of the extras. Any other change of the format
 * gets a new version number ("On disk" in store/README.md). */
#include "blob/blob.h"

#include <assert.h>

#include "base/endian.h"
#include "blob/record_parts.h"
#include "blob/snapshot_marks.h"
#include "service/small_record.h"

#define RECORD_VERSION 1

enum {
    FLAG_UNCOMMITTED = 1,
    FLAG_MD5 = 2,
    FLAG_NOTHING_STAGED = 4,
    FLAG_ALONE = 8,
    FLAG_WITHOUT_PIECES = 16,
    FLAG_HAS_RUNS = 32,
    FLAG_IN_CHAIN = 64,
    FLAG_OTHER_MD5 = 128,
};

enum {
    EXTRA_SPARSE = 1,
    EXTRA_HAS_UNITS = 2, /* of sparse content */
    EXTRA_HAS_HOLES = 4, /* as above */
    EXTRA_APPENDED = 8,  /* the content was created by content_append() */
    EXTRA_BLOCKS = 16,   /* committed blocks follow */
    EXTRA_SEALED = 32,
    EXTRA_SEQUENCE = 64,      /* a sequence number follows */
    EXTRA_TAGS = 128,         /* tags follow */
    EXTRA_COPY = 256,         /* the blob is or was the destination of a copy */
    EXTRA_REHYDRATES = 512,   /* the tier, priority and time of the rehydration follow */
    EXTRA_INCREMENTAL = 1024, /* the state of Incremental Copy Blob follows */
    EXTRA_WITHOUT_SNAPSHOTS = 2048,
    EXTRA_WITHOUT_PAGES = 4096, /* of sparse content */
    /* soft-deleted: the times of the deletion and of its expiry follow */
    EXTRA_DELETED = 8192,
    EXTRA_HAS_DELETED = 16384, /* of a base: some of its snapshots may be soft-deleted */
    EXTRA_VERSION = 32768,     /* a previous version; a base: is_version */
    EXTRA_NEWEST = 65536,      /* base: newest_version follows, and if uncommitted last_length */
    EXTRA_DIRECTORY = 131072,
    EXTRA_ACL = 262144,        /* an access control list follows */
    EXTRA_PATH = 524288,       /* soft-deleted, in a hierarchical container: the path follows */
    EXTRA_EXPIRES = 1048576,   /* of a base: its expiry follows */
    EXTRA_CONTEXT = 2097152,   /* an encryption context follows */
    EXTRA_ENCRYPTED = 4194304, /* with a customer's key, whose SHA-256 follows */
    EXTRA_POLICY = 8388608,    /* a retention policy follows */
    EXTRA_HOLD = 16777216,     /* it has a legal hold */
    EXTRA_ACCESSED = 33554432, /* the time of the last access follows */
    EXTRA_ALL = 67108863,
};

#define KEY_OF_SNAPSHOT 0x01 /* and of a version */
#define KEY_OF_BASE     0xFF

const struct bytes blob_snapshot_prefix = BYTES("\x01");

struct bytes blob_record_key(struct arena *arena, struct blob_ref ref)
{
    char *key = arena_bytes(arena, 1 + 8);

    switch (ref.kind) {
    case BLOB_BASE:
        key[0] = (char)KEY_OF_BASE;
        return bytes_of(key, 1);
    case BLOB_SNAPSHOT:
    case BLOB_VERSION:
        key[0] = KEY_OF_SNAPSHOT;
        be64_put(key + 1, ref.at);
        return bytes_of(key, 1 + 8);
    }
    assert(false); /* unknown kind */
    return bytes_of(key, 0);
}

struct scan *blob_scan_snapshots(struct read_view *before, instant from)
{
    char key[1 + 8];

    key[0] = KEY_OF_SNAPSHOT;
    be64_put(key + 1, from);
    return scan_open(before, RECORD_LISTED, blob_snapshot_prefix, bytes_of(key, sizeof key));
}

/* Applies the marks to a snapshot. Returns STORE_NOT_FOUND if it is deleted. */
static enum store_result apply_marks(struct read_view *before, struct arena *arena,
                                     struct blob *snapshot)
{
    struct snapshot_marks marks;
    enum store_result result = snapshot_marks_read(before, arena, &marks);

    if (result)
        return result;
    return snapshot_marks_apply(&marks, snapshot) ? STORE_OK : STORE_NOT_FOUND;
}

enum store_result blob_read_dated(struct read_view *before, struct arena *arena, instant at,
                                  struct blob *ret_blob)
{
    const struct blob_ref ref = at == 0 ? blob_base : blob_snapshot_ref(at);
    struct record record;
    enum store_result result;

    result = read_view_get(before, RECORD_LISTED, blob_record_key(arena, ref), arena, &record);
    if (result)
        return result;
    if (!blob_decode(record.value, ret_blob))
        return record_is_unknown("a blob's record", record.value);
    return at == 0 ? STORE_OK : apply_marks(before, arena, ret_blob);
}

enum store_result blob_read_kept(struct read_view *before, struct arena *arena, struct blob_ref ref,
                                 struct blob *ret_blob)
{
    enum store_result result = blob_read_dated(before, arena, ref.at, ret_blob);

    return !result && ret_blob->ref.kind != ref.kind ? STORE_NOT_FOUND : result;
}

enum store_result blob_read(struct read_view *before, struct arena *arena, struct blob_ref ref,
                            struct blob *ret_blob)
{
    enum store_result result = blob_read_kept(before, arena, ref, ret_blob);

    return !result && ret_blob->deletion.at > 0 ? STORE_NOT_FOUND : result;
}

/* ---- encoding ---- */

static void encode_http(struct text *out, const struct http_properties *http)
{
    encode_bytes(out, http->content_type);
    encode_bytes(out, http->content_encoding);
    encode_bytes(out, http->content_language);
    encode_bytes(out, http->content_disposition);
    encode_bytes(out, http->cache_control);
    if (http->has_md5 && http->md5_size == MD5_SIZE)
        encode_fixed(out, http->md5, MD5_SIZE);
    else if (http->has_md5)
        encode_bytes(out, bytes_of(http->md5, http->md5_size));
}

static void decode_md5(struct decoder *in, uint8_t flags, struct http_properties *http)
{
    struct bytes other;

    http->has_md5 = (flags & (FLAG_MD5 | FLAG_OTHER_MD5)) != 0;
    if (flags & FLAG_MD5) {
        http->md5_size = MD5_SIZE;
        decode_fixed(in, http->md5, MD5_SIZE);
    } else if (flags & FLAG_OTHER_MD5) {
        other = decode_bytes(in);
        if (other.len > sizeof http->md5) {
            in->bad = true;
            return;
        }
        http->md5_size = (uint8_t)other.len;
        if (other.len > 0)
            memcpy(http->md5, other.ptr, other.len);
    }
}

static void decode_http(struct decoder *in, uint8_t flags, struct http_properties *http)
{
    http->content_type = decode_bytes(in);
    http->content_encoding = decode_bytes(in);
    http->content_language = decode_bytes(in);
    http->content_disposition = decode_bytes(in);
    http->cache_control = decode_bytes(in);
    decode_md5(in, flags, http);
}

static uint8_t flags_of(const struct blob *blob)
{
    bool md5 = blob->http.has_md5;
    unsigned flags = (blob->uncommitted ? FLAG_UNCOMMITTED : 0u) |
                     (md5 && blob->http.md5_size == MD5_SIZE ? FLAG_MD5 : 0u) |
                     (md5 && blob->http.md5_size != MD5_SIZE ? FLAG_OTHER_MD5 : 0u) |
                     (blob->nothing_staged ? FLAG_NOTHING_STAGED : 0u) |
                     (blob->content.is_alone ? FLAG_ALONE : 0u) |
                     (blob->content.without_pieces ? FLAG_WITHOUT_PIECES : 0u) |
                     (blob->content.has_runs ? FLAG_HAS_RUNS : 0u) |
                     (blob->content.in_chain ? FLAG_IN_CHAIN : 0u);

    return (uint8_t)flags;
}

static unsigned extras_of(const struct blob *blob)
{
    const struct content *content = &blob->content;

    return (content->form == CONTENT_SPARSE ? EXTRA_SPARSE : 0u) |
           (content->has_units ? EXTRA_HAS_UNITS : 0u) |
           (content->has_holes ? EXTRA_HAS_HOLES : 0u) |
           (content->without_pages ? EXTRA_WITHOUT_PAGES : 0u) |
           (content->is_appended ? EXTRA_APPENDED : 0u) |
           (blob->committed_blocks > 0 ? EXTRA_BLOCKS : 0u) |
           (blob->is_sealed ? EXTRA_SEALED : 0u) |
           (blob->sequence_number > 0 ? EXTRA_SEQUENCE : 0u) |
           (blob->tags.len > 0 ? EXTRA_TAGS : 0u) |
           (blob->copy.status != COPY_NONE ? EXTRA_COPY : 0u) |
           (blob->rehydrates_to != TIER_NONE ? EXTRA_REHYDRATES : 0u) |
           (blob->incremental.is_one ? EXTRA_INCREMENTAL : 0u) |
           (blob->without_snapshots ? EXTRA_WITHOUT_SNAPSHOTS : 0u) |
           (blob->deletion.at > 0 ? EXTRA_DELETED : 0u) |
           (blob->has_deleted ? EXTRA_HAS_DELETED : 0u) |
           (blob->is_version || blob->ref.kind == BLOB_VERSION ? EXTRA_VERSION : 0u) |
           (blob->newest_version > 0 ? EXTRA_NEWEST : 0u) |
           (blob->is_directory ? EXTRA_DIRECTORY : 0u) | (blob->acl.ptr ? EXTRA_ACL : 0u) |
           (blob->deleted_path.ptr ? EXTRA_PATH : 0u) |
           (blob->expiry.at > 0 && blob_ref_is_base(blob->ref) ? EXTRA_EXPIRES : 0u) |
           (blob->encryption_context.ptr ? EXTRA_CONTEXT : 0u) |
           (blob->encryption.by_customer ? EXTRA_ENCRYPTED : 0u) |
           (blob->immutability.mode != POLICY_NONE ? EXTRA_POLICY : 0u) |
           (blob->immutability.has_hold ? EXTRA_HOLD : 0u) |
           (blob->accessed > 0 ? EXTRA_ACCESSED : 0u);
}

static void encode_extras(struct text *out, const struct blob *blob)
{
    const struct content *content = &blob->content;
    unsigned extras = extras_of(blob);

    encode_u64(out, extras);
    if (extras & EXTRA_SPARSE) {
        encode_u64(out, content->epoch);
        encode_u64(out, content->last_retained);
        encode_u64(out, content->stamp);
        encode_u64(out, content->sealed_at);
    }
    if (extras & EXTRA_BLOCKS)
        encode_u64(out, blob->committed_blocks);
    if (extras & EXTRA_SEQUENCE)
        encode_u64(out, blob->sequence_number);
    if (extras & EXTRA_TAGS)
        encode_bytes(out, blob->tags);
    if (extras & EXTRA_REHYDRATES) {
        encode_u8(out, (uint8_t)blob->rehydrates_to);
        encode_u8(out, blob->is_rehydrated_fast);
        encode_u64(out, blob->rehydrated_at);
    }
    if (extras & EXTRA_COPY)
        copy_state_encode(out, &blob->copy);
    if (extras & EXTRA_INCREMENTAL)
        incremental_encode(out, &blob->incremental);
    if (extras & EXTRA_DELETED) {
        encode_u64(out, blob->deletion.at);
        encode_u64(out, blob->deletion.expires);
    }
    if (extras & EXTRA_PATH)
        encode_bytes(out, blob->deleted_path);
    if (extras & EXTRA_NEWEST) {
        encode_u64(out, blob->newest_version);
        if (blob->uncommitted)
            encode_u64(out, blob->last_length);
    }
    if (extras & EXTRA_ACL)
        encode_bytes(out, blob->acl);
    if (extras & EXTRA_EXPIRES) {
        encode_u64(out, blob->expiry.at);
        encode_fixed(out, blob->expiry.task.b, sizeof blob->expiry.task.b);
    }
    if (extras & EXTRA_CONTEXT)
        encode_bytes(out, blob->encryption_context);
    if (extras & EXTRA_ENCRYPTED)
        encode_fixed(out, blob->encryption.key_hash, KEY_HASH_SIZE);
    if (extras & EXTRA_POLICY)
        policy_encode(out, &blob->immutability);
    if (extras & EXTRA_ACCESSED)
        encode_u64(out, blob->accessed);
}

static void decode_rehydration(struct decoder *in, struct blob *blob)
{
    uint8_t tier = decode_u8(in), fast = decode_u8(in);

    blob->rehydrated_at = decode_u64(in);
    if (tier < TIER_HOT || tier >= TIER_ARCHIVE || fast > 1) {
        in->bad = true;
        return;
    }
    blob->rehydrates_to = (enum access_tier)tier;
    blob->is_rehydrated_fast = fast != 0;
}

/* An uncommitted blob cannot be soft-deleted. */
static void decode_deletion(struct decoder *in, uint64_t extras, struct blob *blob)
{
    blob->deletion.at = decode_u64(in);
    blob->deletion.expires = decode_u64(in);
    if (extras & EXTRA_PATH)
        blob->deleted_path = decode_bytes(in);
    if (blob->deletion.at == 0 || blob->deletion.expires <= blob->deletion.at || blob->uncommitted)
        in->bad = true;
}

/* Only a base expires. */
static void decode_expiry(struct decoder *in, struct blob *blob)
{
    blob->expiry.at = decode_u64(in);
    decode_fixed(in, blob->expiry.task.b, sizeof blob->expiry.task.b);
    if (blob->expiry.at == 0 || !blob_ref_is_base(blob->ref))
        in->bad = true;
}

/* Only a base has a newest version, which is the current one. */
static void decode_version(struct decoder *in, uint64_t extras, struct blob *blob)
{
    bool is_base = blob_ref_is_base(blob->ref);

    if (extras & EXTRA_NEWEST) {
        blob->newest_version = decode_u64(in);
        if (blob->uncommitted)
            blob->last_length = decode_u64(in);
        if (!is_base || blob->newest_version == 0)
            in->bad = true;
    }
    if (!(extras & EXTRA_VERSION))
        return;
    if (!is_base)
        blob->ref.kind = BLOB_VERSION;
    else if (blob->newest_version == 0)
        in->bad = true;
    else
        blob->is_version = true;
}

static void decode_extras(struct decoder *in, struct blob *blob)
{
    struct content *content = &blob->content;
    uint64_t extras = decode_u64(in);

    if (extras > EXTRA_ALL || (extras & (EXTRA_DELETED | EXTRA_PATH)) == EXTRA_PATH) {
        in->bad = true;
        return;
    }
    content->has_units = (extras & EXTRA_HAS_UNITS) != 0;
    content->has_holes = (extras & EXTRA_HAS_HOLES) != 0;
    content->without_pages = (extras & EXTRA_WITHOUT_PAGES) != 0;
    content->is_appended = (extras & EXTRA_APPENDED) != 0;
    blob->is_sealed = (extras & EXTRA_SEALED) != 0;
    blob->without_snapshots = (extras & EXTRA_WITHOUT_SNAPSHOTS) != 0;
    blob->has_deleted = (extras & EXTRA_HAS_DELETED) != 0;
    blob->is_directory = (extras & EXTRA_DIRECTORY) != 0;
    if (extras & EXTRA_SPARSE) {
        content->form = CONTENT_SPARSE;
        content->epoch = decode_u32(in);
        content->last_retained = decode_u32(in);
        content->stamp = decode_u64(in);
        content->sealed_at = decode_u64(in);
    }
    if (extras & EXTRA_BLOCKS)
        blob->committed_blocks = decode_u32(in);
    if (extras & EXTRA_SEQUENCE)
        blob->sequence_number = decode_u64(in);
    if (extras & EXTRA_TAGS)
        blob->tags = decode_bytes(in);
    if (extras & EXTRA_REHYDRATES)
        decode_rehydration(in, blob);
    if (blob->sequence_number > SEQUENCE_NUMBER_MAX)
        in->bad = true;
    if (extras & EXTRA_COPY)
        copy_state_decode(in, &blob->copy);
    if (extras & EXTRA_INCREMENTAL)
        incremental_decode(in, &blob->incremental);
    if (extras & EXTRA_DELETED)
        decode_deletion(in, extras, blob);
    decode_version(in, extras, blob);
    if (extras & EXTRA_ACL)
        blob->acl = decode_bytes(in);
    if (extras & EXTRA_EXPIRES)
        decode_expiry(in, blob);
    if (extras & EXTRA_CONTEXT)
        blob->encryption_context = decode_bytes(in);
    if (extras & EXTRA_ENCRYPTED) {
        blob->encryption.by_customer = true;
        decode_fixed(in, blob->encryption.key_hash, KEY_HASH_SIZE);
        blob->metadata_is_encrypted = blob->metadata.len > 0;
    }
    blob->immutability.has_hold = (extras & EXTRA_HOLD) != 0;
    if (extras & EXTRA_POLICY)
        policy_decode(in, &blob->immutability);
    if (extras & EXTRA_ACCESSED)
        blob->accessed = decode_u64(in);
}

/* Returns true if the content is valid for the type of the blob. A page blob whose first bytes are
 * still being copied has none. */
static bool content_fits(const struct blob *blob)
{
    const struct content *content = &blob->content;

    if (!content_is_valid(content))
        return false;
    if (blob->type == BLOB_PAGE)
        return content->form == CONTENT_SPARSE || content->id == 0;
    return content->form == CONTENT_SEQUENCE &&
           (blob->type != BLOB_APPEND || content->block_count == 0);
}

void blob_encode(struct text *out, const struct blob *blob)
{
    assert(blob->metadata_is_encrypted == (blob->encryption.by_customer && blob->metadata.len > 0));
    encode_u8(out, RECORD_VERSION);
    encode_u8(out, (uint8_t)blob->type);
    encode_u8(out, flags_of(blob));
    encode_u64(out, blob->created);
    encode_u64(out, blob->etag.v);
    encode_u64(out, blob->modified);
    encode_u64(out, blob->ref.at);
    lease_encode(out, &blob->lease);
    encode_u64(out, blob->content.id);
    encode_u64(out, blob->content.length);
    encode_u64(out, blob->content.block_count);
    encode_http(out, &blob->http);
    encode_bytes(out, blob->metadata);
    encode_u8(out, (uint8_t)blob->tier);
    encode_u64(out, blob->tier_changed);
    encode_extras(out, blob);
}

void blob_write(struct changes *changes, struct arena *arena, const struct blob *blob)
{
    struct text out;

    text_init(&out, arena, 256);
    blob_encode(&out, blob);
    changes_put(changes, RECORD_LISTED, blob_record_key(arena, blob->ref), text_bytes(&out), NULL,
                0);
}

bool blob_decode(struct bytes value, struct blob *ret_blob)
{
    struct blob blob = { .type = BLOB_BLOCK };
    struct decoder in;
    uint8_t version, type, flags, tier;

    decoder_init(&in, value);
    version = decode_u8(&in);
    type = decode_u8(&in);
    flags = decode_u8(&in);
    if (version != RECORD_VERSION || type > BLOB_APPEND)
        return false;
    blob.type = (enum blob_type)type;
    blob.uncommitted = (flags & FLAG_UNCOMMITTED) != 0;
    blob.nothing_staged = (flags & FLAG_NOTHING_STAGED) != 0;
    blob.content.is_alone = (flags & FLAG_ALONE) != 0;
    blob.content.without_pieces = (flags & FLAG_WITHOUT_PIECES) != 0;
    blob.content.has_runs = (flags & FLAG_HAS_RUNS) != 0;
    blob.content.in_chain = (flags & FLAG_IN_CHAIN) != 0;
    blob.created = decode_u64(&in);
    blob.etag.v = decode_u64(&in);
    blob.modified = decode_u64(&in);
    blob.ref.at = decode_u64(&in);
    blob.ref.kind = blob.ref.at == 0 ? BLOB_BASE : BLOB_SNAPSHOT;
    lease_decode(&in, &blob.lease);
    blob.content.id = decode_u64(&in);
    blob.content.length = decode_u64(&in);
    blob.content.block_count = decode_u32(&in);
    decode_http(&in, flags, &blob.http);
    blob.metadata = decode_bytes(&in);
    tier = decode_u8(&in);
    blob.tier_changed = decode_u64(&in);
    decode_extras(&in, &blob);
    if (!decoder_ok(&in) || tier > TIER_LAST || !content_fits(&blob) ||
        !blob_encryption_is_valid(&blob))
        return false;
    blob.tier = (enum access_tier)tier;
    *ret_blob = blob;
    return true;
}
