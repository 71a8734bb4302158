/* See forwarded.h. */
#include "http/forwarded.h"

#include "http/tokens.h"

#define REFUSED 400

static const struct bytes none = { NULL, 0 };

bool forwarded_is_name(struct bytes name)
{
    return bytes_is(name, "forwarded") || bytes_is(name, "x-forwarded-for") ||
           bytes_is(name, "x-forwarded-proto") || bytes_is(name, "x-forwarded-host") ||
           bytes_is(name, "x-real-ip");
}

/* ---- client: a node. rfc: 7239 6 ---- */

struct node {
    bool is_known;
    uint8_t address[ADDRESS_SIZE];
    uint16_t port;
};

/* Parses a port, which may be a name chosen by the proxy. ptr NULL means absent */
static bool read_port(struct bytes text, struct node *node)
{
    uint64_t port = 0;

    if (text.ptr && (text.len == 0 || text.ptr[0] != '_') &&
        !bytes_parse_u64(text, UINT16_MAX, &port))
        return false;
    node->port = (uint16_t)port;
    return true;
}

/* Parses "192.0.2.1", "192.0.2.1:5000", "[2001:db8::1]:5000", "unknown", "_name"; and the form in
 * X-Forwarded-For, "2001:db8::1". */
static bool read_node(struct bytes text, struct node *ret_node)
{
    struct node node = { .is_known = true };
    struct bytes address = text, port = none, rest;

    if (text.len > 0 && text.ptr[0] == '[') {
        bytes_cut(bytes_from(text, 1), ']', &address, &rest);
        if (!rest.ptr || (rest.len > 0 && rest.ptr[0] != ':') ||
            !memchr(address.ptr, ':', address.len))
            return false;
        port = rest.len > 0 ? bytes_from(rest, 1) : none;
    } else {
        bytes_cut(text, ':', &address, &port);
        if (port.ptr && memchr(port.ptr, ':', port.len)) {
            address = text;
            port = none;
        }
    }
    if (bytes_is_nocase(address, "unknown") || (address.len > 1 && address.ptr[0] == '_'))
        node.is_known = false;
    else if (!address_parse(address, node.address))
        return false;
    if (!read_port(port, &node))
        return false;
    *ret_node = node;
    return true;
}

static bool read_proto(struct bytes text, bool *ret_is_tls)
{
    *ret_is_tls = bytes_is_nocase(text, "https");
    return *ret_is_tls || bytes_is_nocase(text, "http");
}

static bool is_proxy(const struct address_list *proxies, const struct node *node)
{
    return node->is_known && address_list_has(proxies, node->address);
}

static void take_client(const struct node *node, struct forwarded *forwarded)
{
    forwarded->has_client = true;
    forwarded->client_is_known = node->is_known;
    forwarded->port = node->port;
    memcpy(forwarded->client, node->address, sizeof forwarded->client);
}

/* ---- X-Forwarded-..: each a list, in one or more headers ---- */

/* Removes and returns the last element of a list, skipping empty ones; ptr NULL at the end. */
static struct bytes take_last(struct bytes *list)
{
    while (list->len > 0) {
        size_t begin = list->len;
        struct bytes one;

        while (begin > 0 && list->ptr[begin - 1] != ',')
            begin--;
        one = bytes_trim(bytes_of(list->ptr + begin, list->len - begin));
        list->len = begin > 0 ? begin - 1 : 0;
        if (one.len > 0)
            return one;
    }
    return none;
}

/* Reads an X-Forwarded-For header from its end. *hops counts the addresses read so far. Sets
 * *ret_ends once the client has been found. */
static bool read_for(struct bytes list, const struct address_list *proxies, unsigned *hops,
                     struct forwarded *forwarded, bool *ret_ends)
{
    struct bytes one;

    while (!*ret_ends && (one = take_last(&list)).ptr) {
        struct node node;

        if (++*hops > FORWARDED_HOPS_MAX || !read_node(one, &node))
            return false;
        take_client(&node, forwarded);
        *ret_ends = !is_proxy(proxies, &node);
    }
    return true;
}

/* All values, one per proxy, must be https. */
static bool read_protos(struct bytes list, unsigned *count, struct forwarded *forwarded)
{
    struct bytes one;
    bool is_tls;

    while ((one = take_last(&list)).ptr) {
        if (!read_proto(one, &is_tls))
            return false;
        forwarded->is_tls = is_tls && (*count == 0 || forwarded->is_tls);
        ++*count;
    }
    return true;
}

/* Refuses several values, because it is unknown which proxy sent which. */
static bool read_host(struct bytes host, struct forwarded *forwarded)
{
    if (forwarded->host.ptr || !http_is_host(host))
        return false;
    forwarded->host = host;
    return true;
}

static bool read_x_forwarded(const struct request *request, const struct address_list *proxies,
                             struct forwarded *forwarded)
{
    unsigned hops = 0, protos = 0;
    bool ends = false, reads = true;

    for (size_t i = request->header_count; i-- > 0 && reads;) {
        const struct http_header *h = &request->headers[i];

        if (bytes_is(h->name, "x-forwarded-for"))
            reads = read_for(h->value, proxies, &hops, forwarded, &ends);
        else if (bytes_is(h->name, "x-forwarded-proto"))
            reads = read_protos(h->value, &protos, forwarded);
        else if (bytes_is(h->name, "x-forwarded-host"))
            reads = read_host(h->value, forwarded);
    }
    return reads;
}

