/* The one table of the commands: the command line is read by it, and help, manual page and completion of
 * shells are printed from it. What an option of a server is, option_rows.h says. */
#ifndef LAGRA_CLI_COMMAND_ROWS_H
#define LAGRA_CLI_COMMAND_ROWS_H

#include "server/options.h"

#define COMMAND_WORDS_MAX   5u
#define COMMAND_OPTIONS_MAX 24u

/* An option of one command alone. */
struct command_option {
    const char *name;
    const char *value; /* what it takes, for the help; NULL: nothing */
    const char *help;
};

struct command_call;

/* A way to call the program. Several rows may have one name. */
struct command_row {
    const char *name;  /* one word, or two: "account add" */
    const char *takes; /* behind it, for the help */
    const char *help;
    unsigned words_least, words_most;     /* beside its name and its options */
    const struct command_option *options; /* up to one without a name; NULL: none */
    /* returns the exit status. NULL: its words are read by options.c */
    int (*run)(const struct command_call *call);
};
extern const struct command_row command_rows[];
extern const size_t command_row_count;

/* A command as it was called. */
struct command_call {
    const struct command_row *row;
    const struct options *options; /* location: where the server that is asked has its data */
    bool json;                     /* for scripts, not for people */
    const char *words[COMMAND_WORDS_MAX];
    size_t word_count;
    const char
        *values[COMMAND_OPTIONS_MAX]; /* of its options, in their order; NULL: not given; of a
                                              * switch "" */
};
/* The value of one of its row's options; NULL: it is not given. */
static inline const char *command_value(const struct command_call *call, const char *name)
{
    const struct command_option *options = call->row->options;

    for (size_t i = 0; options && options[i].name; i++)
        if (strcmp(options[i].name, name) == 0)
            return call->values[i];
    return NULL;
}

/* The option of all commands that ask a running server, or print for scripts. */
extern const struct command_option command_common_options[];

/* "account" of "account add". */
struct bytes command_first_word(const struct command_row *row);
/* Is it the first word of a command's name? */
bool command_begins(const char *word);
/* The same, of a command that has `run`. */
bool command_has_run(const char *word);
/* The first word of a command that is most like this one; ptr NULL: none is. */
struct bytes command_nearest(struct bytes word);
/* Prints the command whose name begins with this word, and its options. */
void command_print_help(const char *word);
/* Prints all commands and the options of a server, a line each. */
void command_print_all_help(void);
/* Of the words behind the program's name, whose first one begins a command with `run`: fills the call.
 * options: of a server; its location is set. */
enum options_result command_parse(int argc, char **argv, struct options *options,
                                  struct command_call *ret_call);
/* The row whose name the words begin with, and how many they are; NULL: none. */
const struct command_row *command_find(int argc, char **argv, int *ret_words);

#endif
