/* See folder.h. */
#include "cluster/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/crc.h"
#include "base/file.h"
#include "cluster/key.h"
#include "cluster/owner_file.h"

#define HEAD       "lagra-cluster 1 "
#define CELLS      "cells"
#define OWNER      "owner"
#define DATA       "data"
#define CELL_WIDTH 4u

static char problem[512];

static bool failed(const char *what, const char **ret_problem)
{
    snprintf(problem, sizeof problem, "%s: %s", what, strerrordesc_np(errno));
    *ret_problem = problem;
    return false;
}

/* ---- the file `cluster` ---- */

void cluster_text_write(const struct guid *id, char text[CLUSTER_TEXT_BYTES])
{
    char guid[GUID_TEXT_SIZE];
    int length;

    guid_format(id, guid);
    length = snprintf(text, CLUSTER_TEXT_BYTES, HEAD "%s ", guid);
    snprintf(text + length, CLUSTER_TEXT_BYTES - (size_t)length, "%08x\n",
             crc32c(0, text, (size_t)length));
}

bool cluster_text_read(struct bytes text, struct guid *ret_id)
{
    const size_t head = sizeof HEAD - 1;
    char expected[CLUSTER_TEXT_BYTES];

    if (text.len < head + GUID_TEXT_SIZE - 1 ||
        !guid_parse(bytes_of(text.ptr + head, GUID_TEXT_SIZE - 1), ret_id))
        return false;
    cluster_text_write(ret_id, expected);
    return bytes_is(text, expected);
}

bool cluster_folder_read(const char *path, struct guid *ret_id, const char **ret_problem)
{
    char *name = file_path(path, CLUSTER_FILE_NAME);
    char text[CLUSTER_TEXT_BYTES + 1];
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    bool is_read = false;

    free(name);
    if (fd < 0)
        return failed("it has no file `cluster` (lagra cluster init creates it)", ret_problem);
    {
        ssize_t n = file_read_at(fd, text, sizeof text, 0);

        if (n < 0)
            failed("its file `cluster` cannot be read", ret_problem);
        else if (!cluster_text_read(bytes_of(text, (size_t)n), ret_id))
            *ret_problem = "its file `cluster` is damaged, or of a newer version";
        else
            is_read = true;
    }
    close(fd);
    return is_read;
}

/* ---- create ---- */

static bool make_folder(int in, const char *name, int *ret_folder)
{
    if (mkdirat(in, name, 0700) != 0 && errno != EEXIST)
        return false;
    *ret_folder = openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return *ret_folder >= 0;
}

static bool make_cell(int cells, const struct guid *id, unsigned number, const char *name)
{
    struct owner_record record = { .cluster = *id, .cell = number };
    int folder, data;
    bool is_made;

    if (!make_folder(cells, name, &folder))
        return false;
    is_made = make_folder(folder, DATA, &data);
    if (is_made)
        close(data);
    is_made = is_made && owner_file_create(folder, OWNER, &record);
    close(folder);
    return is_made;
}

/* Written last, because this file makes the directory a cluster. */
static bool write_cluster(int folder, const struct guid *id)
{
    char text[CLUSTER_TEXT_BYTES];

    cluster_text_write(id, text);
    return file_replace(folder, CLUSTER_FILE_NAME, bytes_from_string(text));
}

static bool fill(int folder, unsigned cells, const char **ret_problem)
{
    struct net_secrets secrets = { .count = 0 };
    struct guid id = guid_new();
    int all;
    bool is_done;

    if (faccessat(folder, CLUSTER_FILE_NAME, F_OK, 0) == 0) {
        *ret_problem = "it is already a cluster";
        return false;
    }
    if (!make_folder(folder, CELLS, &all))
        return failed("its folder `cells` cannot be created", ret_problem);
    is_done = true;
    for (unsigned i = 1; i <= cells && is_done; i++) {
        char name[16];

        snprintf(name, sizeof name, "%0*u", (int)CELL_WIDTH, i);
        is_done = make_cell(all, &id, i, name);
    }
    is_done = is_done && fsync(all) == 0 && cluster_key_add(&secrets) &&
              cluster_key_write(folder, &secrets);
    explicit_bzero(&secrets, sizeof secrets);
    close(all);
    if (!is_done || !write_cluster(folder, &id))
        return failed("it cannot be written", ret_problem);
    return true;
}

