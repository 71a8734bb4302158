/* Parses headers common to several blob operations, and refuses features that are not
 * implemented. */
#include "blob/rest/request.h"

#include "base/encode.h"

#include <inttypes.h>

/* ---- features that are not implemented ---- */

/* Requests with a body, requests that name a source, and all that write bytes. */
#define REQUEST_BODIES       (REQUEST_CREATE | REQUEST_BLOCK | REQUEST_APPEND | REQUEST_PAGES)
#define REQUEST_COPIES       (REQUEST_COPY | REQUEST_COPY_BLOB)
#define REQUEST_SOURCES      (REQUEST_COPIES | REQUEST_APPEND_FROM | REQUEST_PAGES_FROM)
#define REQUEST_WRITES       (REQUEST_BODIES | REQUEST_SOURCES)
/* Requests with append and with sequence number conditions. */
#define REQUEST_APPENDS      ((unsigned)REQUEST_APPEND | REQUEST_APPEND_FROM)
#define REQUEST_PAGED        ((unsigned)REQUEST_PAGES | REQUEST_PAGES_FROM)
/* Headers that are supported if the operation has read the request's scope or key, or that of its
 * source. */
#define REQUEST_SCOPED       (1u << 29)
#define REQUEST_KEYED        (1u << 30)
#define REQUEST_SOURCE_KEYED (1u << 31)
#define REQUEST_ANY                                                                                \
    (REQUEST_READ | REQUEST_WRITES | REQUEST_CHANGE | REQUEST_DELETE | REQUEST_LEASE |             \
     REQUEST_TIER | REQUEST_UNDELETE | REQUEST_TAGS | REQUEST_POLICY)

static const struct unbuilt {
    struct bytes name; /* a literal, so it ends with a NUL */
    unsigned kinds;    /* REQUEST_ bits of the requests that it would affect */
} unbuilt_headers[] = {
    /* Some operations read a key first. An algorithm without a key has no effect.
     * rest: Encryption-at-rest; Encryption-Scopes; decision: 1272 */
    { BYTES("x-ms-encryption-key"), REQUEST_ANY | REQUEST_KEYED },
    { BYTES("x-ms-encryption-key-sha256"), REQUEST_ANY | REQUEST_KEYED },
    { BYTES("x-ms-encryption-scope"), REQUEST_ANY | REQUEST_SCOPED },
    { BYTES("x-ms-encryption-scope"), REQUEST_COPY_BLOB }, /* reads only that of its SAS */
    { BYTES("x-ms-rehydrate-priority"), REQUEST_CREATE | REQUEST_COPY },
    /* Copies have operations of their own: other requests have no source. */
    { BYTES("x-ms-source-if-match"), REQUEST_BODIES },
    { BYTES("x-ms-source-if-none-match"), REQUEST_BODIES },
    { BYTES("x-ms-source-if-modified-since"), REQUEST_BODIES },
    { BYTES("x-ms-source-if-unmodified-since"), REQUEST_BODIES },
    { BYTES("x-ms-source-if-tags"), REQUEST_BODIES },
    { BYTES("x-ms-expiry-option"), REQUEST_CREATE | REQUEST_COPIES },
    { BYTES("x-ms-expiry-time"), REQUEST_CREATE | REQUEST_COPIES },
    { BYTES("x-ms-source-encryption-key"), REQUEST_ANY | REQUEST_SOURCE_KEYED },
    { BYTES("x-ms-source-encryption-key-sha256"), REQUEST_ANY | REQUEST_SOURCE_KEYED },
    { BYTES("x-ms-source-encryption-algorithm"), REQUEST_SOURCES | REQUEST_SOURCE_KEYED },
    { BYTES("x-ms-source-lease-id"), REQUEST_SOURCES }, /* refused since 2012-02-12 */
    { BYTES("x-ms-file-request-intent"), REQUEST_SOURCES },
    { BYTES("x-ms-seal-blob"), REQUEST_COPY },
    /* Conditions of other operations: ignoring one would treat it as met. */
    { BYTES("x-ms-blob-condition-appendpos"), REQUEST_ANY & ~REQUEST_APPENDS },
    { BYTES("x-ms-blob-condition-maxsize"), REQUEST_ANY & ~REQUEST_APPENDS },
    { BYTES("x-ms-if-sequence-number-le"), REQUEST_ANY & ~REQUEST_PAGED },
    { BYTES("x-ms-if-sequence-number-lt"), REQUEST_ANY & ~REQUEST_PAGED },
    { BYTES("x-ms-if-sequence-number-eq"), REQUEST_ANY & ~REQUEST_PAGED },
    { BYTES("x-ms-access-tier-if-modified-since"), REQUEST_DELETE },
    { BYTES("x-ms-access-tier-if-unmodified-since"), REQUEST_DELETE },
};

