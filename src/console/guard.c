/* See guard.h. */
#include "console/guard.h"

#include "http/site.h"

/* Scripts are loaded only from this server, and only the SDK's XML parser may turn text into HTML,
 * so names and contents chosen by clients are shown as text. source: W3C Content Security Policy 3,
 * Trusted Types */
#define POLICY                                                                                     \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "              \
    "media-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors "  \
    "'none'; "                                                                                     \
    "require-trusted-types-for 'script'; trusted-types @azure/core-xml#xml.browser"
#define POLICY_OF_DATA "default-src 'none'; sandbox; frame-ancestors 'none'"

bool guard_is_for_data(const struct request *request)
{
    static const char *const destinations[] = { "empty", "document", "audio", "video" };
    struct bytes what = request_header(request, "sec-fetch-dest");

    for (size_t i = 0; what.ptr && i < sizeof destinations / sizeof destinations[0]; i++) {
        if (bytes_is(what, destinations[i]))
            return true;
    }
    return !what.ptr;
}

/* ---- responses ---- */

static void add_common(struct response *response)
{
    response_header_string(response, "Referrer-Policy", "no-referrer");
    response_header_string(response, "X-Frame-Options", "DENY");
    response_header_string(response, "Cross-Origin-Resource-Policy", "same-origin");
    if (!response_find_header(response, bytes_from_string("X-Content-Type-Options")))
        response_header_string(response, "X-Content-Type-Options", "nosniff");
}

void guard_answer(struct response *response)
{
    response_header_string(response, "Content-Security-Policy", POLICY);
    response_header_string(response, "Cross-Origin-Opener-Policy", "same-origin");
    add_common(response);
}

void guard_relayed(struct response *response)
{
    response_header_string(response, "Content-Security-Policy", POLICY_OF_DATA);
    add_common(response);
}

/* ---- the cookie ---- */

struct bytes guard_cookie_name(struct arena *arena, const struct request *request)
{
    struct url url;

    return arena_printf(arena, "lagra_console_%u",
                        site_read_authority(arena, request, &url) ? url.port : 0);
}

/* Parses the Cookie header. rfc: 6265 4.2.1 */
struct bytes guard_cookie(struct arena *arena, const struct request *request)
{
    struct bytes wanted = guard_cookie_name(arena, request);
    struct bytes rest = request_header(request, "cookie"), found = bytes_of(NULL, 0);

    while (rest.ptr && !found.ptr) {
        struct bytes pair, name, value;

        bytes_cut(rest, ';', &pair, &rest);
        bytes_cut(bytes_trim(pair), '=', &name, &value);
        if (bytes_equal(name, wanted))
            found = value;
    }
    return found;
}
