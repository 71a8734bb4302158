/* Asking the server of a data folder by its admin socket (admin/admin.h), and printing what it answers. One
 * thread, that may wait. */
#ifndef LAGRA_CLI_ADMIN_CLIENT_H
#define LAGRA_CLI_ADMIN_CLIENT_H

#include "base/json.h"
#include "cli/command_rows.h"

/* Its answers are no longer. */
#define ASK_BYTES_MAX     ((size_t)256 << 20)
/* Longer than the name of any operation. */
#define ASK_OPERATION_MAX 64

struct ask_argument {
    const char *name;
    const char *value; /* NULL: not given */
};

struct ask_answer {
    struct arena *arena; /* to be freed, whatever ask_server() returns */
    struct bytes body;   /* a JSON object */
};

/* POST of an operation. False: said on stderr why not. */
bool ask_server(const struct command_call *call, const char *operation,
                const struct ask_argument *arguments, size_t count, struct ask_answer *ret_answer);

/* The same of an operation whose body is bytes of its own form. */
bool ask_server_bytes(const struct command_call *call, const char *operation, struct bytes body,
                      struct ask_answer *ret_answer);

/* A member of an object as text; ptr NULL: it is not there, or is an object or a list. */
struct bytes ask_member(struct arena *arena, struct bytes object, const char *name);
/* A member that is an object or a list, as it is written; ptr NULL: there is none. */
struct bytes ask_nested(struct arena *arena, struct bytes object, const char *name);

/* The same, and prints the answer: as it is for scripts, else by `print`. Returns an exit status. */
int ask_and_print(const struct command_call *call, const char *operation,
                  const struct ask_argument *arguments, size_t count,
                  void (*print)(struct arena *arena, struct bytes body));

/* ---- for people ---- */

/* One figure, in a column of them; nothing where it is not there. */
void ask_print_line(const char *what, struct bytes text);

#define ASK_COLUMNS_MAX 8

enum ask_form {
    ASK_AS_IS,
    ASK_BYTES, /* a number of bytes, with a unit */
    ASK_GIB,   /* a number of GiB, the same */
};

struct ask_column {
    const char *title;
    const char *member; /* of each object of the list */
    enum ask_form form;
};
/* Prints a line for each object of a JSON list, and the titles above; nothing where the list is empty. */
void ask_print_table(struct arena *arena, struct bytes list, const struct ask_column *columns,
                     size_t count);

#endif
