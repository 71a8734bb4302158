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

const struct endpoint *endpoint_of_host(const struct endpoint *endpoint, struct bytes authority)
{
    const struct endpoint_set *all = endpoint->all;
    struct bytes account, label, rest;

    if (!all || !authority.ptr || !endpoint->options->product_style_url)
        return endpoint;
    bytes_cut(authority, '.', &account, &rest);
    if (!rest.ptr)
        return endpoint;
    bytes_cut(rest, '.', &label, &rest);
    for (size_t i = 0; rest.ptr && i < all->count; i++) {
        const struct service *service = all->endpoints[i].service;

        if (bytes_is_nocase(label, service->name) &&
            strcmp(service_data_name(service), service_data_name(endpoint->service)) == 0)
            return &all->endpoints[i];
    }
    return endpoint;
}
