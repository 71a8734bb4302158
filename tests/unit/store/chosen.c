#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chosen.h"

#include <cmocka.h>

struct store *chosen_store_open(const char *wanted, char folder[CHOSEN_FOLDER_SIZE])
{
    const char *parent = getenv("TMPDIR"), *problem;
    struct store_options options = { .location = folder };
    struct store *store;

    folder[0] = '\0';
    if (!wanted)
        return store_open_memory();
    options.sync = strcmp(wanted, "synced") == 0;
    (void)snprintf(folder, CHOSEN_FOLDER_SIZE, "%s/lagra-unit-XXXXXX", parent ? parent : "/tmp");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(store_open_embedded(&options, &store, &problem), STORE_OK);
    return store;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

void chosen_store_remove(char folder[CHOSEN_FOLDER_SIZE])
{
    if (folder[0])
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    folder[0] = '\0';
}

void chosen_store_close(struct store *store, char folder[CHOSEN_FOLDER_SIZE])
{
    store_close(store);
    chosen_store_remove(folder);
}
