/* Builds and splits full keys; record_key.h describes them. */
#include "store/record_key.h"

#include <assert.h>
#include <stdlib.h>

#include "base/endian.h"

void key_init(struct key *key)
{
    key->ptr = key->fixed;
    key->len = 0;
    key->capacity = sizeof key->fixed;
}

void key_release(struct key *key)
{
    assert(key->len <= key->capacity);
    if (key->ptr != key->fixed)
        free(key->ptr);
}

static char *extend(struct key *key, size_t more)
{
    size_t len = key->len;

    if (len + more > key->capacity) {
        key->capacity = 2 * (len + more);
        if (key->ptr == key->fixed) {
            key->ptr = xmalloc(key->capacity);
            memcpy(key->ptr, key->fixed, len);
        } else {
            key->ptr = xrealloc(key->ptr, key->capacity);
        }
    }
    key->len += more;
    assert(key->len <= key->capacity);
    return key->ptr + len;
}

static void append(struct key *key, struct bytes more)
{
    if (more.len > 0)
        memcpy(extend(key, more.len), more.ptr, more.len);
}

static char family_kind(enum record_family family)
{
    return family == RECORD_LISTED ? KEY_KIND_LISTED : KEY_KIND_INNER;
}

void key_set_space(struct key *key, char kind, const struct guid *space)
{
    key->len = 0;
    *extend(key, 1) = kind;
    memcpy(extend(key, sizeof space->b), space->b, sizeof space->b);
}

/* Returns true if the key needs escaping. Names contain no zero bytes; ids contain many. */
static bool has_zero(struct bytes bytes)
{
    return bytes.len > 0 && memchr(bytes.ptr, 0, bytes.len);
}

static char *write_escaped(char *to, struct bytes rest)
{
    for (size_t i = 0; i < rest.len; i++) {
        *to++ = rest.ptr[i];
        if (rest.ptr[i] == 0)
            *to++ = '\xff';
    }
    return to;
}

static char *write_plain(char *to, struct bytes bytes)
{
    if (bytes.len > 0)
        memcpy(to, bytes.ptr, bytes.len);
    return to + bytes.len;
}

static void append_escaped(struct key *key, struct bytes rest)
{
    if (has_zero(rest))
        key->len = (size_t)(write_escaped(extend(key, 2 * rest.len), rest) - key->ptr);
    else
        append(key, rest);
}

static const struct bytes end_of_escaped = BYTES("\0\x01");

/* Writes the prefix in one pass, because every snapshot needs it. */
void key_set_partition(struct key *key, enum record_family family, struct partition partition)
{
    struct bytes space = bytes_of((const char *)partition.space.b, sizeof partition.space.b);
    bool escapes = has_zero(partition.key);
    char *to;

    key->len = 0;
    to = extend(key, KEY_SPACE_SIZE + partition.key.len * (escapes ? 2 : 1) + end_of_escaped.len);
    *to++ = family_kind(family);
    to = write_plain(to, space);
    to = escapes ? write_escaped(to, partition.key) : write_plain(to, partition.key);
    to = write_plain(to, end_of_escaped);
    key->len = (size_t)(to - key->ptr);
}

void key_set_record(struct key *key, enum record_family family, struct bytes partition_prefix,
                    struct bytes record_key)
{
    char *to;

    assert(partition_prefix.len > KEY_SPACE_SIZE);
    key->len = 0;
    to = extend(key, partition_prefix.len + record_key.len);
    memcpy(to, partition_prefix.ptr, partition_prefix.len);
    to[0] = family_kind(family);
    if (record_key.len > 0)
        memcpy(to + partition_prefix.len, record_key.ptr, record_key.len);
}

void key_set_place(struct key *key, enum record_family family, struct partition partition,
                   struct bytes record_key)
{
    key_set_partition(key, family, partition);
    append(key, record_key);
}

void key_set_index_from(struct key *key, const struct guid *space, struct bytes index_key)
{
    key_set_space(key, KEY_KIND_INDEX, space);
    append_escaped(key, index_key);
}

void key_set_index_place(struct key *key, const struct guid *space, struct bytes index_key,
                         struct bytes partition)
{
    key_set_index_from(key, space, index_key);
    append(key, end_of_escaped);
    append_escaped(key, partition);
}

void key_set_index(struct key *key, struct bytes partition_prefix, struct bytes index_key)
{
    assert(partition_prefix.len > KEY_SPACE_SIZE);

    key->len = 0;
    append(key, bytes_of(partition_prefix.ptr, KEY_SPACE_SIZE));
    key->ptr[0] = KEY_KIND_INDEX;
    append_escaped(key, index_key);
    append(key, end_of_escaped);
    append(key, bytes_from(partition_prefix, KEY_SPACE_SIZE));
}

void key_set_counter(struct key *key, const struct guid *space, struct bytes name)
{
    key_set_space(key, KEY_KIND_COUNTER, space);
    append(key, name);
}

void key_set_raw(struct key *key, struct bytes full)
{
    key->len = 0;
    append(key, full);
}

void key_set_next(struct key *key)
{
    assert(key->len > 0);
    *extend(key, 1) = 0;
}

void key_set_end(struct key *key)
{
    assert(key->len > 0);
    while ((unsigned char)key->ptr[key->len - 1] == 0xff) {
        key->len--;
        assert(key->len > 0); /* the first byte is the kind, which is below 0xFF */
    }
    key->ptr[key->len - 1]++;
    assert(key->ptr[key->len - 1] != 0);
}

void key_write_piece(char to[KEY_PIECE_SIZE], uint32_t extent, uint64_t offset)
{
    to[0] = KEY_KIND_PIECE;
    be32_put(to + 1, extent);
    be64_put(to + 5, offset);
}

bool key_read_piece(struct bytes key, uint32_t *ret_extent, uint64_t *ret_offset)
{
    if (key.len != KEY_PIECE_SIZE || key.ptr[0] != KEY_KIND_PIECE)
        return false;
    *ret_extent = be32_get(key.ptr + 1);
    *ret_offset = be64_get(key.ptr + 5);
    return true;
}

bool key_split(struct bytes key, struct bytes *ret_escaped, struct bytes *ret_record_key)
{
    size_t at = KEY_SPACE_SIZE;

    while (at + 2 <= key.len) {
        const char *zero = memchr(key.ptr + at, 0, key.len - 1 - at);

        if (!zero)
            return false;
        at = (size_t)(zero - key.ptr);
        if (zero[1] == 1) {
            *ret_escaped = bytes_of(key.ptr + KEY_SPACE_SIZE, at - KEY_SPACE_SIZE);
            *ret_record_key = bytes_of(zero + 2, key.len - at - 2);
            assert(KEY_SPACE_SIZE + ret_escaped->len + 2 + ret_record_key->len == key.len);
            return true;
        }
        at += 2;
    }
    return false;
}

bool key_unescape(struct bytes escaped, char *to, size_t *ret_length)
{
    size_t length = 0;

    for (size_t i = 0; i < escaped.len; i++) {
        to[length++] = escaped.ptr[i];
        if (escaped.ptr[i] != 0)
            continue;
        i++;
        if (i == escaped.len || (unsigned char)escaped.ptr[i] != 0xff)
            return false;
    }
    assert(length <= escaped.len);
    *ret_length = length;
    return true;
}
