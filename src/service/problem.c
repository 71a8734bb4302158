/* See problem.h. */
#include "service/problem.h"

#include <assert.h>

void problem_of_permission(struct problem *problem, struct arena *arena, struct bytes detail)
{
    *problem = (struct problem){ .detail = detail.ptr ? arena_string(arena, detail) : NULL };
}

void problem_set_field(struct problem *problem, const char *name, struct bytes value)
{
    problem->field_count = 0;
    problem_add_field(problem, name, value);
}

void problem_add_field(struct problem *problem, const char *name, struct bytes value)
{
    assert(name && problem->field_count < PROBLEM_FIELDS_MAX);
    problem->fields[problem->field_count++] = (struct problem_field){ name, value };
}

void problem_set_header(struct problem *problem, const char *name, struct bytes value)
{
    problem_set_field(problem, "HeaderName", bytes_from_string(name));
    if (value.ptr)
        problem_add_field(problem, "HeaderValue", value);
}

void problem_encode_error(struct text *out, enum error e)
{
    encode_u64(out, (uint64_t)e);
    encode_bytes(out, bytes_from_string(error_code(e)));
}

enum error problem_decode_error(struct decoder *in)
{
    uint64_t number = decode_u64(in);
    struct bytes code = decode_bytes(in);

    in->bad = in->bad || number >= ERROR_COUNT || !bytes_is(code, error_code((enum error)number));
    return in->bad ? E_InternalError : (enum error)number;
}
