/* Parses the resource in a request's path: account level, queue, its messages, or one of them. */
#include "queue/rest/request.h"

#include "base/encode.h"

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
