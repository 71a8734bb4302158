/* Requests and XML responses of Find Blobs by Tags, of the account and of a container. A marker is
 * text (list_blobs.h) of: u8 1 (version); bytes container, index key, blob (base/codec.h) of the
 * first entry of the next page. Clients send it back, so all of it is validated. rest: Find-Blobs-
 * by-Tags, Find-Blobs-by-Tags-Container */
#include "blob/rest/list_blobs.h"
#include "blob/rest/blob_tags.h"
#include "blob/tag_operations.h"
#include "service/listing_xml.h"

#define MARKER_VERSION 1

/* A page of XML under construction. */
struct tagged_page {
    struct tagged_sink sink;
    const struct call *call;
    const struct tag_expression *where;
    struct listing listing; /* marker and maxresults as in the request */
    bool is_hierarchical;   /* account */
    bool all_tags;          /* since 2020-04-08; before, the value of one tag */
    struct text out;
    bool has_entry;
};

/* ---- request ---- */

/* Message and Reason are those of the service, from user reports. decision: 78 */
static enum error fail_where(struct call *call, struct bytes message)
{
    call->problem->message = message;
    return call_fail_query(call, E_InvalidQueryParameterValue, "where", call_query(call, "where"),
                           "This query parameter value is invalid.");
}

static bool names_container(const struct tag_expression *where)
{
    for (size_t i = 0; i < where->count; i++) {
        if (where->comparisons[i].of_container)
            return true;
    }
    return false;
}

static enum error read_where(struct call *call, struct find_blobs *asked)
{
    struct bytes text = call_query(call, "where");
    struct tag_expression *where = arena_alloc(call->arena, sizeof *where);
    struct tag_syntax_error problem;

    if (text.len == 0)
        return call_fail_query(call, E_MissingRequiredQueryParameter, "where", text, NULL);
    if (!tag_expression_parse(call->arena, text, TAG_SEARCH, where, &problem))
        return fail_where(call, arena_printf(call->arena,
                                             "Error parsing query at or near character position "
                                             "%zu: %s",
                                             problem.position + 1, problem.reason));
    if (names_container(where) && blob_resource(call->input.resource)->container.ptr)
        return fail_where(call, bytes_from_string("Error parsing query: Cannot have container in "
                                                  "both uri and query"));
    if (!find_blobs_driver(where))
        return fail_where(call, bytes_from_string("Error parsing query: the query names no tag"));
    asked->where = where;
    return OK;
}

static bool decode_marker(struct call *call, struct bytes marker, struct find_blobs *asked)
{
    struct bytes container = blob_resource(call->input.resource)->container;
    struct bytes value = marker_value(call->arena, marker);
    struct found_place *from = &asked->from;
    struct decoder in;

    if (!value.ptr)
        return false;
    decoder_init(&in, value);
    if (decode_u8(&in) != MARKER_VERSION)
        return false;
    from->container = decode_bytes(&in);
    from->key = decode_bytes(&in);
    from->name = decode_bytes(&in);
    if (!decoder_ok(&in) || from->container.len == 0 ||
        (container.ptr && !bytes_equal(container, from->container)))
        return false;
    /* The marker must be from a search by the same tag. */
    return from->key.len == 0 ||
           bytes_has_prefix(from->key,
                            find_blobs_prefix(call->arena, find_blobs_driver(asked->where)));
}

static struct bytes encode_marker(struct arena *arena, const struct found_place *place)
{
    struct text out;

    text_init(&out, arena, 512);
    encode_u8(&out, MARKER_VERSION);
    encode_bytes(&out, place->container);
    encode_bytes(&out, place->key);
    encode_bytes(&out, place->name);
    return marker_text(arena, text_bytes(&out));
}

/* ---- the page ---- */

static struct tagged_page *page_of(struct tagged_sink *sink)
{
    return (struct tagged_page *)(void *)sink;
}

