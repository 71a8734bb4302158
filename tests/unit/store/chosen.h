/* The store that a test program runs on, as its environment says: in memory, embedded in a folder of its own,
 * or embedded with commits that are durable only after a sync. */
#ifndef LAGRA_TESTS_UNIT_STORE_CHOSEN_H
#define LAGRA_TESTS_UNIT_STORE_CHOSEN_H

#include "store/store.h"

#define CHOSEN_FOLDER_SIZE 256

/* wanted: "embedded", "synced"; NULL: in memory. folder: becomes its folder, or "" */
struct store *chosen_store_open(const char *wanted, char folder[CHOSEN_FOLDER_SIZE]);
void chosen_store_close(struct store *store, char folder[CHOSEN_FOLDER_SIZE]);
/* The folder of one that was closed. */
void chosen_store_remove(char folder[CHOSEN_FOLDER_SIZE]);

#endif
