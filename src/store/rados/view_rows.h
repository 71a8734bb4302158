/* What a view knows of the rows of one family of its partition: runs without a gap. */
#ifndef LAGRA_STORE_RADOS_VIEW_ROWS_H
#define LAGRA_STORE_RADOS_VIEW_ROWS_H

#include "store/rados/port.h"

/* All rows from one key to another, both included; or to the last of the family. */
struct view_run {
    struct view_run *next;
    struct bytes from, to;
    bool is_to_end;
    const struct port_row *rows;
    uint32_t count;
};

struct view_rows {
    struct view_run *runs;
};

/* A run that has this row, or the place where it would be; NULL: not known. */
const struct view_run *view_rows_find(const struct view_rows *rows, struct bytes key);
/* The index of the first row of the run at or after the key. */
uint32_t view_run_place(const struct view_run *run, struct bytes key);
/* Takes what steps have answered, copied into the arena.
 *   at    of PORT_GET of the first key; NULL: there was none, and `from` is where the family begins
 *   list  of what is behind it; NULL: only that one */
void view_rows_add(struct view_rows *rows, struct arena *arena, struct bytes from,
                   const struct port_step *at, const struct port_step *list);
/* The same of a whole family, whose rows stay where they are, with `from`. */
void view_rows_use(struct view_rows *rows, struct arena *arena, struct bytes from,
                   const struct port_step *list);
/* There is nothing at all. */
void view_rows_none(struct view_rows *rows, struct arena *arena);

#endif
