/* Requests of a simulated client for a hierarchical account, through both of its endpoints: one filesystem, with three
 * names in each of its directories, three levels deep.
 *
 * A place is the number of a path: 0 is the root, and the entries of the directory p are 3 p + 1 to 3 p + 3, in the order
 * of their names. */
#ifndef LAGRA_SIM_PATH_ASK_H
#define LAGRA_SIM_PATH_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATH_NAMES       3u
#define PATH_PLACES      40u
#define PATH_TEXT_SIZE   16
#define PATH_TOKEN_SIZE  120
/* Places that can have entries. */
#define PATH_DIRECTORIES 13u

enum path_op {
    PATH_CREATE_FILESYSTEM,
    PATH_CREATE_FILE,
    PATH_CREATE_DIRECTORY,
    PATH_PUT, /* Put Blob */
    PATH_APPEND,
    PATH_FLUSH,
    PATH_SET_PROPERTIES,
    PATH_SET_READERS, /* the access control list names one user */
    PATH_RENAME,
    PATH_DELETE,
    PATH_READ, /* this and the following change nothing */
    PATH_GET_PROPERTIES,
    PATH_GET_ACCESS,
    PATH_LIST,
    PATH_OPS
};

enum path_if { PATH_IF_NOTHING, PATH_IF_MATCH, PATH_IF_NONE };

struct path_content {
    uint64_t seed;
    uint32_t length;
};

struct path_ask {
    enum path_op op;
    unsigned place, from; /* from: source of a rename */
    bool by_blob;         /* through the Blob endpoint */
    enum path_if condition;
    uint64_t etag;        /* ticks; for PATH_IF_MATCH */
    uint64_t source_etag; /* condition on the source of a rename; 0 if none */
    bool is_legacy;       /* mode of a rename; otherwise none is sent */
    bool is_recursive;    /* delete, list */
    unsigned value;       /* metadata, or the user of the list; 0 if none */
    struct path_content content;
    uint32_t position; /* append, flush */
    bool keeps_rest;   /* of a flush */
    bool flushes;      /* of an append */
    unsigned max;      /* maximum entries of a list; 0 if not sent */
    char continuation[PATH_TOKEN_SIZE];
    unsigned next; /* first place of a continued list; 0 for the first page */
};

/* Headers of a response. */
struct path_reply {
    char continuation[PATH_TOKEN_SIZE];
    char resource_type[16], existing_type[16];
    unsigned value, readers;
};

extern const char *const path_filesystems[1];
extern const char *const path_op_names[PATH_OPS];
/* Writes a path within the filesystem: "a/b"; "" for the root. */
void path_text(unsigned place, char to[PATH_TEXT_SIZE]);
/* Returns the place of a path, or PATH_PLACES if there is none. */
unsigned path_place(const char *text, size_t length);
static inline unsigned path_parent(unsigned place)
{
    return (place - 1) / PATH_NAMES;
}
/* Returns whether the place is `above` or below it. */
bool path_is_below(unsigned place, unsigned above);
/* Returns the new place of `place` after a rename from `from` to `to`, or PATH_PLACES if it is too deep. */
unsigned path_moved(unsigned place, unsigned from, unsigned to);
/* Formats a request for messages. */
void path_ask_format(const struct path_ask *ask, char *to, size_t size);

#endif
