/* See der.h. */
#include "smb_protocol/der.h"

struct der der_of(struct bytes encoded)
{
    return (struct der){ .rest = encoded };
}

bool der_next_is(const struct der *d, uint8_t tag)
{
    return !d->bad && d->rest.len > 0 && (uint8_t)d->rest.ptr[0] == tag;
}

#define LONG_FORM        0x80
#define LENGTH_BYTES_MAX 4

/* Reads the length after a tag. *ret_head: size of tag and length */
static bool read_length(struct bytes at, size_t *ret_head, size_t *ret_length)
{
    uint8_t first;
    size_t length = 0, count;

    if (at.len < 2)
        return false;
    first = (uint8_t)at.ptr[1];
    if (first < LONG_FORM) {
        *ret_head = 2;
        *ret_length = first;
        return true;
    }
    count = first - LONG_FORM;
    if (count == 0 || count > LENGTH_BYTES_MAX || at.len < 2 + count)
        return false;
    for (size_t i = 0; i < count; i++)
        length = length << 8 | (uint8_t)at.ptr[2 + i];
    *ret_head = 2 + count;
    *ret_length = length;
    return true;
}

struct bytes der_take(struct der *d, uint8_t tag, struct bytes *ret_whole)
{
    size_t head, length;
    struct bytes content;

    if (!der_next_is(d, tag) || !read_length(d->rest, &head, &length) ||
        length > d->rest.len - head) {
        *d = (struct der){ .bad = true };
        content = bytes_of("", 0);
        if (ret_whole)
            *ret_whole = content;
        return content;
    }
    content = bytes_of(d->rest.ptr + head, length);
    if (ret_whole)
        *ret_whole = bytes_of(d->rest.ptr, head + length);
    d->rest = bytes_from(d->rest, head + length);
    return content;
}

struct der der_enter(struct der *d, uint8_t tag)
{
    struct bytes content = der_take(d, tag, NULL);

    return (struct der){ .rest = content, .bad = d->bad };
}

void der_skip(struct der *d)
{
    der_take(d, d->rest.len > 0 ? (uint8_t)d->rest.ptr[0] : 0, NULL);
}

struct bytes der_put(struct arena *arena, uint8_t tag, const struct bytes parts[], size_t count)
{
    struct text out;
    size_t length = 0, bytes = 0;

    for (size_t i = 0; i < count; i++)
        length += parts[i].len;
    text_init(&out, arena, length + 2 + LENGTH_BYTES_MAX);
    text_add_char(&out, (char)tag);
    if (length < LONG_FORM) {
        text_add_char(&out, (char)length);
    } else {
        while (length >> 8 * bytes)
            bytes++;
        text_add_char(&out, (char)(LONG_FORM + bytes));
        for (; bytes > 0; bytes--)
            text_add_char(&out, (char)(length >> 8 * (bytes - 1)));
    }
    for (size_t i = 0; i < count; i++)
        text_add(&out, parts[i]);
    return text_bytes(&out);
}
