/* Table of commands, from which command line parsing, help, manual page and shell completion are
 * derived. The options of a server are in server/option_rows.h. */
#ifndef LAGRA_CLI_COMMAND_ROWS_H
#define LAGRA_CLI_COMMAND_ROWS_H

#include "base/bytes.h"
#include "server/options.h"

#define COMMAND_WORDS_MAX   8u
#define COMMAND_OPTIONS_MAX 24u

/* Option of a single command. */
struct command_option {
    const char *name;
    const char *value; /* name of its value in the help, or NULL */
    const char *help;
};

struct command_call;

/* A command, or one form of it: several rows may have the same name. */
struct command_row {
    const char *name;  /* one or two words: "account add" */
    const char *takes; /* arguments, for the help */
    const char *help;
    unsigned words_least, words_most;     /* arguments besides name and options */
    const struct command_option *options; /* ends with an option without a name; or NULL */
    /* returns the exit status; NULL for commands that command_line.c parses */
    int (*run)(const struct command_call *call);
};
extern const struct command_row command_rows[];
extern const size_t command_row_count;

/* Parsed command. */
struct command_call {
    const struct command_row *row;
    const struct options *options; /* location: data directory of the called server */
    bool json;                     /* output for scripts */
    const char *words[COMMAND_WORDS_MAX];
    size_t word_count;
    const char *values
        [COMMAND_OPTIONS_MAX]; /* values of the row's options; NULL if not given; "" for a switch */
};
/* Returns the value of one of the row's options, or NULL if it is not given. */
static inline const char *command_value(const struct command_call *call, const char *name)
{
    const struct command_option *options = call->row->options;

    for (size_t i = 0; options && options[i].name; i++)
        if (strcmp(options[i].name, name) == 0)
            return call->values[i];
    return NULL;
}

/* Returns the file of master keys: of the command's option --encryptionKey, else of the server's;
 * NULL if neither is given. */
static inline const char *command_key_path(const struct command_call *call)
{
    const char *own = command_value(call, "encryptionKey");

    return own ? own : call->options->encryption_key_path;
}

/* Options that all commands with `run` accept. */
extern const struct command_option command_common_options[];

/* Returns the first word of the name: "account" of "account add". */
struct bytes command_first_word(const struct command_row *row);
/* Returns true if a command's name starts with this word. */
bool command_begins(const char *word);
/* Returns true if a command with `run` starts with this word. */
bool command_has_run(const char *word);
/* Returns the most similar first word of a command; ptr NULL if none is similar. */
struct bytes command_nearest(struct bytes word);
/* Prints the commands that start with this word, and their options. */
void command_print_help(const char *word);
/* Prints all commands and the options of a server, one per line. */
void command_print_all_help(void);
/* Parses the arguments after the program's name. The first one is the first word of a command with
 * `run`. Sets the location in `options`. */
enum options_result command_parse(int argc, char **argv, struct options *options,
                                  struct command_call *ret_call);
/* Returns the row whose name the arguments start with, and the number of words in that name, or
 * NULL. */
const struct command_row *command_find(int argc, char **argv, int *ret_words);

/* ---- suggestions for mistyped words, for error messages; thread-safe ---- */

/* Longest word that is compared. */
#define SUGGESTION_WORD_MAX 63u

/* Returns the number of characters to insert, remove or replace to turn one word into the other,
 * ignoring case (Levenshtein distance), or SUGGESTION_WORD_MAX + 1 if `word` is longer than
 * that. */
unsigned suggestion_distance(struct bytes word, struct bytes name);

struct suggestion {
    struct bytes word;
    struct bytes name; /* most similar name so far; ptr NULL if none is similar */
    unsigned limit;    /* distance that a name must be below */
};
/* Starts a search. A name is similar if at most a third of the word's letters differ. */
struct suggestion suggestion_begin(struct bytes word);
/* Replaces the suggestion by `name` if that is more similar. */
void suggestion_try(struct suggestion *suggestion, struct bytes name);

#endif
