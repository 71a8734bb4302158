/* Operations on shares: requests and responses. */
#include "file/rest/request.h"
#include "properties/metadata_acl.h"
#include "properties/properties_xml.h"
#include "service/answer.h"
#include "service/listing_xml.h"
#include "service/metadata.h"

#include <inttypes.h>

const struct container_type share_container = {
    .metadata = offsetof(struct file_state, share.metadata),
    .policies = offsetof(struct file_state, share.policies),
    .write = share_write_state,
    .check = refuse_share_snapshot,
    .letters = { .known = "rcwdl" },
};

/* ---- properties ---- */

static const char *const tiers[] = {
    [SHARE_TRANSACTION_OPTIMIZED] = "TransactionOptimized",
    [SHARE_HOT] = "Hot",
    [SHARE_COOL] = "Cool",
};

/* Returns the name of a tier, "TransactionOptimized" for example. Static. */
static const char *share_tier_text(enum share_tier tier)
{
    return tiers[tier];
}

/* Moving a share to or from transaction optimized takes as long as rehydrating a blob. Moving
 * between hot and cool is immediate. decision: 876 */
static const char *share_transition_text(const struct call *call, const struct share *share,
                                         instant now)
{
    static const char *const pending[] = {
        [SHARE_TRANSACTION_OPTIMIZED] = "pending-from-transactionOptimized",
        [SHARE_HOT] = "pending-from-hot",
        [SHARE_COOL] = "pending-from-cool",
    };
    bool takes_time = share->has_moved && (share->tier == SHARE_TRANSACTION_OPTIMIZED ||
                                           share->moved_from == SHARE_TRANSACTION_OPTIMIZED);
    bool is_pending = takes_time && now < share->tier_changed + call->rehydrates_ticks;

    return is_pending ? pending[share->moved_from] : NULL;
}

/* Rejects headers of premium and NFS shares, which are not supported.
 * decision: 323 */
static enum error refuse_unbuilt(struct call *call)
{
    static const char *const names[] = {
        "x-ms-root-squash",
        "x-ms-enable-snapshot-virtual-directory-access",
        "x-ms-enable-smb-directory-lease",
        "x-ms-share-paid-bursting-enabled",
        "x-ms-share-paid-bursting-max-bandwidth-mibps",
        "x-ms-share-paid-bursting-max-iops",
        "x-ms-share-provisioned-iops",
        "x-ms-share-provisioned-bandwidth-mibps",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0] && !call->loose; i++) {
        if (call_header(call, names[i]).ptr)
            return call_fail_header(call, E_UnsupportedHeader, names[i],
                                    call_header(call, names[i]));
    }
    return OK;
}

/* rest: Create-Share, "x-ms-share-quota" */
static enum error read_quota(struct call *call, bool *ret_has, uint32_t *ret_gib)
{
    static const char name[] = "x-ms-share-quota";
    struct bytes text = call_header(call, name);
    uint64_t gib;

    *ret_has = text.ptr != NULL;
    if (!text.ptr)
        return OK;
    if (!bytes_parse_u64(text, SHARE_QUOTA_MAX_GIB, &gib) || gib == 0)
        return call_fail_header(call, E_InvalidHeaderValue, name, text);
    *ret_gib = (uint32_t)gib;
    return OK;
}

/* rest: Create-Share, "x-ms-access-tier"; Premium is for other account types, as in the real
 * service */
static enum error read_tier(struct call *call, bool *ret_has, enum share_tier *ret_tier)
{
    static const char name[] = "x-ms-access-tier";
    struct bytes text = call_header(call, name);

    *ret_has = text.ptr != NULL;
    if (!text.ptr)
        return OK;
    for (size_t i = 0; i < sizeof tiers / sizeof tiers[0]; i++) {
        if (bytes_is_nocase(text, tiers[i])) {
            *ret_tier = (enum share_tier)i;
            return OK;
        }
    }
    return call_fail_header(call, E_InvalidHeaderValue, name, text);
}

/* ---- Create Share ---- */

/* rest: Create-Share, "x-ms-enabled-protocols" */
static enum error check_protocols(struct call *call)
{
    static const char name[] = "x-ms-enabled-protocols";
    struct bytes text = call_header(call, name);

    if (text.ptr && !bytes_is_nocase(text, "SMB"))
        return call_fail_header(call, E_InvalidHeaderValue, name, text);
    return OK;
}

enum error create_share_check(struct call *call, struct create_share_parameters *p)
{
    bool has_quota, has_tier;
    enum error e = refuse_share_snapshot(call);

    if (!e)
        e = refuse_unbuilt(call);
    if (!e)
        e = check_protocols(call);
    p->quota_gib = SHARE_QUOTA_DEFAULT_GIB;
    if (!e)
        e = read_quota(call, &has_quota, &p->quota_gib);
    if (!e)
        e = read_tier(call, &has_tier, &p->tier);
    p->space = guid_new();
    return e ? e : metadata_from_headers(call, &p->metadata);
}

