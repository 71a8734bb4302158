/* The owner of a cell, and candidates for it, over processes: cluster/owner.h, candidate.h, owner_file.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster/candidate.h"
#include "cluster/folder.h"
#include "cluster/owner.h"

struct world {
    char path[64];
    struct candidacy candidacy;
    char *owner;
};

static void setup(struct world *w)
{
    const char *problem = "";

    memset(w, 0, sizeof *w);
    memcpy(w->path, "/tmp/lagra-owner-XXXXXX", sizeof "/tmp/lagra-owner-XXXXXX");
    assert_non_null(mkdtemp(w->path));
    assert_true(cluster_folder_create(w->path, 1, &problem));
    w->candidacy.path = w->path;
    w->candidacy.address = "192.0.2.1:10000";
    w->candidacy.smb = "";
    assert_true(cluster_folder_read(w->path, &w->candidacy.cluster, &problem));
    w->owner = cluster_owner_path(w->path, 1);
}

static void teardown(struct world *w)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf '%s'", w->path);
    assert_int_equal(system(command), 0);
    free(w->owner);
}

static void open_file(const struct world *w, struct owner_file *ret_file)
{
    assert_true(owner_file_open(w->owner, true, ret_file));
}

/* Of two descriptors one has the lock, also within a process, and however many others are opened and closed; it is free
 * when its own is closed. */
static void one_lock(void **state)
{
    struct owner_file one, two, other;
    struct world w;

    (void)state;
    setup(&w);
    open_file(&w, &one);
    open_file(&w, &two);
    assert_int_equal(owner_file_lock(&one), OWNER_OK);
    assert_int_equal(owner_file_lock(&two), OWNER_HELD);
    open_file(&w, &other);
    owner_file_close(&other);
    assert_int_equal(owner_file_lock(&two), OWNER_HELD);
    owner_file_close(&one);
    assert_int_equal(owner_file_lock(&two), OWNER_OK);
    owner_file_close(&two);
    teardown(&w);
}

/* Another process has the lock until it is killed; a command that it has started does not keep it. */
static void freed_by_kill(void **state)
{
    struct owner_file file;
    int pipes[2];
    struct world w;
    pid_t child;
    char byte;

    (void)state;
    setup(&w);
    assert_int_equal(pipe(pipes), 0);
    child = fork();
    if (child == 0) {
        if (!owner_file_open(w.owner, true, &file) || owner_file_lock(&file))
            _exit(1);
        if (system("sleep 30 >/dev/null 2>&1 &") != 0 || write(pipes[1], "x", 1) != 1)
            _exit(1);
        pause();
        _exit(1);
    }
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    open_file(&w, &file);
    assert_int_equal(owner_file_lock(&file), OWNER_HELD);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(owner_file_lock(&file), OWNER_OK);
    owner_file_close(&file);
    close(pipes[0]);
    close(pipes[1]);
    teardown(&w);
}

/* ---- candidates ---- */

static void win(struct world *w, struct candidate *candidate, struct candidate_found *ret_found)
{
    assert_true(candidate_start(candidate, &w->candidacy, 1, true));
    assert_true(candidate_wait(candidate, 5000));
    candidate_look(candidate, ret_found);
}

static char lost_why[64];

static void on_renewed(void *context)
{
    (void)context;
}

static void on_lost(void *context, const char *why)
{
    (void)context;
    snprintf(lost_why, sizeof lost_why, "%s", why);
}

static void start_owner(struct owner *owner, struct candidate *candidate,
                        const struct candidate_found *found)
{
    lost_why[0] = '\0';
    assert_true(owner_start(owner, &candidate->file, &found->record, found->record_began_ns,
                            on_lost, on_renewed, NULL));
}

