/* Format of the records of open_record.h:
 *
 *   "g"         u8 1; u8 1 if a delete is pending; varint lock count;
 *               varint caching count; each: 16 raw key, u8 holds + 8 if an oplock, u8 breaks_to,
 *               u8 reported, varint epoch;
 *               varint open count; each, by id: varint id, varint epoch, u8 access, u8 share,
 *               varint caching + 1 (0 means none), u8 1 persists + 2 deletes + 4 away + 8 * meets;
 *               if it persists: varint kept ticks; if it is away: varint until
 *   "k"         u8 1; varint count; each: varint owner, varint offset, varint length,
 *               u8 exclusive
 *   'h' index   u8 1; varint epoch; u8 persists; u8 access; varint session; bytes address;
 *               bytes name; varint opened; varint reconnected; varint away until;
 *               varint ticks, varint granted, u8 1 keeps accessed + 2 written + 4 changed
 *               + 8 has written, varint shown written, varint shown until, bytes of the client
 *   'r' index   u8 1; varint node
 *   'p' index   u8 1
 * A pending delete is ignored if all opens are stale. */
#include "opens/open_record.h"

#include <assert.h>

#include "base/codec.h"
#include "base/endian.h"
#include "service/small_record.h"

#define RECORD_VERSION 1

enum {
    OPEN_PERSISTS = 1,
    OPEN_DELETES = 2,
    OPEN_AWAY = 4,
    OPEN_MEETS = 8,
    OPEN_FLAGS = OPEN_MEETS * MEETS_ALL + 7
};
enum { CACHING_OPLOCK = 8 };

static const struct bytes set_key = BYTES("g");
static const struct bytes locks_key = BYTES("k");

/* ---- the set: reading ---- */

static bool decode_caching(struct decoder *in, struct caching_entry *ret_entry)
{
    struct file_caching *caching = &ret_entry->caching;
    uint64_t counted;
    uint8_t holds;

    decode_fixed(in, ret_entry->key.b, sizeof ret_entry->key.b);
    holds = decode_u8(in);
    caching->is_oplock = holds & CACHING_OPLOCK;
    caching->holds = holds & CACHING_ALL;
    caching->breaks_to = decode_u8(in);
    ret_entry->reported = decode_u8(in);
    counted = decode_u64(in);
    ret_entry->epoch = (uint16_t)counted;
    return holds <= (CACHING_ALL | CACHING_OPLOCK) && counted <= UINT16_MAX &&
           !(ret_entry->reported & ~caching->holds) && !(caching->breaks_to & ~ret_entry->reported);
}

static bool decode_cachings(struct decoder *in, struct arena *arena, struct open_set *set)
{
    uint64_t count = decode_u64(in);

    if (in->bad || count > CACHINGS_MAX)
        return false;
    set->cachings = arena_array(arena, count, sizeof set->cachings[0]);
    set->caching_count = count;
    for (size_t i = 0; i < count; i++)
        if (!decode_caching(in, &set->cachings[i]))
            return false;
    return !in->bad;
}

static bool decode_open(struct decoder *in, const struct open_set *set, struct open_entry *ret_open)
{
    struct open_entry o = { .id = decode_u64(in) };
    uint64_t caching;
    uint8_t flags;

    o.epoch = decode_u64(in);
    o.open.access = decode_u8(in);
    o.open.share = decode_u8(in);
    caching = decode_u64(in);
    flags = decode_u8(in);
    if (in->bad || o.id >= INT64_MAX || o.open.access > ACCESS_ALL || o.open.share > ACCESS_ALL ||
        caching > set->caching_count || flags > OPEN_FLAGS)
        return false;
    o.open.caching = caching > 0 ? (uint16_t)(caching - 1) : NO_CACHING;
    o.open.meets = flags / OPEN_MEETS;
    o.persists = flags & OPEN_PERSISTS;
    o.deletes = flags & OPEN_DELETES;
    o.timeout_ticks = o.persists ? decode_u64(in) : 0;
    o.disconnected_until = flags & OPEN_AWAY ? decode_u64(in) : 0;
    if (in->bad || o.timeout_ticks > HANDLE_TIMEOUT_TICKS_MAX)
        return false;
    if (o.persists && o.epoch != open_epoch())
        o.disconnected_until = open_epoch_end_of(o.epoch, o.timeout_ticks);
    *ret_open = o;
    return true;
}

/* Returns false if the open is stale. A persistent open from an earlier process is stale once it
 * has expired. A persistent open of this process is never stale, because closing it has further
 * effects. */
