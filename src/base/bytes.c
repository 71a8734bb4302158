/* Byte strings: comparing, splitting, and strict parsers of numbers and UTF-8. */
#include "base/bytes.h"

#include <assert.h>

#include "base/words.h"

static unsigned char lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c | 0x20) : c;
}

bool bytes_equal_nocase(struct bytes a, struct bytes b)
{
    if (bytes_equal(a, b))
        return true; /* the usual case */
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (a.ptr[i] != b.ptr[i] &&
            lower((unsigned char)a.ptr[i]) != lower((unsigned char)b.ptr[i]))
            return false;
    return true;
}

int bytes_compare(struct bytes a, struct bytes b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common > 0 ? memcmp(a.ptr, b.ptr, common) : 0;

    if (order != 0)
        return order;
    return (a.len > b.len) - (a.len < b.len);
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

/* Number of decimal digits that always fit in 64 bits. */
#define DIGITS_THAT_FIT 19

bool bytes_parse_u64(struct bytes a, uint64_t max, uint64_t *ret_value)
{
    uint64_t value = 0;

    if (a.len == 0)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        unsigned digit = (unsigned char)a.ptr[i] - (unsigned)'0';

        if (digit > 9)
            return false;
        if (i < DIGITS_THAT_FIT)
            value = value * 10 + digit;
        else if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
                 __builtin_add_overflow(value, (uint64_t)digit, &value))
            return false;
    }
    if (value > max)
        return false;
    *ret_value = value;
    return true;
}

struct bytes bytes_decimal(uint64_t value, char buffer[DECIMAL_DIGITS])
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    size_t at = DECIMAL_DIGITS;

    for (; value >= 100; value /= 100)
        memcpy(buffer + (at -= 2), pairs + 2 * (value % 100), 2);
    if (value >= 10)
        memcpy(buffer + (at -= 2), pairs + 2 * value, 2);
    else
        buffer[--at] = (char)('0' + value);
    return bytes_of(buffer + at, DECIMAL_DIGITS - at);
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
    /* Prevent the compiler from leaving the loop at the first difference. */
    __asm__ volatile("" : "+r"(difference));
    return difference == 0;
}

/* Returns the length of the multi-byte UTF-8 sequence at `at`, or 0 if it is invalid. Limiting the
 * range of the second byte excludes overlong forms, surrogates and code points above U+10FFFF.
 * rfc: 3629 4 */
static size_t utf8_sequence(const unsigned char *at, size_t left)
{
    unsigned char low = 0x80, high = 0xBF;
    size_t length;

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
    while (a.len > 0) {
        size_t length = word_run(a, word_not_ascii);

        if (length == 0)
            length = utf8_sequence((const unsigned char *)a.ptr, a.len);
        if (length == 0)
            return false;
        a = bytes_from(a, length);
    }
    return true;
}

uint32_t bytes_take_code_point(struct bytes *utf8)
{
    uint8_t first = (uint8_t)utf8->ptr[0];
    size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    uint32_t c = size == 1 ? first : first & (0xFFu >> (size + 1));

    assert(size <= utf8->len);
    for (size_t i = 1; i < size; i++)
        c = c << 6 | ((uint8_t)utf8->ptr[i] & 0x3F);
    *utf8 = bytes_from(*utf8, size);
    return c;
}

size_t bytes_utf16_units(struct bytes utf8)
{
    size_t units = 0;

    for (;;) {
        size_t ascii = word_run(utf8, word_not_ascii);

        units += ascii;
        utf8 = bytes_from(utf8, ascii);
        if (utf8.len == 0)
            return units;
        /* Count each lead byte once, or twice if the character needs a surrogate pair. */
        for (size_t i = 0; i < WORD_BYTES && utf8.len > 0; i++, utf8 = bytes_from(utf8, 1)) {
            uint8_t byte = (uint8_t)utf8.ptr[0];

            units += (byte & 0xC0) != 0x80;
            units += byte >= 0xF0;
        }
    }
}

bool bytes_have_control(struct bytes a)
{
    for (size_t i = 0; i < a.len; i++) {
        if ((unsigned char)a.ptr[i] < 0x20)
            return true;
    }
    return false;
}
