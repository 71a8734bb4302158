/* The file `pins` of a cluster. It lists accounts whose new containers are created in a specific
 * cell, one "ACCOUNT CELL" per line, and cells in which nothing new is created, one "- CELL" per
 * line. It is written by `lagra cluster place` and `drain`, and read by the owner of the root. It
 * has no effect on existing containers. */
#ifndef LAGRA_CLUSTER_PINS_H
#define LAGRA_CLUSTER_PINS_H

#include <stdint.h>

#include "base/bytes.h"

#define PINS_NAME       "pins"
#define PINS_MAX        1024u
#define PIN_ACCOUNT_MAX 24u
#define DRAINED_MAX     64u /* every cell of a cluster */
#define PINS_FILE_MAX   ((PINS_MAX + DRAINED_MAX) * (PIN_ACCOUNT_MAX + sizeof " 9999\n"))

struct pin {
    char account[PIN_ACCOUNT_MAX + 1];
    uint32_t cell;
};
struct pins {
    unsigned count;
    struct pin pins[PINS_MAX];
    unsigned drained_count;
    uint32_t drained[DRAINED_MAX];
};

/* Returns the cell to which the account is pinned, or 0. */
uint32_t pins_find(const struct pins *pins, struct bytes account);
/* Returns true if nothing new is created in the cell, even if accounts are pinned to it. */
bool pins_is_drained(const struct pins *pins, uint32_t cell);
/* Marks a cell as drained or not drained. Returns false if there are too many. Pure. */
bool pins_set_drained(struct pins *pins, uint32_t cell, bool is_drained);
/* Sets the pin of an account, or removes it if `cell` is 0. Returns false if the name is invalid or
 * there are too many pins. Pure. */
bool pins_set(struct pins *pins, struct bytes account, uint32_t cell);
/* Parses the file's contents. Returns false if they are malformed. Pure. */
bool pins_parse(struct bytes text, struct pins *ret_pins);

/* Reads the cluster's file. A missing file contains no pins. Returns false with *ret_problem
 * (static) on failure. May block for as long as the file system does. */
bool pins_read(const char *path, struct pins *ret_pins, const char **ret_problem);
/* Replaces the file, durably. Returns false with *ret_problem (static) on failure. */
bool pins_write(const char *path, const struct pins *pins, const char **ret_problem);

#endif
