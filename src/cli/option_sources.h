/* Inside of program/ only: where options are set. Each option may be set in the configuration file, in the
 * environment and on the command line; the later ones outweigh the earlier ones, option by option. All
 * three use the names of option_rows.h:
 *
 *   file          blobPort = 11000        a line each; "#" begins a line of comment
 *   environment   LAGRA_BLOB_PORT=11000
 *   command line  --blobPort 11000
 *
 * A switch is "true" or "false" in the first two. The file is the one that --config names, or LAGRA_CONFIG;
 * without them there is none. decision: 342 */
#ifndef LAGRA_CLI_OPTION_SOURCES_H
#define LAGRA_CLI_OPTION_SOURCES_H

#include "server/option_rows.h"

enum option_origin { ORIGIN_DEFAULT, ORIGIN_FILE, ORIGIN_ENVIRONMENT, ORIGIN_COMMAND_LINE };

/* Longer than the variable of any option. */
#define OPTION_VARIABLE_MAX 128u

struct option_setting {
    enum option_origin origin;
    const char *value; /* NULL: of a switch on the command line, or not set */
    unsigned line;     /* of the file */
};

struct option_settings {
    struct option_setting of[OPTION_ROWS_MAX]; /* by the index of its row; all zero before */
    const char *file_text; /* that values of the file lie in: kept as long as the process lives */
};

/* Writes the option's name in the environment: "LAGRA_BLOB_PORT"; "": it is of the command line alone. */
void option_variable(const struct option_row *row, char ret_name[OPTION_VARIABLE_MAX]);

/* Reads all words behind the first as options, and prints what is wrong with one, or the help or version
 * that it asks for. The words are kept. */
enum options_result settings_read_words(struct option_settings *settings, int argc, char **argv);
/* Reads the environment, and then the file that is named there or on the command line, for what is not set
 * yet. What is wrong is printed. Texts of the file are kept as long as the process lives. */
enum options_result settings_read_elsewhere(struct option_settings *settings);
/* Sets the members of *options that the settings are about. */
enum options_result settings_apply(const struct option_settings *settings, struct options *options);
/* Writes where an option was set, for messages: "--blobPort", "LAGRA_BLOB_PORT" or
 * "lagra.conf:3: blobPort"; "" if it has its default. i: index of its row */
#define SETTING_DESCRIPTION_MAX 512u
void setting_describe(const struct option_settings *settings, size_t i,
                      char named[SETTING_DESCRIPTION_MAX]);
/* Is an option of this service alone set there, or in something that outweighs it? SERVICE_COUNT: one that is
 * about all services. */
bool settings_name_service(const struct option_settings *settings, size_t service,
                           enum option_origin least);
/* Is the option of this name set anywhere? */
bool settings_have(const struct option_settings *settings, const char *name);
/* ---- print_settings.c ---- */

/* Writes a list with each option: its name, its value in *options ("(not shown)" of a secret), and what it was set by. */
void settings_write(const struct option_settings *settings, const struct options *options,
                    struct json_writer *to);
/* Prints each option, its value in *options, and where it was set: a line each, or a list of JSON. */
void settings_print(const struct option_settings *settings, const struct options *options,
                    bool json);

#endif
