/* Entries of a page of List Blobs, written directly to the page without allocations: it has up to
 * 5,000. Elements and their order as recorded; rest: List-Blobs */
#include "blob/rest/list_blobs.h"

#include <inttypes.h>
#include <nettle/base64.h>

#include "acl/posix_acl.h"
#include "base/encode.h"
#include "blob/kept_paths.h"
#include "blob/rest/blob_tags.h"
#include "blob/rest/request.h"
#include "blob/tier.h"
#include "service/answer.h"
#include "service/metadata.h"

/* Adds a value that needs no escaping. Inline, so that the lengths of the tags are constants. */
static inline void add_plain(struct text *out, const char *open, struct bytes value,
                             const char *close)
{
    text_add(out, bytes_from_string(open));
    text_add(out, value);
    text_add(out, bytes_from_string(close));
}

static inline void add_word(struct text *out, const char *open, const char *word, const char *close)
{
    add_plain(out, open, bytes_from_string(word), close);
}

static inline void add_date(struct text *out, const char *open, instant date, const char *close)
{
    char text[INSTANT_HTTP_SIZE];

    instant_format_http(date, text);
    add_plain(out, open, bytes_of(text, INSTANT_HTTP_SIZE - 1), close);
}

/* Writes it without quotes, unlike the header and List Containers. semantics 5, Listing */
static void add_etag(struct text *out, struct etag etag)
{
    char text[ETAG_TEXT_SIZE];

    etag_format(etag, text);
    add_plain(out, "<Etag>", bytes_of(text + 1, strlen(text) - 2), "</Etag>");
}

static void add_md5(struct text *out, const struct http_properties *http)
{
    char text[BASE64_ENCODE_RAW_LENGTH(sizeof http->md5)];

    if (!http->has_md5) {
        text_add(out, bytes_from_string("<Content-MD5 />"));
        return;
    }
    base64_encode_raw(text, http->md5_size, http->md5);
    add_plain(out, "<Content-MD5>", bytes_of(text, (http->md5_size + 2u) / 3 * 4),
              "</Content-MD5>");
}

static void add_tier(struct text *out, const struct blob_view *view, const struct blob *blob)
{
    bool inferred = blob->tier == TIER_NONE;

    add_word(out, "<AccessTier>", access_tier_text(inferred ? TIER_HOT : blob->tier),
             "</AccessTier>");
    if (blob->rehydrates_to != TIER_NONE)
        add_word(out, "<ArchiveStatus>", archive_status_text(blob), "</ArchiveStatus>");
    if (blob->rehydrates_to != TIER_NONE && view->tag_count) /* since the same version */
        add_word(out, "<RehydratePriority>", blob->is_rehydrated_fast ? "High" : "Standard",
                 "</RehydratePriority>");
    if (inferred)
        text_add(out, bytes_from_string("<AccessTierInferred>true</AccessTierInferred>"));
    else if (blob->tier_changed > 0 && !tier_is_premium(blob->tier))
        add_date(out, "<AccessTierChangeTime>", blob->tier_changed, "</AccessTierChangeTime>");
}

static void add_copy(struct text *out, const struct copy_state *copy)
{
    char id[GUID_TEXT_SIZE];

    guid_format(&copy->id, id);
    add_word(out, "<CopyId>", id, "</CopyId>");
    xml_element(out, "CopySource", copy->source);
    add_word(out, "<CopyStatus>", copy_status_text(copy->status), "</CopyStatus>");
    text_printf(out, "<CopyProgress>%" PRIu64 "/%" PRIu64 "</CopyProgress>", copy->copied,
                copy->total);
    if (copy->completed > 0)
        add_date(out, "<CopyCompletionTime>", copy->completed, "</CopyCompletionTime>");
    if (copy->description.len > 0)
        xml_element(out, "CopyStatusDescription", copy->description);
}

/* The service sends CopyDestinationSnapshot (recorded); the definitions from which SDKs are
 * generated have DestinationSnapshot, which their newest versions read. decision: 242 */
static void add_incremental(struct text *out, const struct blob_view *view, const struct blob *blob)
{
    char date[INSTANT_ISO_SIZE];

    text_add(out, bytes_from_string("<IncrementalCopy>true</IncrementalCopy>"));
    if (!view->copy || blob->copy.status != COPY_SUCCESS)
        return;
    instant_format_iso(blob->incremental.snapshot, date);
    add_word(out, "<CopyDestinationSnapshot>", date, "</CopyDestinationSnapshot>");
    add_word(out, "<DestinationSnapshot>", date, "</DestinationSnapshot>");
}

/* Adds an element without a value, except for an empty path of a hierarchical account that was
 * created without bytes. decision: 43 */