static const struct unbuilt unbuilt_parameters[] = {
    { BYTES("deletetype"), REQUEST_ANY & ~REQUEST_DELETE },
};

/* Returns true for condition headers. An empty condition header counts as absent.
 * decision: 847 */
static bool is_condition(struct bytes name)
{
    static const struct bytes prefixes[] = { BYTES("x-ms-if-"), BYTES("x-ms-source-if-"),
                                             BYTES("x-ms-blob-condition-"),
                                             BYTES("x-ms-access-tier-if-") };

    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (bytes_has_prefix(name, prefixes[i]))
            return true;
    }
    return false;
}

/* Returns true for a header that this request's operation supports. A key is not repeated in errors,
 * so it must not get there. */
static bool is_read(const struct call *call, const struct unbuilt *row)
{
    return ((row->kinds & REQUEST_SCOPED) && call->input.scope.is_used) ||
           ((row->kinds & REQUEST_KEYED) && call->input.key) ||
           ((row->kinds & REQUEST_SOURCE_KEYED) && call->has_source_key);
}

/* Searches for each unsupported header instead of checking each header that was sent, because
 * call_find_header() usually knows without a search that a header was not sent. */
static enum error refuse_headers(struct call *call, enum blob_request_kind kind)
{
    for (size_t i = 0; i < sizeof unbuilt_headers / sizeof unbuilt_headers[0]; i++) {
        const struct unbuilt *row = &unbuilt_headers[i];
        struct bytes value;

        if ((row->kinds & kind) == 0 || is_read(call, row))
            continue;
        value = call_find_header(call, row->name);
        if (value.ptr && (row->kinds & (REQUEST_KEYED | REQUEST_SOURCE_KEYED)))
            value = bytes_from_string("");
        if (value.ptr && !(value.len == 0 && is_condition(row->name)))
            return call_fail_header(call, E_UnsupportedHeader, row->name.ptr, value);
    }
    return OK;
}

static enum error refuse_parameters(struct call *call, enum blob_request_kind kind)
{
    for (size_t i = 0; i < sizeof unbuilt_parameters / sizeof unbuilt_parameters[0]; i++) {
        const struct unbuilt *row = &unbuilt_parameters[i];
        struct bytes value = { NULL, 0 };

        if (row->kinds & kind)
            value = call_query(call, row->name.ptr);
        if (value.ptr)
            return call_fail_query(call, E_UnsupportedQueryParameter, row->name.ptr, value, NULL);
    }
    return OK;
}

/* Refuses ?snapshot= and ?versionid= with the errors of the real service. decision: 30 */
static enum error refuse_ref(struct call *call)
{
    switch (blob_resource(call->input.resource)->ref.kind) {
    case BLOB_BASE:
        break;
    case BLOB_SNAPSHOT:
        return call_fail_query(call, E_InvalidQueryParameterValue, "snapshot",
                               call_query(call, "snapshot"),
                               "This operation is only allowed on the root blob. Snapshot should "
                               "not be provided.");
    case BLOB_VERSION:
        return call_fail_query(call, E_InvalidQueryParameterValue, "versionid",
                               call_query(call, "versionid"),
                               "This operation is only allowed on the root blob. Version id should "
                               "not be provided.");
    }
    return OK;
}

enum error blob_refuse_unbuilt(struct call *call, enum blob_request_kind kind)
{
    enum error e = call->loose ? OK : refuse_headers(call, kind);

