/* No sockets: a request as http/ would have parsed it. */
#include "blob/rest/request.h"

#include "fixture.h"

#include <stdlib.h>

static const struct service no_operations = { .name = "blob",
                                              .resource_size = sizeof(struct blob_resource),
                                              .read_resource = blob_read_resource };

int fixture_set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);

    f->arena = arena_new(1u << 20);
    f->accounts = accounts_new();
    accounts_add_development(f->accounts);
    f->options.product_style_url = true;
    f->endpoint = (struct endpoint){ .service = &no_operations,
                                     .accounts = f->accounts,
                                     .options = &f->options };
    *state = f;
    return 0;
}

int fixture_tear_down(void **state)
{
    struct fixture *f = *state;

    accounts_free(f->accounts);
    arena_free(f->arena);
    free(f);
    return 0;
}

static void add_header(struct fixture *f, struct http_header *to, const char *line)
{
    struct bytes name, value;

    bytes_cut(bytes_from_string(line), ':', &name, &value);
    *to = (struct http_header){ arena_copy_lower(f->arena, name), bytes_trim(value), name };
}

void fixture_request(struct fixture *f, enum http_method method, const char *target,
                     const char *const *headers)
{
    struct request *request = &f->exchange.request;
    struct http_header *list = arena_array(f->arena, 64, sizeof *list);
    struct work *work = &f->work;

    memset(work, 0, sizeof *work);
    memset(&f->exchange, 0, sizeof f->exchange);
    f->exchange.arena = f->arena;
    request->method = method;
    bytes_cut(bytes_from_string(target), '?', &request->path, &request->query);
    request->headers = list;
    for (size_t i = 0; headers && headers[i]; i++)
        add_header(f, &list[request->header_count++], headers[i]);
    request->authority = request_header(request, "host");
    if (method == METHOD_PUT && !request_header(request, "transfer-encoding").ptr)
        add_header(f, &list[request->header_count++], "Content-Length: 0");
    work_init(work, &f->endpoint, f->arena, request, &f->exchange.response);
}
