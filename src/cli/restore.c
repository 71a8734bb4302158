/* Restores parts of a backup: see administer.h. */
#include "cli/administer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "admin/restore_read.h"
#include "backup/backup.h"
#include "base/log.h"
#include "blob/blob.h"
#include "file/file.h"
#include "cli/admin_client.h"
#include "server/open_store.h"
#include "store/master_keys.h"
#include "base/progress.h"
#include "queue/queue.h"
#include "service/names.h"
#include "table/table.h"

#define NICE 10

const struct command_option restore_options[] = {
    { "account", "NAME", "account name; required if there are several accounts" },
    { "as", "NAME", "name of the restored resource" },
    { "replace", NULL, "delete an existing resource of that name" },
    { "encryptionKey", "FILE", "keys of a backup that is encrypted at rest" },
    { NULL, NULL, NULL },
};
const struct command_option restore_all_options[] = {
    { "account", "NAME", "account name; required if there are several accounts" },
    { "replace", NULL, "delete existing resources of the same names" },
    { "encryptionKey", "FILE", "keys of a backup that is encrypted at rest" },
    { NULL, NULL, NULL },
};

static const struct kind {
    const char *name;
    const struct service *service;
} kinds[] = { { "container", &blob_service },
              { "queue", &queue_service },
              { "table", &table_service },
              { "share", &file_service } };
#define KINDS (sizeof kinds / sizeof kinds[0])

/* State of a running command. */
struct restorer {
    const struct command_call *call;
    struct progress progress;
    struct archive *archive;
    int folder;
    struct arena *arena;
    struct bytes account;
    struct bytes id; /* id of the restore in progress */
    uint64_t restored, records, bytes;
};

/* ---- the account ---- */

/* Finds the server's only account. */
static bool find_account(struct restorer *r)
{
    struct json_member member;
    struct json_reader reader;
    struct client_response answer;
    struct bytes list;
    size_t count = 0;

    if (!client_call(r->call, "account-list", NULL, 0, &answer)) {
        arena_free(answer.arena);
        return false;
    }
    list = client_nested(answer.arena, answer.body, "accounts");
    json_list_init(&reader, answer.arena, list, 4);
    while (json_next(&reader, &member)) {
        r->account = arena_copy(r->arena, client_member(answer.arena, member.text, "name"));
        count++;
    }
    arena_free(answer.arena);
    if (count != 1)
        fprintf(stderr, "lagra: there are %zu accounts; specify one with --account\n", count);
    return count == 1;
}

/* ---- one resource ---- */

static bool send_batch(struct restoring *restoring, struct bytes batch)
{
    struct restorer *r = restoring->context;
    const struct progress_count shown = { .items = r->records + restoring->records,
                                          .bytes = r->bytes + restoring->bytes };
    struct arena *arena = arena_new((size_t)64 << 20);
    struct client_response answer;
    struct text body;
    bool sent;

    text_init(&body, arena, batch.len + GUID_TEXT_SIZE);
    text_add(&body, r->id);
    text_add_char(&body, '\0');
    text_add(&body, batch);
    sent = client_call_bytes(r->call, "restore-put", text_bytes(&body), &answer);
    arena_free(answer.arena);
    arena_free(arena);
    progress_show(&r->progress, &shown);
    return sent;
}

static bool ask_id(struct restorer *r, const char *operation)
{
    const struct client_argument argument = { "id", arena_string(r->arena, r->id) };
    struct client_response answer;
    bool is_done = client_call(r->call, operation, &argument, 1, &answer);

    arena_free(answer.arena);
    return is_done;
}

static bool begin(struct restorer *r, const struct kind *kind, const char *as)
{
    const struct client_argument arguments[] = {
        { "kind", kind->name },
        { "account", arena_string(r->arena, r->account) },
        { "name", as },
        { "replace", command_value(r->call, "replace") ? "yes" : NULL },
    };
    struct client_response answer;
    bool begun = client_call(r->call, "restore-begin", arguments, 4, &answer);

    if (begun)
        r->id = arena_copy(r->arena, client_member(answer.arena, answer.body, "id"));
    arena_free(answer.arena);
    return begun;
}

