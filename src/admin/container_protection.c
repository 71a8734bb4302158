/* `lagra container show` and `lagra container protect`: see container_protection.h. */
#include "admin/container_protection.h"

#include "admin/resource_request.h"
#include "base/log.h"

/* Arguments of container-show and container-delete: name, account. */
enum { NAME, ACCOUNT };

/* Operations on the protection of a container that no client can request:
 * blob/rest/container_immutability.c. */
static struct internal_request protection_request(struct arena *arena, enum http_method method,
                                                  struct bytes account, struct bytes name)
{
    return (struct internal_request){ .method = method,
                                      .path = resource_path(arena, account, name),
                                      .query =
                                          bytes_from_string("restype=container&comp=protection") };
}

/* Writes the members of the service's JSON object. */
static void write_members(struct admin_call *call, struct bytes object)
{
    text_add_char(&call->answer, ',');
    text_add(&call->answer, bytes_of(object.ptr + 1, object.len - 2));
}

/* Arguments: name, change, days, append, tags, account. */
enum { PROTECTION_CHANGE = 1, PROTECTION_ACCOUNT = 5 };

static void run_protection(struct admin_call *call, enum http_method method, struct bytes of)
{
    static const struct bytes names[] = { BYTES("x-ms-protection-change"),
                                          BYTES("x-ms-protection-days"),
                                          BYTES("x-ms-protection-append"),
                                          BYTES("x-ms-protection-tags") };
    struct http_header headers[sizeof names / sizeof names[0]];
    struct internal_request request;
    struct internal_response answer;
    struct bytes account;

    if (!resource_find_account(call, of, &account) ||
        !resource_check_name(call, "blob", call->given[NAME]))
        return;
    request = protection_request(call->arena, method, account, call->given[NAME]);
    request.headers = headers;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && method == METHOD_PUT; i++) {
        const struct bytes value = call->given[PROTECTION_CHANGE + i];

        if (value.ptr)
            headers[request.header_count++] = (struct http_header){ names[i], value, names[i] };
    }
    if (!resource_request(call, "blob", &request, &answer))
        return;
    json_write_member(&call->out, "account", account);
    json_write_member(&call->out, "name", call->given[NAME]);
    write_members(call, answer.response.body);
}

void admin_container_protect(struct admin_call *call)
{
    run_protection(call, METHOD_PUT, call->given[PROTECTION_ACCOUNT]);
}

void admin_container_show(struct admin_call *call)
{
    run_protection(call, METHOD_GET, call->given[ACCOUNT]);
}

/* Returns true if the container can only be deleted while it is empty. */
static bool needs_closing(struct admin_call *call, struct bytes protection)
{
    static const char *const names[] = { "versions", "policy" };
    struct json_member members[2];

    return json_object_pick(call->arena, protection, 3, names, 2, members) &&
           (members[0].kind == JSON_TRUE || members[1].kind == JSON_STRING);
}

static struct internal_request change_request(struct admin_call *call, struct bytes account,
                                              struct http_header *header, const char *change)
{
    static const struct bytes name = BYTES("x-ms-protection-change");
    struct internal_request request =
        protection_request(call->arena, METHOD_PUT, account, call->given[NAME]);

    *header = (struct http_header){ name, bytes_from_string(change), name };
    request.headers = header;
    request.header_count = 1;
    return request;
}

bool container_close(struct admin_call *call, struct bytes account, bool *ret_is_closed)
{
    struct internal_request request =
        protection_request(call->arena, METHOD_GET, account, call->given[NAME]);
    struct http_header header;
    struct internal_response answer;

    *ret_is_closed = false;
    if (!resource_request(call, "blob", &request, &answer))
        return false;
    if (!needs_closing(call, answer.response.body))
        return true;
    request = change_request(call, account, &header, "close");
    *ret_is_closed = resource_request(call, "blob", &request, &answer);
    return *ret_is_closed;
}

void container_reopen(struct admin_call *call, struct bytes account)
{
    struct http_header header;
    struct internal_request request = change_request(call, account, &header, "open");
    struct internal_response answer;

    cell_request_run(endpoint_find(call->admin->endpoints, bytes_from_string("blob")), call->arena,
                     &request, &answer);
    if (answer.error)
        log_line(LOG_WARN, "admin: a container that was not deleted stays closed: %s",
                 error_code(answer.error));
}
