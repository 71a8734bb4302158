/* Operations on queues: parsing of requests, rendering of responses. */
#include "base/encode.h"
#include "properties/metadata_acl.h"
#include "queue/queue_operations.h"
#include "queue/rest/request.h"
#include "service/answer.h"
#include "service/listing_xml.h"
#include "service/metadata.h"

const struct container_type queue_container = {
    .metadata = offsetof(struct queue_state, queue.metadata),
    .policies = offsetof(struct queue_state, queue.policies),
    .write = queue_write_state,
    .letters = { .known = "raup" },
};

/* ---- Create Queue, Delete Queue ---- */

/* rest: Create-Queue4 */
enum error create_queue_check(struct call *call, struct create_queue_parameters *p)
{
    p->space = guid_new();
    return metadata_from_headers(call, &p->metadata);
}

void create_queue_answer(struct answer *a, const struct create_queue_parameters *p,
                         const struct create_queue_result *r)
{
    (void)p;
    if (r->existed)
        answer_status(a, 204);
}

/* rest: Delete-Queue3 */
OPERATION_CHECKS_NOTHING(delete_queue)

OPERATION_ANSWERS_NOTHING(delete_queue)

/* ---- Get Queue Metadata ---- */

/* rest: Get-Queue-Metadata */
OPERATION_CHECKS_NOTHING(get_queue_metadata)

void get_queue_metadata_answer(struct answer *a, const struct get_queue_metadata_parameters *p,
                               const struct get_queue_metadata_result *r)
{
    (void)p;
    metadata_answer(a, r->metadata);
    answer_u64(a, "x-ms-approximate-messages-count", r->messages);
}

/* ---- List Queues: parsing of requests and rendering as XML. rest: List-Queues1 ---- */

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

/* Parses the resource in a request's path: account level, queue, its messages, or one of them. */

/* Returns ptr NULL if it is not valid UTF-8. */
static struct bytes decode(struct arena *arena, struct bytes name)
{
    struct bytes text = name.len > 0 ? percent_decode(arena, name) : name;

    return text.ptr && bytes_is_utf8(text) ? text : bytes_of(NULL, 0);
}

enum error queue_read_resource(struct call *call, struct bytes path, struct resource *ret_resource)
{
    struct queue_resource *resource = (struct queue_resource *)(void *)ret_resource;
    struct bytes queue, rest, messages, message;

    bytes_cut(path, '/', &queue, &rest);
    bytes_cut(rest, '/', &messages, &message);
    if (queue.len == 0)
        return rest.ptr ? E_InvalidUri : OK;
    resource->base.level = LEVEL_QUEUE;
    resource->queue = decode(call->arena, queue);
    if (!resource->queue.ptr)
        return E_InvalidUri;
    if (!rest.ptr || (rest.len == 0))
        return OK;
    if (!bytes_is_nocase(messages, "messages"))
        return E_InvalidUri;
    resource->base.level = LEVEL_MESSAGES;
    resource->all_messages = call->request->method == METHOD_DELETE;
    if (message.len == 0)
        return OK;
    resource->base.level = LEVEL_MESSAGE;
    resource->all_messages = false;
    resource->message = decode(call->arena, message);
    return resource->message.ptr ? OK : E_InvalidUri;
}