/* Does the owner write another renewal within two of its periods? */
static bool is_renewed(const struct world *w)
{
    struct owner_record before, after;
    struct owner_file file;
    unsigned waited_ms = 0;

    open_file(w, &file);
    assert_int_equal(owner_file_read(&file, &before), OWNER_OK);
    do {
        thread_sleep_ns(10 * NS_PER_MS);
        waited_ms += 10;
        assert_int_equal(owner_file_read(&file, &after), OWNER_OK);
    } while (after.renewal == before.renewal && waited_ms < 2 * LEASE_RENEW_MS);
    owner_file_close(&file);
    return after.renewal > before.renewal && after.incarnation == before.incarnation;
}

/* Each owner raises the incarnation. The one that follows another which gave the cell up serves at once; the one that
 * follows a death waits for the lease. */
static void succession(void **state)
{
    struct candidate candidate;
    struct candidate_found found;
    struct owner owner;
    struct world w;

    (void)state;
    setup(&w);
    win(&w, &candidate, &found);
    assert_int_equal(found.state, CANDIDATE_WON);
    assert_int_equal(found.record.incarnation, 1);
    assert_int_equal(found.serves_from_ns, 0);
    start_owner(&owner, &candidate, &found);
    assert_true(tenure_holds(&owner.tenure));
    assert_true(is_renewed(&w));
    owner_release(&owner);
    assert_false(tenure_holds(&owner.tenure));

    atomic_store(&w.candidacy.is_taken, false);
    win(&w, &candidate, &found);
    assert_int_equal(found.record.incarnation, 2);
    assert_int_equal(found.serves_from_ns, 0);
    owner_file_close(&candidate.file); /* it dies */

    atomic_store(&w.candidacy.is_taken, false);
    win(&w, &candidate, &found);
    assert_int_equal(found.record.incarnation, 3);
    assert_true(found.serves_from_ns > clock_boot_ns());
    assert_true(found.serves_from_ns < clock_boot_ns() + (LEASE_MS + LEASE_MARGIN_MS) * NS_PER_MS);
    owner_file_close(&candidate.file);
    teardown(&w);
}

