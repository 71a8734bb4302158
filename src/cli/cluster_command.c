/* `lagra cluster`: see administer.h. */
#include "cli/administer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "cluster/fence.h"
#include "cluster/folder.h"
#include "cluster/key.h"
#include "cluster/lease.h"
#include "cluster/owner_file.h"
#include "cluster/pins.h"

#define OUTPUT_MAX         ((size_t)1 << 20)
/* Time for owners to reread a changed key, which normally takes 3 s */
#define READERS_TIMEOUT_MS 60000u
#define READERS_MARGIN_MS  500u
#define READERS_POLL_MS    100u

const struct command_option cluster_init_options[] = {
    { "cells", "N", "number of cells (1)" },
    { NULL, NULL, NULL },
};
const struct command_option cluster_evict_options[] = {
    { "fence-command", "FILE", "fence command to run, like --fenceCommand of a front end" },
    { NULL, NULL, NULL },
};

static int refuse(const char *path, const char *problem)
{
    fprintf(stderr, "lagra: cannot use the cluster %s: %s\n", path, problem);
    return EXIT_FAILURE;
}

/* ---- init ---- */

int cluster_init_run(const struct command_call *call)
{
    const char *path = call->words[0], *count = command_value(call, "cells"), *problem = "";
    uint64_t cells = 1;

    if (count &&
        (!bytes_parse_u64(bytes_from_string(count), CLUSTER_CELLS_MAX, &cells) || cells == 0)) {
        fprintf(stderr, "lagra: --cells takes a number from 1 to %u, not \"%s\"\n",
                CLUSTER_CELLS_MAX, count);
        return 2;
    }
    if (!cluster_folder_create(path, (unsigned)cells, &problem))
        return refuse(path, problem);
    printf("created the cluster %s; start a front end: lagra --cluster %s\n", path, path);
    return EXIT_SUCCESS;
}

/* ---- add-cell ---- */

int cluster_add_cell_run(const struct command_call *call)
{
    const char *path = call->words[0], *problem = "";
    unsigned cell = cluster_folder_add_cell(path, &problem);

    if (cell == 0)
        return refuse(path, problem);
    printf("added cell %04u; a front end without a cell will take it over\n", cell);
    return EXIT_SUCCESS;
}

/* ---- place ---- */

static bool has_cell(const char *path, uint64_t cell, const char **ret_problem)
{
    unsigned cells[CLUSTER_CELLS_MAX], count = cluster_folder_cells(path, cells, ret_problem);

    for (unsigned i = 0; i < count; i++)
        if (cells[i] == cell)
            return true;
    if (count > 0)
        *ret_problem = "it has no such cell";
    return false;
}

int cluster_place_run(const struct command_call *call)
{
    const char *path = call->words[0], *problem = "";
    struct bytes account = bytes_from_string(call->words[1]);
    struct pins *pins = xmalloc(sizeof *pins);
    bool is_any = strcmp(call->words[2], "any") == 0, is_done = false;
    struct guid cluster;
    uint64_t cell = 0;

    if (!is_any && !bytes_parse_u64(bytes_from_string(call->words[2]), OWNER_CELL_MAX, &cell))
        problem = "it has no such cell";
    else if (cluster_folder_read(path, &cluster, &problem) &&
             (is_any || has_cell(path, cell, &problem)) && pins_read(path, pins, &problem)) {
        problem = "invalid account name, or too many pins";
        is_done = pins_set(pins, account, (uint32_t)cell) && pins_write(path, pins, &problem);
    }
    free(pins);
    if (!is_done)
        return refuse(path, problem);
    if (is_any)
        printf("new containers of %s are created in the cell with the fewest bytes\n",
               call->words[1]);
    else
        printf("new containers of %s are created in cell %04u\n", call->words[1], (unsigned)cell);
    return EXIT_SUCCESS;
}

/* ---- reading a cell's record ---- */

enum found { FOUND, FOUND_DAMAGED, FOUND_UNREADABLE };

/* Reads the owner record of a cell. ret_self: set to our own identity, for the fence command,
 * unless NULL */
