/* See durable.h.
 *
 *   stored state   u8 1; u8 kind; 16 raw create; 16 raw client; u8 is lease; 16 raw lease key;
 *                  u8 has caching; 16 raw caching key; varint timeout; varint mode;
 *                  varint position; bytes locks; varint allocated */
#include "smb_session/durable.h"

#include <string.h>

#include "base/codec.h"

#define KEPT_VERSION 1
#define KEPT_SIZE    192

/* Allows one context, except that DHnQ is ignored next to DHnC. ms-smb2: 3.3.5.9.6, 3.3.5.9.7,
 * 3.3.5.9.10, 3.3.5.9.12 */
enum nt_status durable_check(const struct durable_request *request)
{
    unsigned of_2 = request->wants_2 + request->returns_2;

    return of_2 > 1 || (of_2 == 1 && (request->wants_1 || request->returns_1))
               ? STATUS_INVALID_PARAMETER
               : STATUS_SUCCESS;
}

/* Returns the durability of an open. Directories are never durable. Apart from persistent opens,
 * only opens with handle caching are, because a conflicting open must break that first. */
enum durable_kind durable_granted(const struct durable_request *request,
                                  const struct durable_open *open)
{
    if (!open->is_file)
        return DURABLE_NONE;
    if (request->wants_2 && request->is_persistent && open->is_available)
        return DURABLE_PERSISTENT;
    if (!open->caches_handle)
        return DURABLE_NONE;
    if (request->wants_2)
        return DURABLE_2;
    return request->wants_1 ? DURABLE_1 : DURABLE_NONE;
}

uint32_t durable_timeout_ms(const struct durable_request *request)
{
    if (!request->wants_2 || request->timeout_ms == 0)
        return DURABLE_DEFAULT_MS;
    return request->timeout_ms < DURABLE_MAX_MS ? request->timeout_ms : DURABLE_MAX_MS;
}

/* ---- stored state ---- */

struct bytes durable_encode(struct arena *arena, const struct durable_state *state)
{
    struct text out;

    text_init(&out, arena, KEPT_SIZE);
    encode_u8(&out, KEPT_VERSION);
    encode_u8(&out, (uint8_t)state->kind);
    encode_fixed(&out, state->create.b, sizeof state->create.b);
    encode_fixed(&out, state->client.b, sizeof state->client.b);
    encode_u8(&out, state->is_lease);
    encode_fixed(&out, state->lease_key.b, sizeof state->lease_key.b);
    encode_u8(&out, state->has_caching);
    encode_fixed(&out, state->caching_key.b, sizeof state->caching_key.b);
    encode_u64(&out, state->timeout_ms);
    encode_u64(&out, state->mode);
    encode_u64(&out, state->position);
    encode_bytes(&out, state->locks);
    encode_u64(&out, state->allocated);
    return text_bytes(&out);
}

bool durable_decode(struct bytes from, struct durable_state *ret_state)
{
    struct durable_state state = { .kind = DURABLE_NONE };
    uint64_t timeout, mode;
    uint8_t kind, is_lease, has_caching;
    struct decoder in;

    decoder_init(&in, from);
    if (decode_u8(&in) != KEPT_VERSION)
        return false;
    kind = decode_u8(&in);
    decode_fixed(&in, state.create.b, sizeof state.create.b);
    decode_fixed(&in, state.client.b, sizeof state.client.b);
    is_lease = decode_u8(&in);
    decode_fixed(&in, state.lease_key.b, sizeof state.lease_key.b);
    has_caching = decode_u8(&in);
    decode_fixed(&in, state.caching_key.b, sizeof state.caching_key.b);
    timeout = decode_u64(&in);
    mode = decode_u64(&in);
    state.position = decode_u64(&in);
    state.locks = decode_bytes(&in);
    state.allocated = decode_u64(&in);
    if (!decoder_ok(&in) || kind < DURABLE_1 || kind > DURABLE_PERSISTENT || is_lease > 1 ||
        has_caching > 1 || timeout > DURABLE_MAX_MS || mode > UINT32_MAX ||
        (state.locks.ptr && state.locks.len != LOCK_SEQUENCES))
        return false;
    state.kind = (enum durable_kind)kind;
    state.is_lease = is_lease;
    state.has_caching = has_caching;
    state.timeout_ms = (uint32_t)timeout;
    state.mode = (uint32_t)mode;
    *ret_state = state;
    return true;
}

/* ---- reconnects ---- */

/* Returns whether the reconnect context matches the open. DHnC and DH2C both match durable opens of
 * either version, the CreateGuid of version 1 being zero. Only DH2C can reconnect to a persistent
 * open. */
static bool is_meant(const struct durable_state *state, const struct durable_request *request)
{
    if (request->returns_1)
        return state->kind != DURABLE_PERSISTENT;
    return guid_equal(&state->create, &request->create) &&
           request->is_persistent == (state->kind == DURABLE_PERSISTENT);
}

enum nt_status durable_may_return(const struct durable_state *state,
                                  const struct durable_return *by)
{
    bool may = is_meant(state, by->request) && state->is_lease == by->is_lease;

    if (state->is_lease)
        may = may && guid_equal(&state->lease_key, &by->lease_key) &&
              guid_equal(&state->client, &by->client);
    return may ? STATUS_SUCCESS : STATUS_OBJECT_NAME_NOT_FOUND;
}
