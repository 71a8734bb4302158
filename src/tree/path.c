/* Names and paths: see path.h. */
#include "tree/path.h"

#include "base/words.h"
#include "tree/upcase_table.h"

struct bytes tree_key(struct arena *arena, enum tree_case rule, struct bytes text)
{
    return rule == TREE_CASE_IGNORED ? upcase_text(arena, text) : text;
}

enum tree_path_fault tree_name_parse(struct arena *arena, enum tree_case rule, struct bytes text,
                                     struct tree_name *ret_name)
{
    if (text.len == 0)
        return TREE_NAME_EMPTY;
    if (bytes_is(text, ".") || bytes_is(text, ".."))
        return TREE_NAME_DOTS;
    if (memchr(text.ptr, '\0', text.len))
        return TREE_NAME_HAS_NUL;
    if (!bytes_is_utf8(text))
        return TREE_PATH_NOT_UTF8;
    if (bytes_utf16_exceed(text, TREE_NAME_MAX))
        return TREE_NAME_TOO_LONG;
    *ret_name = (struct tree_name){ text, tree_key(arena, rule, text) };
    return TREE_PATH_OK;
}

static size_t count_names(struct bytes text)
{
    size_t count = 1;

    for (size_t i = 0; i < text.len; i++)
        count += text.ptr[i] == '/';
    return count;
}

enum tree_path_fault tree_path_parse(struct arena *arena, enum tree_case rule, struct bytes text,
                                     struct tree_path *ret_path)
{
    struct tree_name *names;
    struct bytes rest = text;
    size_t count;

    if (text.len == 0) {
        *ret_path = (struct tree_path){ .count = 0 };
        return TREE_PATH_OK;
    }
    /* Checked before decoding. A code unit takes at most three bytes, so this also bounds the
     * work. */
    if (text.len > 3 * TREE_PATH_MAX || bytes_utf16_exceed(text, TREE_PATH_MAX))
        return TREE_PATH_TOO_LONG;
    count = count_names(text);
    if (count > TREE_DEPTH_MAX)
        return TREE_PATH_TOO_DEEP;
    names = arena_array(arena, count, sizeof names[0]);
    for (size_t i = 0; i < count; i++) {
        struct bytes name;
        enum tree_path_fault fault;

        bytes_cut(rest, '/', &name, &rest);
        fault = tree_name_parse(arena, rule, name, &names[i]);
        if (fault)
            return fault;
    }
    *ret_path = (struct tree_path){ names, count };
    return TREE_PATH_OK;
}

/* ---- upcase ---- */

uint16_t upcase_unit(uint16_t unit)
{
    size_t low = 0, high = sizeof upcase_ranges / sizeof upcase_ranges[0];

    if (unit < 0x80)
        return unit >= 'a' && unit <= 'z' ? (uint16_t)(unit - 'a' + 'A') : unit;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct upcase_range *range = &upcase_ranges[middle];

        if (unit > range->last)
            low = middle + 1;
        else if (unit < range->first)
            high = middle;
        else
            return (unit - range->first) % range->step == 0 ? (uint16_t)(unit + range->add) : unit;
    }
    return unit;
}

/* Returns the length of the code point that starts with this byte in well-formed UTF-8. */
static size_t sequence_length(uint8_t lead)
{
    return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

static uint16_t decode_unit(const uint8_t *at, size_t length)
{
    if (length == 1)
        return at[0];
    if (length == 2)
        return (uint16_t)((at[0] & 0x1F) << 6 | (at[1] & 0x3F));
    return (uint16_t)((at[0] & 0x0F) << 12 | (at[1] & 0x3F) << 6 | (at[2] & 0x3F));
}

static void add_unit(struct text *out, uint16_t unit)
{
    if (unit < 0x80) {
        text_add_char(out, (char)unit);
        return;
    }
    if (unit < 0x800) {
        text_add_char(out, (char)(0xC0 | unit >> 6));
    } else {
        text_add_char(out, (char)(0xE0 | unit >> 12));
        text_add_char(out, (char)(0x80 | (unit >> 6 & 0x3F)));
    }
    text_add_char(out, (char)(0x80 | (unit & 0x3F)));
}

/* Converts the leading ASCII characters; most names have no others. Returns the number of bytes
 * converted. */
static size_t add_ascii(struct text *out, struct bytes text)
{
    size_t length = word_run(text, word_not_ascii), step;
    char *to;

    text_reserve(out, length);
    to = out->ptr + out->len;
    for (size_t at = 0; at < length; at += step) {
        word_bytes word;

        step = length - at < WORD_BYTES ? length - at : WORD_BYTES;
        word = step == WORD_BYTES ? word_load(text.ptr + at)
                                  : word_load_part(bytes_of(text.ptr + at, step));
        word -= word_between(word, 'a', 'z') & ('a' - 'A');
        memcpy(to + at, &word, step);
    }
    out->len += length;
    return length;
}

struct bytes upcase_text(struct arena *arena, struct bytes text)
{
    struct text out;

    text_init(&out, arena, text.len);
    for (size_t i = add_ascii(&out, text); i < text.len;) {
        const uint8_t *at = (const uint8_t *)text.ptr + i;
        size_t length = sequence_length(at[0]);

        if (length > text.len - i)
            length = text.len - i; /* invalid UTF-8 is copied unchanged */
        if (length > 3 || length < sequence_length(at[0]))
            text_add(&out, bytes_of(at, length));
        else
            add_unit(&out, upcase_unit(decode_unit(at, length)));
        i += length;
    }
    return text_bytes(&out);
}
