/* `lagra snapshot`: see administer.h. */
#include "cli/administer.h"

#include <stdio.h>
#include <stdlib.h>

#include "admin/fault_rule.h"
#include "base/visible.h"
#include "fetch/client.h"
#include "cli/admin_client.h"
#include "server/credentials.h"

#define DEFAULT_URL  "http://127.0.0.1:10010"
#define URL_VARIABLE "LAGRA_MANAGEMENT"
#define ARENA_MAX    ((size_t)4 << 20)
#define ANSWER_MAX   ((size_t)64 << 10)

const struct command_option snapshots_options[] = {
    { "management", "URL", "URL of the management port (" URL_VARIABLE ", else " DEFAULT_URL ")" },
    { "token-file", "FILE", "file given to the server as --managementToken" },
    { "ca-file", "FILE", "trusted certificate authorities, in PEM (the system's)" },
    { NULL, NULL, NULL },
};

/* A request and its response. */
struct asking {
    const struct command_call *call;
    struct arena *arena;
    struct bytes url;
    struct bytes answer;
};

static bool complain(const struct asking *asking, struct bytes what)
{
    fprintf(stderr, "lagra: %.*s: %.*s\n", BYTES_ARG(asking->url),
            BYTES_ARG(visible_text(asking->arena, what)));
    return false;
}

static struct bytes base_url(const struct command_call *call)
{
    const char *url = command_value(call, "management");
    struct bytes base;

    if (!url)
        url = getenv(URL_VARIABLE);
    base = bytes_from_string(url && *url ? url : DEFAULT_URL);
    while (base.len > 0 && base.ptr[base.len - 1] == '/')
        base.len--;
    return base;
}

/* Reads the token; ptr NULL if none exists. Returns false after printing why it cannot be read.
 */
static bool read_token(struct asking *asking, struct bytes *ret_value)
{
    const char *path = command_value(asking->call, "token-file");
    char *token;

    *ret_value = bytes_of(NULL, 0);
    if (!path)
        return true;
    token = read_small_line(path);
    if (!token)
        return false;
    *ret_value = arena_printf(asking->arena, "Bearer %s", token);
    free_secret(token);
    return true;
}

static bool judge_answer(struct asking *asking, const struct fetch_client_answer *answer)
{
    struct bytes error;

    if (!bytes_has_prefix(fetch_head_find(&answer->head, "server"), bytes_from_string("Lagra/")))
        return complain(asking, bytes_from_string("the response is not from a Lagra server"));
    asking->answer = answer->body;
    if (answer->status == 200)
        return true;
    error = client_member(asking->arena, asking->answer, "error");
    if (error.ptr)
        return complain(asking, error);
    return complain(asking, arena_printf(asking->arena, "status %d", answer->status));
}

/* Sends a request. Over TLS, sends the token only to a server whose certificate is valid. */
static bool ask(struct asking *asking, const char *method, struct bytes path)
{
    struct fetch_header header = { .name = BYTES("Authorization") };
    struct fetch_client_request request = { .method = method,
                                            .headers = &header,
                                            .answer_max = ANSWER_MAX };
    struct fetch_client_answer answer;
    struct fetch_client *client;
    bool is_done;

    asking->url = base_url(asking->call);
    request.url = arena_printf(asking->arena, "%.*s/-/snapshots%.*s", BYTES_ARG(asking->url),
                               BYTES_ARG(path));
    if (!read_token(asking, &header.value))
        return false;
    request.header_count = header.value.ptr ? 1 : 0;
    client = fetch_client_new(command_value(asking->call, "ca-file"));
    if (!client)
        return false;
    if (fetch_client_ask(client, asking->arena, &request, &answer))
        is_done = judge_answer(asking, &answer);
    else
        is_done = complain(asking, bytes_from_string(fetch_client_problem(client)));
    fetch_client_free(client);
    return is_done;
}

static void print(const struct asking *asking)
{
    static const struct client_column columns[] = { { "NAME", "name", CLIENT_AS_IS },
                                                    { "SAVED", "saved", CLIENT_AS_IS },
                                                    { "LOADED", "loaded", CLIENT_AS_IS } };

    if (asking->call->json)
        printf("%.*s", BYTES_ARG(asking->answer));
    else
        client_print_table(asking->arena, client_nested(asking->arena, asking->answer, "snapshots"),
                           columns, sizeof columns / sizeof columns[0]);
}

/* Runs a command. after: suffix of the path, after the name. Only `list` formats its output for
 * people; the others print the response. */
static int run(const struct command_call *call, const char *method, const char *after)
{
    struct asking asking = { .call = call, .arena = arena_new(ARENA_MAX) };
    const char *name = call->word_count > 0 ? call->words[0] : NULL;
    struct bytes path = BYTES("");
    bool is_done = false;

    if (name && !fault_name_is_valid(bytes_from_string(name))) {
        fprintf(stderr,
                "lagra: a snapshot name must have up to 64 letters, digits, '.', '_' and '-'\n");
    } else {
        if (name)
            path = arena_printf(asking.arena, "/%s%s", name, after);
        is_done = ask(&asking, method, path);
    }
    if (is_done && (!name || call->json))
        print(&asking);
    arena_free_secret(asking.arena);
    return is_done ? EXIT_SUCCESS : EXIT_FAILURE;
}

int snapshots_save(const struct command_call *call)
{
    return run(call, "PUT", "");
}

int snapshots_load(const struct command_call *call)
{
    return run(call, "PUT", "/loaded");
}

int snapshots_delete(const struct command_call *call)
{
    return run(call, "DELETE", "");
}

int snapshots_list(const struct command_call *call)
{
    return run(call, "GET", "");
}
