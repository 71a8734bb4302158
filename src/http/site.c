/* See site.h. */
#include "http/site.h"

#include "base/address.h"

bool site_read_authority(struct arena *arena, const struct request *request, struct url *ret_url)
{
    return request->authority.ptr &&
           url_parse(arena_printf(arena, "%s://%.*s/", request->secure ? "https" : "http",
                                  BYTES_ARG(request->authority)),
                     ret_url);
}

static bool is_one_of(struct bytes host, struct bytes names)
{
    while (names.ptr) {
        struct bytes name;

        bytes_cut(names, ',', &name, &names);
        name = bytes_trim(name);
        if (name.len > 0 && bytes_equal_nocase(host, name))
            return true;
    }
    return false;
}

bool site_host_is_ours(struct arena *arena, const struct request *request, struct bytes names)
{
    struct url url;

    return site_read_authority(arena, request, &url) &&
           (request->secure || url_host_is_local(url.host) || is_one_of(url.host, names));
}

bool site_host_is_address(struct arena *arena, const struct request *request)
{
    uint8_t address[ADDRESS_SIZE];
    struct url url;

    return site_read_authority(arena, request, &url) && address_parse(url.host, address);
}

static bool is_own_origin(const struct request *request, struct bytes origin)
{
    const char *scheme = request->secure ? "https://" : "http://";

    return bytes_has_prefix(origin, bytes_from_string(scheme)) &&
           bytes_equal(bytes_from(origin, strlen(scheme)), request->authority);
}

bool site_is_own_page(const struct request *request)
{
    struct bytes site = request_header(request, "sec-fetch-site");

    if (site.ptr)
        return bytes_is(site, "same-origin");
    return is_own_origin(request, request_header(request, "origin"));
}

bool site_is_browser(const struct request *request)
{
    return request_header(request, "accept-language").ptr ||
           request_header(request, "sec-fetch-site").ptr || request_header(request, "origin").ptr;
}

bool site_is_other_page(const struct request *request)
{
    struct bytes site = request_header(request, "sec-fetch-site");
    struct bytes origin = request_header(request, "origin");

    /* "none": the user typed the address */
    if (site.ptr)
        return !bytes_is(site, "same-origin") && !bytes_is(site, "none");
    return origin.ptr && !is_own_origin(request, origin);
}
