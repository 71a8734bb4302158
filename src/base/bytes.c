/* Runs of bytes: comparing, cutting, and the strict parsers of numbers and UTF-8. */
#include "base/bytes.h"

#include "base/words.h"

static unsigned char lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c | 0x20) : c;
}

bool bytes_equal_nocase(struct bytes a, struct bytes b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (a.ptr[i] != b.ptr[i] &&
            lower((unsigned char)a.ptr[i]) != lower((unsigned char)b.ptr[i]))
            return false;
    return true;
}

bool bytes_is_nocase(struct bytes a, const char *string)
{
    return bytes_equal_nocase(a, bytes_from_string(string));
}

int bytes_compare(struct bytes a, struct bytes b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common > 0 ? memcmp(a.ptr, b.ptr, common) : 0;

    if (order != 0)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

bool bytes_has_prefix(struct bytes a, struct bytes prefix)
{
    return a.len >= prefix.len && bytes_equal(bytes_of(a.ptr, prefix.len), prefix);
}

bool bytes_has_suffix(struct bytes a, struct bytes suffix)
{
    return a.len >= suffix.len && bytes_equal(bytes_from(a, a.len - suffix.len), suffix);
}

bool bytes_has_suffix_nocase(struct bytes a, struct bytes suffix)
{
    return a.len >= suffix.len && bytes_equal_nocase(bytes_from(a, a.len - suffix.len), suffix);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct bytes bytes_trim(struct bytes a)
{
    while (a.len > 0 && is_blank(a.ptr[a.len - 1]))
        a.len--;
    while (a.len > 0 && is_blank(a.ptr[0])) {
        a.ptr++;
        a.len--;
    }
    return a;
}

struct bytes bytes_from(struct bytes a, size_t from)
{
    if (!a.ptr)
        return a;
    if (from > a.len)
        from = a.len;
    return bytes_of(a.ptr + from, a.len - from);
}

void bytes_cut(struct bytes a, char at, struct bytes *ret_head, struct bytes *ret_tail)
{
    const char *found = a.len > 0 ? memchr(a.ptr, at, a.len) : NULL;
    size_t before;

    if (!found) {
        *ret_head = a;
        *ret_tail = bytes_of(NULL, 0);
        return;
    }
    before = (size_t)(found - a.ptr);
    *ret_head = bytes_of(a.ptr, before);
    *ret_tail = bytes_from(a, before + 1);
}

bool bytes_parse_u64(struct bytes a, uint64_t max, uint64_t *ret_value)
{
    uint64_t value = 0;

    if (a.len == 0)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        if (a.ptr[i] < '0' || a.ptr[i] > '9')
            return false;
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(a.ptr[i] - '0'), &value) || value > max)
            return false;
    }
    *ret_value = value;
    return true;
}

int bytes_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool bytes_equal_secret(struct bytes a, struct bytes b)
{
    unsigned char difference = 0;

    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        difference |= (unsigned char)(a.ptr[i] ^ b.ptr[i]);
    /* The compiler must not leave the loop at the first difference. */
    __asm__ volatile("" : "+r"(difference));
    return difference == 0;
}

/* Length of the UTF-8 sequence that begins at `at`, of `left` bytes; 0 when it is not one.
 * The second byte's range shuts out overlong forms, surrogates and what lies past U+10FFFF.
 * rfc: 3629 4 */
static size_t utf8_sequence(const unsigned char *at, size_t left)
{
    unsigned char low = 0x80, high = 0xBF;
    size_t length;

    if (at[0] < 0x80)
        return 1;
    if (at[0] >= 0xC2 && at[0] <= 0xDF)
        length = 2;
    else if (at[0] >= 0xE0 && at[0] <= 0xEF)
        length = 3;
    else if (at[0] >= 0xF0 && at[0] <= 0xF4)
        length = 4;
    else
        return 0;
    if (left < length)
        return 0;

    if (at[0] == 0xE0)
        low = 0xA0;
    else if (at[0] == 0xED)
        high = 0x9F;
    else if (at[0] == 0xF0)
        low = 0x90;
    else if (at[0] == 0xF4)
        high = 0x8F;
    if (at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    return length;
}

bool bytes_is_utf8(struct bytes a)
{
    const unsigned char *at = (const unsigned char *)a.ptr;
    size_t left = a.len;

    while (left > 0) {
        size_t length = left >= WORD_BYTES && !word_any(word_not_ascii(word_load((const char *)at)))
                            ? WORD_BYTES
                            : utf8_sequence(at, left);

        if (length == 0)
            return false;
        at += length;
        left -= length;
    }
    return true;
}
