/* GUIDs: random bytes from a per-thread pool, and the .NET text forms. */
#include "base/ids.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sys/random.h>

#define POOL_BYTES 512

/* Bytes from `used` on are not yet part of any id. */
struct pool {
    uint8_t bytes[POOL_BYTES];
    size_t used;
    bool is_filled;
};

static _Thread_local struct pool pool;

/* Called in a forked child, which must not repeat its parent's ids. Only the thread that forked
 * exists in the child. */
static void pool_forget(void)
{
    pool.is_filled = false;
}

static void watch_forks(void)
{
    int result = pthread_atfork(NULL, NULL, pool_forget);

    assert(result == 0);
}

static void pool_fill(void)
{
    static pthread_once_t watching = PTHREAD_ONCE_INIT;
    size_t got = 0;

    pthread_once(&watching, watch_forks);
    while (got < POOL_BYTES) {
        ssize_t n = getrandom(pool.bytes + got, POOL_BYTES - got, 0);

        assert(n > 0 || errno == EINTR); /* getrandom() fails for no other reason */
        if (n > 0)
            got += (size_t)n;
    }
    pool.used = 0;
    pool.is_filled = true;
}

struct guid guid_new(void)
{
    struct guid guid;

    if (!pool.is_filled || pool.used + sizeof guid.b > POOL_BYTES)
        pool_fill();
    memcpy(guid.b, pool.bytes + pool.used, sizeof guid.b);
    pool.used += sizeof guid.b;
    guid.b[6] = (uint8_t)((guid.b[6] & 0x0F) | 0x40); /* version 4 */
    guid.b[8] = (uint8_t)((guid.b[8] & 0x3F) | 0x80); /* variant of RFC 9562 */
    return guid;
}

unsigned guid_hash(const struct guid *guid)
{
    uint32_t words[4], hash;

    memcpy(words, guid->b, sizeof words);
    hash = words[0] ^ words[1] ^ words[2] ^ words[3];
    hash ^= hash >> 16;
    return hash ^ hash >> 8;
}

/* Parses 32 digits, either plain or with dashes after the 8th, 12th, 16th and 20th. */
static bool parse_digits(struct bytes text, bool dashed, struct guid *ret_guid)
{
    struct guid guid = { { 0 } };
    size_t digits = 0;

    if (text.len != (dashed ? 36u : 32u))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        int digit;

        if (dashed && (i == 8 || i == 13 || i == 18 || i == 23)) {
            if (text.ptr[i] != '-')
                return false;
            continue;
        }
        digit = bytes_hex_digit(text.ptr[i]);
        if (digit < 0)
            return false;
        guid.b[digits / 2] = (uint8_t)(guid.b[digits / 2] << 4 | digit);
        digits++;
    }
    *ret_guid = guid;
    return true;
}

bool guid_parse(struct bytes text, struct guid *ret_guid)
{
    if (text.len == 32)
        return parse_digits(text, false, ret_guid);
    if (text.len == 38) {
        char first = text.ptr[0], last = text.ptr[37];

        if (!(first == '{' && last == '}') && !(first == '(' && last == ')'))
            return false;
        text = bytes_of(text.ptr + 1, 36);
    }
    return parse_digits(text, true, ret_guid);
}

void guid_format(const struct guid *guid, char buffer[GUID_TEXT_SIZE])
{
    static const char hex[] = "0123456789abcdef";
    char *to = buffer;

    for (size_t i = 0; i < sizeof guid->b; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *to++ = '-';
        *to++ = hex[guid->b[i] >> 4];
        *to++ = hex[guid->b[i] & 15];
    }
    *to = '\0';
}
