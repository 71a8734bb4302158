/* `lagra container|queue|table|share ..`: see administer.h. */
#include "program/administer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/ask.h"

/* "container create" as the operation is called: "container-create". */
static void operation_of(const struct command_call *call, char name[ASK_OPERATION_MAX])
{
    snprintf(name, ASK_OPERATION_MAX, "%s", call->row->name);
    *strchr(name, ' ') = '-';
}

static void print_created(struct arena *arena, struct bytes body)
{
    bool existed = bytes_is(ask_member(arena, body, "created"), "no");

    printf("%.*s %s\n", BYTES_ARG(ask_member(arena, body, "name")),
           existed ? "existed" : "created");
}

static void print_deleted(struct arena *arena, struct bytes body)
{
    printf("%.*s deleted\n", BYTES_ARG(ask_member(arena, body, "name")));
}

int administer_create(const struct command_call *call)
{
    const struct ask_argument arguments[] = {
        { "name", call->words[0] },
        { "account", command_value(call, "account") },
        { "access", command_value(call, "public-access") },
        { "quota", command_value(call, "quota") },
    };
    char operation[ASK_OPERATION_MAX];

    operation_of(call, operation);
    return ask_and_print(call, operation, arguments, sizeof arguments / sizeof arguments[0],
                         print_created);
}

int administer_delete(const struct command_call *call)
{
    const struct ask_argument arguments[] = { { "name", call->words[0] },
                                              { "account", command_value(call, "account") } };
    char operation[ASK_OPERATION_MAX];

    operation_of(call, operation);
    return ask_and_print(call, operation, arguments, 2, print_deleted);
}

/* ---- lists ---- */

/* Adds what stands between the brackets of a page's list. */
static void add_page(struct text *items, struct bytes page)
{
    if (page.len <= 2)
        return;
    if (items->len > 0)
        text_add_char(items, ',');
    text_add(items, bytes_of(page.ptr + 1, page.len - 2));
}

/* All pages, as one list in `items`, without its brackets. False: said why not. */
static bool ask_pages(const struct command_call *call, struct arena *arena, struct text *items)
{
    char operation[ASK_OPERATION_MAX];
    const char *marker = NULL;
    bool asked = true;

    operation_of(call, operation);
    do {
        const struct ask_argument arguments[] = {
            { "account", command_value(call, "account") },
            { "prefix", command_value(call, "prefix") },
            { "marker", marker },
            { "all", command_value(call, "all") ? "yes" : NULL },
        };
        struct ask_answer answer;

        asked = ask_server(call, operation, arguments, 4, &answer);
        if (asked) {
            struct bytes next = ask_member(answer.arena, answer.body, "next");

            add_page(items, ask_nested(answer.arena, answer.body, "items"));
            marker = next.ptr ? arena_string(arena, next) : NULL;
        }
        arena_free(answer.arena);
    } while (asked && marker);
    return asked;
}

int administer_list(const struct command_call *call)
{
    static const struct ask_column columns[] = { { "NAME", "name", ASK_AS_IS },
                                                 { "MODIFIED", "modified", ASK_AS_IS },
                                                 { "ACCESS", "access", ASK_AS_IS },
                                                 { "QUOTA", "quota", ASK_GIB } };
    bool is_container = strncmp(call->row->name, "container", strlen("container")) == 0;
    bool is_share = strncmp(call->row->name, "share", strlen("share")) == 0;
    struct arena *arena = arena_new(8 * ASK_BYTES_MAX);
    struct text items;
    bool asked;

    text_init(&items, arena, 4096);
    asked = ask_pages(call, arena, &items);
    if (asked && call->json)
        printf("{\"items\":[%.*s]}\n", (int)items.len, items.ptr);
    else if (asked && is_share) /* the access of containers is left out */
        ask_print_table(arena, arena_printf(arena, "[%.*s]", (int)items.len, items.ptr),
                        (const struct ask_column[]){ columns[0], columns[1], columns[3] }, 3);
    else if (asked)
        ask_print_table(arena, arena_printf(arena, "[%.*s]", (int)items.len, items.ptr), columns,
                        is_container ? 3 : 1);
    arena_free(arena);
    return asked && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
