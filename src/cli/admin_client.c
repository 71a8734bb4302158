/* Calls a running server: see admin_client.h. */
#include "cli/admin_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/visible.h"
#include "fetch/fetch.h"
#include "net/local.h"
#include "server/admin_socket.h"
#include "base/progress.h"

#define DEPTH_MAX 8u

static bool complain(const char *location, const char *what)
{
    fprintf(stderr, "lagra: %s: %s\n", location, what);
    return false;
}

/* Finds the admin socket of a data directory. Returns false after printing why it cannot be used.
 */
static bool find_socket(const char *location, char ret_path[LOCAL_PATH_SIZE])
{
    char *path = admin_socket_path(location);
    bool found = access(path, W_OK) == 0 && local_path(path, ret_path);
    int error = errno;

    free(path);
    if (found)
        return true;
    if (error == ENOENT || error == ENOTDIR)
        return complain(location,
                        "no server runs on this data directory; use --location for another one. A "
                        "server with --inMemoryPersistence has no\n"
                        "       data directory to call it through: `lagra health --running` finds "
                        "it, --managementPort serves its metrics,\n"
                        "       and AZURITE_ACCOUNTS or --accountsFile define its accounts");
    return complain(location,
                    error == EACCES
                        ? "permission denied: run the command as the server's user or root"
                        : strerror(error));
}

static struct bytes make_body(struct arena *arena, const struct client_argument *arguments,
                              size_t count)
{
    struct text text;
    struct json_writer out = { .to = &text };

    text_init(&text, arena, 256);
    json_write_begin(&out, '{');
    for (size_t i = 0; i < count; i++) {
        if (arguments[i].value)
            json_write_member(&out, arguments[i].name, bytes_from_string(arguments[i].value));
    }
    json_write_end(&out, '}');
    return text_bytes(&text);
}

/* Reads the response body. Returns false if it is truncated or too long. */
static bool read_body(struct fetch *fetch, struct arena *arena, struct bytes *ret_body)
{
    struct text text;
    size_t count;

    text_init(&text, arena, 4096);
    for (;;) {
        text_reserve(&text, 4096);
        if (fetch_read(fetch, text.ptr + text.len, text.capacity - text.len, &count) != FETCH_OK)
            return false;
        text.len += count;
        *ret_body = text_bytes(&text);
        if (count == 0 || text.len > CLIENT_RESPONSE_MAX)
            return count == 0;
    }
}

/* Prints the error of a failed operation: {"code", "error"}. */
static bool complain_of(struct arena *arena, struct bytes body)
{
    struct bytes error = client_member(arena, body, "error");
    struct bytes code = client_member(arena, body, "code");

    fprintf(stderr, "lagra: %.*s (%.*s)\n", BYTES_ARG(visible_text(arena, error)), BYTES_ARG(code));
    return false;
}

static bool ask(const struct command_call *call, struct fetcher *fetcher, const char *operation,
                struct bytes body, struct client_response *answer)
{
    static const struct fetch_header json = { BYTES("Content-Type"), BYTES("application/json") };
    const char *location = call->options->location;
    struct fetch_asked is_done = {
        .url = arena_printf(answer->arena, "http://lagra/%s", operation),
        .body = body,
        .headers = &json,
        .header_count = 1,
    };
    struct fetch *fetch = NULL;
    bool asked_well = false;

    if (fetch_open(fetcher, &is_done, &fetch))
        complain(location, "no server runs on this data directory (stale socket)");
    else if (!read_body(fetch, answer->arena, &answer->body))
        complain(location, "the server's response was incomplete");
    else if (fetch_status(fetch) != 200)
        complain_of(answer->arena, answer->body);
    else
        asked_well = true;
    fetch_close(fetch);
    return asked_well;
}

bool client_call_bytes(const struct command_call *call, const char *operation, struct bytes body,
                       struct client_response *ret_answer)
{
    char path[LOCAL_PATH_SIZE];
    struct fetcher_options options = { .trusts_all = true, .local_path = path };
    struct fetcher *fetcher;
    bool is_done;

    *ret_answer = (struct client_response){ .arena = arena_new(8 * CLIENT_RESPONSE_MAX) };
    if (!find_socket(call->options->location, path))
        return false;
    fetcher = fetcher_new(&options);
    is_done = ask(call, fetcher, operation, body, ret_answer);
    fetcher_free(fetcher);
    return is_done;
}

