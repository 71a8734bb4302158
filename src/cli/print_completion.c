/* Prints the completion of commands and options for bash and zsh; see commands.h. */
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "cli/command_rows.h"
#include "server/option_rows.h"

/* Returns true if row i is the first one with its first word. Rows with the same first word are
 * adjacent. */
static bool is_new(size_t i)
{
    return i == 0 || !bytes_equal(command_first_word(&command_rows[i]),
                                  command_first_word(&command_rows[i - 1]));
}

/* Does not use printf(), because with UBSan the compiler assumes that the word may be NULL. */
static void print_first_word(const char *before, const struct command_row *row, const char *after)
{
    struct bytes word = command_first_word(row);

    fputs(before, stdout);
    for (size_t i = 0; i < word.len; i++)
        putchar(word.ptr[i]);
    fputs(after, stdout);
}

/* Prints each first word once, after a space. */
static void print_first_words(void)
{
    for (size_t i = 0; i < command_row_count; i++) {
        if (is_new(i))
            print_first_word(" ", &command_rows[i], "");
    }
}

/* Prints the second words of commands with the first word of row i, such as "add list", each after
 * a space. */
static void print_second_words(size_t i)
{
    struct bytes first = command_first_word(&command_rows[i]);

    for (; i < command_row_count && bytes_equal(command_first_word(&command_rows[i]), first); i++) {
        if (command_rows[i].name[first.len] == ' ')
            printf(" %s", command_rows[i].name + first.len + 1);
    }
}

/* Prints the completion of an option's value. Only files and directories are completed. */
static void print_bash_value(const char *name, const char *value)
{
    printf("    --%s) ", name);
    if (strcmp(value, "FILE") == 0)
        printf("COMPREPLY=($(compgen -f -- \"$word\"));");
    else if (strcmp(value, "DIR") == 0)
        printf("COMPREPLY=($(compgen -d -- \"$word\"));");
    else
        printf("COMPREPLY=();");
    printf(" return ;;\n");
}

/* Returns true if a row from `first` up to, but not including, `end` has this option. */
static bool is_known(const char *name, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        for (const struct command_option *option = command_rows[i].options; option && option->name;
             option++)
            if (strcmp(option->name, name) == 0)
                return true;
    return false;
}

/* Prints the options of row i that earlier rows from `first` do not have. */
static void print_bash_options(size_t first, size_t i)
{
    for (const struct command_option *option = command_rows[i].options; option && option->name;
         option++)
        if (!is_known(option->name, first, i))
            printf(" --%s", option->name);
}

/* Prints the completion after a command: the second word of its name, then its options. */
static void print_bash_command(size_t i)
{
    const struct command_row *row = &command_rows[i];

    if (!row->run)
        return;
    print_first_word("    ", row, ") ");
    if (strchr(row->name, ' ')) {
        printf("[ $COMP_CWORD -eq 2 ] && words='");
        print_second_words(i);
        printf("' || ");
    }
    printf("words='");
    for (size_t j = i; j < command_row_count &&
                       bytes_equal(command_first_word(&command_rows[j]), command_first_word(row));
         j++)
        print_bash_options(i, j);
    for (const struct command_option *option = command_common_options; option->name; option++)
        printf(" --%s", option->name);
    printf("' ;;\n");
}

void print_completion_bash(void)
{
    printf("# Completion of lagra for bash.\n_lagra() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words\n"
           "    case $before in\n");
    for (size_t i = 0; i < option_row_count; i++) {
        if (option_rows[i].value)
            print_bash_value(option_rows[i].name, option_rows[i].value);
    }
    for (size_t i = 0; i < command_row_count; i++) {
        for (const struct command_option *option = command_rows[i].options; option && option->name;
             option++)
            if (option->value && !is_known(option->name, 0, i))
                print_bash_value(option->name, option->value);
    }
    printf("    esac\n    words='");
    print_first_words();
    for (size_t i = 0; i < option_row_count; i++)
        printf(" --%s", option_rows[i].name);
    printf("'\n    [ $COMP_CWORD -gt 1 ] && case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; i < command_row_count; i++) {
        if (is_new(i))
            print_bash_command(i);
    }
    printf("    esac\n    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n"
           "complete -F _lagra lagra azurite azurite-blob azurite-queue azurite-table "
           "azurite-file\n");
}

/* Escapes the help of an option for zsh. */
static void print_zsh_text(const char *text)
{
    for (; *text; text++)
        printf(strchr("[]:'\\", *text) ? (*text == '\'' ? "'\\''" : "\\%c") : "%c", *text);
}

void print_completion_zsh(void)
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
    print_first_words();
    printf(")' \\\n    '2:what:(");
    for (size_t i = 0; i < command_row_count; i++) {
        if (is_new(i))
            print_second_words(i);
    }
    printf(")'\n");
}
