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
enum nt_status durable_check(const struct durable_asked *asked)
{
    unsigned of_2 = asked->wants_2 + asked->returns_2;

    return of_2 > 1 || (of_2 == 1 && (asked->wants_1 || asked->returns_1))
               ? STATUS_INVALID_PARAMETER
               : STATUS_SUCCESS;
}

/* Returns the durability of an open. Directories are never durable. Other than persistent opens,
 * only those with handle caching are, as no conflicting open can succeed without a break. */
enum durable_kind durable_granted(const struct durable_asked *asked,
                                  const struct durable_open *open)
{
    if (!open->is_file)
        return DURABLE_NONE;
    if (asked->wants_2 && asked->is_persistent && open->is_available)
        return DURABLE_PERSISTENT;
    if (!open->caches_handle)
        return DURABLE_NONE;
    if (asked->wants_2)
        return DURABLE_2;
    return asked->wants_1 ? DURABLE_1 : DURABLE_NONE;
}

uint32_t durable_timeout_ms(const struct durable_asked *asked)
{
    if (!asked->wants_2 || asked->timeout_ms == 0)
        return DURABLE_DEFAULT_MS;
    return asked->timeout_ms < DURABLE_MAX_MS ? asked->timeout_ms : DURABLE_MAX_MS;
}

/* ---- stored state ---- */

struct bytes durable_encode(struct arena *arena, const struct durable_kept *kept)
{
    struct text out;

    text_init(&out, arena, KEPT_SIZE);
    encode_u8(&out, KEPT_VERSION);
    encode_u8(&out, (uint8_t)kept->kind);
    encode_fixed(&out, kept->create.b, sizeof kept->create.b);
    encode_fixed(&out, kept->client.b, sizeof kept->client.b);
    encode_u8(&out, kept->is_lease);
    encode_fixed(&out, kept->lease_key.b, sizeof kept->lease_key.b);
    encode_u8(&out, kept->has_caching);
    encode_fixed(&out, kept->caching_key.b, sizeof kept->caching_key.b);
    encode_u64(&out, kept->timeout_ms);
    encode_u64(&out, kept->mode);
    encode_u64(&out, kept->position);
    encode_bytes(&out, kept->locks);
    encode_u64(&out, kept->allocated);
    return text_bytes(&out);
}

bool durable_decode(struct bytes from, struct durable_kept *ret_kept)
{
    struct durable_kept kept = { .kind = DURABLE_NONE };
    uint64_t timeout, mode;
    uint8_t kind, is_lease, has_caching;
    struct decoder in;

    decoder_init(&in, from);
    if (decode_u8(&in) != KEPT_VERSION)
        return false;
    kind = decode_u8(&in);
    decode_fixed(&in, kept.create.b, sizeof kept.create.b);
    decode_fixed(&in, kept.client.b, sizeof kept.client.b);
    is_lease = decode_u8(&in);
    decode_fixed(&in, kept.lease_key.b, sizeof kept.lease_key.b);
    has_caching = decode_u8(&in);
    decode_fixed(&in, kept.caching_key.b, sizeof kept.caching_key.b);
    timeout = decode_u64(&in);
    mode = decode_u64(&in);
    kept.position = decode_u64(&in);
    kept.locks = decode_bytes(&in);
    kept.allocated = decode_u64(&in);
    if (!decoder_ok(&in) || kind < DURABLE_1 || kind > DURABLE_PERSISTENT || is_lease > 1 ||
        has_caching > 1 || timeout > DURABLE_MAX_MS || mode > UINT32_MAX ||
        (kept.locks.ptr && kept.locks.len != LOCK_SEQUENCES))
        return false;
    kept.kind = (enum durable_kind)kind;
    kept.is_lease = is_lease;
    kept.has_caching = has_caching;
    kept.timeout_ms = (uint32_t)timeout;
    kept.mode = (uint32_t)mode;
    *ret_kept = kept;
    return true;
}

/* ---- reconnects ---- */

/* Returns whether the reconnect context matches the open. Both contexts match durable opens of
 * version 1 and 2; the CreateGuid of version 1 is zero. Only DH2C can reconnect to a persistent
 * open. */
static bool is_meant(const struct durable_kept *kept, const struct durable_asked *asked)
{
    if (asked->returns_1)
        return kept->kind != DURABLE_PERSISTENT;
    return guid_equal(&kept->create, &asked->create) &&
           asked->is_persistent == (kept->kind == DURABLE_PERSISTENT);
}

enum nt_status durable_may_return(const struct durable_kept *kept, const struct durable_return *by)
{
    bool may = is_meant(kept, by->asked) && kept->is_lease == by->is_lease;

    if (kept->is_lease)
        may = may && guid_equal(&kept->lease_key, &by->lease_key) &&
              guid_equal(&kept->client, &by->client);
    return may ? STATUS_SUCCESS : STATUS_OBJECT_NAME_NOT_FOUND;
}