/* Returns false after printing why. */
static bool restore_one(struct restorer *r, const struct kind *kind, const char *name,
                        const char *as)
{
    struct restoring restoring = { .archive = r->archive,
                                   .service = kind->service,
                                   .account = r->account,
                                   .send = send_batch,
                                   .context = r };
    struct bytes wanted = bytes_from_string(name);
    struct guid space;
    enum store_result result = restoring_find(&restoring, wanted, &space);

    if (result) {
        fprintf(stderr, "lagra: the backup has no %s %s of account %.*s%s%s\n", kind->name, name,
                BYTES_ARG(r->account), result == STORE_NOT_FOUND ? "" : ": ",
                result == STORE_NOT_FOUND ? "" : store_result_text(result));
        return false;
    }
    if (!begin(r, kind, as))
        return false;
    result = restoring_read(&restoring, wanted, space);
    r->records += restoring.records;
    r->bytes += restoring.bytes;
    if (!result && ask_id(r, "restore-end")) {
        r->restored++;
        return true;
    }
    if (result && result != STORE_BUSY)
        fprintf(stderr, "lagra: the %s %s of the backup cannot be read: %s\n", kind->name, name,
                store_result_text(result));
    if (result)
        ask_id(r, "restore-cancel");
    return false;
}

/* ---- commands ---- */

static bool open_backup(struct restorer *r, const char *folder)
{
    struct backup_work work = { .rate = 0 };
    struct master_keys *keys;
    enum store_result result;
    const char *problem = "";
    char path[64];

    if (!read_master_keys(command_key_path(r->call), &keys))
        return false;
    r->folder = backup_verify_records(&work, folder);
    if (r->folder < 0) {
        fprintf(stderr, "lagra: %s: %s\n", folder, work.problem);
        master_keys_free(keys);
        return false;
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", r->folder);
    result = archive_open(path, keys, &r->archive, &problem);
    master_keys_free(keys);
    if (!result)
        return true;
    fprintf(stderr, "lagra: %s: %s\n", folder, problem);
    close(r->folder);
    return false;
}

static bool begin_command(struct restorer *r, const struct command_call *call)
{
    const char *account = command_value(call, "account");

    *r = (struct restorer){ .call = call, .arena = arena_new((size_t)64 << 20) };
    log_open(LOG_WARN, NULL);
    (void)setpriority(PRIO_PROCESS, 0, NICE);
    progress_begin(&r->progress, "records", call->json);
    r->account = bytes_from_string(account);
    if ((account || find_account(r)) && open_backup(r, call->words[0]))
        return true;
    arena_free(r->arena);
    return false;
}

static void print_json(const struct restorer *r)
{
    struct text text;
    struct json_writer out = { .to = &text };

    text_init(&text, r->arena, 256);
    json_write_begin(&out, '{');
    json_write_member(&out, "account", r->account);
    json_write_number(&out, "restored", r->restored);
    json_write_number(&out, "records", r->records);
    json_write_number(&out, "bytes", r->bytes);
    json_write_number(&out, "milliseconds", progress_ms(&r->progress));
    json_write_end(&out, '}');
    printf("%.*s\n", BYTES_ARG(text_bytes(&text)));
}

static int end_command(struct restorer *r, bool done)
{
    char bytes[PROGRESS_BYTES_SIZE];

    progress_end(&r->progress);
    progress_bytes(r->bytes, bytes);
    if (r->progress.json)
        print_json(r);
    else if (r->restored > 0)
        printf("restored %" PRIu64 ": %" PRIu64 " records, %s, %.1f s\n", r->restored, r->records,
               bytes, (double)progress_ms(&r->progress) / 1000);
    archive_close(r->archive);
    close(r->folder);
    arena_free(r->arena);
    return done && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int restore_run(const struct command_call *call)
{
    const char *kind = strchr(call->row->name, ' ') + 1, *as = command_value(call, "as");
    struct restorer r;
    size_t i = 0;
    bool done;

    while (strcmp(kinds[i].name, kind) != 0)
        i++;
    if (!begin_command(&r, call))
        return EXIT_FAILURE;
    done = restore_one(&r, &kinds[i], call->words[1], as ? as : call->words[1]);
    return end_command(&r, done);
}

/* Restores all resources of a kind, one by one, and reports those that fail. */
static bool restore_kind(struct restorer *r, const struct kind *kind)
{
    struct guid space = account_space(kind->service->name, r->account);
    struct bytes at = { NULL, 0 };
    enum store_result result;
    bool done = true;

    while (!(result = archive_partition(r->archive, space, at, r->arena, &at))) {
        struct restoring found = { .archive = r->archive,
                                   .service = kind->service,
                                   .account = r->account };
        const char *name = arena_string(r->arena, at);
        struct guid of;

        if (at.len > 0 && !restoring_find(&found, at, &of))
            done &= restore_one(r, kind, name, name);
    }
    return done && result == STORE_NOT_FOUND;
}

int restore_all(const struct command_call *call)
{
    struct restorer r;
    bool done = true;

    if (!begin_command(&r, call))
        return EXIT_FAILURE;
    for (size_t i = 0; i < KINDS; i++)
        done &= restore_kind(&r, &kinds[i]);
    return end_command(&r, done);
}
