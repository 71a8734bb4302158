/* Continuations that Hadoop's driver creates itself, to start a list at a name (listStatus with
 * startFrom). The name is the first to be listed, and need not exist. Each kind of account has a
 * form of its own, that of the service. source: hadoop-azure, AzureBlobFileSystemStore
 * "generateContinuationTokenForXns", "generateContinuationTokenForNonXns"; decision: 1336 */
#include <inttypes.h>
#include <string.h>

#include "base/crc.h"
#include "base/encode.h"
#include "dfs/rest/request.h"

/* Splits at the last exclamation mark; ret_tail->ptr is NULL without one. */
static void cut_last(struct bytes text, struct bytes *ret_head, struct bytes *ret_tail)
{
    const char *mark = memrchr(text.ptr, '!', text.len);

    *ret_head = mark ? bytes_of(text.ptr, (size_t)(mark - text.ptr)) : text;
    *ret_tail = mark ? bytes_from(text, (size_t)(mark + 1 - text.ptr)) : bytes_of(NULL, 0);
}

/* Returns the name in "CRC 0 NAME"; CRC is the CRC-64 of "NAME#$0" as a signed number. */
static struct bytes read_tree_form(struct arena *arena, struct bytes token)
{
    struct bytes crc, zero, name, summed;

    bytes_cut(token, ' ', &crc, &name);
    bytes_cut(name, ' ', &zero, &name);
    if (!name.ptr || name.len == 0 || !bytes_is(zero, "0"))
        return bytes_of(NULL, 0);
    summed = arena_printf(arena, "%.*s#$0", BYTES_ARG(name));
    summed = arena_printf(arena, "%" PRId64, (int64_t)crc64(0, summed.ptr, summed.len));
    return bytes_equal(crc, summed) ? name : bytes_of(NULL, 0);
}

/* Returns the path in "DIRECTORY!PATH!DATE!", each with its length in UTF-16 units before it. */
static struct bytes read_flat_form(struct arena *arena, struct bytes token, struct bytes directory)
{
    size_t before = strlen("000000!") * 2 + directory.len + strlen("!");
    struct bytes rest, date, path, again;

    cut_last(token, &rest, &date);
    if (!date.ptr || date.len > 0)
        return bytes_of(NULL, 0);
    cut_last(rest, &rest, &date);
    cut_last(rest, &path, &rest); /* the length of the date */
    if (!date.ptr || !rest.ptr || path.len <= before)
        return bytes_of(NULL, 0);
    path = bytes_from(path, before);
    again = arena_printf(arena, "%06zu!%.*s!%06zu!%.*s!%06zu!%.*s!", bytes_utf16_units(directory),
                         BYTES_ARG(directory), bytes_utf16_units(path), BYTES_ARG(path),
                         bytes_utf16_units(date), BYTES_ARG(date));
    return bytes_equal(again, token) ? path : bytes_of(NULL, 0);
}

/* Decodes "2!LENGTH!TEXT", where TEXT is base64 with other characters for "/", "+" and "=". */
static struct bytes decode_flat(struct arena *arena, struct bytes text)
{
    static const char ours[] = "/+=", theirs[] = "_*-";
    struct bytes version, length;
    uint64_t expected;
    char *standard;

    bytes_cut(text, '!', &version, &text);
    bytes_cut(text, '!', &length, &text);
    if (!text.ptr || text.len == 0 || !bytes_is(version, "2") ||
        !bytes_parse_u64(length, text.len, &expected) || expected != text.len)
        return bytes_of(NULL, 0);
    standard = arena_alloc(arena, text.len);
    for (size_t i = 0; i < text.len; i++) {
        const char *other = text.ptr[i] ? strchr(theirs, text.ptr[i]) : NULL;

        standard[i] = other ? ours[other - theirs] : text.ptr[i];
    }
    return base64_decode(arena, bytes_of(standard, text.len));
}

struct bytes dfs_read_start_token(struct arena *arena, struct bytes text, bool is_tree,
                                  struct bytes prefix)
{
    struct bytes directory = bytes_of(prefix.ptr, prefix.len > 0 ? prefix.len - 1 : 0);
    struct bytes token = is_tree ? base64_decode(arena, text) : decode_flat(arena, text);
    struct bytes path;

    if (!token.ptr || !bytes_is_utf8(token))
        return bytes_of(NULL, 0);
    if (is_tree) {
        path = read_tree_form(arena, token);
        return path.ptr ? arena_printf(arena, "%.*s%.*s", BYTES_ARG(prefix), BYTES_ARG(path))
                        : path;
    }
    path = read_flat_form(arena, token, directory.len > 0 ? directory : bytes_of("", 0));
    if (!path.ptr && directory.len == 0)
        path = read_flat_form(arena, token, bytes_from_string("/"));
    return bytes_has_prefix(path, prefix) ? path : bytes_of(NULL, 0);
}