OPERATION_ANSWERS_NOTHING(create_share)

/* ---- Get and Set Share Properties ---- */

OPERATION_CHECKS_NOTHING(get_share_properties)

/* Sends headers only to the versions that have them, as in the real service. rest:
 * Get-Share-Properties; semantics 8.1 */
void get_share_properties_answer(struct answer *a, const struct get_share_properties_parameters *p,
                                 const struct get_share_properties_result *r)
{
    const struct share *share = &r->share;
    const char *transition = share_transition_text(a->call, share, a->now);

    (void)p;
    metadata_answer(a, share->metadata);
    answer_u64(a, "x-ms-share-quota", share->quota_gib);
    if (call_since(a->call, "2017-11-09")) {
        answer_string(a, "x-ms-has-immutability-policy", "false");
        answer_string(a, "x-ms-has-legal-hold", "false");
    }
    if (call_since(a->call, "2019-12-12")) {
        answer_string(a, "x-ms-access-tier", share_tier_text(share->tier));
        answer_date(a, "x-ms-access-tier-change-time", share->tier_changed);
        if (transition)
            answer_string(a, "x-ms-access-tier-transition-state", transition);
    }
    if (call_since(a->call, "2020-02-10"))
        answer_lease(a, &share->lease);
}

enum error set_share_properties_check(struct call *call, struct set_share_properties_parameters *p)
{
    enum error e = refuse_share_snapshot(call);

    if (!e)
        e = refuse_unbuilt(call);
    if (!e)
        e = read_quota(call, &p->has_quota, &p->quota_gib);
    return e ? e : read_tier(call, &p->has_tier, &p->tier);
}

OPERATION_ANSWERS_NOTHING(set_share_properties)

/* ---- Get Share Stats ---- */

enum error get_share_stats_check(struct call *call, struct get_share_stats_parameters *p)
{
    (void)p;
    return refuse_share_snapshot(call);
}

/* Formats the usage; older versions have it in GiB, rounded up. rest: Get-Share-Stats */
void get_share_stats_answer(struct answer *a, const struct get_share_stats_parameters *p,
                            const struct get_share_stats_result *r)
{
    struct text out;

    (void)p;
    text_init(&out, a->arena, 128);
    xml_begin(&out);
    xml_open(&out, "ShareStats");
    if (call_since(a->call, "2018-11-09"))
        xml_element_u64(&out, "ShareUsageBytes", r->used_bytes);
    else
        xml_element_u64(&out, "ShareUsage",
                        r->used_bytes / (1u << 30) + (r->used_bytes % (1u << 30) > 0));
    xml_close(&out, "ShareStats");
    answer_xml(a, &out);
}

/* ---- Lease Share ---- */

enum error lease_share_check(struct call *call, struct lease_share_parameters *p)
{
    return lease_read_request(call, &p->request);
}

void lease_share_answer(struct answer *a, const struct lease_share_parameters *p,
                        const struct lease_share_result *r)
{
    answer_lease_outcome(a, &r->lease, &r->id);
    if (p->request.action == LEASE_RELEASE) /* as recorded for shares. decision: 857 */
        answer_u64(a, "x-ms-lease-time", 0);
}

/* ---- Snapshot Share ---- */

enum error snapshot_share_check(struct call *call, struct snapshot_share_parameters *p)
{
    enum error e = refuse_share_snapshot(call);

    return e ? e : metadata_from_headers(call, &p->metadata);
}

void snapshot_share_answer(struct answer *a, const struct snapshot_share_parameters *p,
                           const struct snapshot_share_result *r)
{
    (void)p;
    answer_iso_date(a, "x-ms-snapshot", r->snapshot);
}

/* ---- Delete Share ---- */

/* Rejects x-ms-delete-snapshots for a snapshot. rest: Delete-Share */
enum error delete_share_check(struct call *call, struct delete_share_parameters *p)
{
    static const char name[] = "x-ms-delete-snapshots";
    struct bytes text = call_header(call, name);

    if (bytes_is_nocase(text, "include"))
        p->snapshots = SNAPSHOTS_DELETED;
    else if (bytes_is_nocase(text, "include-leased"))
        p->snapshots = SNAPSHOTS_DELETED_LEASED;
    else if (text.ptr)
        return call_fail_header(call, E_InvalidHeaderValue, name, text);
    if (text.ptr && file_resource(call->input.resource)->snapshot > 0)
        return call_fail_header(call, E_InvalidHeaderValue, name, text);
    return OK;
}

OPERATION_ANSWERS_NOTHING(delete_share)

/* ---- Restore Share ---- */

enum error restore_share_check(struct call *call, struct restore_share_parameters *p)
{
    enum error e = refuse_share_snapshot(call);

    return e ? e
             : restore_headers_check(call, "share", file_resource(call->input.resource)->share,
                                     &p->deleted);
}

OPERATION_ANSWERS_NOTHING(restore_share)

/* ---- List Shares: request and XML response. rest: List-Shares; semantics 8.1 ---- */

