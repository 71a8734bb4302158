/* Client of the admin socket in a data directory (admin/admin.h): calls operations and prints their
 * results. Used by one thread, which may block. */
#ifndef LAGRA_CLI_ADMIN_CLIENT_H
#define LAGRA_CLI_ADMIN_CLIENT_H

#include "base/json.h"
#include "cli/command_rows.h"

/* Maximum size of a response. */
#define CLIENT_RESPONSE_MAX  ((size_t)256 << 20)
/* Maximum length of an operation's name, with its NUL. */
#define CLIENT_OPERATION_MAX 64

struct client_argument {
    const char *name;
    const char *value; /* NULL if not given */
};

struct client_response {
    struct arena *arena; /* freed by the caller, even if the call fails */
    struct bytes body;   /* a JSON object */
};

/* Calls an operation with POST. Returns false after printing why on stderr. */
bool client_call(const struct command_call *call, const char *operation,
                 const struct client_argument *arguments, size_t count,
                 struct client_response *ret_answer);

/* Calls an operation whose request body is not JSON. Returns false after printing why on
 * stderr. */
bool client_call_bytes(const struct command_call *call, const char *operation, struct bytes body,
                       struct client_response *ret_answer);

/* Returns a member of an object as text; ptr NULL if it is missing, an object or a list. */
struct bytes client_member(struct arena *arena, struct bytes object, const char *name);
/* Returns a member that is an object or a list, as JSON; ptr NULL if it is missing. */
struct bytes client_nested(struct arena *arena, struct bytes object, const char *name);

/* Calls an operation and prints its result, as JSON with --json and otherwise with `print`. Returns
 * an exit status. */
int client_call_and_print(const struct command_call *call, const char *operation,
                          const struct client_argument *arguments, size_t count,
                          void (*print)(struct arena *arena, struct bytes body));

/* ---- output for people ---- */

/* Prints a name and its value, aligned in two columns, or nothing if the value is missing. */
void client_print_line(const char *what, struct bytes text);

#define ASK_COLUMNS_MAX 8

enum ask_form {
    CLIENT_AS_IS,
    CLIENT_BYTES, /* a number of bytes, with a unit */
    CLIENT_GIB,   /* a number of GiB, with a unit */
};

struct client_column {
    const char *title;
    const char *member; /* name of the member in each object */
    enum ask_form form;
};
/* Prints a table with a row for each object of a JSON list, or nothing if the list is empty. */
void client_print_table(struct arena *arena, struct bytes list, const struct client_column *columns,
                        size_t count);

#endif