static bool counts(const struct open_entry *open, uint64_t closed, instant now)
{
    return open->id > closed &&
           (open->epoch == open_epoch() || (open->persists && open->disconnected_until > now));
}

static bool decode_opens(struct decoder *in, struct arena *arena, uint64_t closed, instant now,
                         struct open_set *set)
{
    uint64_t count = decode_u64(in), before = 0;

    if (in->bad || count > OPENS_MAX)
        return false;
    set->opens = arena_array(arena, count, sizeof set->opens[0]);
    set->stale = arena_array(arena, count, sizeof set->stale[0]);
    for (size_t i = 0; i < count; i++) {
        struct open_entry open;

        if (!decode_open(in, set, &open) || open.id <= before)
            return false;
        before = open.id;
        if (counts(&open, closed, now))
            set->opens[set->open_count++] = open;
        else
            set->stale[set->stale_count++] = open;
    }
    return true;
}

/* Removes caching entries that no open uses. */
static void drop_cachings(struct open_set *set)
{
    uint16_t numbers[CACHINGS_MAX] = { 0 }; /* 0 means no open; else the new number + 1 */
    uint16_t kept = 0;

    assert(set->caching_count <= CACHINGS_MAX);
    for (size_t i = 0; i < set->open_count; i++)
        if (set->opens[i].open.caching != NO_CACHING)
            numbers[set->opens[i].open.caching] = 1;
    for (size_t i = 0; i < set->caching_count; i++) {
        if (numbers[i] == 0)
            continue;
        set->cachings[kept] = set->cachings[i];
        numbers[i] = ++kept;
    }
    for (size_t i = 0; i < set->open_count; i++)
        if (set->opens[i].open.caching != NO_CACHING)
            set->opens[i].open.caching = (uint16_t)(numbers[set->opens[i].open.caching] - 1);
    set->caching_count = kept;
}

/* Treats breaks from earlier processes as acknowledged, because no client can acknowledge them. */
static void acknowledge_breaks(struct open_set *set)
{
    bool is_answered[CACHINGS_MAX] = { false };

    for (size_t i = 0; i < set->open_count; i++)
        if (set->opens[i].epoch == open_epoch() && set->opens[i].open.caching != NO_CACHING)
            is_answered[set->opens[i].open.caching] = true;
    for (size_t i = 0; i < set->caching_count; i++)
        if (!is_answered[i])
            caching_settle(&set->cachings[i], set->cachings[i].caching.breaks_to);
}

bool open_set_decode(struct arena *arena, struct bytes value, uint64_t closed, instant now,
                     struct open_set *ret_set)
{
    struct open_set set = { .open_count = 0 };
    struct decoder in;
    uint8_t pending;
    uint64_t locks;

    decoder_init(&in, value);
    if (decode_u8(&in) != RECORD_VERSION)
        return false;
    pending = decode_u8(&in);
    locks = decode_u64(&in);
    if (pending > 1 || locks > BYTE_LOCKS_MAX || !decode_cachings(&in, arena, &set) ||
        !decode_opens(&in, arena, closed, now, &set) || !decoder_ok(&in))
        return false;
    drop_cachings(&set);
    acknowledge_breaks(&set);
    set.is_delete_pending = pending && set.open_count > 0;
    set.lock_count = set.open_count > 0 ? locks : 0;
    *ret_set = set;
    return true;
}

