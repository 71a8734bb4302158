/* ETags as text: Azure's form of the modification time, and entity tags in headers.
 * rfc: 9110 8.8.3; semantics 0.3 */
#include "concurrency/etag.h"

#include <assert.h>

#include "base/words.h"

#define HEX_DIGITS_MAX 16

struct etag etag_after(struct etag before, instant now)
{
    return (struct etag){ now > before.v ? now : before.v + 1 };
}

void etag_format(struct etag etag, char buffer[ETAG_TEXT_SIZE])
{
    static const char digits[] = "0123456789ABCDEF";
    char *to = buffer;
    int shift = 60;

    while (shift > 0 && etag.v >> shift == 0)
        shift -= 4;

    memcpy(to, "\"0x", 3);
    to += 3;
    for (; shift >= 0; shift -= 4)
        *to++ = digits[etag.v >> shift & 15];
    *to++ = '"';
    *to = '\0';
    assert(to - buffer < ETAG_TEXT_SIZE);
}

static word_bytes not_etagc(word_bytes text)
{
    return word_below(text, 0x21) | word_equal(text, '"') | word_equal(text, 0x7f);
}

static word_bytes not_bare(word_bytes text)
{
    return not_etagc(text) | word_equal(text, ',') | word_equal(text, '*');
}

/* Checks for etagc characters, rfc: 9110 8.8.3; a bare tag cannot contain a comma, which starts the
 * next one. */
static bool is_opaque_tag(struct bytes tag, bool is_bare)
{
    if (is_bare)
        return tag.len > 0 && word_run(tag, not_bare) == tag.len;
    return word_run(tag, not_etagc) == tag.len;
}

/* Tags are compared as text, so only the spelling of etag_format() matches ours. */
static instant value_of(struct bytes tag)
{
    instant v = 0;

    if (tag.len < 3 || tag.len > 2 + HEX_DIGITS_MAX || tag.ptr[0] != '0' || tag.ptr[1] != 'x' ||
        tag.ptr[2] == '0')
        return 0;
    for (size_t i = 2; i < tag.len; i++) {
        char c = tag.ptr[i];

        if (c >= '0' && c <= '9')
            v = v << 4 | (instant)(c - '0');
        else if (c >= 'A' && c <= 'F')
            v = v << 4 | (instant)(c - 'A' + 10);
        else
            return 0;
    }
    return v;
}

bool etag_parse(struct bytes text, struct etag *ret_etag)
{
    struct bytes tag = text;
    bool is_weak = tag.len >= 2 && tag.ptr[0] == 'W' && tag.ptr[1] == '/';
    bool is_quoted;

    if (is_weak)
        tag = bytes_of(tag.ptr + 2, tag.len - 2);
    is_quoted = tag.len >= 2 && tag.ptr[0] == '"' && tag.ptr[tag.len - 1] == '"';
    if (is_quoted)
        tag = bytes_of(tag.ptr + 1, tag.len - 2);
    if (!is_opaque_tag(tag, !is_quoted))
        return false;

    /* A weak tag never matches, because ours are all strong. rfc: 9110 8.8.3.2 */
    ret_etag->v = is_weak ? 0 : value_of(tag);
    return true;
}

/* ---- the form of the Table service ---- */

/* Parses 2017-01-05T03%3A24%3A39.6596665Z; returns 0 if the text is malformed. */
static instant value_of_timestamp(struct bytes text)
{
    char plain[INSTANT_ISO_SIZE];
    size_t len = 0;
    instant t;

    for (;;) {
        struct bytes part, rest;

        bytes_cut(text, '%', &part, &rest);
        if (part.len + 1 > sizeof plain - len)
            return 0;
        memcpy(plain + len, part.ptr, part.len);
        len += part.len;
        if (!rest.ptr)
            return instant_parse_iso(bytes_of(plain, len), &t) ? t : 0;
        if (rest.len < 2 || rest.ptr[0] != '3' || (rest.ptr[1] | 0x20) != 'a')
            return 0; /* dates contain no other escaped characters */
        assert(len < sizeof plain);
        plain[len++] = ':';
        text = bytes_from(rest, 2);
    }
}

bool etag_parse_timestamp(struct bytes text, struct etag *ret_etag)
{
    static const struct bytes weak = BYTES("W/\""), begin = BYTES("datetime'"), end = BYTES("'");
    struct bytes tag;

    if (!bytes_has_prefix(text, weak) || text.len == weak.len || text.ptr[text.len - 1] != '"')
        return false;
    tag = bytes_of(text.ptr + weak.len, text.len - weak.len - 1);
    if (!is_opaque_tag(tag, false))
        return false;
    ret_etag->v = 0;
    if (tag.len > begin.len && bytes_has_prefix(tag, begin) && bytes_has_suffix(tag, end))
        ret_etag->v = value_of_timestamp(bytes_of(tag.ptr + begin.len, tag.len - begin.len - 1));
    return true;
}
