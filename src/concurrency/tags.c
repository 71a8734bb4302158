/* Index tags: see tags.h. */
#include "concurrency/tags.h"

#include <assert.h>

#include "base/encode.h"
#include "base/url.h"

bool tags_may_have(char c)
{
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    bool digit = c >= '0' && c <= '9';

    return letter || digit || (c != '\0' && strchr(" +-./:=_", c));
}

static bool is_tag_text(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!tags_may_have(text.ptr[i]))
            return false;
    }
    return true;
}

enum error tags_add(struct tags *tags, struct bytes name, struct bytes value)
{
    if (name.len == 0)
        return E_EmptyTagName;
    if (tags->count == TAGS_MAX || name.len > TAG_NAME_MAX || value.len > TAG_VALUE_MAX)
        return E_TagsTooLarge;
    if (!is_tag_text(name) || !is_tag_text(value))
        return E_InvalidTag;
    for (size_t i = 0; i < tags->count; i++) {
        if (bytes_equal(tags->items[i].name, name))
            return E_DuplicateTagNames;
    }
    if (!value.ptr)
        value = bytes_of("", 0);
    assert(tags->count < TAGS_MAX);
    tags->items[tags->count++] = (struct tag){ name, value };
    return OK;
}

enum error tags_from_query(struct arena *arena, struct bytes text, struct tags *ret_tags)
{
    struct tags tags = { .count = 0 };
    struct bytes rest = text, name, value;

    while (url_take_parameter(&rest, &name, &value)) {
        enum error e;

        if (!value.ptr)
            return E_InvalidTag;
        name = query_decode(arena, name);
        value = query_decode(arena, value);
        if (!name.ptr || !value.ptr)
            return E_InvalidTag;
        e = tags_add(&tags, name, value);
        if (e)
            return e;
    }
    *ret_tags = tags;
    return OK;
}

/* ---- encoded ---- */

struct bytes tags_encode(struct arena *arena, const struct tags *tags)
{
    struct text out;

    assert(tags->count <= TAGS_MAX);
    if (tags->count == 0)
        return bytes_of(NULL, 0);
    text_init(&out, arena, 256);
    for (size_t i = 0; i < tags->count; i++) {
        encode_bytes(&out, tags->items[i].name);
        encode_bytes(&out, tags->items[i].value);
    }
    return text_bytes(&out);
}

bool tags_decode(struct bytes encoded, struct tags *ret_tags)
{
    struct tags tags = { .count = 0 };
    struct decoder in;

    decoder_init(&in, encoded);
    while (!in.bad && in.at < in.end) {
        struct bytes name = decode_bytes(&in);
        struct bytes value = decode_bytes(&in);

        if (in.bad || tags_add(&tags, name, value))
            return false;
    }
    if (in.bad)
        return false;
    *ret_tags = tags;
    return true;
}

struct bytes tags_value(struct bytes encoded, struct bytes name)
{
    struct decoder in;

    decoder_init(&in, encoded);
    while (!in.bad && in.at < in.end) {
        struct bytes found = decode_bytes(&in);
        struct bytes value = decode_bytes(&in);

        if (!in.bad && bytes_equal(found, name))
            return value.ptr ? value : bytes_of("", 0);
    }
    return bytes_of(NULL, 0);
}

/* Insertion sort, because there are at most TAGS_MAX and most clients send them in order. */
void tags_sort(struct tags *tags)
{
    for (size_t i = 1; i < tags->count; i++) {
        struct tag tag = tags->items[i];
        size_t at = i;

        for (; at > 0 && bytes_compare(tag.name, tags->items[at - 1].name) < 0; at--)
            tags->items[at] = tags->items[at - 1];
        tags->items[at] = tag;
    }
}

size_t tags_count(struct bytes encoded)
{
    struct decoder in;
    size_t count = 0;

    decoder_init(&in, encoded);
    while (!in.bad && in.at < in.end) {
        decode_bytes(&in);
        decode_bytes(&in);
        count++;
    }
    return count;
}