struct open_entry *open_set_find(const struct open_set *set, uint64_t id)
{
    size_t low = 0, high = set->open_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (set->opens[middle].id == id)
            return &set->opens[middle];
        if (set->opens[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

enum store_result open_set_get(struct read_view *before, struct arena *arena,
                               struct bytes *ret_value)
{
    struct record record;
    enum store_result result = read_view_get(before, RECORD_INNER, set_key, arena, &record);

    if (!result)
        *ret_value = record.value;
    return result;
}

/* ---- the set: writing ---- */

static void encode_open(struct text *out, const struct open_entry *at)
{
    encode_u64(out, at->id);
    encode_u64(out, at->epoch);
    encode_u8(out, at->open.access);
    encode_u8(out, at->open.share);
    encode_u64(out, at->open.caching == NO_CACHING ? 0 : at->open.caching + 1u);
    encode_u8(out, (uint8_t)((at->persists ? OPEN_PERSISTS : 0) | (at->deletes ? OPEN_DELETES : 0) |
                             (at->disconnected_until > 0 ? OPEN_AWAY : 0) |
                             at->open.meets * OPEN_MEETS));
    if (at->persists)
        encode_u64(out, at->timeout_ticks);
    if (at->disconnected_until > 0)
        encode_u64(out, at->disconnected_until);
}

static void encode_caching(struct text *out, const struct caching_entry *at)
{
    const struct file_caching *caching = &at->caching;

    encode_fixed(out, at->key.b, sizeof at->key.b);
    encode_u8(out, (uint8_t)(caching->holds | (caching->is_oplock ? CACHING_OPLOCK : 0)));
    encode_u8(out, caching->breaks_to);
    encode_u8(out, at->reported);
    encode_u64(out, at->epoch);
}

void open_set_write(struct changes *changes, struct arena *arena, struct open_set *set)
{
    struct text out;

    assert(set->open_count <= OPENS_MAX && set->caching_count <= CACHINGS_MAX);
    drop_cachings(set);
    if (set->open_count == 0) {
        changes_delete(changes, RECORD_INNER, set_key);
        return;
    }
    text_init(&out, arena, 64 + set->open_count * 24 + set->caching_count * 22);
    encode_u8(&out, RECORD_VERSION);
    encode_u8(&out, set->is_delete_pending);
    encode_u64(&out, set->lock_count);
    encode_u64(&out, set->caching_count);
    for (size_t i = 0; i < set->caching_count; i++)
        encode_caching(&out, &set->cachings[i]);
    encode_u64(&out, set->open_count);
    for (size_t i = 0; i < set->open_count; i++)
        encode_open(&out, &set->opens[i]);
    changes_put(changes, RECORD_INNER, set_key, text_bytes(&out), NULL, 0);
}

/* ---- locks ---- */

bool byte_locks_decode(struct arena *arena, struct bytes value, struct byte_lock **ret_locks,
                       size_t *ret_count)
{
    struct decoder in;
    struct byte_lock *locks;
    uint64_t count;

    decoder_init(&in, value);
    if (decode_u8(&in) != RECORD_VERSION)
        return false;
    count = decode_u64(&in);
    if (in.bad || count == 0 || count > BYTE_LOCKS_MAX)
        return false;
    locks = arena_array(arena, count, sizeof *locks);
    for (size_t i = 0; i < count; i++) {
        uint8_t exclusive;

        locks[i].owner = decode_u64(&in);
        locks[i].range.offset = decode_u64(&in);
        locks[i].range.length = decode_u64(&in);
        exclusive = decode_u8(&in);
        if (in.bad || exclusive > 1 || locks[i].owner == NO_OWNER ||
            !byte_range_is_valid(&locks[i].range))
            return false;
        locks[i].is_exclusive = exclusive;
    }
    *ret_locks = locks;
    *ret_count = count;
    return decoder_ok(&in);
}

enum store_result byte_locks_read(struct read_view *before, struct arena *arena,
                                  const struct open_set *set, struct byte_lock **ret_locks,
                                  size_t *ret_count)
{
    struct record record;
    enum store_result result;
    size_t count, kept = 0;

    *ret_count = 0;
    *ret_locks = NULL;
    if (set->lock_count == 0)
        return STORE_OK;
    result = read_view_get(before, RECORD_INNER, locks_key, arena, &record);
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    if (!byte_locks_decode(arena, record.value, ret_locks, &count))
        return record_is_unknown("the record of the locks of a file", record.value);
    for (size_t i = 0; i < count; i++)
        if (open_set_find(set, (*ret_locks)[i].owner))
            (*ret_locks)[kept++] = (*ret_locks)[i];
    *ret_count = kept;
    return STORE_OK;
}

void byte_locks_write(struct changes *changes, struct arena *arena, const struct byte_lock *locks,
                      size_t count)
{
    struct text out;

    assert(count <= BYTE_LOCKS_MAX);
    if (count == 0) {
        changes_delete(changes, RECORD_INNER, locks_key);
        return;
    }
    text_init(&out, arena, 16 + count * 20);
    encode_u8(&out, RECORD_VERSION);
    encode_u64(&out, count);
    for (size_t i = 0; i < count; i++) {
        encode_u64(&out, locks[i].owner);
        encode_u64(&out, locks[i].range.offset);
        encode_u64(&out, locks[i].range.length);
        encode_u8(&out, locks[i].is_exclusive);
    }
    changes_put(changes, RECORD_INNER, locks_key, text_bytes(&out), NULL, 0);
}