bool cluster_folder_create(const char *path, unsigned cells, const char **ret_problem)
{
    bool is_done;
    int folder;

    if (!file_make_folders(path))
        return failed("it cannot be created", ret_problem);
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return failed("it cannot be opened", ret_problem);
    is_done = fill(folder, cells, ret_problem);
    if (is_done && !file_sync_name(folder))
        is_done = failed("its name cannot be made durable", ret_problem);
    close(folder);
    return is_done;
}

/* ---- cells ---- */

static int compare(const void *a, const void *b)
{
    unsigned left, right;

    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    return (left > right) - (left < right);
}

unsigned cluster_folder_cells(const char *path, unsigned cells[CLUSTER_CELLS_MAX],
                              const char **ret_problem)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *all = folder >= 0 ? file_list(folder, CELLS) : NULL;
    const struct dirent *entry;
    unsigned count = 0;
    uint64_t number;

    *ret_problem = "it has no cells";
    if (!all)
        failed("its folder `cells` cannot be read", ret_problem);
    while (all && count < CLUSTER_CELLS_MAX && (entry = file_next_entry(all)))
        if (strlen(entry->d_name) == CELL_WIDTH &&
            bytes_parse_u64(bytes_from_string(entry->d_name), OWNER_CELL_MAX, &number) &&
            number > 0)
            cells[count++] = (unsigned)number;
    qsort(cells, count, sizeof cells[0], compare);
    if (all)
        closedir(all);
    if (folder >= 0)
        close(folder);
    return count;
}

/* ---- add ---- */

/* Creates a cell under a temporary name, so that it appears complete. Reuses the remains of an
 * interrupted call. An existing cell is never replaced, because its directory is not empty. */
static bool add_cell(int cells, const struct guid *id, unsigned number)
{
    char name[16], new[32], owner[48];

    snprintf(name, sizeof name, "%0*u", (int)CELL_WIDTH, number);
    snprintf(new, sizeof new, "%s.new", name);
    snprintf(owner, sizeof owner, "%s/" OWNER, new);
    (void)unlinkat(cells, owner, 0);
    return make_cell(cells, id, number, new) && renameat(cells, new, cells, name) == 0 &&
           fsync(cells) == 0;
}

unsigned cluster_folder_add_cell(const char *path, const char **ret_problem)
{
    unsigned cells[CLUSTER_CELLS_MAX], count = 0, number = 0;
    struct guid id;
    int folder, all;

    if (!cluster_folder_read(path, &id, ret_problem))
        return 0;
    count = cluster_folder_cells(path, cells, ret_problem);
    if (count == CLUSTER_CELLS_MAX || (count > 0 && cells[count - 1] == OWNER_CELL_MAX))
        *ret_problem = "it already has the maximum number of cells";
    if (count == 0 || count == CLUSTER_CELLS_MAX || cells[count - 1] == OWNER_CELL_MAX)
        return 0;
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    all = folder >= 0 ? openat(folder, CELLS, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (all >= 0 && add_cell(all, &id, cells[count - 1] + 1))
        number = cells[count - 1] + 1;
    else
        failed("the cell cannot be created", ret_problem);
    if (all >= 0)
        close(all);
    if (folder >= 0)
        close(folder);
    return number;
}

/* ---- paths ---- */

static char *cell_path(const char *path, unsigned cell, const char *name)
{
    size_t size = strlen(path) + sizeof "/" CELLS "/0000/" + strlen(name);
    char *all = xmalloc(size);

    snprintf(all, size, "%s/" CELLS "/%0*u/%s", path, (int)CELL_WIDTH, cell, name);
    return all;
}

char *cluster_owner_path(const char *path, unsigned cell)
{
    return cell_path(path, cell, OWNER);
}

char *cluster_data_path(const char *path, unsigned cell)
{
    return cell_path(path, cell, DATA);
}
