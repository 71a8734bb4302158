/* Internal requests and error messages. */
#include "seed/seed_private.h"

bool seed_fail(struct seeding *s, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (!s->problem)
        s->problem = arena_string(s->arena, arena_vprintf(s->arena, format, args));
    va_end(args);
    return false;
}

struct http_header seed_header(const char *name, struct bytes value)
{
    struct bytes text = bytes_from_string(name);

    return (struct http_header){ .name = text, .value = value, .name_as_sent = text };
}

bool seed_request(struct seeding *s, const char *service, const struct internal_request *asked,
                  enum error accepted, struct internal_response *ret_answer)
{
    internal_request_run(endpoint_find(s->endpoints, bytes_from_string(service)), s->arena, asked,
                         ret_answer);
    if (!ret_answer->error || ret_answer->error == accepted)
        return true;
    return seed_fail(s, "%.*s: %s: %s%s%.*s", BYTES_ARG(asked->path), error_code(ret_answer->error),
                     error_message(ret_answer->error), ret_answer->detail.len > 0 ? " " : "",
                     BYTES_ARG(ret_answer->detail));
}
