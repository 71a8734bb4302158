/* Requests and responses of the operations on blobs of every type, and the headers that describe a
 * blob. */
#include "base/encode.h"
#include "blob/access_control_operations.h"
#include "blob/blob_operations.h"
#include "blob/container_operations.h"
#include "blob/kept_paths.h"
#include "blob/rest/request.h"
#include "service/answer.h"
#include "service/metadata.h"

#include <inttypes.h>

/* ---- headers that describe a blob ---- */

/* Adds the headers for snapshots and versions. Lease headers are only sent for a base that was
 * requested only by its name, as in the real service. */
static void answer_ref(struct answer *a, const struct blob *blob)
{
    blob_answer_version(a, blob_version_id(blob));
    if (blob_ref_is_base(blob->ref)) {
        if (blob->is_version && call_since(a->call, "2019-12-12"))
            answer_string(a, "x-ms-is-current-version", "true");
        if (blob_ref_is_base(blob_resource(a->call->input.resource)->ref))
            answer_lease(a, &blob->lease);
        return;
    }
    /* In this version only, as in the real service. decision: 32 */
    if (blob->ref.kind == BLOB_SNAPSHOT && bytes_is(a->call->version, "2018-11-09"))
        answer_iso_date(a, "x-ms-snapshot", blob->ref.at);
}

/* Adds the type and the headers that only this type has. */
static void answer_type(struct answer *a, const struct blob *blob)
{
    answer_string(a, "x-ms-blob-type", blob_type_text(blob->type));
    if (blob->type == BLOB_PAGE)
        answer_u64(a, "x-ms-blob-sequence-number", blob->sequence_number);
    if (blob->type != BLOB_APPEND)
        return;
    answer_u64(a, "x-ms-blob-committed-block-count", blob->committed_blocks);
    if (blob->is_sealed && call_since(a->call, "2019-12-12"))
        answer_string(a, "x-ms-blob-sealed", "true");
}

/* rest: Get-Blob-Properties "x-ms-incremental-copy" */
static void answer_incremental(struct answer *a, const struct blob *blob)
{
    if (!blob->incremental.is_one || !call_since(a->call, "2016-05-31"))
        return;
    answer_string(a, "x-ms-incremental-copy", "true");
    if (blob->copy.status == COPY_SUCCESS)
        answer_iso_date(a, "x-ms-copy-destination-snapshot", blob->incremental.snapshot);
}

void blob_answer_http_properties(struct answer *a, const struct blob *blob)
{
    answer_http_properties(a, &blob->http);
    answer_string(a, "Accept-Ranges", "bytes");
}

void blob_answer_properties(struct answer *a, const struct blob *blob)
{
    blob_answer_http_properties(a, blob);
    metadata_answer(a, blob_shown_metadata(a->arena, blob));
    answer_type(a, blob);
    if (call_since(a->call, "2020-06-12")) /* recorded */
        answer_access_control(a, blob);
    answer_expiry(a, blob);
    if (call_since(a->call, "2020-06-12"))
        answer_policy(a, &blob->immutability);
    if (blob->accessed > 0 && a->call->input.tracks_access)
        answer_date(a, "x-ms-last-access-time", blob->accessed);
    if (blob->encryption_context.ptr)
        answer_header(a, "x-ms-encryption-context", blob->encryption_context);
    if (account_is_hierarchical(a->call->account) && call_since(a->call, "2020-10-02"))
        answer_string(a, "x-ms-resource-type", blob->is_directory ? "directory" : "file");
    if (blob->tags.len > 0 && call_since(a->call, "2019-12-12"))
        answer_u64(a, "x-ms-tag-count", tags_count(blob->tags));
    answer_copy(a, &blob->copy);
    answer_incremental(a, blob);
    answer_ref(a, blob);
    if (call_since(a->call, "2015-12-11"))
        answer_string(a, "x-ms-server-encrypted", "true");
    if (blob->encryption.has_key)
        answer_key(a, blob->encryption.scope, blob->encryption.key_hash);
    if (call_since(a->call, "2017-11-09"))
        answer_date(a, "x-ms-creation-time", blob->created);
}

/* Snapshots have their own tier since 2019-12-12; recorded responses of earlier versions have none.
 * Append and page blobs have none since 2019-02-02. decision: 76 */
