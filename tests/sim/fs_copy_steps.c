/* See fs_copy_steps.h. */
#include "fs_copy_steps.h"

#include <string.h>

#include "file/pending_file.h"
#include "commits.h"
#include "scheduler.h"
#include "services.h"
#include "source/copy_commit.h"
#include "world.h"

#define SECOND_NS UINT64_C(1000000000)

static _Thread_local struct fs_copy_step about;
static _Thread_local struct copy_id running; /* of the last job */

struct fs_copy_step fs_copy_step(void)
{
    struct fs_copy_step was = about;

    about.kind = FS_COPIES_NOTHING;
    return was;
}

void fs_copy_step_put(const struct fs_copy_step *step)
{
    about = *step;
}

void fs_copy_waits_to_read(void)
{
    about = (struct fs_copy_step){ .kind = FS_COPY_WAITS_TO_READ, .id = running };
}

static enum error note(const struct decision *d, enum error e, int kind, const struct guid *id)
{
    if (e && e != DECIDE_WAITS)
        return e;
    kind = e ? FS_COPY_WAITS : kind; /* which is committed, too */
    about = (struct fs_copy_step){ .kind = kind, .etag = d->subject.etag.v };
    memcpy(about.id.bytes, id->b, sizeof about.id.bytes);
    fs_copy_saw(&about);
    return e;
}

__typeof__(pending_file_find) __real_pending_file_find, __wrap_pending_file_find;
/* All that decides about one begins with it: first when it is known what the crash has left. */
enum error __wrap_pending_file_find(struct decision *d, const struct guid *id,
                                    struct pending_file *ret_pending)
{
    while (!commits_here()->has_started)
        sched_sleep(SECOND_NS / 10);
    about.kind = FS_COPIES_NOTHING;
    return __real_pending_file_find(d, id, ret_pending);
}

__typeof__(pending_file_step) __real_pending_file_step, __wrap_pending_file_step;
enum error __wrap_pending_file_step(struct decision *d, struct pending_file *pending,
                                    const struct copied_step *step)
{
    enum error e =
        note(d, __real_pending_file_step(d, pending, step), FS_COPIES_STEP, &pending->source.id);

    about.from = step->from;
    about.to = step->to;
    return e;
}

__typeof__(pending_file_complete) __real_pending_file_complete, __wrap_pending_file_complete;
enum error __wrap_pending_file_complete(struct decision *d, const struct pending_file *pending)
{
    return note(d, __real_pending_file_complete(d, pending), FS_COPIES_ALL, &pending->source.id);
}

__typeof__(pending_file_fail) __real_pending_file_fail, __wrap_pending_file_fail;
enum error __wrap_pending_file_fail(struct decision *d, struct bytes description)
{
    const struct guid id = file_state(d)->file.copy.id;

    return note(d, __real_pending_file_fail(d, description), FS_COPY_FAILS, &id);
}

__typeof__(copy_find_pending) __real_copy_find_pending, __wrap_copy_find_pending;
bool __wrap_copy_find_pending(struct copying *c)
{
    if (world->plan.service != SIM_FILE)
        return __real_copy_find_pending(c);
    while (!commits_here()->has_started)
        sched_sleep(SECOND_NS / 10);
    memcpy(running.bytes, c->job->base.id.b, sizeof running.bytes);
    fs_copy_reads(&running);
    return __real_copy_find_pending(c);
}
