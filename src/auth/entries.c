/* Reads lists printed by Azure's command line: see trust_private.h. */
#include "auth/trust_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

/* The subscription and resource group of accounts, as `az storage account list -o json` prints
 * them: a list of objects whose id is that of a storage account. */

struct places {
    struct arena *arena;
    struct scope *list; /* sorted by account; SCOPE_ACCOUNT, in lower case */
    size_t count, capacity;
};

static int by_account(const void *a, const void *b)
{
    return bytes_compare(((const struct scope *)a)->account, ((const struct scope *)b)->account);
}

static void add(struct places *places, const struct scope *scope)
{
    if (places->count == places->capacity) {
        places->capacity = places->capacity > 0 ? 2 * places->capacity : 16;
        places->list = xrealloc(places->list, places->capacity * sizeof places->list[0]);
    }
    places->list[places->count++] = (struct scope){
        .kind = SCOPE_ACCOUNT,
        .subscription = arena_copy_lower(places->arena, scope->subscription),
        .group = arena_copy_lower(places->arena, scope->group),
        .account = arena_copy_lower(places->arena, scope->account),
    };
}

static void read_all(struct places *places, struct bytes json, struct trust_problem *problem)
{
    static const char *const names[] = { "id" };
    struct json_member id;
    struct entries entries;

    entries_begin(&entries, "--oauthAccounts", json, problem);
    while (entries_next(&entries, names, 1, &id)) {
        struct scope scope = scope_parse(json_text(&id));

        if (scope.kind == SCOPE_ACCOUNT)
            add(places, &scope);
        else
            entries_refuse(&entries, "its id is not that of a storage account");
    }
    entries_end(&entries);
}

/* Sorts the accounts, and rejects duplicates. */
static void sort(struct places *places, struct trust_problem *problem)
{
    qsort(places->list, places->count, sizeof places->list[0], by_account);
    for (size_t i = 1; i < places->count; i++) {
        if (by_account(&places->list[i - 1], &places->list[i]) == 0)
            trust_problem_set(problem, "--oauthAccounts names the account %.*s twice",
                              BYTES_ARG(places->list[i].account));
    }
}

struct places *places_new(struct bytes json, struct trust_problem *ret_problem)
{
    struct places *places = xcalloc(1, sizeof *places);

    ret_problem->text[0] = '\0';
    places->arena = arena_new(json_memory_max(json));
    if (json.ptr)
        read_all(places, json, ret_problem);
    if (!ret_problem->text[0] && places->count > 0)
        sort(places, ret_problem);
    if (!ret_problem->text[0])
        return places;
    places_free(places);
    return NULL;
}

void places_free(struct places *places)
{
    if (!places)
        return;
    arena_free(places->arena);
    free(places->list);
    free(places);
}

size_t places_count(const struct places *places)
{
    return places->count;
}

const struct scope *places_find(const struct places *places, struct bytes account)
{
    struct scope key = { .account = account };

    if (places->count == 0)
        return NULL;
    return bsearch(&key, places->list, places->count, sizeof places->list[0], by_account);
}