enum { INCLUDE_METADATA = 1 << 0, INCLUDE_SNAPSHOTS = 1 << 1, INCLUDE_DELETED = 1 << 2 };
static const char *const include_names[] = { "metadata", "snapshots", "deleted", NULL };

/* ---- the page, with elements in the recorded order ---- */

static void add_lease(struct listing_page *page, struct share_key key, const struct share *share)
{
    if (key.deleted == 0)
        lease_xml(&page->out, &share->lease, page->now);
    else
        deleted_lease_xml(&page->out);
}

static void add_properties(struct listing_page *page, struct share_key key,
                           const struct share *share)
{
    const struct call *call = page->call;
    struct text *out = &page->out;
    const char *transition = share_transition_text(call, share, page->now);
    char etag[ETAG_TEXT_SIZE];

    etag_format(share->etag, etag);
    xml_open(out, "Properties");
    xml_element_http_date(out, "Last-Modified", share->modified);
    text_printf(out, "<Etag>%s</Etag>", etag); /* quoted, not escaped */
    if (call_since(call, "2020-02-10"))
        add_lease(page, key, share);
    xml_element_u64(out, "Quota", share->quota_gib);
    if (call_since(call, "2019-12-12")) {
        xml_element_string(out, "AccessTier", share_tier_text(share->tier));
        xml_element_http_date(out, "AccessTierChangeTime", share->tier_changed);
        if (transition)
            xml_element_string(out, "AccessTierTransitionState", transition);
        xml_element_string(out, "DefaultEncryptionScope", "$account-encryption-key");
        xml_element_string(out, "DenyEncryptionScopeOverride", "false");
    }
    if (key.deleted > 0)
        deleted_days_xml(out, key.deleted, share->expires, page->now);
    xml_close(out, "Properties");
}

/* Returns true if the record is listed. Leaves out soft-deleted shares whose retention has
 * expired, even if their task has not run yet. */
static bool shows_share(const struct listing_page *page, const struct space_record *at)
{
    unsigned include = page->listing->include;
    struct share_key key;
    struct share share;

    if (!share_decode(at->record_key, at->value, &share, &key))
        return true;
    return (key.snapshot == 0 || (include & INCLUDE_SNAPSHOTS)) &&
           (key.deleted == 0 || ((include & INCLUDE_DELETED) && share.expires > page->now));
}

static bool add_share(struct listing_page *page, const struct space_record *at)
{
    struct text *out = &page->out;
    struct share_key key;
    struct share share;

    if (!share_decode(at->record_key, at->value, &share, &key))
        return false;
    xml_open(out, "Share");
    xml_element(out, "Name", at->partition_key);
    if (key.snapshot > 0)
        xml_element_iso_date(out, "Snapshot", key.snapshot);
    if (key.deleted > 0)
        deleted_version_xml(out, key.deleted);
    add_properties(page, key, &share);
    if (page->listing->include & INCLUDE_METADATA)
        metadata_xml(out, share.metadata);
    xml_close(out, "Share");
    return true;
}

/* ---- markers: the name of a share. To distinguish its records, it is followed by the date of a
 * snapshot or "-" for the share itself, and for a deleted share by "/VERSION" ---- */

static struct bytes mark(struct listing_page *page, struct bytes record_key)
{
    struct arena *arena = page->out.arena;
    char date[INSTANT_ISO_SIZE] = "-";
    struct share_key key = share_itself;

    (void)share_key_read(record_key, &key);
    if (key.snapshot == 0 && key.deleted == 0 &&
        !(page->listing->include & (INCLUDE_SNAPSHOTS | INCLUDE_DELETED)))
        return (struct bytes){ NULL, 0 };
    if (key.snapshot > 0)
        instant_format_iso(key.snapshot, date);
    if (key.deleted == 0)
        return arena_printf(arena, "%s", date);
    return arena_printf(arena, "%s/%.*s", date,
                        BYTES_ARG(deleted_version_text(arena, key.deleted)));
}

static bool read_mark(struct arena *arena, struct bytes text, struct bytes *ret_record_key)
{
    struct share_key key = share_itself;
    struct bytes date, version;

    bytes_cut(text, '/', &date, &version);
    if (version.ptr && !deleted_version_parse(version, &key.deleted))
        return false;
    if (!bytes_is(date, "-") && (!instant_parse_iso(date, &key.snapshot) || key.snapshot == 0))
        return false;
    *ret_record_key = share_record_key(arena, key);
    return true;
}

/* ---- the functions ---- */

enum error list_shares_check(struct call *call, struct list_shares_parameters *p)
{
    static const struct listing_form form = { .include_names = include_names,
                                              .list = "Shares",
                                              .shows = shows_share,
                                              .add = add_share,
                                              .mark = mark,
                                              .read_mark = read_mark };

    return listing_page_begin(call, &form, &p->listing, &p->from, &p->sink);
}

void list_shares_answer(struct answer *a, const struct list_shares_parameters *p,
                        const struct list_shares_result *r)
{
    listing_page_answer(a, p->sink, &r->next);
}