void blob_answer_tier(struct answer *a, const struct blob *blob)
{
    if (blob->type != BLOB_BLOCK && blob->tier == TIER_NONE && call_since(a->call, "2019-02-02"))
        return;
    if (!call_since(a->call, blob_ref_is_base(blob->ref) ? "2017-04-17" : "2019-12-12"))
        return;
    if (blob->tier == TIER_NONE) {
        answer_string(a, "x-ms-access-tier", access_tier_text(TIER_HOT));
        answer_string(a, "x-ms-access-tier-inferred", "true");
        return;
    }
    answer_string(a, "x-ms-access-tier", access_tier_text(blob->tier));
    if (!tier_is_premium(blob->tier)) /* "if the tier of a block blob was ever set"; recorded */
        answer_date(a, "x-ms-access-tier-change-time", blob->tier_changed);
    if (blob->rehydrates_to == TIER_NONE)
        return;
    answer_string(a, "x-ms-archive-status", archive_status_text(blob));
    if (call_since(a->call, "2019-12-12"))
        answer_string(a, "x-ms-rehydrate-priority", blob->is_rehydrated_fast ? "High" : "Standard");
}

/* ---- Get Blob Properties ---- */

enum error get_blob_properties_check(struct call *call, struct get_blob_properties_parameters *p)
{
    (void)p;
    return blob_read_key(call, REQUEST_READ, KEY_READS);
}

/* rest: Get-Blob-Properties */
void get_blob_properties_answer(struct answer *a, const struct get_blob_properties_parameters *p,
                                const struct get_blob_properties_result *r)
{
    const struct blob *blob = &r->blob;

    (void)p;
    answer_http_md5(a, "Content-MD5", &blob->http);
    blob_answer_properties(a, blob);
    blob_answer_tier(a, blob);
    a->response->body_length = blob->content.length;
}

/* ---- Set Blob Properties ---- */

static enum error read_action(struct call *call, enum sequence_action *ret_action)
{
    static const char name[] = "x-ms-sequence-number-action";
    static const char *const words[] = {
        [SEQUENCE_MAX] = "max", [SEQUENCE_UPDATE] = "update", [SEQUENCE_INCREMENT] = "increment"
    };
    struct bytes text = call_header(call, name);

    *ret_action = SEQUENCE_KEPT;
    if (!text.ptr)
        return OK;
    for (enum sequence_action action = SEQUENCE_MAX; action <= SEQUENCE_INCREMENT; action++) {
        if (bytes_is_nocase(text, words[action])) {
            *ret_action = action;
            return OK;
        }
    }
    return call_fail_header(call, E_InvalidHeaderValue, name, text);
}

/* The number is required by the actions that use one, and refused by the others. */
static enum error read_sequence_number(struct call *call, struct set_blob_properties_parameters *p)
{
    static const char name[] = "x-ms-blob-sequence-number";
    bool has, needs;
    enum error e = read_action(call, &p->action);

    if (!e)
        e = call_read_number(call, name, SEQUENCE_NUMBER_MAX, &has, &p->sequence_number);
    if (e)
        return e;
    needs = p->action == SEQUENCE_MAX || p->action == SEQUENCE_UPDATE;
    if (needs && !has)
        return call_fail_header(call, E_MissingRequiredHeader, name, bytes_of(NULL, 0));
    if (has && p->action == SEQUENCE_KEPT)
        return call_fail_header(call, E_MissingRequiredHeader, "x-ms-sequence-number-action",
                                bytes_of(NULL, 0));
    if (has && !needs)
        return call_fail_header(call, E_InvalidHeaderValue, name, call_header(call, name));
    return OK;
}

/* rest: Set-Blob-Properties */
enum error set_blob_properties_check(struct call *call, struct set_blob_properties_parameters *p)
{
    enum error e = blob_read_key(call, REQUEST_CHANGE, KEY_CHECKS);

    if (!e)
        e = blob_parse_page_length(call, &p->has_length, &p->length);
    if (!e)
        e = read_sequence_number(call, p);
    if (e)
        return e;
    p->keeps_http = (p->has_length || p->action != SEQUENCE_KEPT) &&
                    !http_properties_are_sent(call, HTTP_HEADERS_OF_BLOB);
    return blob_parse_http_properties(call, STANDARD_IGNORED, &p->http);
}

void set_blob_properties_answer(struct answer *a, const struct set_blob_properties_parameters *p,
                                const struct set_blob_properties_result *r)
{
    (void)p;
    if (r->is_page_blob)
        answer_u64(a, "x-ms-blob-sequence-number", r->sequence_number);
}

