/* Lagra: the command that the command line names. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "program/command_rows.h"
#include "program/commands.h"
#include "program/serve.h"

int main(int argc, char **argv)
{
    struct options options;
    enum log_level least;
    enum log_level shown;

    switch (options_parse(argc, argv, &options)) {
    case OPTIONS_RUN:
        break;
    case OPTIONS_DONE:
        return EXIT_SUCCESS;
    case OPTIONS_WRONG:
        return 2;
    }
    if (options.command == COMMAND_OPERATIONS) {
        print_operations(services, SERVICE_COUNT, options.form);
        if (options.form != PRINT_JSON)
            print_smb_commands();
        return EXIT_SUCCESS;
    }
    if (options.command == COMMAND_ERRORS) {
        print_errors();
        return EXIT_SUCCESS;
    }
    if (options.command == COMMAND_OPTIONS) {
        print_options(options.form);
        return EXIT_SUCCESS;
    }
    if (options.command == COMMAND_CALL)
        return options.call->row->run(options.call);
    if (options.command == COMMAND_HEALTH)
        return health_ask(&options);
    shown = options.silent ? LOG_WARN : LOG_INFO;
    least = options.debug_path ? LOG_DEBUG : shown;
    if (!log_open(least, options.debug_path)) {
        fprintf(stderr, "lagra: cannot write %s: %s\n", options.debug_path, strerror(errno));
        return EXIT_FAILURE;
    }
    if (options.debug_path)
        log_console(shown);
    log_aborts();
    if (options.command == COMMAND_CHECK)
        return check_run(options.location, options.salvage_to, options.json);
    return serve(&options);
}
