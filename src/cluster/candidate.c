/* See candidate.h. */
#include "cluster/candidate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cluster/folder.h"

#define POLL_MS 200u
#define STEP_MS 20u

/* ---- results for callers ---- */

static void begin(struct candidate *c)
{
    lock_acquire(&c->lock);
    c->found.began_ns = clock_boot_ns();
    lock_release(&c->lock);
}

static void end(struct candidate *c, enum candidate_state state, const char *problem)
{
    lock_acquire(&c->lock);
    c->found.began_ns = 0;
    c->found.state = state;
    snprintf(c->found.problem, sizeof c->found.problem, "%s", problem);
    lock_release(&c->lock);
}

static void end_failed(struct candidate *c, enum candidate_state state, const char *what)
{
    char problem[sizeof c->found.problem];

    snprintf(problem, sizeof problem, "%s: %s", what, strerrordesc_np(errno));
    end(c, state, problem);
}

void candidate_look(struct candidate *candidate, struct candidate_found *ret_found)
{
    lock_acquire(&candidate->lock);
    *ret_found = candidate->found;
    lock_release(&candidate->lock);
}

/* ---- the thread ---- */

static bool is_ended(const struct candidate *c)
{
    return atomic_load(&c->of->ends);
}

static bool is_wanted(const struct candidate *c)
{
    return c->wants && !atomic_load(&c->of->is_taken);
}

static void pause_polls(const struct candidate *c)
{
    for (unsigned ms = 0; ms < POLL_MS && !is_ended(c); ms += STEP_MS)
        thread_sleep_ns(STEP_MS * NS_PER_MS);
}

/* Opens the file. Retries until it succeeds or the candidate ends, because the file's directory may
 * be unreachable for a while. */
static bool open_file(struct candidate *c)
{
    char *path = cluster_owner_path(c->of->path, c->cell);
    bool is_open = false;

    while (!is_open && !is_ended(c)) {
        begin(c);
        is_open = owner_file_open(path, true, &c->file);
        if (is_open) {
            struct owner_identity self;

            owner_file_identify(&c->file, c->of->address, &self);
            snprintf(self.forward, sizeof self.forward, "%s", c->of->forward);
            snprintf(self.smb, sizeof self.smb, "%s", c->of->smb);
            lock_acquire(&c->lock);
            c->found.self = self;
            c->found.is_open = true;
            c->found.began_ns = 0; /* the problem remains until a read succeeds */
            lock_release(&c->lock);
        } else {
            end_failed(c, CANDIDATE_WAITS, "its file `owner` cannot be opened");
            owner_file_close(&c->file);
            pause_polls(c);
        }
    }
    free(path);
    return is_open;
}

/* Reads the record and stores it in the watch. Returns OWNER_OK, OWNER_DAMAGED or OWNER_FAILED. */
static enum owner_result read_record(struct candidate *c)
{
    struct owner_record record;
    uint64_t asked_ns = clock_boot_ns();
    enum owner_result result = owner_file_read(&c->file, &record);

    if (!result && (!guid_equal(&record.cluster, &c->of->cluster) || record.cell != c->cell))
        result = OWNER_DAMAGED;
    if (result)
        return result;
    lock_acquire(&c->lock);
    lease_watch_saw(&c->found.watch, &record, asked_ns, clock_boot_ns());
    lock_release(&c->lock);
    return OWNER_OK;
}

/* Claims the cell for the process. Returns false if another candidate of the process was first. */
static bool claim(const struct candidate *c)
{
    bool nobody = false;

    return atomic_compare_exchange_strong(&c->of->is_taken, &nobody, true);
}

/* Writes a record that names this process as owner. Caller has claimed the cell. */
static void write_record(struct candidate *c)
{
    struct owner_record record = c->found.watch.record;
    uint64_t began_ns = clock_boot_ns();

    record.incarnation++;
    record.renewal++;
    record.is_held = true;
    record.serves = false;
    record.move[0] = '\0';
    memset(record.keys, 0, sizeof record.keys);
    record.lease_ms = LEASE_MS;
    record.renewed = clock_wall();
    record.renewed_ns = began_ns;
    record.owner = c->found.self;
    if (owner_file_write(&c->file, &record)) {
        end_failed(c, CANDIDATE_FAILED, "its file `owner` cannot be written");
        return;
    }
    owner_file_settle(&c->file);
    lock_acquire(&c->lock);
    c->found.record = record;
    c->found.record_began_ns = began_ns;
    c->found.serves_from_ns = lease_watch_ends(&c->found.watch);
    lock_release(&c->lock);
    end(c, CANDIDATE_WON, "");
}

