#include "store/rados/shard_rows.h"

#include "base/crc.h"
#include "base/endian.h"

#define ROW_VERSION     1
#define CRC_SIZE        4
#define BOUNDS_VERSION  2
#define BOUNDS_KEYS     (3 + 8 + 8 + 8 + 4 + 8)
#define BOUNDS_SIZE_MIN (BOUNDS_KEYS + 4 + 4 + 4 + CRC_SIZE)
#define FLAG_MOVING     1
#define FLAG_EMPTY      2
#define HEADER_ROW_SIZE (2 + 8 + HEADER_ATTEMPTS * ATTEMPT_SIZE + CRC_SIZE)
#define LOCK_SIZE       (ATTEMPT_SIZE + 16 + 8 + 8)
#define FLAG_LOCKED     1
#define FLAG_LIMBS      2

static void add_be32(struct text *row, uint32_t value)
{
    char be[4];

    be32_put(be, value);
    text_add(row, bytes_of(be, sizeof be));
}

static void add_be64(struct text *row, uint64_t value)
{
    char be[8];

    be64_put(be, value);
    text_add(row, bytes_of(be, sizeof be));
}

static struct bytes with_crc(struct text *row)
{
    add_be32(row, crc32c(0, row->ptr, row->len));
    return text_bytes(row);
}

static bool crc_is_right(struct bytes row)
{
    return row.len >= CRC_SIZE &&
           be32_get(row.ptr + row.len - CRC_SIZE) == crc32c(0, row.ptr, row.len - CRC_SIZE);
}

static void add_key(struct text *row, struct bytes key)
{
    add_be32(row, (uint32_t)key.len);
    text_add(row, key);
}

struct bytes shard_bounds_write(struct arena *arena, const struct shard_bounds *bounds)
{
    struct text row;

    text_init(&row, arena,
              BOUNDS_SIZE_MIN + bounds->lo.len + bounds->hi.len + bounds->move_from.len);
    text_add_char(&row, BOUNDS_VERSION);
    text_add_char(&row, (char)bounds->state);
    text_add_char(
        &row, (char)((bounds->is_moving ? FLAG_MOVING : 0) | (bounds->is_empty ? FLAG_EMPTY : 0)));
    add_be64(&row, bounds->epoch);
    add_be64(&row, bounds->stamp);
    add_be64(&row, bounds->next);
    add_be32(&row, bounds->incarnation_floor);
    add_be64(&row, bounds->move_to);
    add_key(&row, bounds->lo);
    add_key(&row, bounds->hi);
    add_key(&row, bounds->move_from);
    return with_crc(&row);
}

/* Takes a length and so many bytes off the front. */
static bool take_key(struct bytes *from, struct bytes *ret_key)
{
    uint32_t length;

    if (from->len < 4)
        return false;
    length = be32_get(from->ptr);
    *from = bytes_from(*from, 4);
    if (length > from->len)
        return false;
    *ret_key = bytes_of(from->ptr, length);
    *from = bytes_from(*from, length);
    return true;
}

enum store_result shard_bounds_read(struct bytes row, struct shard_bounds *ret_bounds)
{
    struct shard_bounds bounds;
    struct bytes rest;

    if (row.len < BOUNDS_SIZE_MIN || !crc_is_right(row) || row.ptr[0] != BOUNDS_VERSION)
        return STORE_CORRUPT;
    if ((row.ptr[1] != SHARD_LIVE && row.ptr[1] != SHARD_SEALED) ||
        (row.ptr[2] & ~(FLAG_MOVING | FLAG_EMPTY)) != 0)
        return STORE_CORRUPT;
    bounds = (struct shard_bounds){
        .state = (enum shard_state)row.ptr[1],
        .is_moving = (row.ptr[2] & FLAG_MOVING) != 0,
        .is_empty = (row.ptr[2] & FLAG_EMPTY) != 0,
        .epoch = be64_get(row.ptr + 3),
        .stamp = be64_get(row.ptr + 11),
        .next = be64_get(row.ptr + 19),
        .incarnation_floor = be32_get(row.ptr + 27),
        .move_to = be64_get(row.ptr + 31),
    };
    rest = bytes_of(row.ptr + BOUNDS_KEYS, row.len - BOUNDS_KEYS - CRC_SIZE);
    if (!take_key(&rest, &bounds.lo) || !take_key(&rest, &bounds.hi) ||
        !take_key(&rest, &bounds.move_from) || rest.len > 0 ||
        bounds.is_moving != (bounds.move_to > 0))
        return STORE_CORRUPT;
    *ret_bounds = bounds;
    return STORE_OK;
}

bool shard_bounds_have(const struct shard_bounds *bounds, struct bytes partition_key)
{
    return !bounds->is_empty && bytes_compare(partition_key, bounds->lo) >= 0 &&
           (bounds->hi.len == 0 || bytes_compare(partition_key, bounds->hi) < 0);
}

