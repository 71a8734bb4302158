/* Sources of options. Each option can be set in the configuration file, in the environment and on
 * the command line; the command line overrides the environment, which overrides the file. All use
 * the names of server/option_rows.h:
 *
 *   file          blobPort = 11000        one option per line; "#" starts a comment line
 *   environment   LAGRA_BLOB_PORT=11000
 *   command line  --blobPort 11000
 *
 * In the first two, the value of a switch is "true" or "false". --config or LAGRA_CONFIG specifies
 * the file; there is no default file. Internal to cli/. decision: 342 */
#ifndef LAGRA_CLI_OPTION_SOURCES_H
#define LAGRA_CLI_OPTION_SOURCES_H

#include "server/option_rows.h"

enum option_origin { ORIGIN_DEFAULT, ORIGIN_FILE, ORIGIN_ENVIRONMENT, ORIGIN_COMMAND_LINE };

/* Size of the longest name of an option's environment variable, with its NUL. */
#define OPTION_VARIABLE_MAX 128u

struct option_setting {
    enum option_origin origin;
    const char *value; /* NULL for a switch on the command line, or if not set */
    unsigned line;     /* in the file */
};

struct option_settings {
    struct option_setting of[OPTION_ROWS_MAX]; /* indexed by row; initially all zero */
    const char *file_text;                     /* contains values of the file; never freed */
};

/* Writes the name of the option's environment variable, such as "LAGRA_BLOB_PORT", or "" if the
 * option can be set only on the command line. */
void option_variable(const struct option_row *row, char ret_name[OPTION_VARIABLE_MAX]);

/* Reads all arguments after the first as options. Prints errors, and the help or version if
 * requested. The arguments must outlive the settings. */
enum options_result settings_read_words(struct option_settings *settings, int argc, char **argv);
/* Reads options that are not set yet from the environment, and then from the file named there or on
 * the command line. Prints errors. */
enum options_result settings_read_elsewhere(struct option_settings *settings);
/* Copies all settings to the members of *options. */
enum options_result settings_apply(const struct option_settings *settings, struct options *options);
/* Describes for messages where an option was set: "--blobPort", "LAGRA_BLOB_PORT" or "lagra.conf:3:
 * blobPort"; "" if it has its default. i: index of its row */
#define SETTING_DESCRIPTION_MAX 512u
void setting_describe(const struct option_settings *settings, size_t i,
                      char named[SETTING_DESCRIPTION_MAX]);
/* Returns true if an option of this service is set by the source `least` or by one that overrides
 * it. service: SERVICE_COUNT for options that apply to all services */
bool settings_name_service(const struct option_settings *settings, size_t service,
                           enum option_origin least);
/* Returns true if the option is set by any source. */
bool settings_have(const struct option_settings *settings, const char *name);
/* ---- print_settings.c ---- */

/* Writes a JSON list with each option's name, value in *options ("(not shown)" for a secret) and
 * origin. */
void settings_write(const struct option_settings *settings, const struct options *options,
                    struct json_writer *to);
/* Prints each option, its value in *options and its origin, one per line or as a JSON list. */
void settings_print(const struct option_settings *settings, const struct options *options,
                    bool json);

#endif