/* A file that cannot be read any more, since its mount was evicted, is opened again. */
static void reopened_after_eviction(void **state)
{
    struct candidate candidate;
    struct candidate_found found;
    struct owner_file file;
    struct world w;
    int folder;

    (void)state;
    setup(&w);
    open_file(&w, &file);
    assert_int_equal(owner_file_lock(&file), OWNER_OK);
    assert_true(candidate_start(&candidate, &w.candidacy, 1, true));
    do {
        assert_false(candidate_wait(&candidate, 40));
        candidate_look(&candidate, &found);
    } while (!found.watch.has_record);
    folder = open(w.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(dup2(folder, candidate.file.fd), candidate.file.fd); /* EISDIR */
    do {
        assert_false(candidate_wait(&candidate, 40));
        candidate_look(&candidate, &found);
    } while (!strstr(found.problem, "read"));
    owner_file_close(&file);
    assert_true(candidate_wait(&candidate, 5000));
    candidate_look(&candidate, &found);
    assert_int_equal(found.state, CANDIDATE_WON);
    owner_file_close(&candidate.file);
    close(folder);
    teardown(&w);
}

/* While a cell has an owner a candidate waits; it wins when the owner gives up. */
static void waits(void **state)
{
    struct candidate first, second;
    struct candidate_found found;
    struct candidacy others;
    struct owner owner;
    struct world w;

    (void)state;
    setup(&w);
    win(&w, &first, &found);
    start_owner(&owner, &first, &found);
    others = w.candidacy;
    atomic_store(&others.is_taken, false);
    assert_true(candidate_start(&second, &others, 1, true));
    assert_false(candidate_wait(&second, 600));
    candidate_look(&second, &found);
    assert_int_equal(found.state, CANDIDATE_WAITS);
    assert_true(found.watch.has_record && found.watch.record.is_held);
    assert_string_equal(found.watch.record.owner.address, "192.0.2.1:10000");
    owner_release(&owner);
    assert_true(candidate_wait(&second, 5000));
    candidate_look(&second, &found);
    assert_int_equal(found.state, CANDIDATE_WON);
    owner_file_close(&second.file);
    teardown(&w);
}

/* Who only watches a cell, or has won another, leaves it free, and sees who takes it. */
static void watches(void **state)
{
    struct candidate watcher, first;
    struct candidate_found found;
    struct candidacy others;
    struct owner owner;
    struct world w;

    (void)state;
    setup(&w);
    others = w.candidacy;
    assert_true(candidate_start(&watcher, &others, 1, false));
    assert_false(candidate_wait(&watcher, 600));
    win(&w, &first, &found);
    start_owner(&owner, &first, &found);
    assert_false(candidate_wait(&watcher, 600));
    candidate_look(&watcher, &found);
    assert_int_equal(found.state, CANDIDATE_WAITS);
    assert_int_equal(found.watch.record.incarnation, 1);
    owner_release(&owner);
    assert_false(candidate_wait(&watcher, 600));
    candidate_look(&watcher, &found);
    assert_int_equal(found.state, CANDIDATE_WAITS);
    assert_false(found.watch.record.is_held);
    atomic_store(&others.ends, true);
    assert_true(candidate_wait(&watcher, 5000));
    candidate_look(&watcher, &found);
    assert_int_equal(found.state, CANDIDATE_ENDED);
    teardown(&w);
}

/* An owner whose record has become another's is lost at its next renewal, and answers nothing from then on: as a client
 * that was evicted and has reconnected would be. */
static void overtaken(void **state)
{
    struct candidate candidate;
    struct candidate_found found;
    struct owner_record record;
    struct owner_file file;
    struct owner owner;
    struct world w;

    (void)state;
    setup(&w);
    win(&w, &candidate, &found);
    record = found.record;
    start_owner(&owner, &candidate, &found);
    open_file(&w, &file);
    record.incarnation++;
    record.renewal += 100;
    assert_int_equal(owner_file_write(&file, &record), OWNER_OK);
    for (unsigned ms = 0; ms < 3 * LEASE_RENEW_MS && tenure_holds(&owner.tenure); ms += 10)
        thread_sleep_ns(10 * NS_PER_MS);
    atomic_store(&owner.ends, true);
    thread_join(&owner.thread);
    assert_string_equal(lost_why, "another front end has taken it");
    assert_false(tenure_holds(&owner.tenure));
    assert_int_equal(owner_file_read(&file, &record), OWNER_OK);
    assert_int_equal(record.incarnation, found.record.incarnation + 1);
    owner_file_close(&file);
    owner_file_close(&owner.file);
    teardown(&w);
}

/* A record that is damaged, or of another cluster, is not guessed at. */
static void refused(void **state)
{
    struct candidate candidate;
    struct candidate_found found;
    struct owner_record record;
    struct owner_file file;
    struct world w;
    FILE *raw;

    (void)state;
    setup(&w);
    open_file(&w, &file);
    assert_int_equal(owner_file_read(&file, &record), OWNER_OK);
    record.cluster.b[0] ^= 1;
    record.renewal++;
    assert_int_equal(owner_file_write(&file, &record), OWNER_OK);
    owner_file_close(&file);
    win(&w, &candidate, &found);
    assert_int_equal(found.state, CANDIDATE_FAILED);
    raw = fopen(w.owner, "w");
    assert_non_null(raw);
    fputs("nonsense", raw);
    fclose(raw);
    atomic_store(&w.candidacy.is_taken, false);
    win(&w, &candidate, &found);
    assert_int_equal(found.state, CANDIDATE_FAILED);
    teardown(&w);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_lock),
        cmocka_unit_test(freed_by_kill),
        cmocka_unit_test(reopened_after_eviction),
        cmocka_unit_test(succession),
        cmocka_unit_test(waits),
        cmocka_unit_test(watches),
        cmocka_unit_test(overtaken),
        cmocka_unit_test(refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
