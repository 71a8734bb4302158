/* See query.h. */
#include "table/rest/query.h"

#include "base/encode.h"

enum error query_read_top(struct call *call, uint32_t *ret_top)
{
    struct bytes text = call_query(call, "$top");
    uint64_t top = QUERY_RESULTS_MAX;

    if (text.ptr && (!bytes_parse_u64(text, QUERY_RESULTS_MAX, &top) || top == 0))
        return call_fail(call, E_InvalidInput, "$top must be a number from 1 to %d.",
                         QUERY_RESULTS_MAX);
    *ret_top = (uint32_t)top;
    return OK;
}

enum error query_read_filter(struct call *call, enum filter_of of, const struct filter **ret_filter)
{
    struct bytes text = call_query(call, "$filter");
    const char *message = NULL;
    struct filter *filter;
    enum error e;

    *ret_filter = NULL;
    if (bytes_trim(text).len == 0)
        return OK;
    filter = arena_alloc(call->arena, sizeof *filter);
    e = filter_parse(call->arena, text, of, filter, &message);
    if (e)
        return odata_refuse(call, e, message);
    *ret_filter = filter;
    return OK;
}

static bool is_among(const struct bytes *names, size_t count, struct bytes name)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes_equal(names[i], name))
            return true;
    }
    return false;
}

static size_t count_names(struct bytes list)
{
    size_t count = 1;

    for (size_t i = 0; i < list.len; i++)
        count += list.ptr[i] == ',';
    return count;
}

enum error query_read_select(struct call *call, const struct bytes **ret_select, size_t *ret_count)
{
    struct bytes rest = call_query(call, "$select"), name;
    size_t count = count_names(rest), unique = 0;
    struct bytes *select;

    *ret_select = NULL;
    *ret_count = 0;
    if (rest.len == 0 || bytes_is(bytes_trim(rest), "*"))
        return OK;
    if (count > QUERY_SELECT_MAX)
        return call_fail(call, E_InvalidInput, "$select has more than %d names.", QUERY_SELECT_MAX);
    select = arena_array(call->arena, count, sizeof *select);
    for (size_t i = 0; i < count; i++) {
        bytes_cut(rest, ',', &name, &rest);
        name = bytes_trim(name);
        if (entity_name_check(name))
            return call_fail(call, E_InvalidInput, "$select must be a list of property names.");
        if (!is_among(select, unique, name))
            select[unique++] = name;
    }
    *ret_select = select;
    *ret_count = unique;
    return OK;
}

/* ---- continuation ---- */

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