bool shard_bounds_is_moving(const struct shard_bounds *bounds, struct bytes partition_key)
{
    return bounds->is_moving && bytes_compare(partition_key, bounds->move_from) >= 0;
}

bool shard_bounds_were_touched(const struct shard_bounds *before, const struct shard_bounds *after)
{
    return after->epoch > before->epoch && after->state == before->state &&
           after->is_moving == before->is_moving && after->is_empty == before->is_empty &&
           after->stamp == before->stamp && after->next == before->next &&
           after->incarnation_floor == before->incarnation_floor &&
           after->move_to == before->move_to && bytes_equal(after->lo, before->lo) &&
           bytes_equal(after->hi, before->hi) && bytes_equal(after->move_from, before->move_from);
}

bool shard_bounds_are_filled(const struct shard_bounds *from, const struct shard_bounds *to)
{
    return !to->is_empty && bytes_compare(to->lo, from->move_from) <= 0;
}

/* ---- headers ---- */

void attempt_put(char to[ATTEMPT_SIZE], struct attempt attempt)
{
    be32_put(to, attempt.incarnation);
    be64_put(to + 4, attempt.number);
}

struct attempt attempt_get(const char *from)
{
    return (struct attempt){ be32_get(from), be64_get(from + 4) };
}

bool attempt_equal(struct attempt a, struct attempt b)
{
    return a.incarnation == b.incarnation && a.number == b.number;
}

static void add_attempt(struct text *row, struct attempt attempt)
{
    char be[ATTEMPT_SIZE];

    attempt_put(be, attempt);
    text_add(row, bytes_of(be, sizeof be));
}

struct bytes partition_header_write(struct arena *arena, const struct partition_header *header)
{
    const struct partition_lock *lock = &header->lock;
    struct text row;

    if (header->version == 0 && !partition_is_locked(header))
        return (struct bytes){ NULL, 0 };
    text_init(&row, arena, HEADER_ROW_SIZE + LOCK_SIZE + lock->primary_key.len);
    text_add_char(&row, ROW_VERSION);
    text_add_char(&row, (char)((partition_is_locked(header) ? FLAG_LOCKED : 0) |
                               (header->has_limbs ? FLAG_LIMBS : 0)));
    add_be64(&row, header->version);
    for (size_t i = 0; i < HEADER_ATTEMPTS; i++)
        add_attempt(&row, header->attempts[i]);
    if (partition_is_locked(header)) {
        add_attempt(&row, lock->transaction);
        text_add(&row, bytes_of(lock->primary_space.b, sizeof lock->primary_space.b));
        add_be64(&row, lock->primary_version);
        add_be64(&row, lock->version_to_be);
        text_add(&row, lock->primary_key);
    }
    return with_crc(&row);
}

static bool read_lock(struct bytes from, struct partition_lock *ret_lock)
{
    const char *at = from.ptr;

    if (from.len < LOCK_SIZE)
        return false;
    ret_lock->transaction = attempt_get(at);
    memcpy(ret_lock->primary_space.b, at + ATTEMPT_SIZE, sizeof ret_lock->primary_space.b);
    ret_lock->primary_version = be64_get(at + ATTEMPT_SIZE + 16);
    ret_lock->version_to_be = be64_get(at + ATTEMPT_SIZE + 24);
    ret_lock->primary_key = bytes_from(from, LOCK_SIZE);
    return ret_lock->transaction.number > 0;
}

enum store_result partition_header_read(struct bytes row, struct partition_header *ret_header)
{
    struct partition_header header = { .version = 0 };

    if (row.len == 0) {
        *ret_header = header;
        return STORE_OK;
    }
    if (row.len < HEADER_ROW_SIZE || !crc_is_right(row) || row.ptr[0] != ROW_VERSION)
        return STORE_CORRUPT;
    header.version = be64_get(row.ptr + 2);
    for (size_t i = 0; i < HEADER_ATTEMPTS; i++)
        header.attempts[i] = attempt_get(row.ptr + 10 + i * ATTEMPT_SIZE);
    header.has_limbs = (row.ptr[1] & FLAG_LIMBS) != 0;
    if ((row.ptr[1] & ~(FLAG_LOCKED | FLAG_LIMBS)) != 0)
        return STORE_CORRUPT;
    if ((row.ptr[1] & FLAG_LOCKED) != 0) {
        size_t plain = HEADER_ROW_SIZE - CRC_SIZE;

        if (!read_lock(bytes_of(row.ptr + plain, row.len - plain - CRC_SIZE), &header.lock))
            return STORE_CORRUPT;
    } else if (row.len != HEADER_ROW_SIZE || header.version == 0) {
        return STORE_CORRUPT;
    }
    *ret_header = header;
    return STORE_OK;
}