static void add_crc64(struct text *out, const struct blob_view *view, const struct blob *blob)
{
    bool has_value = view->paths && blob->content.length == 0 && !blob->http.has_md5;

    text_add(out, has_value ? bytes_from_string("<Content-CRC64>AAAAAAAAAAA=</Content-CRC64>")
                            : bytes_from_string("<Content-CRC64 />"));
}

/* The access control list is that of the file or directory, and the default entries. */
static void add_permissions(struct text *out, const struct blob_view *view, const struct blob *blob)
{
    struct arena *arena = view->call->arena;
    struct posix_acl acl;

    if (!posix_acl_decode(blob->acl, blob->is_directory, &acl))
        posix_acl_init(&acl, blob->is_directory);
    xml_element(out, "Owner", acl.owner);
    xml_element(out, "Group", acl.group);
    xml_element(out, "Permissions", posix_mode_text(arena, &acl));
    xml_element(out, "Acl", posix_entries_text(arena, &acl.entries));
}

/* Adds what a blob with only uncommitted blocks does not have. */
static void add_committed_properties(struct text *out, const struct blob_view *view,
                                     const struct blob *blob)
{
    const struct http_properties *http = &blob->http;

    if (view->creation_time)
        add_date(out, "<Creation-Time>", blob->created, "</Creation-Time>");
    add_date(out, "<Last-Modified>", blob->modified, "</Last-Modified>");
    if (blob->deleted_path.ptr || blob->expiry.at > 0)
        add_date(out, "<Expiry-Time>",
                 blob->deleted_path.ptr ? blob->deletion.expires : blob->expiry.at,
                 "</Expiry-Time>");
    add_etag(out, blob->etag);
    if (view->permissions)
        add_permissions(out, view, blob);
    if (view->resource_type)
        add_word(out, "<ResourceType>", blob->is_directory ? "directory" : "file",
                 "</ResourceType>");
    xml_element_u64(out, "Content-Length", blob->content.length);
    xml_element(out, "Content-Type", http->content_type);
    xml_element(out, "Content-Encoding", http->content_encoding);
    xml_element(out, "Content-Language", http->content_language);
    if (view->crc64)
        add_crc64(out, view, blob);
    add_md5(out, http);
    xml_element(out, "Cache-Control", http->cache_control);
    xml_element(out, "Content-Disposition", http->content_disposition);
}

/* Adds the remaining whole days, as in the real service: right after the deletion one less than
 * the policy. */
static void add_deletion(struct text *out, const struct blob_view *view,
                         const struct blob_deletion *deletion)
{
    add_date(out, "<DeletedTime>", deletion->at, "</DeletedTime>");
    xml_element_u64(out, "RemainingRetentionDays", (deletion->expires - view->now) / TICKS_PER_DAY);
}

/* Adds the elements between name and properties, for snapshots and versions. */
static void add_ref(struct text *out, const struct blob_view *view, const struct blob *blob)
{
    instant version = view->versions ? blob_version_id(blob) : 0;
    char date[INSTANT_ISO_SIZE];

    if (blob->ref.kind == BLOB_SNAPSHOT) {
        instant_format_iso(blob->ref.at, date);
        add_word(out, "<Snapshot>", date, "</Snapshot>");
    }
    if (version == 0)
        return;
    instant_format_iso(version, date);
    add_word(out, "<VersionId>", date, "</VersionId>");
    if (blob_ref_is_base(blob->ref))
        text_add(out, bytes_from_string("<IsCurrentVersion>true</IsCurrentVersion>"));
}

/* Returns the last current version. */
static struct blob last_version(const struct blob *anchor)
{
    struct blob last = *anchor;

    last.uncommitted = false;
    last.is_version = false;
    last.modified = last.etag.v;
    last.content.length = last.last_length;
    return last;
}

static void add_policy(struct text *out, const struct blob_immutability *immutability)
{
    add_date(out, "<ImmutabilityPolicyUntilDate>", immutability->until,
             "</ImmutabilityPolicyUntilDate>");
    add_word(out, "<ImmutabilityPolicyMode>", policy_mode_text(immutability->mode),
             "</ImmutabilityPolicyMode>");
}

static void add_key(struct text *out, const struct blob_view *view,
                    const struct encryption *encryption)
{
    if (encryption->scope.len > 0)
        xml_element(out, "EncryptionScope", encryption->scope);
    else
        xml_element(
            out, "CustomerProvidedKeySha256",
            base64_encode(view->call->arena, bytes_of(encryption->key_hash, KEY_HASH_SIZE)));
}

