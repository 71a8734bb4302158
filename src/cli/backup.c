/* Creates, verifies and restores backups. For a backup, the server holds a snapshot, requested over
 * its admin socket, and this process copies it, at low priority and a limited rate. The server
 * itself therefore needs no write access to the backup. */
#include "cli/administer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "admin/backup_hold.h"
#include "backup/backup.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/admin_client.h"
#include "server/open_store.h"
#include "store/master_keys.h"
#include "base/progress.h"

/* Interval of progress reports to the server, which releases the snapshot if they stop
 * (admin/backup_hold.h). */
#define RENEW_MS     5000
#define NICE         10
#define RATE_MAX_MIB (1u << 20)
/* Default rate of a backup, low enough to reduce the server's throughput only a little.
 * docs/backup.md */
#define RATE_MIB     32
#define NUMBER_SIZE  24

const struct command_option back_up_options[] = {
    { "rate", "MIB", "maximum MiB read per second (default: 32; 0 means no limit)" },
    { "full", NULL, "copy everything, without hard links to the previous backup" },
    { "stopped", NULL, "back up the data directory of a stopped server" },
    { "encryptionKey", "FILE", "with --stopped: keys of a directory that is encrypted at rest" },
    { NULL, NULL, NULL },
};
const struct command_option back_up_copy_options[] = {
    { "rate", "MIB", "maximum MiB read per second (default: no limit)" },
    { NULL, NULL, NULL },
};

struct back_up {
    const struct command_call *call;
    struct progress progress;
    char id[GUID_TEXT_SIZE]; /* id of the snapshot that the server holds, or "" */
    uint64_t renewed_ms;
    struct store *store; /* data directory of a stopped server, or NULL to call a running server */
    int lock;            /* locked file that excludes other backups of the directory, or -1 */
};

static bool fail(struct backup_work *work, const char *what)
{
    if (!work->problem[0])
        snprintf(work->problem, sizeof work->problem, "%s", what);
    return false;
}

/* ---- calls to the server ---- */

static bool read_number(struct client_response *answer, const char *member, uint64_t max,
                        uint64_t *ret_number)
{
    return bytes_parse_u64(client_member(answer->arena, answer->body, member), max, ret_number);
}

static bool read_state(struct back_up *back_up, struct client_response *answer,
                       struct backup_state *ret_state)
{
    struct bytes id = client_member(answer->arena, answer->body, "id");
    uint64_t extent;

    if (!id.ptr || id.len >= sizeof back_up->id ||
        !read_number(answer, "lastExtent", UINT32_MAX, &extent) ||
        !read_number(answer, "lastEnd", UINT64_MAX, &ret_state->last_end))
        return false;
    ret_state->last_extent = (uint32_t)extent;
    memcpy(back_up->id, id.ptr, id.len);
    back_up->id[id.len] = '\0';
    return true;
}

static bool ask_begin(struct backup_work *work, struct back_up *back_up,
                      struct backup_state *ret_state)
{
    struct client_response answer;
    bool begun = client_call(back_up->call, "backup-begin", NULL, 0, &answer) &&
                 read_state(back_up, &answer, ret_state);

    arena_free(answer.arena);
    back_up->renewed_ms = progress_ms(&back_up->progress);
    return begun || fail(work, "the server holds no snapshot");
}

/* Calls backup-hold or backup-end. extent: last extent copied, or 0 if unchanged */
static bool ask_held(struct backup_work *work, struct back_up *back_up, const char *operation,
                     uint32_t extent)
{
    char number[NUMBER_SIZE];
    const struct client_argument arguments[] = { { "id", back_up->id },
                                                 { "extent", extent > 0 ? number : NULL } };
    struct client_response answer;
    bool held;

    snprintf(number, sizeof number, "%" PRIu32, extent);
    held = client_call(back_up->call, operation, arguments, 2, &answer);
    arena_free(answer.arena);
    back_up->renewed_ms = progress_ms(&back_up->progress);
    return held || fail(work, "the server has released the snapshot");
}

/* ---- the snapshot ---- */

static bool begin(struct backup_work *work, void *context, struct backup_state *ret_state)
{
    struct back_up *back_up = context;
    enum store_result result;

    if (!back_up->store)
        return ask_begin(work, back_up, ret_state);
    result = store_backup_begin(back_up->store, ret_state);
    return !result || fail(work, store_result_text(result));
}

static bool copied(struct backup_work *work, void *context, uint32_t extent)
{
    struct back_up *back_up = context;

    if (back_up->store)
        return store_backup_copied(back_up->store, extent) || fail(work, "the disk is full");
    return ask_held(work, back_up, "backup-hold", extent);
}

static bool end(struct backup_work *work, void *context)
{
    struct back_up *back_up = context;
    bool held;

    if (back_up->store)
        return store_backup_end(back_up->store) || fail(work, "the disk is full");
    held = ask_held(work, back_up, "backup-end", 0);
    back_up->id[0] = '\0';
    return held;
}

static bool step(struct backup_work *work)
{
    struct back_up *back_up = work->context;
    const struct backup_progress *progress = &work->progress;
    const struct progress_count count = { progress->files, progress->files_total, progress->bytes,
                                          progress->bytes_total };

    progress_show(&back_up->progress, &count);
    if (!back_up->id[0] || progress_ms(&back_up->progress) - back_up->renewed_ms < RENEW_MS)
        return true;
    return ask_held(work, back_up, "backup-hold", 0);
}

/* ---- the commands ---- */

/* Prepares for copying. mib: default rate, or 0 for no limit. Returns false after printing an
 * error. */
static bool begin_work(struct back_up *back_up, const struct command_call *call, uint64_t mib,
                       struct backup_work *ret_work)
{
    const char *rate = command_value(call, "rate");

