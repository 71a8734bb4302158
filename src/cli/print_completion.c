/* lagra options --bash, --zsh: what shells complete commands and options by. See commands.h. */
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "cli/command_rows.h"
#include "server/option_rows.h"

/* Rows of one first word follow each other. */
static bool is_new(size_t i)
{
    return i == 0 || !bytes_equal(command_first_word(&command_rows[i]),
                                  command_first_word(&command_rows[i - 1]));
}

/* Not by printf(): under UBSan the compiler takes the word for one that may be NULL. */
static void print_first_word(const char *before, const struct command_row *row, const char *after)
{
    struct bytes word = command_first_word(row);

    fputs(before, stdout);
    for (size_t i = 0; i < word.len; i++)
        putchar(word.ptr[i]);
    fputs(after, stdout);
}

/* Each once, with a space before it. */
static void print_first_words(void)
{
    for (size_t i = 0; i < command_row_count; i++) {
        if (is_new(i))
            print_first_word(" ", &command_rows[i], "");
    }
}

/* Of the commands that begin as row i does: "add list"; with a space before each. */
static void print_second_words(size_t i)
{
    struct bytes first = command_first_word(&command_rows[i]);

    for (; i < command_row_count && bytes_equal(command_first_word(&command_rows[i]), first); i++) {
        if (command_rows[i].name[first.len] == ' ')
            printf(" %s", command_rows[i].name + first.len + 1);
    }
}

/* A value that is a file or folder is completed as such, another one not at all. */
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

/* Has one of the rows from `first` to before `end` an option of this name? */
static bool is_known(const char *name, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        for (const struct command_option *option = command_rows[i].options; option && option->name;
             option++)
            if (strcmp(option->name, name) == 0)
                return true;
    return false;
}

/* Of row i, those that the rows from `first` on do not have yet. */
static void print_bash_options(size_t first, size_t i)
{
    for (const struct command_option *option = command_rows[i].options; option && option->name;
         option++)
        if (!is_known(option->name, first, i))
            printf(" --%s", option->name);
}

/* Behind a command: the second word of its name, then its options. */
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

/* In the help of an option, what zsh reads itself. */
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