/* ---- metadata ---- */

enum error get_blob_metadata_check(struct call *call, struct get_blob_metadata_parameters *p)
{
    (void)p;
    return blob_read_key(call, REQUEST_READ, KEY_READS);
}

/* rest: Get-Blob-Metadata */
void get_blob_metadata_answer(struct answer *a, const struct get_blob_metadata_parameters *p,
                              const struct get_blob_metadata_result *r)
{
    (void)p;
    metadata_answer(a, r->metadata);
}

enum error set_blob_metadata_check(struct call *call, struct set_blob_metadata_parameters *p)
{
    enum error e = blob_read_key(call, REQUEST_CHANGE, KEY_WRITES);

    return e ? e : metadata_from_headers(call, &p->metadata);
}

/* rest: Set-Blob-Metadata */
void set_blob_metadata_answer(struct answer *a, const struct set_blob_metadata_parameters *p,
                              const struct set_blob_metadata_result *r)
{
    (void)p;
    blob_answer_version(a, r->version);
    blob_answer_encrypted(a, true);
}

/* ---- Lease Blob and Lease Container. rest: Lease-Blob, Lease-Container ---- */

/* Requires write permission to break a lease with a SAS older than this version; since then the
 * delete permission in `sp` suffices. rest: Version-2017-07-29 */
static void demand_write(struct call *call)
{
    const struct identity *identity = &call->input.identity;
    bool is_old = bytes_compare(call_query(call, "sv"), bytes_from_string("2017-07-29")) < 0;

    if (identity->kind == IDENTITY_SAS && identity->sas->permissions.ptr && is_old)
        call->input.demands.letters = call->input.demands.letters ? "tw" : "w";
}

static enum error read_request(struct call *call, struct lease_request *ret_request)
{
    enum error e = blob_refuse_unbuilt(call, REQUEST_LEASE);

    demand_write(call);
    return e ? e : lease_read_request(call, ret_request);
}

enum error lease_blob_check(struct call *call, struct lease_blob_parameters *p)
{
    return read_request(call, &p->request);
}

void lease_blob_answer(struct answer *a, const struct lease_blob_parameters *p,
                       const struct lease_blob_result *r)
{
    (void)p;
    answer_lease_outcome(a, &r->lease, &r->id);
}

enum error lease_container_check(struct call *call, struct lease_container_parameters *p)
{
    return read_request(call, &p->request);
}

void lease_container_answer(struct answer *a, const struct lease_container_parameters *p,
                            const struct lease_container_result *r)
{
    (void)p;
    answer_lease_outcome(a, &r->lease, &r->id);
}

/* ---- Snapshot Blob. rest: Snapshot-Blob ---- */

enum error snapshot_blob_check(struct call *call, struct snapshot_blob_parameters *p)
{
    enum error e = blob_read_key(call, REQUEST_CHANGE, KEY_WRITES);

    return e ? e : metadata_from_headers(call, &p->metadata);
}

void snapshot_blob_answer(struct answer *a, const struct snapshot_blob_parameters *p,
                          const struct snapshot_blob_result *r)
{
    answer_iso_date(a, "x-ms-snapshot", r->snapshot);
    blob_answer_version(a, r->version);
    /* Recorded: true only if the snapshot has its own metadata. decision: 43 */
    if (call_since(a->call, "2018-11-09"))
        answer_string(a, "x-ms-request-server-encrypted", p->metadata.len > 0 ? "true" : "false");
}

/* ---- Set Blob Tier. rest: Set-Blob-Tier ---- */

enum error set_blob_tier_check(struct call *call, struct set_blob_tier_parameters *p)
{
    enum error e = blob_refuse_unbuilt(call, REQUEST_TIER);

    if (!e)
        e = blob_parse_any_tier(call, &p->tier);
    if (e)
        return e;
    if (p->tier == TIER_NONE)
        return call_fail_header(call, E_MissingRequiredHeader, "x-ms-access-tier",
                                bytes_of(NULL, 0));
    return blob_parse_rehydration(call, &p->rehydration);
}

void set_blob_tier_answer(struct answer *a, const struct set_blob_tier_parameters *p,
                          const struct set_blob_tier_result *r)
{
    (void)p;
    if (r->is_pending)
        answer_status(a, 202);
}

/* ---- Delete Blob and Undelete Blob. rest: Delete-Blob, Undelete-Blob ---- */

