/* The table of a server's options. It drives the command line, the configuration file and the
 * environment (cli/option_sources.h), help, and `lagra config check`. */
#ifndef LAGRA_SERVER_OPTION_ROWS_H
#define LAGRA_SERVER_OPTION_ROWS_H

#include "server/options.h"

enum option_action {
    SET_TEXT,
    SET_FILE,   /* path of a file that is read */
    SET_LOG,    /* path of a file that is written and reopened */
    SET_SECRET, /* text that is never printed */
    SET_PORT,
    MANAGEMENT_PORT, /* a struct listen_options; 0 turns it off, "any" is any free port */
    SET_COUNT,
    SET_DURATION, /* in milliseconds */
    SET_ADDRESSES,
    SET_TRUE,
    SET_FALSE,
    IGNORE,
    MEMORY_LIMIT,
    OAUTH,
    SANDBOX,
    CONSOLE,
    CONFIG, /* path of the configuration file; not allowed in that file */
    HELP,   /* this and the following: command line only */
    VERSION,
};

struct option_row {
    const char *name;
    char letter;       /* short option, or 0 */
    const char *value; /* name of its value in the help, or NULL */
    const char *help;
    size_t offset; /* offset of its member in struct options */
    enum option_action action;
};

#define OPTION_ROWS_MAX 96u
extern const struct option_row option_rows[];
extern const size_t option_row_count;
/* Names of enum console_mode. */
extern const char *const console_modes[3];

/* Returns the row with exactly this name, or NULL. */
const struct option_row *option_row_find(struct bytes name);
/* Returns the service that the option configures, or SERVICE_COUNT if it applies to all. */
size_t option_row_service(const struct option_row *row);
/* Returns false for --help and --version, which set nothing. */
bool option_row_is_setting(const struct option_row *row);

/* Sets the row's member of *options.
 *
 * value    outlives the options; NULL means a switch that is on
 * named    the option as messages call it: "--blobPort", "LAGRA_BLOB_PORT", "lagra.conf:3:
 *          blobPort"
 * returns  OPTIONS_RUN, or OPTIONS_WRONG after printing why */
enum options_result option_row_apply(const struct option_row *row, const char *value,
                                     const char *named, struct options *options);
#endif