    if (!e && !call->loose)
        e = refuse_parameters(call, kind);
    if (e)
        return e;
    if (kind == REQUEST_TAGS && blob_resource(call->input.resource)->ref.kind == BLOB_VERSION)
        return OK;
    return kind == REQUEST_READ || kind == REQUEST_DELETE || kind == REQUEST_TIER ||
                   kind == REQUEST_POLICY
               ? OK
               : refuse_ref(call);
}

enum error blob_read_key(struct call *call, enum blob_request_kind kind, enum key_use use)
{
    enum error e = customer_key_read(call, use);

    return e ? e : blob_refuse_unbuilt(call, kind);
}

enum error blob_read_scope(struct call *call, enum blob_request_kind kind)
{
    enum error e = encryption_scope_read(call, KEY_WRITES);

    return e ? e : blob_refuse_unbuilt(call, kind);
}

enum error blob_read_source_key(struct call *call, enum blob_request_kind kind,
                                const struct blob_key **ret_key)
{
    enum error e = customer_key_of_source(call, ret_key);

    call->has_source_key = *ret_key != NULL;
    return e ? e : blob_read_key(call, kind, KEY_WRITES);
}

enum error blob_refuse_page_headers(struct call *call)
{
    static const char *const names[] = { "x-ms-blob-content-length", "x-ms-blob-sequence-number" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct bytes value = call_header(call, names[i]);

        if (value.ptr)
            return call_fail_header(call, E_UnsupportedHeader, names[i], value);
    }
    return OK;
}

/* ---- properties ---- */

enum error blob_parse_http_properties(struct call *call, enum standard_headers standard,
                                      struct http_properties *ret_http)
{
    return http_properties_read(call, HTTP_HEADERS_OF_BLOB, standard, ret_http);
}

static enum error parse_tier(struct call *call, enum access_tier last, enum access_tier *ret_tier)
{
    struct bytes text = call_header(call, "x-ms-access-tier");

    *ret_tier = TIER_NONE;
    if (!text.ptr)
        return OK;
    for (enum access_tier tier = TIER_HOT; tier <= last; tier++) {
        if (!bytes_is_nocase(text, access_tier_text(tier)))
            continue;
        if (tier == TIER_COLD && !call_since(call, "2021-12-02"))
            break;
        *ret_tier = tier;
        return OK;
    }
    return call_fail_header(call, E_InvalidHeaderValue, "x-ms-access-tier", text);
}

/* High priority is ten times faster. decision: 86 */
#define HIGH_IS_FASTER 10

enum error blob_parse_rehydration(struct call *call, struct rehydration *ret_rehydration)
{
    static const char name[] = "x-ms-rehydrate-priority";
    struct bytes priority = call_header(call, name);
    bool is_high = bytes_is_nocase(priority, "High");

    if (priority.ptr && !is_high && !bytes_is_nocase(priority, "Standard"))
        return call_fail_header(call, E_InvalidHeaderValue, name, priority);
    ret_rehydration->is_high = is_high;
    ret_rehydration->ticks = call->rehydrates_ticks / (is_high ? HIGH_IS_FASTER : 1);
    return OK;
}

enum error blob_parse_tier(struct call *call, enum access_tier *ret_tier)
{
    return parse_tier(call, TIER_ARCHIVE, ret_tier);
}

enum error blob_parse_any_tier(struct call *call, enum access_tier *ret_tier)
{
    return parse_tier(call, TIER_LAST, ret_tier);
}

void blob_answer_written(struct answer *a, const struct body_sums *sums)
{
    answer_body_sums(a, sums);
    blob_answer_encrypted(a, true);
}

void blob_answer_version(struct answer *a, instant id)
{
    if (id > 0 && call_since(a->call, "2019-12-12"))
        answer_iso_date(a, "x-ms-version-id", id);
}

void blob_answer_encrypted(struct answer *a, bool with_key)
{
    if (call_since(a->call, "2015-12-11"))
        answer_string(a, "x-ms-request-server-encrypted", "true");
    if (a->call->input.key && with_key)
        answer_key(a, a->call->input.key->scope, a->call->input.key->hash);
}