static enum found read_cell(const char *path, const struct guid *cluster, unsigned cell,
                            struct owner_record *ret_record, struct owner_identity *ret_self)
{
    char *name = cluster_owner_path(path, cell);
    struct owner_file file;
    enum found found = FOUND_UNREADABLE;

    if (owner_file_open(name, false, &file)) {
        enum owner_result result = owner_file_read(&file, ret_record);

        if (ret_self)
            owner_file_identify(&file, "", ret_self);
        if (!result && guid_equal(&ret_record->cluster, cluster) && ret_record->cell == cell)
            found = FOUND;
        else if (result != OWNER_FAILED)
            found = FOUND_DAMAGED;
    }
    owner_file_close(&file);
    free(name);
    return found;
}

/* ---- status ---- */

struct shown {
    unsigned cell;
    enum found found;
    bool is_silent;
    bool is_drained; /* no containers are created there */
    struct owner_record record;
    /* since the last renewal; inexact, because it depends on the wall clocks of two machines */
    uint64_t age_ms;
};

static const char *state_of(const struct shown *shown)
{
    if (shown->found != FOUND)
        return shown->found == FOUND_DAMAGED ? "damaged" : "unreadable";
    if (!shown->record.is_held)
        return "free";
    return shown->is_silent ? "silent" : "owned";
}

static void print_people(const struct shown *shown)
{
    const struct owner_record *record = &shown->record;
    const struct owner_identity *owner = &record->owner;

    printf("cell %04u  %s", shown->cell, state_of(shown));
    if (shown->found == FOUND)
        printf("  %" PRIu64 " bytes", record->used_bytes);
    if (shown->found == FOUND && record->is_held)
        printf("  by %s, %s, pid %" PRIu64 "%s%s, version %s, incarnation %" PRIu64
               "%s; lease renewed %.1f s ago",
               owner->name, owner->address, owner->pid, owner->client[0] ? ", " : "", owner->client,
               owner->version[0] ? owner->version : "unknown", record->incarnation,
               record->serves ? "" : ", opening its store", (double)shown->age_ms / 1000);
    printf("%s\n", shown->is_drained ? "  drained" : "");
    if (shown->found == FOUND && record->move[0])
        printf("           moves %s\n", record->move);
}

static void write_json(struct json_writer *to, const struct shown *shown)
{
    const struct owner_record *record = &shown->record;
    char renewed[INSTANT_ISO_SIZE];

    json_write_begin(to, '{');
    json_write_number(to, "cell", shown->cell);
    json_write_member(to, "state", bytes_from_string(state_of(shown)));
    json_write_bool(to, "drained", shown->is_drained);
    if (shown->found == FOUND) {
        json_write_number(to, "incarnation", record->incarnation);
        json_write_number(to, "used_bytes", record->used_bytes);
    }
    if (shown->found == FOUND && record->is_held) {
        instant_format_iso(record->renewed, renewed);
        json_write_member(to, "name", bytes_from_string(record->owner.name));
        json_write_member(to, "address", bytes_from_string(record->owner.address));
        json_write_member(to, "client", bytes_from_string(record->owner.client));
        json_write_member(to, "forward", bytes_from_string(record->owner.forward));
        json_write_number(to, "pid", record->owner.pid);
        json_write_member(to, "version", bytes_from_string(record->owner.version));
        json_write_bool(to, "serves", record->serves);
        json_write_member(to, "renewed", bytes_from_string(renewed));
        json_write_number(to, "lease_age_ms", shown->age_ms);
        if (record->move[0])
            json_write_member(to, "move", bytes_from_string(record->move));
    }
    json_write_end(to, '}');
}

static void read_again(const char *path, const struct guid *cluster, struct shown *shown)
{
    struct owner_record again;
    instant now;

    if (read_cell(path, cluster, shown->cell, &again, NULL) != FOUND)
        return;
    now = clock_wall();
    shown->is_silent = again.is_held && again.renewal == shown->record.renewal;
    shown->record = again;
    shown->age_ms = now > again.renewed ? (now - again.renewed) / (TICKS_PER_SECOND / 1000) : 0;
}

