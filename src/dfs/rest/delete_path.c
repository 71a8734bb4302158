/* Requests and responses of Path Delete. rest: Path-Delete */
#include "base/codec.h"
#include "base/encode.h"
#include "blob/kept_paths.h"
#include "dfs/rest/request.h"

/* ---- continuation: base64 of u8 1, fixed container space, u64 directory id, instant of the first
 * request, bytes name, owner and agent of the caller; then the HMAC of these with the account's
 * key. The HMAC is needed because the access control lists of paths before the name are not checked
 * again. decision: 1321 ---- */

#define CONTINUATION_VERSION 1
#define CONTINUATION_MAX     16384
/* A continuation then expires, because access control lists may change after they were checked. */
#define CONTINUATION_HOURS   1

static struct bytes agent_of(const struct identity *identity)
{
    return identity->kind == IDENTITY_SAS ? identity->sas->agent : bytes_of("", 0);
}

static bool sign(const struct call *call, struct bytes token, uint8_t ret_mac[])
{
    /* cannot equal the string to sign of a request or SAS */
    struct bytes text = arena_printf(call->arena, "Path Delete\n%.*s",
                                     BYTES_ARG(base64_encode(call->arena, token)));

    return account_sign(call->account, 0, text, ret_mac);
}

static struct bytes continuation_encode(const struct call *call, const struct delete_place *place)
{
    const struct identity *identity = &call->input.identity;
    uint8_t mac[ACCOUNT_SIGNATURE_SIZE];
    struct text out;

    text_init(&out, call->arena, 256);
    encode_u8(&out, CONTINUATION_VERSION);
    encode_fixed(&out, &place->space, sizeof place->space);
    encode_u64(&out, place->id);
    encode_long(&out, place->begun);
    encode_bytes(&out, place->from);
    encode_bytes(&out, identity->oid);
    encode_bytes(&out, agent_of(identity));
    if (!sign(call, text_bytes(&out), mac))
        memset(mac, 0, sizeof mac); /* an account without keys cannot send the next request */
    text_add(&out, bytes_of(mac, sizeof mac));
    return base64_encode(call->arena, text_bytes(&out));
}

/* Returns true if this server recently created the continuation for the same caller. */
static bool continuation_decode(const struct call *call, struct bytes text,
                                struct delete_place *ret_place)
{
    const struct identity *identity = &call->input.identity;
    struct bytes value = { NULL, 0 }, token, oid, agent;
    uint8_t mac[ACCOUNT_SIGNATURE_SIZE];
    struct delete_place place;
    struct decoder in;

    if (text.len <= CONTINUATION_MAX)
        value = base64_decode(call->arena, text);
    if (value.len <= sizeof mac)
        return false;
    token = bytes_of(value.ptr, value.len - sizeof mac);
    if (!sign(call, token, mac) ||
        !bytes_equal_secret(bytes_of(mac, sizeof mac), bytes_from(value, token.len)))
        return false;
    decoder_init(&in, token);
    if (decode_u8(&in) != CONTINUATION_VERSION)
        return false;
    decode_fixed(&in, &place.space, sizeof place.space);
    place.id = decode_u64(&in);
    place.begun = decode_long(&in);
    place.from = decode_bytes(&in);
    oid = decode_bytes(&in);
    agent = decode_bytes(&in);
    if (!decoder_ok(&in) || place.from.len == 0 || place.from.len > PATH_NAME_MAX ||
        !bytes_equal(oid, identity->oid) || !bytes_equal(agent, agent_of(identity)) ||
        identity->at > place.begun + CONTINUATION_HOURS * 3600 * TICKS_PER_SECOND)
        return false;
    *ret_place = place;
    return true;
}

/* ---- the functions ---- */

static enum error read_continuation(struct call *call, struct delete_path_parameters *p)
{
    struct bytes text = call_query(call, "continuation");

    if (text.len == 0)
        return OK;
    if (!p->is_recursive || !continuation_decode(call, text, &p->from))
        return call_fail_query(call, E_InvalidQueryParameterValue, "continuation", text,
                               "Not a continuation of this delete.");
    return OK;
}

enum error delete_path_check(struct call *call, struct delete_path_parameters *p)
{
    bool is_paginated;
    enum error e = dfs_refuse_unbuilt(call, DFS_DELETE);

    p->progress = arena_alloc(call->arena, sizeof *p->progress);
    if (!e)
        e = dfs_query_flag(call, "paginated", &is_paginated);
    if (!e)
        e = dfs_query_flag(call, "recursive", &p->is_recursive);
    if (e)
        return e;
    p->is_paginated = is_paginated && call_since(call, "2023-08-03");
    return read_continuation(call, p);
}

void delete_path_answer(struct answer *a, const struct delete_path_parameters *p,
                        const struct delete_path_result *r)
{
    (void)p;
    if (call_since(a->call, "2020-06-12")) {
        answer_string(a, "x-ms-delete-type-permanent", r->is_kept ? "false" : "true");
        if (r->deleted > 0)
            answer_u64(a, "x-ms-deletion-id", deletion_id(r->deleted));
    }
    if (r->next.from.ptr)
        answer_header(a, "x-ms-continuation", continuation_encode(a->call, &r->next));
}
