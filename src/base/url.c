/* See url.h. */
#include "base/url.h"

#include "base/address.h"

static bool has_only_text(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if (c <= 0x20 || c == 0x7f || c == '#')
            return false;
    }
    return true;
}

static bool is_host_char(char c, bool is_ipv6)
{
    if ((c >= '0' && c <= '9') || c == '.')
        return true;
    if (is_ipv6)
        return c == ':' || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

static bool is_host(const struct url *url)
{
    for (size_t i = 0; i < url->host.len; i++) {
        if (!is_host_char(url->host.ptr[i], url->is_ipv6))
            return false;
    }
    return url->host.len > 0 && url->host.len <= 255;
}

/* Parses the text after the host: nothing, or ':' and a number. */
static bool parse_port(struct bytes text, struct url *url)
{
    uint64_t port;

    url->port = url->secure ? 443 : 80;
    if (text.len == 0)
        return true;
    if (text.ptr[0] != ':' || !bytes_parse_u64(bytes_from(text, 1), UINT16_MAX, &port) || port == 0)
        return false;
    url->port = (uint16_t)port;
    return true;
}

static bool parse_authority(struct url *url)
{
    struct bytes text = url->authority;
    const char *end;

    url->is_ipv6 = text.len > 0 && text.ptr[0] == '[';
    end = text.len > 0 ? memchr(text.ptr, url->is_ipv6 ? ']' : ':', text.len) : NULL;
    if (url->is_ipv6 && !end)
        return false;
    if (url->is_ipv6) {
        url->host = bytes_of(text.ptr + 1, (size_t)(end - text.ptr) - 1);
        end++;
    } else {
        url->host = bytes_of(text.ptr, end ? (size_t)(end - text.ptr) : text.len);
    }
    return is_host(url) &&
           parse_port(end ? bytes_from(text, (size_t)(end - text.ptr)) : bytes_of("", 0), url);
}

static size_t authority_length(struct bytes text)
{
    size_t length = 0;

    while (length < text.len && text.ptr[length] != '/' && text.ptr[length] != '?')
        length++;
    return length;
}

bool url_parse(struct bytes text, struct url *ret_url)
{
    struct url url = { .secure = false };
    struct bytes scheme, rest, path;
    size_t length;

    bytes_cut(text, ':', &scheme, &rest);
    url.secure = bytes_is_nocase(scheme, "https");
    if (!rest.ptr || (!url.secure && !bytes_is_nocase(scheme, "http")) ||
        !bytes_has_prefix(rest, bytes_from_string("//")) || !has_only_text(text))
        return false;
    rest = bytes_from(rest, 2);
    length = authority_length(rest);
    url.authority = bytes_of(rest.ptr, length);
    if (!parse_authority(&url))
        return false;
    bytes_cut(bytes_from(rest, length), '?', &path, &url.query);
    url.path = path.len > 0 ? path : bytes_from_string("/");
    *ret_url = url;
    return true;
}

/* Returns the offset of path and query, or the length of the text if it has neither. */
static size_t authority_end(struct bytes text)
{
    struct bytes scheme, rest;

    bytes_cut(text, ':', &scheme, &rest);
    if (!bytes_has_prefix(rest, bytes_from_string("//")))
        return text.len;
    rest = bytes_from(rest, 2);
    return text.len - rest.len + authority_length(rest);
}

struct bytes url_normal(struct arena *arena, struct bytes text)
{
    size_t start = authority_end(text);
    bool in_query = false;
    struct text out;

    text_init(&out, arena, text.len);
    text_add(&out, bytes_of(text.ptr, start));
    for (size_t i = start; i < text.len; i++) {
        char c = text.ptr[i];

        in_query = in_query || c == '?';
        if (c == ' ')
            text_add_string(&out, "%20");
        else
            text_add_char(&out, c == '\\' && !in_query ? '/' : c);
    }
    return out.len > 0 ? text_bytes(&out) : text;
}

struct bytes url_without(struct arena *arena, struct bytes text, const char *name)
{
    struct bytes before, query;
    struct text out;
    bool first = true;

    bytes_cut(text, '?', &before, &query);
    if (!query.ptr)
        return text;
    text_init(&out, arena, text.len);
    text_add(&out, before);
    while (query.ptr) {
        struct bytes pair, found, value;

        bytes_cut(query, '&', &pair, &query);
        bytes_cut(pair, '=', &found, &value);
        if (bytes_is_nocase(found, name))
            continue;
        text_add_char(&out, first ? '?' : '&');
        text_add(&out, pair);
        first = false;
    }
    return text_bytes(&out);
}

/* Returns true if normalizing may change the path, because it contains '\\' or a segment that ends
 * in a dot. */
static bool is_unusual(struct bytes path)
{
    for (size_t i = 0; i < path.len; i++) {
        bool ends = i + 1 == path.len || path.ptr[i + 1] == '/';

        if (path.ptr[i] == '\\' || (path.ptr[i] == '.' && ends))
            return true;
    }
    return false;
}

/* Returns the length of a path without its last segment. */
static size_t parent_length(const char *path, size_t length)
{
    if (length > 0)
        length--; /* the '/' at the end of that segment */
    while (length > 0 && path[length - 1] != '/')
        length--;
    return length;
}

struct bytes url_normalize_path(struct arena *arena, struct bytes path)
{
    char *to;
    size_t length = 0;

    if (!is_unusual(path))
        return path;
    to = arena_bytes(arena, path.len);
    for (size_t at = 0, end; at < path.len; at = end + 1) {
        size_t kept;

        for (end = at; end < path.len && path.ptr[end] != '/' && path.ptr[end] != '\\';)
            end++;
        kept = end - at;
        while (kept > 0 && path.ptr[at + kept - 1] == '.')
            kept--;
        if (kept == 0 && end > at) {
            if (end - at == 2)
                length = parent_length(to, length);
            continue;
        }
        memcpy(to + length, path.ptr + at, kept);
        length += kept;
        if (end < path.len)
            to[length++] = '/';
    }
    return bytes_of(to, length);
}

bool url_take_parameter(struct bytes *query, struct bytes *ret_name, struct bytes *ret_value)
{
    struct bytes parameter;

    if (query->len == 0)
        return false;
    bytes_cut(*query, '&', &parameter, query);
    bytes_cut(parameter, '=', ret_name, ret_value);
    return true;
}

/* Returns true if the host is a loopback address. Parses it completely, because
 * "127.0.0.1.example" is a name that can resolve to any address. */
static bool is_loopback_address(struct bytes host)
{
    uint8_t address[ADDRESS_SIZE];

    return bytes_has_prefix(host, bytes_from_string("127.")) && address_parse(host, address);
}

bool url_host_is_local(struct bytes host)
{
    return bytes_is_nocase(host, "localhost") || bytes_is(host, "::1") ||
           bytes_has_suffix_nocase(host, bytes_from_string(".localhost")) ||
           is_loopback_address(host);
}