/* Finds owners that do not renew their leases, by waiting for the duration of a lease. */
static void find_silent(const char *path, const struct guid *cluster, struct shown *shown,
                        unsigned count)
{
    bool any = false;

    for (unsigned i = 0; i < count; i++)
        any = any || (shown[i].found == FOUND && shown[i].record.is_held);
    if (!any)
        return;
    thread_sleep_ns((LEASE_MS + LEASE_MARGIN_MS) * NS_PER_MS);
    for (unsigned i = 0; i < count; i++)
        if (shown[i].found == FOUND && shown[i].record.is_held)
            read_again(path, cluster, &shown[i]);
}

int cluster_status_run(const struct command_call *call)
{
    const char *path = call->words[0], *problem = "";
    struct arena *arena = arena_new(OUTPUT_MAX);
    struct shown shown[CLUSTER_CELLS_MAX] = { { .cell = 0 } };
    unsigned cells[CLUSTER_CELLS_MAX], count = 0;
    struct pins *pins;
    struct json_writer writer;
    struct guid cluster;
    struct text list;

    pins = xmalloc(sizeof *pins);
    if (cluster_folder_read(path, &cluster, &problem) && pins_read(path, pins, &problem))
        count = cluster_folder_cells(path, cells, &problem);
    for (unsigned i = 0; i < count; i++) {
        shown[i].cell = cells[i];
        shown[i].is_drained = pins_is_drained(pins, cells[i]);
        shown[i].found = read_cell(path, &cluster, cells[i], &shown[i].record, NULL);
    }
    free(pins);
    find_silent(path, &cluster, shown, count);
    text_init(&list, arena, 1024);
    writer = (struct json_writer){ .to = &list };
    json_write_begin(&writer, '[');
    for (unsigned i = 0; i < count && call->json; i++)
        write_json(&writer, &shown[i]);
    json_write_end(&writer, ']');
    for (unsigned i = 0; i < count && !call->json; i++)
        print_people(&shown[i]);
    if (call->json && count > 0)
        printf("{\"cells\":%.*s}\n", BYTES_ARG(text_bytes(&list)));
    arena_free(arena);
    return count > 0 ? EXIT_SUCCESS : refuse(path, problem);
}

/* ---- rotate-key ---- */

/* Locks the cluster's key, so that only one process at a time rotates it. Returns a descriptor to
 * close, or -1 with *ret_problem. */
static int lock_cluster(const char *path, const char **ret_problem)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    char *name = file_path(path, CLUSTER_FILE_NAME);
    int fd = open(name, O_RDWR | O_CLOEXEC);

    free(name);
    if (fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock) == 0)
        return fd;
    *ret_problem = fd < 0 ? "its file `cluster` cannot be written" : "its key is being rotated";
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Returns true if the owner of the cell has read these secrets, or if the cell has no owner. */
static bool has_read(const char *path, const struct guid *cluster, unsigned cell,
                     const struct net_secrets *secrets)
{
    struct owner_record record;

    if (read_cell(path, cluster, cell, &record, NULL) != FOUND)
        return false;
    for (unsigned i = 0; i < NET_KEYS_MAX && record.is_held; i++)
        if (record.keys[i] != (i < secrets->count ? net_key_id(secrets->of[i]) : 0))
            return false;
    return true;
}

/* Waits until all front ends have read the file. Owners write the ids of their keys to their
 * records; other front ends reread the file at the same interval. Returns false after printing
 * which cell is late. */
static bool await_readers(const char *path, const struct guid *cluster,
                          const struct net_secrets *secrets)
{
    uint64_t end_ms = clock_monotonic_ms() + READERS_TIMEOUT_MS;
    unsigned cells[CLUSTER_CELLS_MAX];
    const char *problem = "";
    unsigned count = cluster_folder_cells(path, cells, &problem);

    thread_sleep_ns((CLUSTER_REREAD_MS + READERS_MARGIN_MS) * NS_PER_MS);
    for (unsigned i = 0; i < count;) {
        if (has_read(path, cluster, cells[i], secrets)) {
            i++;
        } else if (clock_monotonic_ms() >= end_ms) {
            fprintf(stderr,
                    "lagra: the owner of cell %04u has not read the file `key`; run the command "
                    "again once it has or is replaced\n",
                    cells[i]);
            return false;
        } else {
            thread_sleep_ns(READERS_POLL_MS * NS_PER_MS);
        }
    }
    return count > 0;
}

