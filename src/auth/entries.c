/* Reads lists printed by Azure's command line: see trust_private.h. */
#include "auth/trust_private.h"

#include <stdarg.h>
#include <stdio.h>

#define ENTRIES_MAX 100000
/* Azure prints two levels. */
#define ENTRY_DEPTH 8

void trust_problem_set(struct trust_problem *problem, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(problem->text, sizeof problem->text, format, args);
    va_end(args);
}

void entries_begin(struct entries *entries, const char *option, struct bytes text,
                   struct trust_problem *problem)
{
    *entries = (struct entries){
        .option = option,
        .text = text,
        .problem = problem,
        .arena = arena_new(json_memory_max(text)),
    };
    problem->text[0] = '\0';
    json_list_init(&entries->list, entries->arena, text, 1 + ENTRY_DEPTH);
    entries->empty = arena_mark(entries->arena);
}

void entries_end(struct entries *entries)
{
    arena_free(entries->arena);
}

/* Returns the line number of a position in the file, from 1. */
static size_t line_of(struct bytes text, const char *place)
{
    size_t line = 1;

    for (const char *at = text.ptr; at < place; at++)
        line += *at == '\n';
    return line;
}

void entries_refuse(struct entries *entries, const char *why)
{
    trust_problem_set(entries->problem, "%s, line %zu, entry %zu: %s", entries->option,
                      line_of(entries->text, entries->entry), entries->count, why);
}

bool entries_next(struct entries *entries, const char *const names[], size_t count,
                  struct json_member *ret_members)
{
    struct json_member entry;

    arena_rewind(entries->arena, entries->empty);
    if (entries->problem->text[0] || !json_next(&entries->list, &entry)) {
        if (entries->list.bad)
            trust_problem_set(entries->problem, "%s, line %zu: not a JSON list of objects",
                              entries->option,
                              line_of(entries->text, entries->text.ptr + entries->list.at));
        return false;
    }
    entries->count++;
    entries->entry = entries->text.ptr + entries->list.at; /* end of the entry */
    if (entry.kind == JSON_OBJECT)
        entries->entry = entry.text.ptr;
    if (entries->count > ENTRIES_MAX)
        entries_refuse(entries, "more than 100000 entries");
    else if (entry.kind != JSON_OBJECT ||
             !json_object_pick(entries->arena, entry.text, ENTRY_DEPTH, names, count, ret_members))
        entries_refuse(entries, "not an object, or a member is repeated");
    return !entries->problem->text[0];
}
