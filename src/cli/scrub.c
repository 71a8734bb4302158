/* Starts a scrub on a running server and shows its progress. The scrub continues if this process
 * ends. */
#include "cli/administer.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/thread.h"
#include "cli/admin_client.h"
#include "base/progress.h"

#define POLL_NS 500000000u

const struct command_option scrub_options_of_command[] = {
    { "rate", "MIB",
      "maximum MiB read per second in this pass (default: the server's --scrubRate)" },
    { "state", NULL,
      "print the progress, and the result of the last pass, without starting a pass" },
    { NULL, NULL, NULL },
};

static uint64_t number(struct client_response *answer, const char *member)
{
    uint64_t value = 0;

    (void)bytes_parse_u64(client_member(answer->arena, answer->body, member), UINT64_MAX, &value);
    return value;
}

static bool is_running(struct client_response *answer)
{
    return bytes_is(client_member(answer->arena, answer->body, "running"), "yes");
}

static void print_state(struct client_response *answer)
{
    static const char *const lines[][2] = {
        { "running", "running" }, { "began", "began" },      { "records", "records" },
        { "damaged", "errors" },  { "last end", "lastEnd" }, { "damaged then", "lastErrors" },
    };
    char read[PROGRESS_BYTES_SIZE], total[PROGRESS_BYTES_SIZE];

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        client_print_line(lines[i][0], client_member(answer->arena, answer->body, lines[i][1]));
    progress_bytes(number(answer, "bytes"), read);
    progress_bytes(number(answer, "bytesTotal"), total);
    client_print_line("read", arena_printf(answer->arena, "%s of %s", read, total));
}

/* Polls until pass number `ended` + 1 has ended. Sets *ret_json if progress was printed as JSON, in
 * which case the result must be, too. Returns false
 * after printing an error. */
static bool follow(const struct command_call *call, uint64_t ended, bool *ret_json,
                   struct client_response *ret_answer)
{
    struct progress progress;

    progress_begin(&progress, "records", call->json);
    *ret_json = progress.json;
    while (client_call(call, "scrub-state", NULL, 0, ret_answer)) {
        const struct progress_count count = { number(ret_answer, "records"), 0,
                                              number(ret_answer, "bytes"),
                                              number(ret_answer, "bytesTotal") };

        if (number(ret_answer, "ended") > ended && !is_running(ret_answer)) {
            progress_end(&progress);
            return true;
        }
        progress_show(&progress, &count);
        arena_free(ret_answer->arena);
        thread_sleep_ns(POLL_NS);
    }
    progress_end(&progress);
    return false;
}

int scrub_run(const struct command_call *call)
{
    const struct client_argument rate = { "rate", command_value(call, "rate") };
    bool follows = !command_value(call, "state"), json = call->json;
    struct client_response answer;
    uint64_t ended, errors;
    bool is_done = follows ? client_call(call, "scrub", &rate, 1, &answer)
                           : client_call(call, "scrub-state", NULL, 0, &answer);

    if (is_done && follows) {
        ended = number(&answer, "ended");
        arena_free(answer.arena);
        is_done = follow(call, ended, &json, &answer);
    }
    errors = is_done ? number(&answer, "errors") : 0;
    if (is_done && json)
        printf("%.*s", BYTES_ARG(answer.body));
    else if (is_done)
        print_state(&answer);
    arena_free(answer.arena);
    return is_done && errors == 0 && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
