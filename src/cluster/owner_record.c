/* See owner_record.h. */
#include "cluster/owner_record.h"

#include <assert.h>

#include "base/codec.h"
#include "base/crc.h"

static const char magic[8] = { 'L', 'a', 'g', 'r', 'a', 'O', 'w', 'n' };

#define VERSION     7u
#define CRC_AT      8u
#define LENGTH_AT   12u
#define FIELDS_AT   14u
#define FIELDS_MAX  1280u /* of this version */
#define ARENA_BYTES ((size_t)64 << 10)

/* ---- write ---- */

static void encode_fields(struct text *out, const struct owner_record *record)
{
    const struct owner_identity *owner = &record->owner;

    encode_u8(out, VERSION);
    encode_fixed(out, record->cluster.b, sizeof record->cluster.b);
    encode_u64(out, record->cell);
    encode_u64(out, record->incarnation);
    encode_u64(out, record->renewal);
    encode_u8(out, record->is_held);
    encode_u64(out, record->lease_ms);
    encode_long(out, record->renewed);
    encode_fixed(out, owner->boot.b, sizeof owner->boot.b);
    encode_u64(out, owner->pid);
    encode_bytes(out, bytes_from_string(owner->name));
    encode_bytes(out, bytes_from_string(owner->address));
    encode_bytes(out, bytes_from_string(owner->client));
    encode_bytes(out, bytes_from_string(owner->forward));
    encode_u64(out, record->used_bytes);
    encode_bytes(out, bytes_from_string(owner->version));
    encode_u8(out, record->serves);
    encode_bytes(out, bytes_from_string(record->move));
    encode_u64(out, record->renewed_ns);
    encode_bytes(out, bytes_from_string(owner->smb));
    for (unsigned i = 0; i < NET_KEYS_MAX; i++)
        encode_u64(out, record->keys[i]);
    encode_u64(out, owner->protocol.oldest);
    encode_u64(out, owner->protocol.newest);
}

static uint32_t crc_of(const char *slot)
{
    return crc32c(0, slot + LENGTH_AT, OWNER_SLOT_BYTES - LENGTH_AT);
}

void owner_record_write(const struct owner_record *record, char slot[OWNER_SLOT_BYTES])
{
    struct arena *arena = arena_new(ARENA_BYTES);
    struct text fields;
    size_t length;
    uint32_t crc;

    text_init(&fields, arena, FIELDS_MAX);
    encode_fields(&fields, record);
    length = text_bytes(&fields).len;
    assert(length <= FIELDS_MAX);
    memset(slot, 0, OWNER_SLOT_BYTES);
    memcpy(slot, magic, sizeof magic);
    slot[LENGTH_AT] = (char)(length >> 8);
    slot[LENGTH_AT + 1] = (char)(length & 0xff);
    memcpy(slot + FIELDS_AT, text_bytes(&fields).ptr, length);
    crc = crc_of(slot);
    for (unsigned i = 0; i < 4; i++)
        slot[CRC_AT + i] = (char)(crc >> 8 * i & 0xff);
    arena_free(arena);
}

/* ---- read ---- */

static bool has_crc(const char *slot)
{
    uint32_t crc = 0;

    for (unsigned i = 0; i < 4; i++)
        crc |= (uint32_t)(uint8_t)slot[CRC_AT + i] << 8 * i;
    return crc == crc_of(slot);
}

/* Decodes a string. Returns false if it is too long or contains control characters, which could
 * mislead a terminal or a fence command. */
static bool decode_string(struct decoder *d, char *to, size_t max)
{
    struct bytes value = decode_bytes(d);

    if (!value.ptr || value.len > max)
        return false;
    for (size_t i = 0; i < value.len; i++)
        if ((uint8_t)value.ptr[i] < ' ' || value.ptr[i] == 0x7f)
            return false;
    memcpy(to, value.ptr, value.len);
    to[value.len] = '\0';
    return true;
}

bool owner_smb_is_valid(const char *host)
{
    size_t length =
        strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._");

    return length <= OWNER_SMB_MAX && !host[length];
}

static bool decode_number(struct decoder *d, uint64_t max, uint64_t *ret_value)
{
    *ret_value = decode_u64(d);
    return *ret_value <= max;
}

static bool decode_bool(struct decoder *d, bool *ret_value)
{
    unsigned value = decode_u8(d);

    *ret_value = value == 1;
    return value <= 1;
}

