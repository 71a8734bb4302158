/* A byte string owned by another object: the string type of Lagra.
 *
 * Not NUL-terminated; ptr may be NULL only when len is 0. Where a function documents it, a NULL ptr
 * means "absent" (a header that was not sent), while an empty string with a ptr means "present,
 * empty". Thread-safe. */
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

/* A string literal as bytes, for static initialisers. */
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
/* Inline, like bytes_is(), because the length of a literal is then a constant and usually
 * determines the result. */
static inline bool bytes_is_nocase(struct bytes a, const char *string)
{
    return a.len == strlen(string) && bytes_equal_nocase(a, bytes_of(string, a.len));
}
/* Compares bytewise like memcmp(); a prefix sorts before longer strings. */
int bytes_compare(struct bytes a, struct bytes b);
static inline bool bytes_has_prefix(struct bytes a, struct bytes prefix)
{
    return a.len >= prefix.len && bytes_equal(bytes_of(a.ptr, prefix.len), prefix);
}
bool bytes_has_suffix(struct bytes a, struct bytes suffix);
bool bytes_has_suffix_nocase(struct bytes a, struct bytes suffix);
/* Removes leading and trailing spaces and tabs. */
struct bytes bytes_trim(struct bytes a);
/* Returns the bytes from index `from` to the end; empty if `from` is past the end. */
static inline struct bytes bytes_from(struct bytes a, size_t from)
{
    if (!a.ptr)
        return a;
    if (from > a.len)
        from = a.len;
    return bytes_of(a.ptr + from, a.len - from);
}
/* Splits at the first `at` into *ret_head and *ret_tail. If none exists, ret_tail->ptr is
 * NULL. */
void bytes_cut(struct bytes a, char at, struct bytes *ret_head, struct bytes *ret_tail);

/* Parses decimal digits: no sign, no space, at least one digit, value at most `max`. Otherwise
 * returns false and leaves *ret_value unchanged. */
bool bytes_parse_u64(struct bytes a, uint64_t max, uint64_t *ret_value);
/* Number of digits of UINT64_MAX. */
#define DECIMAL_DIGITS 20
/* Writes the value's digits at the end of the buffer and returns them. */
struct bytes bytes_decimal(uint64_t value, char buffer[DECIMAL_DIGITS]);

/* Returns the value of a hexadecimal digit of either case, or -1 for other characters. */
int bytes_hex_digit(char c);

/* Compares signatures and keys, in a time that depends only on the lengths. */
bool bytes_equal_secret(struct bytes a, struct bytes b);

/* Returns true if a byte is below 0x20. */
bool bytes_have_control(struct bytes a);
/* Returns true for strict UTF-8 (RFC 3629: no surrogates, no overlong forms). */
bool bytes_is_utf8(struct bytes a);
/* Removes and returns the first character of valid, non-empty UTF-8. */
uint32_t bytes_take_code_point(struct bytes *utf8);
/* Returns the number of UTF-16 code units of valid UTF-8; limits on names and values are in these
 * units. */
size_t bytes_utf16_units(struct bytes utf8);
/* Returns true if the string has more than `units` UTF-16 code units. Each takes at least one byte,
 * so short strings need no scan. */
static inline bool bytes_utf16_exceed(struct bytes utf8, size_t units)
{
    return utf8.len > units && bytes_utf16_units(utf8) > units;
}

#endif
