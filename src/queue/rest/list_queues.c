/* List Queues: parsing of requests and rendering as XML. rest: List-Queues1 */
#include "queue/queue_operations.h"
#include "service/listing_xml.h"
#include "service/metadata.h"

enum { INCLUDE_METADATA = 1 << 0 };
static const char *const include_names[] = { "metadata", NULL };

static bool add_queue(struct listing_page *page, const struct space_record *at)
{
    struct text *out = &page->out;
    struct queue queue;

    if (!queue_decode(at->value, &queue))
        return false;
    xml_open(out, "Queue");
    xml_element(out, "Name", at->partition_key);
    listing_url(out, page->call, at->partition_key, (struct bytes){ NULL, 0 });
    if (page->listing->include & INCLUDE_METADATA)
        metadata_xml(out, queue.metadata);
    xml_close(out, "Queue");
    return true;
}

enum error list_queues_check(struct call *call, struct list_queues_parameters *p)
{
    static const struct listing_form form = { .include_names = include_names,
                                              .list = "Queues",
                                              .add = add_queue };

    return listing_page_begin(call, &form, &p->listing, &p->from, &p->sink);
}

void list_queues_answer(struct answer *a, const struct list_queues_parameters *p,
                        const struct list_queues_result *r)
{
    listing_page_answer(a, p->sink, &r->next);
}
