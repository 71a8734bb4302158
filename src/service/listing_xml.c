/* Lists as requests and as XML: see listing_xml.h. */
#include "service/listing_xml.h"

#include "base/encode.h"

struct bytes listing_query(const struct call *call, const char *name)
{
    struct bytes value = call_query(call, name);

    return value.len > 0 ? value : (struct bytes){ NULL, 0 };
}

enum error listing_read_max(struct call *call, uint32_t page_max, bool *ret_given,
                            uint32_t *ret_max)
{
    const char *name = "maxresults";
    struct bytes value = call_query(call, name);
    struct bytes digits = value;
    uint64_t max;

    *ret_max = page_max;
    *ret_given = value.ptr != NULL;
    if (!value.ptr)
        return OK;
    if (digits.len > 0 && digits.ptr[0] == '-')
        digits = bytes_from(digits, 1);
    if (!bytes_parse_u64(digits, UINT32_MAX, &max))
        return call_fail_query(call, E_InvalidQueryParameterValue, name, value, "Not a number.");
    if (max == 0 || digits.len < value.len)
        return call_fail_query(call, E_OutOfRangeQueryParameterValue, name, value, "Less than 1.");
    if (max < page_max)
        *ret_max = (uint32_t)max;
    return OK;
}

static enum error read_include(struct call *call, const char *const *names, struct listing *listing)
{
    struct bytes rest = call_query(call, "include");
    struct bytes word;

    while (rest.ptr) {
        unsigned i = 0;

        bytes_cut(rest, ',', &word, &rest);
        if (word.len == 0)
            continue;
        while (names[i] && !bytes_is_nocase(word, names[i]))
            i++;
        if (!names[i])
            return call_fail_query(call, E_InvalidQueryParameterValue, "include", word,
                                   "Not something that can be included.");
        listing->include |= 1u << i;
    }
    return OK;
}

enum error listing_read(struct call *call, const char *const *include_names,
                        struct listing *ret_listing)
{
    struct listing listing = { 0 };
    enum error e;

    listing.prefix = listing_query(call, "prefix");
    listing.marker = listing_query(call, "marker");
    if (listing.prefix.ptr && !bytes_is_utf8(listing.prefix))
        return call_fail_query(call, E_InvalidQueryParameterValue, "prefix",
                               (struct bytes){ NULL, 0 }, "Not UTF-8.");
    e = listing_read_max(call, LISTING_MAX, &listing.max_given, &listing.max);
    if (e)
        return e;
    e = read_include(call, include_names, &listing);
    if (e)
        return e;
    *ret_listing = listing;
    return OK;
}

/* "/account/name" -> name. Only what a name may hold. */
static bool read_place(const struct call *call, struct bytes marker, struct bytes *ret_name)
{
    struct bytes account = call->input.account;
    struct bytes name;

    if (marker.len < account.len + 3 || marker.ptr[0] != '/' ||
        !bytes_has_prefix(bytes_from(marker, 1), account) || marker.ptr[account.len + 1] != '/')
        return false;
    name = bytes_from(marker, account.len + 2);
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-' && c != '$')
            return false;
    }
    *ret_name = name;
    return true;
}

enum error listing_read_next(struct call *call, const struct listing *listing,
                             struct bytes *ret_name)
{
    struct bytes marker = listing->marker;

    if (marker.ptr && !read_place(call, marker, ret_name))
        return call_fail_query(call, E_InvalidQueryParameterValue, "marker", marker,
                               "Not a marker of this list.");
    return OK;
}

struct bytes listing_next(const struct answer *a, struct bytes name)
{
    if (!name.ptr)
        return name;
    return arena_printf(a->arena, "/%.*s/%.*s", BYTES_ARG(a->call->input.account), BYTES_ARG(name));
}

void listing_begin(struct text *out, const struct call *call, struct bytes container,
                   const struct listing *listing)
{
    xml_begin(out);
    text_add_string(out, "<EnumerationResults ServiceEndpoint=\"");
    xml_escape(out, call->url_prefix);
    text_add_string(out, "/\"");
    if (container.ptr) {
        text_add_string(out, " ContainerName=\"");
        xml_escape(out, container);
        text_add_string(out, "\"");
    }
    text_add_string(out, ">");
    listing_echo(out, listing);
}

void listing_echo(struct text *out, const struct listing *listing)
{
    if (listing->prefix.ptr)
        listing_name(out, "Prefix", listing->prefix);
    if (listing->marker.ptr)
        xml_element(out, "Marker", listing->marker);
    if (listing->max_given)
        xml_element_u64(out, "MaxResults", listing->max);
}

void listing_end(struct text *out, struct bytes next_marker)
{
    xml_element(out, "NextMarker", next_marker);
    xml_close(out, "EnumerationResults");
}

/* XML 1.0, production Char: what valid UTF-8 may hold and a document may not. */
static bool fits_xml(struct bytes name)
{
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];

        if (c < 0x20 && c != '\t' && c != '\n' && c != '\r')
            return false;
        /* U+FFFE and U+FFFF: EF BF BE, EF BF BF */
        if (c == 0xEF && i + 2 < name.len && (unsigned char)name.ptr[i + 1] == 0xBF &&
            (unsigned char)name.ptr[i + 2] >= 0xBE)
            return false;
    }
    return true;
}

void listing_name(struct text *out, const char *element, struct bytes name)
{
    if (fits_xml(name)) {
        xml_element(out, element, name);
        return;
    }
    text_printf(out, "<%s Encoded=\"true\">", element);
    text_add(out, percent_encode(out->arena, name, ""));
    xml_close(out, element);
}

/* ---- a list of containers or of queues ---- */

static struct listing_page *page_of(struct listing_sink *sink)
{
    return (struct listing_page *)(void *)sink;
}

static void begin_page(struct listing_sink *sink, instant now)
{
    struct listing_page *page = page_of(sink);

    sink->full = false;
    page->now = now;
    page->has_entry = false;
    text_init(&page->out, page->call->arena, 4096);
    listing_begin(&page->out, page->call, (struct bytes){ NULL, 0 }, page->listing);
}

static bool add_entry(struct listing_sink *sink, struct bytes name, struct bytes value)
{
    struct listing_page *page = page_of(sink);

    if (!page->has_entry)
        xml_open(&page->out, page->form->list);
    page->has_entry = true;
    if (!page->form->add(page, name, value))
        return false;
    sink->full = page->out.len > LISTING_PAGE_BYTES;
    return true;
}

enum error listing_page_begin(struct call *call, const struct listing_form *form,
                              struct listing *ret_listing, struct bytes *ret_from,
                              struct listing_sink **ret_sink)
{
    struct listing_page *page = arena_alloc(call->arena, sizeof *page);
    enum error e = listing_read(call, form->include_names, ret_listing);

    if (!e)
        e = listing_read_next(call, ret_listing, ret_from);
    page->sink = (struct listing_sink){ .begin = begin_page, .add = add_entry };
    page->form = form;
    page->call = call;
    page->listing = ret_listing;
    *ret_sink = &page->sink;
    return e;
}

void listing_page_answer(struct answer *a, struct listing_sink *sink, struct bytes next)
{
    struct listing_page *page = page_of(sink);

    if (page->has_entry)
        xml_close(&page->out, page->form->list);
    else
        text_printf(&page->out, "<%s />", page->form->list);
    listing_end(&page->out, listing_next(a, next));
    answer_xml(a, &page->out);
}
