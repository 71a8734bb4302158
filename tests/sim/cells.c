/* Names of rows and columns, and what they promise beyond "nothing is lost". */
#include "cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "world.h"

static const char *const rows[CELLS] = {
    [CELL_KILL] = "kill",
    [CELL_KILL_OF_START] = "kill-of-start",
    [CELL_POWER] = "power",
    [CELL_POWER_TWICE] = "power-twice",
    [CELL_NAMES] = "names",
    [CELL_READ] = "read",
    [CELL_WRITE] = "write",
    [CELL_SYNC_DROPS] = "sync-drops",
    [CELL_SYNC_KEEPS] = "sync-keeps",
    [CELL_SYNC_MARKS_CLEAN] = "sync-marks-clean",
    [CELL_FULL] = "full",
    [CELL_DESCRIPTORS] = "descriptors",
    [CELL_SHORT] = "short",
    [CELL_SLOW] = "slow",
    [CELL_DAMAGE] = "damage",
    [CELL_DAMAGE_RUNNING] = "damage-running",
    [CELL_DAMAGE_POWER] = "damage-power",
    [CELL_MISREAD] = "misread",
};

#define OF(kind) (1u << (kind))
#define RECORDS  (OF(FILE_LOG) | OF(FILE_TABLE) | OF(FILE_MANIFEST) | OF(FILE_OTHER))

/* By row: the kinds of files whose fault may end the service until the next start. RocksDB's lack
 * of descriptors is one: the server opens its folder again (decision: 208). */
static const unsigned final_of[CELLS] = {
    [CELL_READ] = RECORDS,
    [CELL_WRITE] = RECORDS | OF(FILE_EXTENT),
    [CELL_SYNC_DROPS] = RECORDS | OF(FILE_EXTENT),
    [CELL_SYNC_KEEPS] = RECORDS | OF(FILE_EXTENT),
    [CELL_SYNC_MARKS_CLEAN] = RECORDS | OF(FILE_EXTENT),
    [CELL_FULL] = RECORDS,
    [CELL_DESCRIPTORS] = RECORDS,
    [CELL_DAMAGE] = RECORDS | OF(FILE_EXTENT) | OF(FILE_OWN),
    [CELL_DAMAGE_RUNNING] = RECORDS | OF(FILE_EXTENT) | OF(FILE_OWN),
    [CELL_DAMAGE_POWER] = RECORDS | OF(FILE_EXTENT) | OF(FILE_OWN),
    [CELL_MISREAD] = RECORDS | OF(FILE_EXTENT) | OF(FILE_OWN),
};

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static bool ends(const char *name, const char *with)
{
    size_t length = strlen(name), size = strlen(with);

    return length >= size && strcmp(name + length - size, with) == 0;
}

enum file_kind cell_file_kind(const char *folder, const char *name)
{
    if (strcmp(folder, "extents") == 0)
        return FILE_EXTENT;
    if (strcmp(folder, "records") == 0)
        return ends(name, ".log")   ? FILE_LOG
               : ends(name, ".sst") ? FILE_TABLE
               : begins(name, "MANIFEST") || begins(name, "CURRENT") || ends(name, ".dbtmp")
                   ? FILE_MANIFEST
                   : FILE_OTHER;
    return strcmp(name, "synced") == 0 || strcmp(name, "format") == 0 ||
                   strcmp(name, "lock") == 0 || begins(name, "manifest-")
               ? FILE_OWN
               : FILE_OTHER;
}

void cell_reached(enum fault_cell cell, enum file_kind kind)
{
    world->reached[cell][kind]++;
    world->may_be_final |= final_of[cell] >> kind & 1;
}

void cells_print(uint64_t sums[CELLS][FILE_KINDS])
{
    for (unsigned row = 0; row < CELLS; row++) {
        printf("cell %s:", rows[row]);
        for (unsigned kind = 0; kind < FILE_OTHER; kind++)
            printf(" %" PRIu64, sums[row][kind]);
        printf("\n");
    }
}
