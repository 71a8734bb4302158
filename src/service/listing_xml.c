/* Requests and XML of lists; see listing_xml.h. */
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

/* Version that removed URLs from lists and renamed attributes of the root. */
#define LISTINGS_WITHOUT_URLS "2013-08-15"

void listing_begin(struct text *out, const struct call *call, struct bytes container,
                   const struct listing *listing)
{
    bool has_urls = !call_since(call, LISTINGS_WITHOUT_URLS);

    xml_begin(out);
    text_add_string(out, "<EnumerationResults ");
    text_add_string(out, !has_urls       ? "ServiceEndpoint=\""
                         : container.ptr ? "ContainerName=\""
                                         : "AccountName=\"");
    xml_escape(out, call->url_prefix);
    text_add_string(out, "/");
    if (container.ptr && !has_urls)
        text_add_string(out, "\" ContainerName=\"");
    if (container.ptr)
        xml_escape(out, container);
    text_add_string(out, "\">");
    listing_echo(out, listing);
}

void listing_url(struct text *out, const struct call *call, struct bytes container,
                 struct bytes blob)
{
    if (call_since(call, LISTINGS_WITHOUT_URLS))
        return;
    xml_open(out, "Url");
    xml_escape(out, call->url_prefix);
    text_add_char(out, '/');
    text_add(out, container);
    if (blob.ptr) {
        text_add_char(out, '/');
        xml_escape(out, percent_encode(out->arena, blob, "/"));
    }
    xml_close(out, "Url");
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

/* Returns true if the name contains only characters that XML 1.0 allows (production Char). name:
 * valid UTF-8 */
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
    if (page->call->is_for_cell)
        cell_page_begin(&page->out);
    else
        listing_begin(&page->out, page->call, (struct bytes){ NULL, 0 }, page->listing);
}

static bool shows_entry(struct listing_sink *sink, const struct space_record *at)
{
    const struct listing_page *page = page_of(sink);

    return !page->form->shows || page->form->shows(page, at);
}

static bool add_entry(struct listing_sink *sink, const struct space_record *at)
{
    struct listing_page *page = page_of(sink);

    if (page->call->is_for_cell) {
        cell_page_add(&page->out, &(struct page_key){ { at->partition_key, at->record_key } },
                      at->value);
    } else {
        if (!page->has_entry)
            xml_open(&page->out, page->form->list);
        page->has_entry = true;
        if (!page->form->add(page, at))
            return false;
    }
    sink->full = page->out.len > LISTING_PAGE_BYTES;
    return true;
}

/* ---- markers: "/account/name" of the next entry, as in the real service; "/account/name/MARK"
 * between two records of a name ---- */

static bool read_marker(const struct call *call, const struct listing_form *form,
                        struct bytes marker, struct listing_place *ret_place)
{
    struct bytes account = call->input.account, mark;

    if (marker.len < account.len + 3 || marker.ptr[0] != '/' ||
        !bytes_has_prefix(bytes_from(marker, 1), account) || marker.ptr[account.len + 1] != '/')
        return false;
    ret_place->name = bytes_from(marker, account.len + 2);
    if (!form->read_mark)
        return listing_is_name(ret_place->name);
    bytes_cut(ret_place->name, '/', &ret_place->name, &mark);
    return listing_is_name(ret_place->name) &&
           (!mark.ptr || form->read_mark(call->arena, mark, &ret_place->record));
}

static struct bytes marker_of(const struct answer *a, struct listing_page *page,
                              const struct listing_place *next)
{
    struct bytes marker, mark = { NULL, 0 };

    if (!next->name.ptr)
        return next->name;
    marker = arena_printf(a->arena, "/%.*s/%.*s", BYTES_ARG(a->call->input.account),
                          BYTES_ARG(next->name));
    if (page->form->mark)
        mark = page->form->mark(page, next->record);
    return mark.ptr ? arena_printf(a->arena, "%.*s/%.*s", BYTES_ARG(marker), BYTES_ARG(mark))
                    : marker;
}

/* ---- the page ---- */

enum error listing_page_begin(struct call *call, const struct listing_form *form,
                              struct listing *ret_listing, struct listing_place *ret_from,
                              struct listing_sink **ret_sink)
{
    struct listing_page *page = arena_alloc(call->arena, sizeof *page);
    enum error e = listing_read(call, form->include_names, ret_listing);

    if (!e && ret_listing->marker.ptr && !read_marker(call, form, ret_listing->marker, ret_from))
        e = call_fail_query(call, E_InvalidQueryParameterValue, "marker", ret_listing->marker,
                            "Not a marker of this list.");
    page->sink =
        (struct listing_sink){ .begin = begin_page, .shows = shows_entry, .add = add_entry };
    page->form = form;
    page->call = call;
    page->listing = ret_listing;
    *ret_sink = &page->sink;
    call->input.merged.from = (struct page_key){ { ret_from->name, ret_from->record } };
    call->input.merged.max = ret_listing->max;
    return e;
}

void listing_page_answer(struct answer *a, struct listing_sink *sink,
                         const struct listing_place *next)
{
    struct listing_page *page = page_of(sink);
    const struct page_key key = { { next->name, next->record } };

    if (page->call->is_for_cell) {
        answer_cell_page(a, &page->out, next->name.ptr ? &key : NULL);
        return;
    }
    if (page->has_entry)
        xml_close(&page->out, page->form->list);
    else
        text_printf(&page->out, "<%s />", page->form->list);
    listing_end(&page->out, marker_of(a, page, next));
    answer_xml(a, &page->out);
}
