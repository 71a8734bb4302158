/* See server.h. */
#include "service/server.h"

#include <string.h>

const struct endpoint *endpoint_find(const struct endpoint_set *all, struct bytes service)
{
    for (size_t i = 0; i < all->count; i++)
        if (bytes_is(service, all->endpoints[i].service->name))
            return &all->endpoints[i];
    return NULL;
}

const struct endpoint *endpoint_labelled(const struct endpoint *endpoint, struct bytes label)
{
    const char *data = service_data_name(endpoint->service);

    if (bytes_is_nocase(label, endpoint->service->name))
        return endpoint;
    for (size_t i = 0; endpoint->all && i < endpoint->all->count; i++) {
        const struct endpoint *other = &endpoint->all->endpoints[i];

        if (bytes_is_nocase(label, other->service->name) &&
            strcmp(service_data_name(other->service), data) == 0)
            return other;
    }
    return NULL;
}

const struct endpoint *endpoint_of_request(const struct endpoint *endpoint,
                                           const struct request *request)
{
    struct bytes account, label, rest = { NULL, 0 };
    const struct endpoint *found = NULL;

    if (!endpoint->all)
        return endpoint;
    if (request->authority.ptr && endpoint->options->product_style_url)
        bytes_cut(request->authority, '.', &account, &rest);
    if (rest.ptr)
        bytes_cut(rest, '.', &label, &rest);
    if (rest.ptr)
        found = endpoint_labelled(endpoint, label);
    if (found)
        endpoint = found;
    if (endpoint->service->is_for_data_of && endpoint->service->is_for_data_of(request))
        found = endpoint_find(endpoint->all, bytes_from_string(endpoint->service->data_of));
    return found ? found : endpoint;
}