static void add_properties(struct text *out, const struct blob_view *view, const struct blob *blob)
{
    bool is_base = blob_ref_is_base(blob->ref);
    bool tier = is_base ? view->tier : view->snapshot_tier;
    bool is_deleted = blob->deletion.at > 0;

    text_add(out, bytes_from_string("<Properties>"));
    if (blob->uncommitted && view->resource_type)
        text_add(out, bytes_from_string("<ResourceType>file</ResourceType>"));
    if (blob->uncommitted)
        xml_element_u64(out, "Content-Length", 0);
    else
        add_committed_properties(out, view, blob);
    if (blob->type == BLOB_PAGE)
        xml_element_u64(out, "x-ms-blob-sequence-number", blob->sequence_number);
    add_word(out, "<BlobType>", blob_type_text(blob->type), "</BlobType>");
    if (tier && (blob->type == BLOB_BLOCK || blob->tier != TIER_NONE))
        add_tier(out, view, blob);
    if (view->access_time && blob->accessed > 0)
        add_date(out, "<LastAccessTime>", blob->accessed, "</LastAccessTime>");
    if (is_base && !is_deleted)
        lease_xml(out, &blob->lease, view->now);
    else if (is_base && view->deleted_lease)
        text_add(out, bytes_from_string("<LeaseStatus />"));
    if (view->copy && blob->copy.status != COPY_NONE)
        add_copy(out, &blob->copy);
    if (blob->incremental.is_one && view->incremental)
        add_incremental(out, view, blob);
    if (view->encrypted)
        add_word(out, "<ServerEncrypted>", blob->uncommitted ? "false" : "true",
                 "</ServerEncrypted>");
    if (view->encryption && blob->encryption.has_key)
        add_key(out, view, &blob->encryption);
    if (view->policy && blob->immutability.mode != POLICY_NONE)
        add_policy(out, &blob->immutability);
    if (view->hold && blob->immutability.has_hold)
        text_add(out, bytes_from_string("<LegalHold>true</LegalHold>"));
    if (is_deleted)
        add_deletion(out, view, &blob->deletion);
    if (view->sealed && blob->is_sealed)
        text_add(out, bytes_from_string("<Sealed>true</Sealed>"));
    if (view->tag_count && blob->tags.len > 0)
        xml_element_u64(out, "TagCount", tags_count(blob->tags));
    text_add(out, bytes_from_string("</Properties>"));
}

static void add_entry(struct text *out, const struct blob_view *view, struct bytes name,
                      const struct blob *blob, bool has_versions_only)
{
    bool is_deleted = blob->deletion.at > 0;

    text_add(out, bytes_from_string("<Blob>"));
    listing_name(out, "Name", name);
    listing_url(out, view->call, view->container, name);
    if (blob->deleted_path.ptr)
        xml_element_u64(out, "DeletionId", deletion_id(blob->deletion.at));
    if (is_deleted && view->deleted_first)
        text_add(out, bytes_from_string("<Deleted>true</Deleted>"));
    if (has_versions_only)
        text_add(out, bytes_from_string("<HasVersionsOnly>true</HasVersionsOnly>"));
    add_ref(out, view, blob);
    if (is_deleted && !view->deleted_first)
        text_add(out, bytes_from_string("<Deleted>true</Deleted>"));
    add_properties(out, view, blob);
    if (view->metadata && blob->metadata_is_encrypted) /* rest: List-Blobs */
        text_add(out, bytes_from_string("<Metadata Encrypted=\"true\" />"));
    else if (view->metadata)
        metadata_xml(out, blob_shown_metadata(view->call->arena, blob));
    if (view->tags && blob->tags.len > 0)
        tags_xml(out, blob->tags);
    if (view->or_metadata) /* of object replication */
        text_add(out, bytes_from_string("<OrMetadata />"));
    text_add(out, bytes_from_string("</Blob>"));
}

void blob_entry_xml(struct text *out, const struct blob_view *view, struct bytes name,
                    const struct blob *blob)
{
    struct blob last;
    bool is_last = view->versions_only && blob_has_versions_only(blob);

    if (is_last)
        last = last_version(blob);
    add_entry(out, view, name, is_last ? &last : blob, is_last);
}

void blob_prefix_xml(struct text *out, const struct blob_view *view, struct bytes prefix,
                     const struct blob *directory)
{
    text_add(out, bytes_from_string("<BlobPrefix>"));
    listing_name(out, "Name", prefix);
    if (directory && view->directories)
        add_properties(out, view, directory);
    else if (!directory && view->placeholders)
        text_add(out, bytes_from_string("<Properties><ResourceType>directory</ResourceType>"
                                        "<Placeholder>true</Placeholder></Properties>"));
    text_add(out, bytes_from_string("</BlobPrefix>"));
}
