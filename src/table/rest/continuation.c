/* See continuation.h. */
#include "table/rest/continuation.h"

#include "base/encode.h"

/* Longer than the token of any key. */
#define TOKEN_MAX 8192u

static const struct bytes version = BYTES("1!");

/* Replaces each character that is in `from` by the corresponding one in `to`. */
static struct bytes translate(struct arena *arena, struct bytes text, const char *from,
                              const char *to)
{
    char *out = arena_bytes(arena, text.len);

    for (size_t i = 0; i < text.len; i++) {
        const char *at = text.ptr[i] != '\0' ? strchr(from, text.ptr[i]) : NULL;

        out[i] = at ? to[at - from] : text.ptr[i];
    }
    return bytes_of(out, text.len);
}

struct bytes continuation_encode(struct arena *arena, struct bytes key)
{
    struct bytes text = translate(arena, base64_encode(arena, key), "=/+", "-_*");

    return arena_printf(arena, "1!%zu!%.*s", text.len, BYTES_ARG(text));
}

struct bytes continuation_decode(struct arena *arena, struct bytes token)
{
    static const struct bytes none = { NULL, 0 };
    struct bytes length, text;
    uint64_t size;

    if (token.len > TOKEN_MAX || !bytes_has_prefix(token, version))
        return none;
    bytes_cut(bytes_from(token, version.len), '!', &length, &text);
    if (!text.ptr || !bytes_parse_u64(length, TOKEN_MAX, &size) || size != text.len)
        return none;
    if (text.len == 0)
        return bytes_from_string("");
    return base64_decode(arena, translate(arena, text, "-_*", "=/+"));
}
