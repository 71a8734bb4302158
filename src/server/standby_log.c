/* Log lines about other owners' cells: see standby_private.h. */
#include "server/standby_private.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"

/* A file operation that takes longer is reported. */
#define HANGS_AFTER_MS 5000u

void standby_log_silence(struct contender *c, const struct options *options,
                         const struct candidate_found *found)
{
    const struct owner_identity *owner = &found->watch.record.owner;

    if (c->is_silent)
        return;
    c->is_silent = true;
    log_line(LOG_WARN,
             "cell %u: its owner %s (%s, client \"%s\", pid %" PRIu64
             ") holds its lock but does not renew its lease. %s",
             c->candidate.cell, owner->name, owner->address, owner->client, owner->pid,
             options->fence_command ? "Fencing it"
                                    : "Without --fenceCommand this front end waits until the file "
                                      "system ends the owner's session by itself");
}

void standby_log_hang(struct contender *c, const struct candidate_found *found)
{
    bool hangs =
        found->began_ns > 0 && clock_boot_ns() > found->began_ns + HANGS_AFTER_MS * NS_PER_MS;

    if (hangs && !c->hangs)
        log_line(LOG_WARN,
                 "cell %u: its file `owner` could not be %s for %u s; "
                 "the machine of its owner may hang",
                 c->candidate.cell, found->is_open ? "read or locked" : "opened",
                 HANGS_AFTER_MS / 1000);
    c->hangs = hangs;
}

void standby_log_problem(struct contender *c, const struct candidate_found *found)
{
    if (found->problem[0] && strcmp(found->problem, c->problem) != 0)
        log_line(LOG_WARN, "cell %u: %s", c->candidate.cell, found->problem);
    memcpy(c->problem, found->problem, sizeof c->problem);
}

bool standby_is_foreign(const struct owner_record *record)
{
    return protocol_common(protocol_own(), record->owner.protocol) == 0;
}

void standby_log_foreign(struct contender *c, const struct owner_record *record)
{
    const struct protocol_range own = protocol_own(), its = record->owner.protocol;

    if (!standby_is_foreign(record) || c->foreign == record->incarnation)
        return;
    c->foreign = record->incarnation;
    log_line(LOG_ERROR,
             "cell %u: requests cannot be forwarded to its owner %s, Lagra %s, which understands "
             "versions %u to %u of the protocol between front ends; this front end understands %u "
             "to %u",
             c->candidate.cell, record->owner.address, record->owner.version, its.oldest,
             its.newest, own.oldest, own.newest);
}