static struct partition_header next_header(const struct partition_header *seen, uint64_t version,
                                           struct attempt attempt)
{
    struct partition_header after = { .version = version,
                                      .attempts = { attempt },
                                      .has_limbs = seen->has_limbs };
    size_t count = 1;

    for (size_t i = 0; i < HEADER_ATTEMPTS && count < HEADER_ATTEMPTS; i++)
        if (seen->attempts[i].incarnation != attempt.incarnation)
            after.attempts[count++] = seen->attempts[i];
    return after;
}

uint64_t partition_version_after(const struct partition_header *seen, instant now)
{
    return now > seen->version ? now : seen->version + 1;
}

struct partition_header partition_header_after(const struct partition_header *seen, instant now,
                                               struct attempt attempt)
{
    return next_header(seen, partition_version_after(seen, now), attempt);
}

struct partition_header partition_header_settled(const struct partition_header *locked)
{
    return next_header(locked, locked->lock.version_to_be, locked->lock.transaction);
}

struct partition_header partition_header_unlocked(const struct partition_header *locked)
{
    struct partition_header unlocked = *locked;

    unlocked.lock = (struct partition_lock){ .version_to_be = 0 };
    return unlocked;
}

static bool lock_equal(const struct partition_lock *a, const struct partition_lock *b)
{
    return attempt_equal(a->transaction, b->transaction) &&
           guid_equal(&a->primary_space, &b->primary_space) &&
           bytes_equal(a->primary_key, b->primary_key) &&
           a->primary_version == b->primary_version && a->version_to_be == b->version_to_be;
}

bool partition_header_equal(const struct partition_header *a, const struct partition_header *b)
{
    for (size_t i = 0; i < HEADER_ATTEMPTS; i++)
        if (!attempt_equal(a->attempts[i], b->attempts[i]))
            return false;
    return a->version == b->version && a->has_limbs == b->has_limbs &&
           lock_equal(&a->lock, &b->lock);
}

bool partition_header_remembers(const struct partition_header *header, struct attempt attempt)
{
    for (size_t i = 0; i < HEADER_ATTEMPTS; i++)
        if (attempt_equal(header->attempts[i], attempt))
            return true;
    return false;
}

bool partition_header_is_later(const struct partition_header *header, struct attempt attempt)
{
    for (size_t i = 0; i < HEADER_ATTEMPTS; i++)
        if (header->attempts[i].incarnation == attempt.incarnation &&
            header->attempts[i].number > attempt.number)
            return true;
    return false;
}

/* Of this front end: its ops on one partition follow each other, so that it is its last. */
static bool remembers_another_of(const struct partition_header *header, struct attempt attempt)
{
    for (size_t i = 0; i < HEADER_ATTEMPTS; i++)
        if (header->attempts[i].incarnation == attempt.incarnation)
            return true;
    return false;
}

/* Is there room for a commit of this front end that came after `seen`? Those that came before are pushed out first, and
 * before any of them the places are filled that are free. */
static bool would_remember(const struct partition_header *now, const struct partition_header *seen)
{
    for (size_t i = 0; i < HEADER_ATTEMPTS; i++)
        if (now->attempts[i].number == 0 || partition_header_remembers(seen, now->attempts[i]))
            return true;
    return false;
}

enum store_result partition_header_outcome(const struct partition_header *now,
                                           const struct partition_header *seen,
                                           const struct partition_header *after,
                                           struct attempt attempt)
{
    if (partition_header_remembers(now, attempt) || partition_header_equal(now, after))
        return STORE_OK;
    if (partition_header_equal(now, seen))
        return STORE_WAIT;
    if (now->version == seen->version)
        return STORE_CONFLICT; /* locked, by another */
    if (remembers_another_of(now, attempt) || would_remember(now, seen))
        return STORE_CONFLICT;
    return STORE_UNKNOWN;
}

/* ---- other rows ---- */

struct bytes row_value_write(struct arena *arena, struct bytes value)
{
    struct text row;

    text_init(&row, arena, value.len + CRC_SIZE);
    text_add(&row, value);
    return with_crc(&row);
}

bool row_value_read(struct bytes row, struct bytes *ret_value)
{
    if (!crc_is_right(row))
        return false;
    *ret_value = bytes_of(row.ptr, row.len - CRC_SIZE);
    return true;
}

struct bytes row_number_write(struct arena *arena, uint64_t number)
{
    char be[8];

    be64_put(be, number);
    return row_value_write(arena, bytes_of(be, sizeof be));
}

bool row_number_read(struct bytes row, uint64_t *ret_number)
{
    struct bytes value;

    *ret_number = 0;
    if (!row_value_read(row, &value) || value.len != sizeof *ret_number)
        return false;
    *ret_number = be64_get(value.ptr);
    return true;
}
