/* Base64 and percent encoding. */
#include "base/encode.h"

#include <assert.h>

#define NOT_A_DIGIT UINT32_MAX

static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

struct bytes base64_encode(struct arena *arena, struct bytes from)
{
    const unsigned char *in = (const unsigned char *)from.ptr;
    size_t groups = from.len / 3 + (from.len % 3 > 0 ? 1 : 0);
    char *text, *to;
    size_t left = from.len;

    assert(groups <= SIZE_MAX / 4);
    text = to = arena_bytes(arena, groups * 4);
    for (; left >= 3; left -= 3, in += 3) {
        uint32_t group = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];

        *to++ = base64_digits[group >> 18];
        *to++ = base64_digits[group >> 12 & 63];
        *to++ = base64_digits[group >> 6 & 63];
        *to++ = base64_digits[group & 63];
    }
    if (left > 0) {
        uint32_t group = (uint32_t)in[0] << 16 | (left == 2 ? (uint32_t)in[1] << 8 : 0);

        *to++ = base64_digits[group >> 18];
        *to++ = base64_digits[group >> 12 & 63];
        *to++ = left == 2 ? base64_digits[group >> 6 & 63] : '=';
        *to++ = '=';
    }
    return bytes_of(text, groups * 4);
}

/* Values of base64 digits plus 1; 0 for other characters. */
/* clang-format off */
static const uint8_t base64_values[256] = {
    ['A'] = 1, ['B'] = 2, ['C'] = 3, ['D'] = 4, ['E'] = 5, ['F'] = 6, ['G'] = 7, ['H'] = 8,
    ['I'] = 9, ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
    ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
    ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
    ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
    ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64,
};
/* clang-format on */

static uint32_t base64_value(char c)
{
    return base64_values[(unsigned char)c] - 1u;
}

/* Returns four digits as 24 bits, or NOT_A_DIGIT if one of them is not a digit. */
static uint32_t base64_group(const char *digits)
{
    uint32_t a = base64_value(digits[0]), b = base64_value(digits[1]);
    uint32_t c = base64_value(digits[2]), d = base64_value(digits[3]);

    return (a | b | c | d) > 63 ? NOT_A_DIGIT : a << 18 | b << 12 | c << 6 | d;
}

static char *put_group(char *to, uint32_t group)
{
    to[0] = (char)(group >> 16);
    to[1] = (char)(group >> 8);
    to[2] = (char)group;
    return to + 3;
}

/* Accepts only complete groups of four, padding only at the end, and zeros as unused bits, so that
 * every byte string has exactly one encoding. rfc: 4648 3.5 */
struct bytes base64_decode(struct arena *arena, struct bytes from)
{
    size_t padding = 0, len;
    char *data, *to, last[4];
    uint32_t group;

    if (from.len % 4 != 0)
        return bytes_of(NULL, 0);
    if (from.len > 0 && from.ptr[from.len - 1] == '=')
        padding = from.ptr[from.len - 2] == '=' ? 2 : 1;
    len = from.len / 4 * 3 - padding;
    data = to = arena_bytes(arena, len + padding);
    for (size_t i = 0; i + (padding > 0 ? 4 : 0) < from.len; i += 4) {
        group = base64_group(from.ptr + i);
        if (group == NOT_A_DIGIT)
            return bytes_of(NULL, 0);
        to = put_group(to, group);
    }
    if (padding > 0) {
        memcpy(last, from.ptr + from.len - 4, sizeof last);
        memset(last + sizeof last - padding, 'A', padding); /* the digit of value 0 */
        group = base64_group(last);
        if (group == NOT_A_DIGIT || (group & ((1u << 8 * padding) - 1)) != 0)
            return bytes_of(NULL, 0);
        put_group(to, group);
    }
    return bytes_of(data, len);
}

struct bytes base64url_decode(struct arena *arena, struct bytes from)
{
    static const char padding[] = "==";
    char *text = arena_bytes(arena, from.len + 2);
    size_t missing = (4 - from.len % 4) % 4;

    if (missing == 3)
        return bytes_of(NULL, 0);
    for (size_t i = 0; i < from.len; i++) {
        char c = from.ptr[i];

        if (c == '+' || c == '/' || c == '=')
            return bytes_of(NULL, 0);
        text[i] = c == '-' ? '+' : c == '_' ? '/' : c;
    }
    memcpy(text + from.len, padding, missing);
    return base64_decode(arena, bytes_of(text, from.len + missing));
}

struct bytes base64_decode_lenient(struct arena *arena, struct bytes from)
{
    char *data = arena_bytes(arena, from.len / 4 * 3 + 3), *to = data;
    uint32_t bits = 0;
    unsigned bit_count = 0; /* bits in `bits` not yet written */

    for (size_t i = 0; i < from.len && from.ptr[i] != '='; i++) {
        char c = from.ptr[i];
        uint32_t value = base64_value(c == '-' ? '+' : c == '_' ? '/' : c);

        if (value == NOT_A_DIGIT)
            continue;
        bits = bits << 6 | value;
        bit_count += 6;
        if (bit_count >= 8) {
            bit_count -= 8;
            *to++ = (char)(bits >> bit_count);
        }
    }
    return bytes_of(data, (size_t)(to - data));
}

/* plus: replacement for '+' */
static struct bytes decode_url(struct arena *arena, struct bytes from, char plus)
{
    char *text, *to;

    if (from.len == 0 ||
        (!memchr(from.ptr, '%', from.len) && (plus == '+' || !memchr(from.ptr, '+', from.len))))
        return from;
    text = to = arena_bytes(arena, from.len);
    for (size_t i = 0; i < from.len; i++) {
        int high, low;

        if (from.ptr[i] != '%') {
            *to++ = from.ptr[i] == '+' ? plus : from.ptr[i];
            continue;
        }
        if (from.len - i < 3)
            return bytes_of(NULL, 0);
        high = bytes_hex_digit(from.ptr[i + 1]);
        low = bytes_hex_digit(from.ptr[i + 2]);
        if (high < 0 || low < 0)
            return bytes_of(NULL, 0);
        *to++ = (char)(high << 4 | low);
        i += 2;
    }
    return bytes_of(text, (size_t)(to - text));
}

struct bytes percent_decode(struct arena *arena, struct bytes from)
{
    return decode_url(arena, from, '+');
}

struct bytes query_decode(struct arena *arena, struct bytes from)
{
    return decode_url(arena, from, ' ');
}

/* Returns true for unreserved characters. rfc: 3986 2.3 */
static bool is_unreserved(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

struct bytes percent_encode(struct arena *arena, struct bytes from, const char *keep)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t plain = 0;
    struct text text;

    while (plain < from.len && is_unreserved(from.ptr[plain]))
        plain++;
    if (plain == from.len)
        return from;
    text_init(&text, arena, from.len);
    text_add(&text, bytes_of(from.ptr, plain));
    for (size_t i = plain; i < from.len; i++) {
        char c = from.ptr[i];
        unsigned char byte = (unsigned char)c;

        if (is_unreserved(c) || (c != '\0' && strchr(keep, c))) {
            text_add_char(&text, c);
            continue;
        }
        text_add_char(&text, '%');
        text_add_char(&text, hex[byte >> 4]);
        text_add_char(&text, hex[byte & 15]);
    }
    return text_bytes(&text);
}
