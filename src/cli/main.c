/* Runs the command given on the command line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "check/check.h"
#include "cli/command_rows.h"
#include "cli/commands.h"
#include "server/open_store.h"
#include "server/serve.h"
#include "store/master_keys.h"

static int check(const struct command_line *line)
{
    struct master_keys *keys;
    int status;

    if (!read_master_keys(line->options.encryption_key_path, &keys))
        return EXIT_FAILURE;
    status = check_run(line->options.location, line->salvage_to, keys, line->json);
    master_keys_free(keys);
    return status;
}

int main(int argc, char **argv)
{
    const struct options *options;
    struct command_line line;
    enum log_level least;
    enum log_level shown;

    switch (command_line_parse(argc, argv, &line)) {
    case OPTIONS_RUN:
        break;
    case OPTIONS_DONE:
        return EXIT_SUCCESS;
    case OPTIONS_WRONG:
        return 2;
    }
    options = &line.options;
    if (line.command == COMMAND_OPERATIONS) {
        print_operations(services, SERVICE_COUNT, line.form);
        if (line.form != PRINT_JSON)
            print_smb_commands();
        return EXIT_SUCCESS;
    }
    if (line.command == COMMAND_ERRORS) {
        print_errors();
        return EXIT_SUCCESS;
    }
    if (line.command == COMMAND_OPTIONS) {
        print_options(line.form);
        return EXIT_SUCCESS;
    }
    if (line.command == COMMAND_CALL)
        return line.call->row->run(line.call);
    if (line.command == COMMAND_HEALTH)
        return health_run(&line);
    shown = options->silent ? LOG_WARN : LOG_INFO;
    least = options->debug_path ? LOG_DEBUG : shown;
    if (!log_open(least, options->debug_path)) {
        fprintf(stderr, "lagra: cannot write %s: %s\n", options->debug_path, strerror(errno));
        return EXIT_FAILURE;
    }
    if (options->debug_path)
        log_console(shown);
    log_aborts();
    if (line.command == COMMAND_CHECK)
        return check(&line);
    return serve(&line.options);
}