static void begin_page(struct tagged_sink *sink)
{
    struct tagged_page *page = page_of(sink);

    sink->full = false;
    page->has_entry = false;
    text_init(&page->out, page->call->arena, 4096);
    if (page->call->is_for_cell) {
        cell_page_begin(&page->out);
        return;
    }
    xml_begin(&page->out);
    text_add_string(&page->out, "<EnumerationResults ServiceEndpoint=\"");
    xml_escape(&page->out, page->call->url_prefix);
    text_add_string(&page->out, "/\">");
    if (page->listing.marker.ptr)
        xml_element(&page->out, "Marker", page->listing.marker);
    xml_element(&page->out, "Where", call_query(page->call, "where"));
    if (page->listing.max_given)
        xml_element_u64(&page->out, "MaxResults", page->listing.max);
}

static void add_blob(struct tagged_page *page, struct bytes container, struct bytes name,
                     struct bytes tags)
{
    struct text *out = &page->out;

    if (!page->has_entry)
        text_add_string(out, "<Blobs>");
    page->has_entry = true;
    text_add_string(out, "<Blob>");
    listing_name(out, "Name", name);
    xml_element(out, "ContainerName", container);
    if (page->all_tags)
        tags_xml_named(out, tags, page->where);
    else
        xml_element(out, "TagValue", tags_value(tags, find_blobs_driver(page->where)->name));
    text_add_string(out, "</Blob>");
}

static void add_entry(struct tagged_sink *sink, struct bytes container, struct bytes name,
                      struct bytes key, struct bytes tags)
{
    struct tagged_page *page = page_of(sink);
    const struct page_key at = { { container, key, name } };

    if (page->call->is_for_cell)
        cell_page_add(&page->out, &at, tags);
    else
        add_blob(page, container, found_name(page->is_hierarchical, name), tags);
    sink->full = page->out.len > LISTING_PAGE_BYTES;
}

static enum error check(struct call *call, struct find_blobs *asked)
{
    struct bytes marker = listing_query(call, "marker");
    struct listing listing = { .marker = marker };
    struct tagged_page *page = arena_alloc(call->arena, sizeof *page);
    enum error e = read_where(call, asked);

    if (!e)
        e = listing_read_max(call, LISTING_MAX, &listing.max_given, &listing.max);
    if (e)
        return e;
    asked->is_hierarchical = account_is_hierarchical(call->account);
    asked->max = listing.max;
    if (marker.ptr && !decode_marker(call, marker, asked))
        return call_fail_query(call, E_InvalidQueryParameterValue, "marker", marker,
                               "Not a marker of this search.");
    page->sink = (struct tagged_sink){ .begin = begin_page, .add = add_entry };
    page->call = call;
    page->where = asked->where;
    page->is_hierarchical = asked->is_hierarchical;
    page->listing = listing;
    page->all_tags = call_since(call, "2020-04-08");
    asked->sink = &page->sink;
    call->input.merged.from =
        (struct page_key){ { asked->from.container, asked->from.key, asked->from.name } };
    call->input.merged.max = asked->max;
    return OK;
}

static void answer(struct answer *a, const struct find_blobs *asked, const struct found_place *next)
{
    struct tagged_page *page = page_of(asked->sink);
    const struct page_key key = { { next->container, next->key, next->name } };
    struct bytes marker = { NULL, 0 };

    if (page->call->is_for_cell) {
        answer_cell_page(a, &page->out, next->container.ptr ? &key : NULL);
        return;
    }
    if (next->container.ptr)
        marker = encode_marker(a->arena, next);
    text_add_string(&page->out, page->has_entry ? "</Blobs>" : "<Blobs />");
    listing_end(&page->out, marker);
    answer_xml(a, &page->out);
}

/* ---- the functions ---- */

enum error find_blobs_check(struct call *call, struct find_blobs_parameters *p)
{
    return check(call, &p->asked);
}

void find_blobs_answer(struct answer *a, const struct find_blobs_parameters *p,
                       const struct find_blobs_result *r)
{
    answer(a, &p->asked, &r->next);
}

enum error find_blobs_in_container_check(struct call *call,
                                         struct find_blobs_in_container_parameters *p)
{
    return check(call, &p->asked);
}

void find_blobs_in_container_answer(struct answer *a,
                                    const struct find_blobs_in_container_parameters *p,
                                    const struct find_blobs_in_container_result *r)
{
    answer(a, &p->asked, &r->next);
}