static void swap_secrets(struct net_secrets *secrets)
{
    struct net_secrets before = *secrets;

    memcpy(secrets->of[0], before.of[1], NET_KEY_BYTES);
    memcpy(secrets->of[1], before.of[0], NET_KEY_BYTES);
    explicit_bzero(&before, sizeof before);
}

/* Replaces the file `key` and waits until all front ends have read it. */
static bool write_key(const char *path, int folder, const struct guid *cluster,
                      const struct net_secrets *secrets)
{
    if (cluster_key_write(folder, secrets))
        return await_readers(path, cluster, secrets);
    fprintf(stderr, "lagra: the file `key` of %s cannot be written: %s\n", path,
            strerrordesc_np(errno));
    return false;
}

/* Adds a secret, makes it the first one, and drops the old one, waiting for all front ends after
 * each step. A second secret left by an interrupted run is dropped first: no owner connects with
 * it, because all of them use the first one. */
static bool rotate(const char *path, int folder, const struct guid *cluster,
                   struct net_secrets *secrets)
{
    if (secrets->count > 1) {
        if (!await_readers(path, cluster, secrets))
            return false;
        secrets->count = 1;
        if (!write_key(path, folder, cluster, secrets))
            return false;
    }
    if (!cluster_key_add(secrets) || !write_key(path, folder, cluster, secrets))
        return false;
    swap_secrets(secrets);
    if (!write_key(path, folder, cluster, secrets))
        return false;
    secrets->count = 1;
    return write_key(path, folder, cluster, secrets);
}

int cluster_rotate_key_run(const struct command_call *call)
{
    const char *path = call->words[0], *problem = "it has no file `key`";
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), lock = -1;
    struct net_secrets secrets = { .count = 0 };
    struct guid cluster;
    bool is_done = false;

    if (cluster_folder_read(path, &cluster, &problem) &&
        (lock = lock_cluster(path, &problem)) >= 0 &&
        cluster_key_read(path, &secrets, &problem) == CLUSTER_KEY_READ) {
        is_done = rotate(path, folder, &cluster, &secrets);
        problem = NULL;
    }
    if (is_done)
        printf("replaced the key of %s; front ends now use key %08x\n", path,
               net_key_id(secrets.of[0]));
    explicit_bzero(&secrets, sizeof secrets);
    if (lock >= 0)
        close(lock);
    if (folder >= 0)
        close(folder);
    if (problem)
        return refuse(path, problem);
    return is_done ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- evict ---- */

int cluster_evict_run(const struct command_call *call)
{
    const char *path = call->words[0], *command = command_value(call, "fence-command");
    const char *problem = "it has no such cell";
    struct owner_record record;
    struct owner_identity self;
    struct guid cluster;
    uint64_t cell;

    if (!command) {
        fprintf(stderr, "lagra: cluster evict requires --fence-command\n");
        return 2;
    }
    if (!bytes_parse_u64(bytes_from_string(call->words[1]), OWNER_CELL_MAX, &cell) || cell == 0)
        return refuse(path, problem);
    if (!cluster_folder_read(path, &cluster, &problem))
        return refuse(path, problem);
    switch (read_cell(path, &cluster, (unsigned)cell, &record, &self)) {
    case FOUND:
        break;
    case FOUND_DAMAGED:
        return refuse(path, "the cell's file `owner` is corrupt or belongs to another cluster");
    case FOUND_UNREADABLE:
        return refuse(path, "the cell's file `owner` cannot be read");
    }
    if (!record.is_held) {
        printf("cell %04u is free\n", (unsigned)cell);
        return EXIT_SUCCESS;
    }
    if (!fence_run(command, &record, &self))
        return EXIT_FAILURE;
    printf("cell %04u: %s is fenced\n", (unsigned)cell, record.owner.name);
    return EXIT_SUCCESS;
}
