/* Client of the admin socket in a data directory (admin/admin.h): calls operations and prints their
 * results. One thread, which may wait. */
#ifndef LAGRA_CLI_ADMIN_CLIENT_H
#define LAGRA_CLI_ADMIN_CLIENT_H

#include "base/json.h"
#include "cli/command_rows.h"

/* Maximum size of a response. */
#define ASK_BYTES_MAX     ((size_t)256 << 20)
/* Longer than the name of any operation. */
#define ASK_OPERATION_MAX 64

struct ask_argument {
    const char *name;
    const char *value; /* or NULL if it is not given */
};

struct ask_answer {
    struct arena *arena; /* freed by the caller, whatever admin_call() returns */
    struct bytes body;   /* a JSON object */
};

/* Calls an operation by POST. Returns false after printing why on stderr. */
bool ask_server(const struct command_call *call, const char *operation,
                const struct ask_argument *arguments, size_t count, struct ask_answer *ret_answer);

/* Calls an operation whose body is not JSON. Returns false after printing why on stderr. */
bool ask_server_bytes(const struct command_call *call, const char *operation, struct bytes body,
                      struct ask_answer *ret_answer);

/* Returns a member of an object as text; ptr NULL if it is missing, an object or a list. */
struct bytes ask_member(struct arena *arena, struct bytes object, const char *name);
/* Returns a member that is an object or a list, as JSON; ptr NULL if it is missing. */
struct bytes ask_nested(struct arena *arena, struct bytes object, const char *name);

/* Calls an operation and prints its result: verbatim for scripts, otherwise with `print`. Returns
 * an exit status. */
int ask_and_print(const struct command_call *call, const char *operation,
                  const struct ask_argument *arguments, size_t count,
                  void (*print)(struct arena *arena, struct bytes body));

/* ---- for people ---- */

/* Prints a name and its value in a column; nothing if the value is missing. */
void ask_print_line(const char *what, struct bytes text);

#define ASK_COLUMNS_MAX 8

enum ask_form {
    ASK_AS_IS,
    ASK_BYTES, /* a number of bytes, with a unit */
    ASK_GIB,   /* a number of GiB, with a unit */
};

struct ask_column {
    const char *title;
    const char *member; /* name of the member in each object */
    enum ask_form form;
};
/* Prints a line for each object of a JSON list, under titles; nothing if the list is empty. */
void ask_print_table(struct arena *arena, struct bytes list, const struct ask_column *columns,
                     size_t count);

#endif
