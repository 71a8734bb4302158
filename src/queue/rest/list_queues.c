/* List Queues as a request and as XML. rest: List-Queues1 */
#include "queue/queue_operations.h"
#include "service/answer.h"
#include "service/listing_xml.h"
#include "service/metadata.h"

enum { INCLUDE_METADATA = 1 << 0 };
static const char *const include_names[] = { "metadata", NULL };

/* A page of XML while its entries come in. */
struct queue_page {
    struct queue_sink sink;
    const struct call *call;
    const struct listing *listing;
    struct text out;
    bool has_entry;
};

static struct queue_page *page_of(struct queue_sink *sink)
{
    return (struct queue_page *)(void *)sink;
}

static void begin_page(struct queue_sink *sink)
{
    struct queue_page *page = page_of(sink);

    sink->full = false;
    page->has_entry = false;
    text_init(&page->out, page->call->arena, 4096);
    listing_begin(&page->out, page->call, (struct bytes){ NULL, 0 }, page->listing);
}

static void add_entry(struct queue_sink *sink, struct bytes name, const struct queue *queue)
{
    struct queue_page *page = page_of(sink);
    struct text *out = &page->out;

    if (!page->has_entry)
        xml_open(out, "Queues");
    page->has_entry = true;
    xml_open(out, "Queue");
    xml_element(out, "Name", name);
    if (page->listing->include & INCLUDE_METADATA)
        metadata_xml(out, queue->metadata);
    xml_close(out, "Queue");
    sink->full = out->len > LISTING_PAGE_BYTES;
}

enum error list_queues_check(struct call *call, struct list_queues_parameters *p)
{
    struct queue_page *page = arena_alloc(call->arena, sizeof *page);
    enum error e = listing_read(call, include_names, &p->listing);

    if (!e)
        e = listing_read_next(call, &p->listing, &p->from);
    page->sink = (struct queue_sink){ .begin = begin_page, .add = add_entry };
    page->call = call;
    page->listing = &p->listing;
    p->sink = &page->sink;
    return e;
}

void list_queues_answer(struct answer *a, const struct list_queues_parameters *p,
                        const struct list_queues_result *r)
{
    struct queue_page *page = page_of(p->sink);

    if (page->has_entry)
        xml_close(&page->out, "Queues");
    else
        text_add_string(&page->out, "<Queues />");
    listing_end(&page->out, listing_next(a, r->next));
    answer_xml(a, &page->out);
}
