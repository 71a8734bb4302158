/* The cells of docs/failure-guarantees.md: which fault met which kind of file. Counted where a fault is
 * injected, so that a test can say of a cell that it was never reached. */
#ifndef LAGRA_SIM_CELLS_H
#define LAGRA_SIM_CELLS_H

#include <stdbool.h>
#include <stdint.h>

/* The columns. */
enum file_kind {
    FILE_LOG,
    FILE_TABLE,
    FILE_MANIFEST, /* and CURRENT */
    FILE_OWN,      /* synced, format, lock, the copy of the MANIFEST */
    FILE_EXTENT,
    FILE_OTHER, /* folders, what only people read, the ballast: no column */
    FILE_KINDS,
};

/* The rows. */
enum fault_cell {
    CELL_KILL,          /* at a call for such a file */
    CELL_KILL_OF_START, /* the same while the server starts */
    CELL_POWER,         /* such a file lost what was not synced */
    CELL_POWER_TWICE,   /* a second cut while the server starts after the first: one is there */
    CELL_NAMES,         /* its name was lost or kept out of the journal's order */
    CELL_READ,          /* EIO */
    CELL_WRITE,
    CELL_SYNC_DROPS, /* in the order of enum sync_failure */
    CELL_SYNC_KEEPS,
    CELL_SYNC_MARKS_CLEAN,
    CELL_FULL,
    CELL_DESCRIPTORS,
    CELL_SHORT, /* and interrupted */
    CELL_SLOW,
    CELL_DAMAGE,         /* at rest, after a kill */
    CELL_DAMAGE_RUNNING, /* while the server runs */
    CELL_DAMAGE_POWER,   /* after a power cut */
    CELL_MISREAD,
    CELLS,
};

/* folder: its name; "": of the data itself. */
enum file_kind cell_file_kind(const char *folder, const char *name);
/* Notes too whether the store may refuse all writes until its next start now (world.h). */
void cell_reached(enum fault_cell cell, enum file_kind kind);
/* One line a row, "cell NAME: N N N N N", of the sums given. */
void cells_print(uint64_t sums[CELLS][FILE_KINDS]);

#endif
