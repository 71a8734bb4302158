/* See server.h. */
#include "service/server.h"

const struct endpoint *endpoint_find(const struct endpoint_set *all, struct bytes service)
{
    for (size_t i = 0; i < all->count; i++)
        if (bytes_is(service, all->endpoints[i].service->name))
            return &all->endpoints[i];
    return NULL;
}
