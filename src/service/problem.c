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