static bool decode_keys(struct decoder *d, struct owner_record *record)
{
    uint64_t id;

    for (unsigned i = 0; i < NET_KEYS_MAX; i++) {
        if (!decode_number(d, UINT32_MAX, &id))
            return false;
        record->keys[i] = (uint32_t)id;
    }
    return true;
}

static bool decode_protocol(struct decoder *d, struct protocol_range *protocol)
{
    uint64_t oldest = 0, newest = 0;
    bool is_valid =
        decode_number(d, PROTOCOL_MAX, &oldest) && decode_number(d, PROTOCOL_MAX, &newest);

    *protocol = (struct protocol_range){ (unsigned)oldest, (unsigned)newest };
    return is_valid;
}

static bool decode_fields(struct decoder *d, struct owner_record *record)
{
    struct owner_identity *owner = &record->owner;
    uint64_t cell, lease_ms;
    unsigned version = decode_u8(d);

    if (version < 1)
        return false;
    decode_fixed(d, record->cluster.b, sizeof record->cluster.b);
    if (!decode_number(d, OWNER_CELL_MAX, &cell) || cell == 0)
        return false;
    record->cell = (uint32_t)cell;
    record->incarnation = decode_u64(d);
    record->renewal = decode_u64(d);
    if (!decode_bool(d, &record->is_held) || !decode_number(d, OWNER_LEASE_MAX_MS, &lease_ms))
        return false;
    record->lease_ms = (uint32_t)lease_ms;
    record->renewed = decode_long(d);
    decode_fixed(d, owner->boot.b, sizeof owner->boot.b);
    owner->pid = decode_u64(d);
    record->serves = record->is_held; /* defaults for earlier versions */
    owner->protocol = (struct protocol_range){ PROTOCOL_UNSAID, PROTOCOL_UNSAID };
    return decode_string(d, owner->name, OWNER_NAME_MAX) &&
           decode_string(d, owner->address, OWNER_ADDRESS_MAX) &&
           decode_string(d, owner->client, OWNER_CLIENT_MAX) &&
           (version < 2 || decode_string(d, owner->forward, OWNER_FORWARD_MAX)) &&
           (version < 3 || decode_number(d, UINT64_MAX, &record->used_bytes)) &&
           (version < 4 ||
            (decode_string(d, owner->version, OWNER_VERSION_MAX) &&
             decode_bool(d, &record->serves) && decode_string(d, record->move, OWNER_MOVE_MAX) &&
             decode_number(d, UINT64_MAX, &record->renewed_ns))) &&
           (version < 5 || decode_string(d, owner->smb, OWNER_SMB_MAX)) &&
           (version < 6 || decode_keys(d, record)) &&
           (version < 7 || decode_protocol(d, &owner->protocol)) &&
           owner_smb_is_valid(owner->smb) && (version > VERSION ? !d->bad : decoder_ok(d)) &&
           (record->is_held || !record->serves) &&
           (!record->is_held || (record->incarnation > 0 && record->lease_ms > 0));
}

bool owner_record_read(const char slot[OWNER_SLOT_BYTES], struct owner_record *ret_record)
{
    size_t length = (size_t)(uint8_t)slot[LENGTH_AT] << 8 | (uint8_t)slot[LENGTH_AT + 1];
    struct decoder d;

    if (memcmp(slot, magic, sizeof magic) != 0 || length > OWNER_SLOT_BYTES - FIELDS_AT ||
        !has_crc(slot))
        return false;
    for (size_t i = FIELDS_AT + length; i < OWNER_SLOT_BYTES; i++)
        if (slot[i] != 0)
            return false;
    memset(ret_record, 0, sizeof *ret_record);
    decoder_init(&d, bytes_of(slot + FIELDS_AT, length));
    return decode_fields(&d, ret_record);
}

/* ---- the file ---- */

uint64_t owner_record_offset(const struct owner_record *record)
{
    return record->renewal % 2 * OWNER_SLOT_BYTES;
}

bool owner_record_newest(const char file[OWNER_FILE_BYTES], struct owner_record *ret_record)
{
    struct owner_record second;
    bool has_first = owner_record_read(file, ret_record);
    bool has_second = owner_record_read(file + OWNER_SLOT_BYTES, &second);

    if (has_second && (!has_first || second.renewal > ret_record->renewal))
        *ret_record = second;
    return has_first || has_second;
}
