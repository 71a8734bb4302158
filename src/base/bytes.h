/* A run of bytes that somebody else owns: the string type of Lagra.
 *
 * Not NUL-terminated; ptr may be NULL only when len is 0. A NULL ptr means "absent" where a
 * function documents it (a header that was not sent), an empty run with a ptr means "present,
 * empty".
 * Any thread. */
#ifndef LAGRA_BASE_BYTES_H
#define LAGRA_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    const char *ptr;
    size_t len;
};

/* A string literal as bytes, usable in static initialisers. */
#define BYTES(literal)                                                                             \
    {                                                                                              \
        (literal), sizeof(literal) - 1                                                             \
    }
/* printf: "%.*s" with BYTES_ARG(b). */
#define BYTES_ARG(b) (int)(b).len, (b).ptr

static inline struct bytes bytes_of(const void *ptr, size_t len)
{
    return (struct bytes){ (const char *)ptr, len };
}

static inline struct bytes bytes_from_string(const char *string)
{
    return (struct bytes){ string, string ? strlen(string) : 0 };
}

static inline bool bytes_equal(struct bytes a, struct bytes b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool bytes_is(struct bytes a, const char *string)
{
    return bytes_equal(a, bytes_from_string(string));
}

/* ASCII case only. */
bool bytes_equal_nocase(struct bytes a, struct bytes b);
/* Inline, as bytes_is(), so that the length of a literal is known: it tells nearly all apart. */
static inline bool bytes_is_nocase(struct bytes a, const char *string)
{
    return a.len == strlen(string) && bytes_equal_nocase(a, bytes_of(string, a.len));
}
/* Bytewise order, as memcmp; a prefix sorts before what it begins. */
int bytes_compare(struct bytes a, struct bytes b);
static inline bool bytes_has_prefix(struct bytes a, struct bytes prefix)
{
    return a.len >= prefix.len && bytes_equal(bytes_of(a.ptr, prefix.len), prefix);
}
bool bytes_has_suffix(struct bytes a, struct bytes suffix);
bool bytes_has_suffix_nocase(struct bytes a, struct bytes suffix);
/* Without leading and trailing space and tab. */
struct bytes bytes_trim(struct bytes a);
/* The bytes from `from` to the end; empty when `from` is past it. */
static inline struct bytes bytes_from(struct bytes a, size_t from)
{
    if (!a.ptr)
        return a;
    if (from > a.len)
        from = a.len;
    return bytes_of(a.ptr + from, a.len - from);
}
/* Splits at the first `at`: *ret_head before it, *ret_tail after it (ptr NULL: none). */
void bytes_cut(struct bytes a, char at, struct bytes *ret_head, struct bytes *ret_tail);

/* Decimal digits only, no sign, no space, at least one digit, value at most `max`.
 * Returns false otherwise; *ret_value is then untouched. */
bool bytes_parse_u64(struct bytes a, uint64_t max, uint64_t *ret_value);
/* The digits of the greatest uint64_t. */
#define DECIMAL_DIGITS 20
/* Writes the value's digits at the end of the buffer; returns them. */
struct bytes bytes_decimal(uint64_t value, char buffer[DECIMAL_DIGITS]);

/* Value of a hexadecimal digit of either case; -1 for another character. */
int bytes_hex_digit(char c);

/* Constant time in the content (not in the length): for signatures and keys. */
bool bytes_equal_secret(struct bytes a, struct bytes b);

/* Strict UTF-8 (RFC 3629: no surrogates, no overlong forms). */
bool bytes_is_utf8(struct bytes a);
/* Takes a character off the front of a valid UTF-8 text that is not empty. */
uint32_t bytes_take_code_point(struct bytes *utf8);
/* Code units of a valid UTF-8 text in UTF-16, which limits and sizes of names and values count. */
size_t bytes_utf16_units(struct bytes utf8);
/* Whether it has more of them than that. Each has a byte at least, so a short text is not looked at. */
static inline bool bytes_utf16_exceed(struct bytes utf8, size_t units)
{
    return utf8.len > units && bytes_utf16_units(utf8) > units;
}

#endif