/* Takes the cell over. Caller holds the file lock. Reads the record again, because the previous
 * owner may have renewed it until just now. Only a read after which no write is possible shows when
 * the previous lease ends. */
static void take_over(struct candidate *c)
{
    enum owner_result result = read_record(c);

    if (result == OWNER_DAMAGED)
        end(c, CANDIDATE_FAILED, "its file `owner` is corrupt, or of another cluster");
    else if (result)
        end_failed(c, CANDIDATE_WAITS, "its file `owner` cannot be read");
    else if (!claim(c))
        end(c, CANDIDATE_WAITS, "");
    else
        write_record(c);
}

/* Tries once to own the cell, or only reads the record. Returns false if the file cannot be
 * read. */
static bool attempt(struct candidate *c)
{
    enum owner_result result;

    begin(c);
    result = read_record(c);
    if (result == OWNER_FAILED) {
        end_failed(c, CANDIDATE_WAITS, "its file `owner` cannot be read");
        return false;
    }
    /* A damaged record is checked only under the file lock, because it may be half written. */
    result = is_wanted(c) ? owner_file_lock(&c->file) : OWNER_HELD;
    if (result == OWNER_OK)
        take_over(c);
    else if (result == OWNER_FAILED)
        end_failed(c, CANDIDATE_WAITS, "its file `owner` cannot be locked");
    else
        end(c, CANDIDATE_WAITS, "");
    return true;
}

/* Reopens the file. After an eviction of this machine the open descriptor remains unusable, even
 * once the file system has been mounted again. decision: 1020 */
static bool open_again(struct candidate *c)
{
    owner_file_close(&c->file);
    return open_file(c);
}

/* Waits until the next attempt. Returns false if the candidate ended while it reopened the file. */
static bool pause_attempts(struct candidate *c, bool is_readable)
{
    /* Locked, but the record could not be read, or this process owns another cell. */
    if (c->wants)
        owner_file_unlock(&c->file);
    pause_polls(c);
    return is_readable || open_again(c);
}

static void *run(void *argument)
{
    struct candidate *c = argument;
    bool is_open = open_file(c);

    while (is_open && !is_ended(c)) {
        bool is_readable = attempt(c);

        if (c->found.state != CANDIDATE_WAITS)
            break;
        is_open = is_ended(c) || pause_attempts(c, is_readable);
    }
    if (c->found.state == CANDIDATE_WON)
        return NULL;
    owner_file_close(&c->file);
    if (c->found.state == CANDIDATE_WAITS)
        end(c, CANDIDATE_ENDED, "");
    return NULL;
}

bool candidate_start(struct candidate *candidate, struct candidacy *of, unsigned cell, bool wants)
{
    memset(candidate, 0, sizeof *candidate);
    candidate->of = of;
    candidate->cell = cell;
    candidate->wants = wants;
    candidate->file.fd = -1;
    candidate->found.state = CANDIDATE_WAITS;
    lock_init(&candidate->lock, RANK_CELLS);
    return thread_start(&candidate->thread, run, candidate);
}

static void *nudge(void *argument)
{
    struct candidate *c = argument;
    char *path = cluster_owner_path(c->of->path, c->cell);
    struct owner_file file;

    (void)owner_file_open(path, false, &file);
    owner_file_close(&file);
    free(path);
    atomic_store(&c->nudges, false);
    return NULL;
}

void candidate_nudge(struct candidate *candidate)
{
    if (atomic_load(&candidate->nudges))
        return;
    thread_join(&candidate->nudger); /* the previous one, which has ended */
    atomic_store(&candidate->nudges, true);
    if (!thread_start(&candidate->nudger, nudge, candidate))
        atomic_store(&candidate->nudges, false);
}

bool candidate_wait(struct candidate *candidate, unsigned ms)
{
    struct candidate_found found;

    for (unsigned waited = 0;; waited += STEP_MS) {
        candidate_look(candidate, &found);
        if (found.state != CANDIDATE_WAITS && !atomic_load(&candidate->nudges))
            break;
        if (waited >= ms)
            return false;
        thread_sleep_ns(STEP_MS * NS_PER_MS);
    }
    thread_join(&candidate->thread);
    thread_join(&candidate->nudger);
    return true;
}
