/* See dfs_referral.h. */
#include "smb_protocol/dfs_referral.h"

#include <assert.h>

#define HEADER_SIZE       8u
#define ENTRY_SIZE        34u
#define STORAGE_SERVERS   0x00000002u /* ReferralHeaderFlags */
#define SERVER_IS_NO_ROOT 0u          /* ServerType */

/* ---- requests ---- */

/* Returns the UTF-16 string up to its terminator, or ptr NULL if it has none. */
static struct bytes terminated(struct bytes utf16)
{
    for (size_t at = 0; at + 2 <= utf16.len; at += 2)
        if (utf16.ptr[at] == 0 && utf16.ptr[at + 1] == 0)
            return bytes_of(utf16.ptr, at);
    return bytes_of(NULL, 0);
}

/* Reads RequestFileName of REQ_GET_DFS_REFERRAL_EX; the name of the client's site is ignored. */
static struct bytes read_extended(struct wire_reader *r)
{
    struct bytes name;
    uint32_t length;

    wire_skip(r, 2); /* RequestFlags */
    length = wire_u32(r);
    if (length > wire_left(r))
        r->bad = true;
    name = wire_bytes(r, wire_u16(r));
    return wire_ok(r) ? terminated(name) : bytes_of(NULL, 0);
}

/* Splits "\server\share\..", which may begin with two backslashes. */
static enum nt_status split(struct bytes path, struct dfs_referral_request *request)
{
    size_t from = bytes_has_prefix(path, bytes_from_string("\\\\")) ? 2 : 1;
    struct bytes server, share, rest;

    if (path.len == 0 || path.ptr[0] != '\\')
        return STATUS_NOT_FOUND;
    bytes_cut(bytes_from(path, from), '\\', &server, &share);
    if (server.len == 0 || !share.ptr)
        return STATUS_NOT_FOUND;
    bytes_cut(share, '\\', &share, &rest);
    request->share = share;
    request->path = bytes_of(path.ptr, from + server.len + 1 + share.len);
    return share.len > 0 && request->path.len <= DFS_PATH_MAX ? STATUS_SUCCESS : STATUS_NOT_FOUND;
}

enum nt_status dfs_referral_read(struct arena *arena, struct bytes input, bool is_extended,
                                 struct dfs_referral_request *ret_request)
{
    struct wire_reader r;
    struct bytes name;

    wire_reader_init(&r, input);
    *ret_request = (struct dfs_referral_request){ .level = wire_u16(&r) };
    name = is_extended ? read_extended(&r) : terminated(wire_bytes(&r, wire_left(&r)));
    if (!wire_ok(&r) || !name.ptr || ret_request->level == 0 || !wire_utf8(arena, name, &name))
        return STATUS_INVALID_PARAMETER;
    return ret_request->level < DFS_REFERRAL_LEVEL ? STATUS_NOT_FOUND : split(name, ret_request);
}

/* ---- responses ---- */

static size_t string_size(struct bytes utf8)
{
    return (bytes_utf16_units(utf8) + 1) * 2;
}

static void put_string(struct wire_writer *w, struct bytes utf8)
{
    wire_put_utf16(w, utf8);
    wire_put_u16(w, 0);
}

struct bytes dfs_referral_write(struct arena *arena, const struct dfs_referral_request *request,
                                struct bytes host)
{
    struct bytes target =
        arena_printf(arena, "\\%.*s\\%.*s", BYTES_ARG(host), BYTES_ARG(request->share));
    size_t path_size = string_size(request->path);
    struct wire_writer w;
    struct text text;

    assert(host.len <= DFS_HOST_MAX && request->path.len <= DFS_PATH_MAX);
    text_init(&text, arena, HEADER_SIZE + ENTRY_SIZE + 2 * path_size + string_size(target));
    wire_writer_init(&w, &text);
    wire_put_u16(&w, (uint16_t)(path_size - 2)); /* PathConsumed */
    wire_put_u16(&w, 1);                         /* NumberOfReferrals */
    wire_put_u32(&w, STORAGE_SERVERS);
    wire_put_u16(&w, DFS_REFERRAL_LEVEL);
    wire_put_u16(&w, ENTRY_SIZE);
    wire_put_u16(&w, SERVER_IS_NO_ROOT);
    wire_put_u16(&w, 0); /* ReferralEntryFlags */
    wire_put_u32(&w, DFS_REFERRAL_TTL_S);
    wire_put_u16(&w, ENTRY_SIZE); /* DFSPathOffset, from the entry */
    wire_put_u16(&w, (uint16_t)(ENTRY_SIZE + path_size));
    wire_put_u16(&w, (uint16_t)(ENTRY_SIZE + 2 * path_size)); /* NetworkAddressOffset */
    wire_put_zeros(&w, sizeof(struct guid));                  /* ServiceSiteGuid */
    put_string(&w, request->path);
    put_string(&w, request->path); /* alternate path */
    put_string(&w, target);
    return text_bytes(&text);
}
