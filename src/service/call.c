/* Looks up data in a call, and refuses calls. */
#include "service/call.h"

#include <assert.h>

#include "base/encode.h"

void call_set_request(struct call *call, const struct request *request)
{
    call->request = request;
    call->content_length = request->content_length;
    call->header_bits = 0;
    for (size_t i = 0; i < request->header_count; i++)
        call->header_bits |= header_bit(request->headers[i].name);
    /* No copy of a key may remain after the request. decision: 1423 */
    if (call_header(call, "x-ms-encryption-key").ptr ||
        call_header(call, "x-ms-source-encryption-key").ptr)
        arena_hold_secret(call->arena);
}

struct bytes call_query(const struct call *call, const char *name)
{
    for (size_t i = 0; i < call->query_count; i++) {
        if (bytes_is(call->query[i].name, name))
            return call->query[i].value;
    }
    return (struct bytes){ NULL, 0 };
}

bool call_version_is_valid(struct bytes text)
{
    if (text.len != 10 || text.ptr[4] != '-' || text.ptr[7] != '-')
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (i != 4 && i != 7 && (text.ptr[i] < '0' || text.ptr[i] > '9'))
            return false;
    }
    return bytes_compare(bytes_of(text.ptr + 5, 2), bytes_from_string("12")) <= 0 &&
           bytes_compare(bytes_of(text.ptr + 8, 2), bytes_from_string("31")) <= 0;
}

bool call_since(const struct call *call, const char *version)
{
    return bytes_compare(call->version, bytes_from_string(version)) >= 0;
}

/* ---- headers ---- */

enum error call_read_number(struct call *call, const char *name, uint64_t max, bool *ret_has,
                            uint64_t *ret_number)
{
    struct bytes text = call_header(call, name);

    *ret_has = text.ptr != NULL;
    if (!text.ptr || bytes_parse_u64(text, max, ret_number))
        return OK;
    return call_fail_header(call, E_InvalidHeaderValue, name, text);
}

enum error call_read_bound(struct call *call, const char *name, uint64_t max, bool *ret_has,
                           uint64_t *ret_number)
{
    *ret_has = false;
    return call_condition(call, name).ptr ? call_read_number(call, name, max, ret_has, ret_number)
                                          : OK;
}

enum error call_read_flag(struct call *call, const char *name, bool *ret_flag)
{
    struct bytes value = call_header(call, name);

    *ret_flag = bytes_is_nocase(value, "true");
    if (value.len > 0 && !*ret_flag && !bytes_is_nocase(value, "false"))
        return call_fail_header(call, E_InvalidHeaderValue, name, value);
    return OK;
}

/* ---- errors ---- */

enum error call_fail(struct call *call, enum error e, const char *format, ...)
{
    va_list args;

    assert(e != OK);
    va_start(args, format);
    call->problem->detail = arena_string(call->arena, arena_vprintf(call->arena, format, args));
    va_end(args);
    return e;
}

enum error call_fail_header(struct call *call, enum error e, const char *name, struct bytes value)
{
    assert(e != OK);
    problem_set_header(call->problem, name, value);
    return e;
}

enum error call_fail_query(struct call *call, enum error e, const char *name, struct bytes value,
                           const char *reason)
{
    assert(e != OK);
    problem_set_field(call->problem, "QueryParameterName", bytes_from_string(name));
    if (value.ptr)
        problem_add_field(call->problem, "QueryParameterValue", value);
    if (reason)
        problem_add_field(call->problem, "Reason", bytes_from_string(reason));
    return e;
}

enum error call_fail_sum(struct call *call, enum error e, const void *given, const void *computed,
                         size_t size)
{
    bool md5 = e == E_Md5Mismatch;

    assert(e == E_Md5Mismatch || e == E_Crc64Mismatch);
    problem_set_field(call->problem, md5 ? "UserSpecifiedMd5" : "UserSpecifiedCrc",
                      base64_encode(call->arena, bytes_of(given, size)));
    problem_add_field(call->problem, md5 ? "ServerCalculatedMd5" : "ServerCalculatedCrc",
                      base64_encode(call->arena, bytes_of(computed, size)));
    return e;
}
