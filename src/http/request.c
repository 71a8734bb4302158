/* Refuses anything that two parsers might interpret differently: the length of a body (rfc: 9112
 * 6.3, 11.2), and the host. */
#include "http/request.h"

#include "http/forwarded.h"
#include "http/tokens.h"

struct bytes request_find_header(const struct request *request, struct bytes name)
{
    for (size_t i = 0; i < request->header_count; i++) {
        const struct http_header *h = &request->headers[i];

        /* Comparing the first and last character rejects nearly all other names. */
        if (h->name.len == name.len && h->name.ptr[0] == name.ptr[0] &&
            h->name.ptr[name.len - 1] == name.ptr[name.len - 1] && bytes_equal(h->name, name))
            return h->value;
    }
    return (struct bytes){ NULL, 0 };
}

/* Headers that the server itself uses, collected in one pass */
struct own_headers {
    unsigned hosts, lengths, codings;
    struct bytes host, length, coding;
    bool closes, keeps;                   /* from Connection */
    bool expects_continue, expects_other; /* from Expect */
    bool is_forwarded;                    /* a proxy header is present */
};

/* Reads the Expect header. Skips empty elements. May split a quoted string at a comma, which is
 * harmless because such an expectation is unknown anyway. rfc: 9110 10.1.1, 5.6.1 */
static void read_expect(struct bytes list, struct own_headers *own)
{
    struct bytes one;

    while (list.ptr) {
        bytes_cut(list, ',', &one, &list);
        one = bytes_trim(one);
        if (bytes_is_nocase(one, "100-continue"))
            own->expects_continue = true;
        else
            own->expects_other |= one.len > 0;
    }
}

/* Reads the Connection header, a list of tokens. rfc: 9110 7.6.1 */
static void read_connection(struct bytes list, struct own_headers *own)
{
    struct bytes one;

    while (list.ptr) {
        bytes_cut(list, ',', &one, &list);
        one = bytes_trim(one);
        own->closes |= bytes_is_nocase(one, "close");
        own->keeps |= bytes_is_nocase(one, "keep-alive");
    }
}

/* Returns true for "forwarded" and "x-..", but not for the frequent "x-ms-..". */
static bool may_be_of_proxy(struct bytes name)
{
    return name.len > 2 && (name.ptr[0] == 'f' || (name.ptr[0] == 'x' && name.ptr[2] != 'm'));
}

static void find_own(const struct request *request, struct own_headers *own)
{
    for (size_t i = 0; i < request->header_count; i++) {
        const struct http_header *h = &request->headers[i];

        if (bytes_is(h->name, "host")) {
            own->hosts++;
            own->host = h->value;
        } else if (bytes_is(h->name, "content-length")) {
            own->lengths++;
            own->length = h->value;
        } else if (bytes_is(h->name, "transfer-encoding")) {
            own->codings++;
            own->coding = h->value;
        } else if (bytes_is(h->name, "connection")) {
            read_connection(h->value, own);
        } else if (bytes_is(h->name, "expect")) {
            read_expect(h->value, own);
        } else if (may_be_of_proxy(h->name)) {
            own->is_forwarded |= forwarded_is_name(h->name);
        }
    }
}

/* Returns 0, 400 or 413. rfc: 9110 8.6 */
static int read_length(struct bytes text, uint64_t *ret_length)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return 400;
    }
    if (text.len == 0)
        return 400;
    if (!bytes_parse_u64(text, UINT64_MAX, ret_length))
        return 413;
    return *ret_length > INT64_MAX ? 400 : 0;
}

/* Determines the length of the body. rfc: 9112 6.1, 6.3. Returns 0, 400, 413 or 501. */
static int read_framing(struct request *request, unsigned minor, const struct own_headers *own)
{
    request->content_length = 0;
    if (own->codings + own->lengths > 1)
        return 400;
    if (own->codings > 0) {
        /* Refuse a space after the coding, which some parsers treat as a part of it. */
        if (own->coding.ptr[own->coding.len] != '\r' || minor == 0)
            return 400;
        if (!bytes_is_nocase(own->coding, "chunked"))
            return 501;
        request->content_length = HTTP_LENGTH_UNKNOWN;
        return 0;
    }
    return own->lengths > 0 ? read_length(own->length, &request->content_length) : 0;
}

/* Checks the Host header: exactly one in HTTP/1.1, and valid, or empty for a URL without a host.
 * Checked even if an authority in the target takes precedence. rfc: 9112 3.2 */
static bool check_host(const struct own_headers *own, unsigned minor)
{
    if (own->hosts == 0)
        return minor == 0;
    return own->hosts == 1 && (own->host.len == 0 || http_is_host(own->host));
}

int request_read(struct request *request, unsigned minor, struct request_asks *ret_asks)
{
    struct own_headers own = { .hosts = 0 };
    int refusal;

    find_own(request, &own);
    if (!check_host(&own, minor))
        return 400;
    if (!request->authority.ptr)
        request->authority = own.host;
    request->is_forwarded |= own.is_forwarded;
    refusal = read_framing(request, minor, &own);
    if (refusal != 0)
        return refusal;
    if (own.expects_other)
        return 417;
    ret_asks->expects = own.expects_continue && request->content_length != 0 && minor > 0;
    ret_asks->closes = own.closes || (minor == 0 && !own.keeps);
    ret_asks->keeps_1_0 = minor == 0 && !ret_asks->closes;
    return 0;
}