    *back_up = (struct back_up){ .call = call, .lock = -1 };
    if (rate && (!bytes_parse_u64(bytes_from_string(rate), RATE_MAX_MIB, &mib))) {
        fprintf(stderr,
                "lagra: --rate requires a number of MiB per second up to %u, or 0 for no limit\n",
                RATE_MAX_MIB);
        return false;
    }
    log_open(LOG_WARN, NULL);
    umask(077);
    (void)setpriority(PRIO_PROCESS, 0, NICE);
    progress_begin(&back_up->progress, "files", call->json);
    *ret_work = (struct backup_work){ .rate = mib << 20, .step = step, .context = back_up };
    return true;
}

/* Locks a file of the data directory (without writing it), so that only one backup runs at a time.
 * A snapshot that the server still holds then belongs to a dead process. */
static bool take_lock(struct back_up *back_up)
{
    const char *location = back_up->call->options->location;
    char *path = file_path(location, "format");

    back_up->lock = open(path, O_RDONLY | O_CLOEXEC);
    free(path);
    if (back_up->lock >= 0 && flock(back_up->lock, LOCK_EX | LOCK_NB) == 0)
        return true;
    if (back_up->lock >= 0 && errno == EWOULDBLOCK)
        fprintf(stderr, "lagra: another backup of %s is running\n", location);
    else
        fprintf(stderr,
                "lagra: %s is not a readable data directory: %s; use --location for another one\n",
                location, strerror(errno));
    return false;
}

static bool open_stopped(struct back_up *back_up)
{
    struct store_options options = { .location = back_up->call->options->location,
                                     .must_exist = true,
                                     .sync = true };
    enum store_result result;
    struct master_keys *keys;
    const char *problem = "";

    if (!read_master_keys(command_key_path(back_up->call), &keys))
        return false;
    options.master_keys = keys;
    result = store_open_embedded(&options, &back_up->store, &problem);
    master_keys_free(keys);
    if (result)
        fprintf(stderr, "lagra: cannot open the data directory %s: %s\n", options.location,
                problem);
    return !result;
}

static void print_json(const struct back_up *back_up, const struct backup_progress *progress,
                       const char *what, const char *folder, const char *name)
{
    struct arena *arena = arena_new(1u << 20);
    struct text text;
    struct json_writer out = { .to = &text };

    text_init(&text, arena, 512);
    json_write_begin(&out, '{');
    json_write_member(&out, what, arena_printf(arena, "%s%s", folder, name));
    json_write_number(&out, "files", progress->files);
    json_write_number(&out, "bytesRead", progress->bytes);
    json_write_number(&out, "bytesShared", progress->linked_bytes);
    json_write_number(&out, "milliseconds", progress_ms(&back_up->progress));
    json_write_end(&out, '}');
    printf("%.*s\n", BYTES_ARG(text_bytes(&text)));
    arena_free(arena);
}

static int say_end(struct back_up *back_up, const struct backup_work *work, bool done,
                   const char *what, const char *folder, const char *name)
{
    const struct backup_progress *progress = &work->progress;
    char bytes[PROGRESS_BYTES_SIZE], linked[PROGRESS_BYTES_SIZE];
    uint64_t took_ms = progress_ms(&back_up->progress);

    progress_end(&back_up->progress);
    progress_bytes(progress->bytes, bytes);
    progress_bytes(progress->linked_bytes, linked);
    if (!done)
        fprintf(stderr, "lagra: %s: %s\n", folder, work->problem);
    else if (back_up->progress.json)
        print_json(back_up, progress, what, folder, name);
    else
        printf("%s %s%s: %" PRIu64 " files, %s read, %s shared with the previous backup, %.1f s\n",
               what, folder, name, progress->files, bytes, linked, (double)took_ms / 1000);
    if (back_up->lock >= 0)
        close(back_up->lock);
    return done && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int back_up(const struct command_call *call)
{
    struct backup_source source = {
        .location = call->options->location, .begin = begin, .copied = copied, .end = end
    };
    char name[BACKUP_NAME_SIZE + 1] = "/";
    struct back_up back_up;
    struct backup_work work;
    bool done;

    if (!begin_work(&back_up, call, RATE_MIB, &work))
        return 2;
    source.context = &back_up;
    work.shares_nothing = command_value(call, "full") != NULL;
    if (!take_lock(&back_up) || (command_value(call, "stopped") && !open_stopped(&back_up)))
        return EXIT_FAILURE;
    done = backup_take(&work, &source, call->words[0], name + 1);
    if (back_up.store) {
        store_close(back_up.store);
        if (done)
            backup_record_write(source.location, (int64_t)time(NULL));
    }
    return say_end(&back_up, &work, done, "backup", call->words[0], name);
}

static void say(struct backup_work *work, const char *sentence)
{
    struct back_up *back_up = work->context;

    progress_end(&back_up->progress);
    fprintf(stderr, "damaged  %s\n", sentence);
}

int back_up_verify(const struct command_call *call)
{
    struct back_up back_up;
    struct backup_work work;
    bool whole;

    if (!begin_work(&back_up, call, 0, &work))
        return 2;
    whole = backup_verify(&work, call->words[0], say);
    return say_end(&back_up, &work, whole, "verified", call->words[0], "");
}

int back_up_restore(const struct command_call *call)
{
    struct back_up back_up;
    struct backup_work work;
    bool restored;

    if (!begin_work(&back_up, call, 0, &work))
        return 2;
    restored = backup_restore(&work, call->words[0], call->words[1]);
    return say_end(&back_up, &work, restored, "restored", call->words[1], "");
}