bool client_call(const struct command_call *call, const char *operation,
                 const struct client_argument *arguments, size_t count,
                 struct client_response *ret_answer)
{
    struct arena *arena = arena_new(CLIENT_RESPONSE_MAX);
    bool is_done =
        client_call_bytes(call, operation, make_body(arena, arguments, count), ret_answer);

    arena_free(arena);
    return is_done;
}

/* ---- response members ---- */

static struct json_member pick(struct arena *arena, struct bytes object, const char *name)
{
    struct json_member member = { .kind = JSON_ABSENT };

    if (!json_object_pick(arena, object, DEPTH_MAX, &name, 1, &member))
        member.kind = JSON_ABSENT;
    return member;
}

struct bytes client_member(struct arena *arena, struct bytes object, const char *name)
{
    struct json_member member = pick(arena, object, name);

    if (member.kind == JSON_TRUE || member.kind == JSON_FALSE)
        return bytes_from_string(member.kind == JSON_TRUE ? "yes" : "no");
    return member.kind == JSON_STRING || member.kind == JSON_NUMBER ? member.text
                                                                    : bytes_from_string(NULL);
}

struct bytes client_nested(struct arena *arena, struct bytes object, const char *name)
{
    struct json_member member = pick(arena, object, name);

    return member.kind == JSON_OBJECT || member.kind == JSON_LIST ? member.text
                                                                  : bytes_from_string(NULL);
}

/* ---- for people ---- */

int client_call_and_print(const struct command_call *call, const char *operation,
                          const struct client_argument *arguments, size_t count,
                          void (*print)(struct arena *arena, struct bytes body))
{
    struct client_response answer;
    bool is_done = client_call(call, operation, arguments, count, &answer);

    if (is_done && call->json)
        printf("%.*s", BYTES_ARG(answer.body));
    else if (is_done)
        print(answer.arena, answer.body);
    arena_free(answer.arena);
    return is_done && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

void client_print_line(const char *what, struct bytes text)
{
    if (!text.ptr)
        return;
    printf("%-12s ", what);
    visible_print(text);
    printf("\n");
}

/* Cells of a table to print, row by row. */
struct cells {
    struct bytes *of;
    size_t count, capacity;
};

static void add_cell(struct cells *cells, struct bytes cell)
{
    if (cells->count == cells->capacity) {
        cells->capacity = cells->capacity > 0 ? 2 * cells->capacity : 64;
        cells->of = xrealloc(cells->of, cells->capacity * sizeof cells->of[0]);
    }
    cells->of[cells->count++] = cell;
}

static void print_cells(const struct cells *cells, size_t columns)
{
    size_t widths[ASK_COLUMNS_MAX] = { 0 };

    for (size_t i = 0; i < cells->count; i++) {
        if (cells->of[i].len > widths[i % columns])
            widths[i % columns] = cells->of[i].len;
    }
    for (size_t i = 0; i < cells->count; i++) {
        bool is_last = i % columns + 1 == columns;

        printf("%-*.*s%s", is_last ? 0 : (int)widths[i % columns], BYTES_ARG(cells->of[i]),
               is_last ? "\n" : "  ");
    }
}

/* Returns the text of a column for one object, or "-" if the member is missing. */
static struct bytes cell_of(struct arena *arena, struct bytes line,
                            const struct client_column *column)
{
    struct bytes text = client_member(arena, line, column->member);
    char readable[PROGRESS_BYTES_SIZE];
    uint64_t bytes;

    if (!text.ptr)
        return bytes_from_string("-");
    if (column->form == CLIENT_GIB)
        return arena_printf(arena, "%.*s GiB", BYTES_ARG(text));
    if (column->form != CLIENT_BYTES || !bytes_parse_u64(text, UINT64_MAX, &bytes))
        return visible_text(arena, text);
    progress_bytes(bytes, readable);
    return arena_printf(arena, "%s", readable);
}

void client_print_table(struct arena *arena, struct bytes list, const struct client_column *columns,
                        size_t count)
{
    struct cells cells = { NULL, 0, 0 };
    struct json_reader reader;
    struct json_member member;

    for (size_t i = 0; i < count; i++)
        add_cell(&cells, bytes_from_string(columns[i].title));
    json_list_init(&reader, arena, list, DEPTH_MAX);
    while (json_next(&reader, &member))
        for (size_t i = 0; i < count; i++)
            add_cell(&cells, cell_of(arena, member.text, &columns[i]));
    if (cells.count > count)
        print_cells(&cells, count);
    free(cells.of);
}
