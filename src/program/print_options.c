/* lagra options: the tables of options and commands in print, for docs and as a manual page. See commands.h. */
#include "program/commands.h"

#include <stdio.h>
#include <string.h>

#include "program/command_rows.h"
#include "program/option_sources.h"

static void print_markdown_commands(void)
{
    printf("\n# Commands\n`lagra COMMAND --help` has their options; those that ask a running "
           "server find "
           "it by `--location DIR`.\n\n| command | what |\n|---|---|\n");
    for (size_t i = 0; i < command_row_count; i++) {
        const struct command_row *row = &command_rows[i];

        printf("| `lagra %s%s", row->name, row->takes[0] ? " " : "");
        for (const char *c = row->takes; *c; c++)
            printf(*c == '|' ? "\\|" : "%c", *c);
        printf("` | %s |\n", row->help);
    }
}

static void print_markdown(void)
{
    printf("# Options\n"
           "Printed from the table that the program reads them by (`lagra options`). Each can be "
           "set on the\n"
           "command line, in the environment, and in the file that `--config` names; the first of "
           "these that has "
           "it counts.\n\n"
           "| command line | environment | what |\n|---|---|---|\n");
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *row = &option_rows[i];
        char variable[OPTION_VARIABLE_MAX] = "";

        option_variable(row, variable);
        printf("| `--%s%s%s` | %s%s%s | %s |\n", row->name, row->value ? " " : "",
               row->value ? row->value : "", variable[0] ? "`" : "", variable,
               variable[0] ? "`" : "", row->help);
    }
    print_markdown_commands();
}

/* In the text of a manual page a hyphen that is to be typed is "\-", and a line never begins with a dot. */
static void print_roff(const char *text)
{
    for (; *text; text++)
        printf(*text == '-' ? "\\-" : *text == '\\' ? "\\e" : "%c", *text);
}

/* .TP: what it is called, then what it does, indented. */
static void print_manual_entry(const char *name, const char *takes, const char *help)
{
    printf(".TP\n.B ");
    print_roff(name);
    printf("\\fR ");
    print_roff(takes ? takes : "");
    printf("\n");
    print_roff(help);
    printf("\n");
}

static void print_manual_option(const struct command_option *option)
{
    char name[64];

    snprintf(name, sizeof name, "--%s", option->name);
    print_manual_entry(name, option->value, option->help);
}

static void print_manual_commands(void)
{
    for (size_t i = 0; i < command_row_count; i++) {
        const struct command_option *option = command_rows[i].options;

        print_manual_entry(command_rows[i].name, command_rows[i].takes, command_rows[i].help);
        printf("%s", option ? ".RS\n" : "");
        for (; option && option->name; option++)
            print_manual_option(option);
        printf("%s", command_rows[i].options ? ".RE\n" : "");
    }
    printf(".PP\nCommands that ask a running server, and those that print for scripts, take:\n");
    for (const struct command_option *option = command_common_options; option->name; option++)
        print_manual_option(option);
}

static void print_manual(void)
{
    printf(".TH LAGRA 1 \"\" \"Lagra " LAGRA_VERSION "\" \"User Commands\"\n"
           ".SH NAME\nlagra \\- a storage server that speaks Azure Storage's REST API\n"
           ".SH SYNOPSIS\n.B lagra\n[serve] [options]\n.br\n.B lagra\ncommand [arguments]\n"
           ".SH DESCRIPTION\nServes blobs, queues, tables and files of a data folder. What it has "
           "acknowledged "
           "is on disk.\n.SH COMMANDS\n");
    print_manual_commands();
    printf(".SH OPTIONS\nEach can also be set in the environment, by the name in brackets, and in "
           "the file that "
           "\\-\\-config names, as NAME = VALUE. The command line outweighs the environment, which "
           "outweighs the "
           "file.\n");
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *row = &option_rows[i];
        char variable[OPTION_VARIABLE_MAX] = "";

        option_variable(row, variable);
        printf(".TP\n.B ");
        if (row->letter)
            printf("\\-%c, ", row->letter);
        printf("\\-\\-%s", row->name);
        if (row->value)
            printf(" \\fI%s\\fR", row->value);
        printf("\n");
        print_roff(row->help);
        if (variable[0])
            printf(" [%s]", variable);
        printf("\n");
    }
    printf(
        ".SH EXIT STATUS\n0 after SIGTERM or SIGINT; 1: the start is refused; 2: the options are "
        "wrong; 3: a "
        "write or sync of the disk failed, and the next start goes on from what is on the disk.\n"
        ".SH SIGNALS\nSIGTERM and SIGINT end what is in flight and sync. SIGHUP reads accounts, "
        "keys and roles "
        "again and opens the log again.\n");
}

void print_options(enum print_form form)
{
    switch (form) {
    case PRINT_MANUAL:
        print_manual();
        break;
    case PRINT_BASH:
        print_completion_bash();
        break;
    case PRINT_ZSH:
        print_completion_zsh();
        break;
    case PRINT_MARKDOWN:
    case PRINT_JSON:
        print_markdown();
        break;
    }
}
