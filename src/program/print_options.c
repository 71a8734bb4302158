/* lagra options: the table of options in print, for docs, manual and shells. See commands.h. */
#include "program/commands.h"

#include <stdio.h>
#include <string.h>

#include "program/option_sources.h"

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
}

/* In the text of a manual page a hyphen that is to be typed is "\-", and a line never begins with a dot. */
static void print_roff(const char *text)
{
    for (; *text; text++)
        printf(*text == '-' ? "\\-" : *text == '\\' ? "\\e" : "%c", *text);
}

static void print_manual(void)
{
    printf(".TH LAGRA 1 \"\" \"Lagra " LAGRA_VERSION "\" \"User Commands\"\n"
           ".SH NAME\nlagra \\- a storage server that speaks Azure Storage's REST API\n"
           ".SH SYNOPSIS\n.B lagra\n[serve] [options]\n.br\n.B lagra\ncommand [arguments]\n"
           ".SH DESCRIPTION\nServes blobs, queues, tables and files of a data folder. What it has "
           "acknowledged "
           "is on disk.\n.SH COMMANDS\n");
    for (size_t i = 0; i < option_command_count; i++) {
        printf(".TP\n.B ");
        print_roff(option_commands[i].name);
        printf("\\fR ");
        print_roff(option_commands[i].words);
        printf("\n");
        print_roff(option_commands[i].help);
        printf("\n");
    }
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

/* Each name once, with a space before it: a command may have several rows, one after the other. */
static void print_commands(void)
{
    for (size_t i = 0; i < option_command_count; i++) {
        if (i == 0 || strcmp(option_commands[i].name, option_commands[i - 1].name) != 0)
            printf(" %s", option_commands[i].name);
    }
}

static void print_words(void)
{
    print_commands();
    for (size_t i = 0; i < option_row_count; i++)
        printf(" --%s", option_rows[i].name);
}

/* A value that is a file or folder is completed as such. */
static void print_bash(void)
{
    printf("# Completion of lagra for bash.\n_lagra() {\n    local word=${COMP_WORDS[COMP_CWORD]} "
           "before="
           "${COMP_WORDS[COMP_CWORD-1]}\n    case $before in\n");
    for (size_t i = 0; i < option_row_count; i++) {
        const char *value = option_rows[i].value;

        if (!value)
            continue;
        printf("    --%s) ", option_rows[i].name);
        if (strcmp(value, "FILE") == 0)
            printf("COMPREPLY=($(compgen -f -- \"$word\"));");
        else if (strcmp(value, "DIR") == 0)
            printf("COMPREPLY=($(compgen -d -- \"$word\"));");
        else
            printf("COMPREPLY=();");
        printf(" return ;;\n");
    }
    printf("    esac\n    COMPREPLY=($(compgen -W '");
    print_words();
    printf("' -- \"$word\"))\n}\ncomplete -F _lagra lagra azurite azurite-blob azurite-queue "
           "azurite-table "
           "azurite-file\n");
}

/* In the help of an option, what zsh reads itself. */
static void print_zsh_text(const char *text)
{
    for (; *text; text++)
        printf(strchr("[]:'\\", *text) ? (*text == '\'' ? "'\\''" : "\\%c") : "%c", *text);
}

static void print_zsh(void)
{
    printf(
        "#compdef lagra azurite azurite-blob azurite-queue azurite-table azurite-file\n_arguments");
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *row = &option_rows[i];

        printf(" \\\n    '--%s[", row->name);
        print_zsh_text(row->help);
        printf("]");
        if (row->value)
            printf(":%s:%s", row->value,
                   strcmp(row->value, "FILE") == 0  ? "_files"
                   : strcmp(row->value, "DIR") == 0 ? "_files -/"
                                                    : "");
        printf("'");
    }
    printf(" \\\n    '1:command:(");
    print_commands();
    printf(")'\n");
}

void print_options(enum print_form form)
{
    switch (form) {
    case PRINT_MANUAL:
        print_manual();
        break;
    case PRINT_BASH:
        print_bash();
        break;
    case PRINT_ZSH:
        print_zsh();
        break;
    case PRINT_MARKDOWN:
    case PRINT_JSON:
        print_markdown();
        break;
    }
}
