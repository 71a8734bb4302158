/* Inside of program/ only: the one table of the options. The command line, the configuration file and the
 * environment are read by it (option_sources.h), and help and `lagra config check` are printed from it. */
#ifndef LAGRA_SERVER_OPTION_ROWS_H
#define LAGRA_SERVER_OPTION_ROWS_H

#include "server/options.h"

enum option_action {
    SET_TEXT,
    SET_FILE,   /* as SET_TEXT: the path of a file that is read */
    SET_LOG,    /* as SET_TEXT: of a file that is written again and again */
    SET_SECRET, /* as SET_TEXT, and never printed */
    SET_PORT,
    MANAGEMENT_PORT, /* a struct listen_options: 0 turns it off, "any" is any free port */
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
    CONFIG, /* the path of the configuration file: not in that file itself */
    HELP,   /* of the command line alone, as all that follow */
    VERSION,
};

struct option_row {
    const char *name;
    char letter;       /* 0: none */
    const char *value; /* what it takes, for the help; NULL: nothing */
    const char *help;
    size_t offset; /* in struct options, of the member that it sets */
    enum option_action action;
};

#define OPTION_ROWS_MAX 96u
extern const struct option_row option_rows[];
extern const size_t option_row_count;
/* By enum console_mode. */
extern const char *const console_modes[3];

/* The row of this name, in its case; NULL: there is none. */
const struct option_row *option_row_find(struct bytes name);
/* The service that the option is about; SERVICE_COUNT: all of them. */
size_t option_row_service(const struct option_row *row);
/* Does it set something? --help and --version do not, and are of the command line alone. */
bool option_row_is_setting(const struct option_row *row);

/* Sets the row's member of *options.
 *
 * value  for as long as the options are used; NULL: of a switch, which is on
 * named  what a message calls the option: "--blobPort", "LAGRA_BLOB_PORT", "lagra.conf:3: blobPort"
 * returns OPTIONS_RUN, or OPTIONS_WRONG after saying why */
enum options_result option_row_apply(const struct option_row *row, const char *value,
                                     const char *named, struct options *options);
#endif