/* ---- Delete Blob ---- */

/* The value "permanent" selects another operation. */
static enum error check_delete_type(struct call *call)
{
    struct bytes type = call_query(call, "deletetype");

    return type.ptr ? call_fail_query(call, E_InvalidQueryParameterValue, "deletetype", type,
                                      "The only value is permanent.")
                    : OK;
}

enum error delete_blob_check(struct call *call, struct delete_blob_parameters *p)
{
    static const char name[] = "x-ms-delete-snapshots";
    struct bytes text = call_header(call, name);
    enum error e = blob_refuse_unbuilt(call, REQUEST_DELETE);

    if (!e)
        e = check_delete_type(call);
    if (e)
        return e;
    if (text.len == 0)
        p->snapshots = SNAPSHOTS_REFUSED;
    else if (bytes_is_nocase(text, "include"))
        p->snapshots = SNAPSHOTS_INCLUDED;
    else if (bytes_is_nocase(text, "only"))
        p->snapshots = SNAPSHOTS_ONLY;
    else
        return call_fail_header(call, E_InvalidHeaderValue, name, text);
    if (!blob_ref_is_base(blob_resource(call->input.resource)->ref) &&
        p->snapshots != SNAPSHOTS_REFUSED)
        return E_InvalidOperation;
    return OK;
}

static void answer_delete_type(struct answer *a, bool is_permanent)
{
    if (call_since(a->call, "2017-07-29"))
        answer_string(a, "x-ms-delete-type-permanent", is_permanent ? "true" : "false");
}

void delete_blob_answer(struct answer *a, const struct delete_blob_parameters *p,
                        const struct delete_blob_result *r)
{
    (void)p;
    answer_delete_type(a, !r->is_kept);
}

/* ---- permanent deletion ---- */

enum error delete_blob_permanently_check(struct call *call,
                                         struct delete_blob_permanently_parameters *p)
{
    struct bytes snapshots = call_header(call, "x-ms-delete-snapshots");
    enum error e = blob_refuse_unbuilt(call, REQUEST_DELETE);

    (void)p;
    if (!e && snapshots.ptr)
        e = call_fail_header(call, E_InvalidHeaderValue, "x-ms-delete-snapshots", snapshots);
    return e;
}

void delete_blob_permanently_answer(struct answer *a,
                                    const struct delete_blob_permanently_parameters *p,
                                    const struct delete_blob_permanently_result *r)
{
    (void)p;
    (void)r;
    answer_delete_type(a, true);
}

/* ---- Undelete Blob ---- */

/* Returns true for the path of the request, which most clients leave out. */
static bool is_own_path(const struct call *call, struct bytes path)
{
    const struct bytes own = blob_resource(call->input.resource)->blob;

    return path.len == 0 || (blob_decode_path(call->arena, &path) && bytes_equal(path, own));
}

/* Reads "path?deletionid=N", which names a deletion in an account with a hierarchical namespace. */
enum error undelete_blob_check(struct call *call, struct undelete_blob_parameters *p)
{
    static const char name[] = "x-ms-undelete-source";
    static const struct bytes parameter = BYTES("deletionid=");
    const struct bytes source = call_header(call, name);
    struct bytes path, query;
    uint64_t id;
    enum error e = blob_refuse_unbuilt(call, REQUEST_UNDELETE);

    if (e || source.len == 0)
        return e;
    if (!account_is_hierarchical(call->account))
        return call_fail_header(call, E_UnsupportedHeader, name, source);
    bytes_cut(source, '?', &path, &query);
    if (!is_own_path(call, path) || !bytes_has_prefix(query, parameter) ||
        !bytes_parse_u64(bytes_from(query, parameter.len), INSTANT_MAX - DELETION_ID_START, &id) ||
        id == 0)
        return call_fail_header(call, E_InvalidHeaderValue, name, source);
    p->deleted = DELETION_ID_START + id;
    return OK;
}

/* As recorded: test_file_system.test_undelete_dir_with_version_id. */
void undelete_blob_answer(struct answer *a, const struct undelete_blob_parameters *p,
                          const struct undelete_blob_result *r)
{
    (void)p;
    if (!account_is_hierarchical(a->call->account))
        return;
    answer_string(a, "x-ms-resource-type", r->blob.is_directory ? "directory" : "file");
    answer_date(a, "x-ms-creation-time", r->blob.created);
}