/* ---- Forwarded: elements of pairs. rfc: 7239 4 ---- */

struct element {
    struct bytes of, proto, host; /* ptr NULL if absent; "of" holds the parameter "for" */
};

/* Reads a token, or quoted text up to the closing quote. Refuses backslashes, which no valid value
 * contains. */
static bool take_value(struct bytes *rest, struct bytes *ret_value)
{
    size_t length = 0;

    if (rest->len > 0 && rest->ptr[0] == '"') {
        bytes_cut(bytes_from(*rest, 1), '"', ret_value, rest);
        return rest->ptr && !(ret_value->len > 0 && memchr(ret_value->ptr, '\\', ret_value->len));
    }
    while (length < rest->len && rest->ptr[length] != ';' && rest->ptr[length] != ',' &&
           rest->ptr[length] != ' ' && rest->ptr[length] != '\t')
        length++;
    *ret_value = bytes_of(rest->ptr, length);
    *rest = bytes_from(*rest, length);
    return http_is_token(*ret_value);
}

/* Stores a parameter. Returns false if the element already has it; ignores unknown ones. */
static bool keep(struct bytes name, struct bytes value, struct element *element)
{
    struct bytes *to = NULL;

    if (bytes_is_nocase(name, "for"))
        to = &element->of;
    else if (bytes_is_nocase(name, "proto"))
        to = &element->proto;
    else if (bytes_is_nocase(name, "host"))
        to = &element->host;
    if (!to)
        return http_is_token(name);
    if (to->ptr)
        return false;
    *to = value;
    return true;
}

static struct bytes skip_blanks(struct bytes text)
{
    while (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t'))
        text = bytes_from(text, 1);
    return text;
}

/* Removes an element from the front of a header. Sets *ret_is_empty if the element is empty. */
static bool take_element(struct bytes *rest, struct element *ret_element, bool *ret_is_empty)
{
    struct element element = { .of = none };
    bool is_empty = true;

    for (;;) {
        struct bytes name, value;

        *rest = skip_blanks(*rest);
        if (rest->len > 0 && rest->ptr[0] != ';' && rest->ptr[0] != ',') {
            bytes_cut(*rest, '=', &name, rest);
            if (!rest->ptr || !take_value(rest, &value) || !keep(name, value, &element))
                return false;
            *rest = skip_blanks(*rest);
            is_empty = false;
        }
        if (rest->len == 0 || rest->ptr[0] != ';')
            break;
        *rest = bytes_from(*rest, 1);
    }
    if (rest->len > 0 && rest->ptr[0] != ',')
        return false;
    *rest = bytes_from(*rest, 1);
    *ret_element = element;
    *ret_is_empty = is_empty;
    return true;
}

static bool read_elements(const struct request *request, struct element to[FORWARDED_HOPS_MAX],
                          size_t *ret_count)
{
    *ret_count = 0;
    for (size_t i = 0; i < request->header_count; i++) {
        struct bytes rest = request->headers[i].value;

        if (!bytes_is(request->headers[i].name, "forwarded"))
            continue;
        while (rest.len > 0) {
            struct element element;
            bool is_empty;

            if (!take_element(&rest, &element, &is_empty))
                return false;
            if (is_empty)
                continue;
            if (*ret_count == FORWARDED_HOPS_MAX)
                return false;
            to[(*ret_count)++] = element;
        }
    }
    return true;
}

/* Reads only the element added by the first trusted proxy. */
static bool read_forwarded(const struct request *request, const struct address_list *proxies,
                           struct forwarded *forwarded)
{
    struct element elements[FORWARDED_HOPS_MAX];
    struct node node = { .is_known = false };
    size_t count;

    if (!read_elements(request, elements, &count))
        return false;
    while (count > 0) {
        const struct element *element = &elements[--count];

        node = (struct node){ .is_known = false };
        if (element->of.ptr && !read_node(element->of, &node))
            return false;
        take_client(&node, forwarded);
        forwarded->is_tls = false;
        if (element->proto.ptr && !read_proto(element->proto, &forwarded->is_tls))
            return false;
        forwarded->host = element->host;
        if (!is_proxy(proxies, &node))
            break;
    }
    return !forwarded->host.ptr || http_is_host(forwarded->host);
}

/* ---- both kinds ---- */

static void which_kinds(const struct request *request, bool *ret_forwarded, bool *ret_x_forwarded)
{
    *ret_forwarded = *ret_x_forwarded = false;
    for (size_t i = 0; i < request->header_count; i++) {
        struct bytes name = request->headers[i].name;

        *ret_forwarded |= bytes_is(name, "forwarded");
        *ret_x_forwarded |=
            forwarded_is_name(name) && name.ptr[0] == 'x' && !bytes_is(name, "x-real-ip");
    }
}

int forwarded_read(const struct request *request, const struct address_list *proxies,
                   struct forwarded *ret_forwarded)
{
    struct forwarded forwarded = { .host = none };
    bool has_forwarded, has_x_forwarded;

    which_kinds(request, &has_forwarded, &has_x_forwarded);
    if (has_forwarded && has_x_forwarded)
        return REFUSED;
    if (!(has_forwarded ? read_forwarded(request, proxies, &forwarded)
                        : read_x_forwarded(request, proxies, &forwarded)))
        return REFUSED;
    *ret_forwarded = forwarded;
    return 0;
}
