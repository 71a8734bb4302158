/* Requests and responses of Path Update: append, flush, set properties. rest: Path-Update */
#include "dfs/rest/request.h"
#include "service/request_body.h"

/* ---- lease actions ---- */

static const char *const lease_words[] = {
    [PATH_LEASE_ACQUIRE] = "acquire",
    [PATH_LEASE_RENEW] = "auto-renew",
    [PATH_LEASE_RELEASE] = "release",
    [PATH_LEASE_ACQUIRE_RELEASE] = "acquire-release",
};

/* Refuses the headers of an acquisition in a request that acquires nothing. */
static enum error refuse_acquire(struct call *call)
{
    static const char *const names[] = { "x-ms-proposed-lease-id", "x-ms-lease-duration" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (call_header(call, names[i]).len > 0)
            return call_fail_header(call, E_UnsupportedHeader, names[i],
                                    call_header(call, names[i]));
    return OK;
}

/* flushes: only such requests release */
static enum error read_lease(struct call *call, bool flushes, enum path_lease *ret_action,
                             struct lease_request *ret_request)
{
    static const char name[] = "x-ms-lease-action";
    struct bytes text = call_header(call, name);
    enum path_lease action = PATH_LEASE_ACQUIRE;

    *ret_action = PATH_LEASE_NONE;
    if (text.len == 0)
        return refuse_acquire(call);
    while (action <= PATH_LEASE_ACQUIRE_RELEASE && !bytes_is_nocase(text, lease_words[action]))
        action++;
    if (action > PATH_LEASE_ACQUIRE_RELEASE || (action >= PATH_LEASE_RELEASE && !flushes))
        return call_fail_header(call, E_InvalidHeaderValue, name, text);
    *ret_action = action;
    if (action == PATH_LEASE_ACQUIRE || action == PATH_LEASE_ACQUIRE_RELEASE)
        return dfs_read_lease(call, ret_request);
    return call->input.lease_id ? OK
                                : call_fail_header(call, E_MissingRequiredHeader, "x-ms-lease-id",
                                                   bytes_of(NULL, 0));
}

static void answer_renewed(struct answer *a, enum path_lease action, bool is_renewed)
{
    if (action == PATH_LEASE_RENEW)
        answer_string(a, "x-ms-lease-renewed", is_renewed ? "true" : "false");
}

/* ---- append ---- */

#define APPEND_MAX (UINT64_C(4000) << 20)
static const struct size_limit append_limits[] = { { "", APPEND_MAX } };

enum error append_data_check(struct call *call, struct append_data_parameters *p)
{
    enum error e = dfs_read_key(call, DFS_UPDATE, KEY_WRITES);

    if (!e)
        e = dfs_query_number(call, "position", &p->position);
    if (!e)
        e = dfs_query_flag(call, "flush", &p->flushes);
    if (!e)
        e = body_read_sums(call, SUMS_OF_PART, &p->sums);
    if (!e)
        e = read_lease(call, p->flushes, &p->lease, &p->acquire);
    if (!call_header(call, "content-md5").ptr && !call_header(call, "x-ms-content-crc64").ptr) {
        p->sums = (struct body_sums){ .md5 = false }; /* recorded: only checksums that were sent */
        call->wants_crc64 = false;
    }
    return e;
}

enum error append_data_parse(struct call *call, struct append_data_parameters *p)
{
    (void)p;
    return body_check_block(call, append_limits);
}

void append_data_answer(struct answer *a, const struct append_data_parameters *p,
                        const struct append_data_result *r)
{
    answer_body_sums(a, &p->sums);
    dfs_answer_encrypted(a, true);
    answer_renewed(a, p->lease, r->is_renewed);
}

/* ---- flush ---- */

enum error flush_data_check(struct call *call, struct flush_data_parameters *p)
{
    bool closes; /* accepted: this server sends no events */
    enum error e = dfs_read_key(call, DFS_UPDATE, KEY_WRITES);

    if (!e)
        e = dfs_query_number(call, "position", &p->position);
    if (!e)
        e = dfs_query_flag(call, "retainuncommitteddata", &p->keeps_rest);
    if (!e)
        e = dfs_query_flag(call, "close", &closes);
    if (!e)
        e = http_properties_read(call, HTTP_HEADERS_OF_FILE, STANDARD_IGNORED, &p->http);
    return e ? e : read_lease(call, true, &p->lease, &p->acquire);
}

/* Recorded: false, unlike for an append. */
void flush_data_answer(struct answer *a, const struct flush_data_parameters *p,
                       const struct flush_data_result *r)
{
    dfs_answer_encrypted(a, false);
    answer_renewed(a, p->lease, r->is_renewed);
}

/* ---- set properties ---- */

enum error set_path_properties_check(struct call *call, struct set_path_properties_parameters *p)
{
    enum error e = dfs_refuse_unbuilt(call, DFS_UPDATE | DFS_SET_PROPERTIES);

    if (!e && call_header(call, "x-ms-properties").ptr)
        e = encryption_scope_read(call, KEY_WRITES);
    if (!e)
        e = http_properties_read(call, HTTP_HEADERS_OF_FILE, STANDARD_IGNORED, &p->http);
    return e ? e : dfs_read_properties(call, &p->has_metadata, &p->metadata);
}

OPERATION_ANSWERS_NOTHING(set_path_properties)
