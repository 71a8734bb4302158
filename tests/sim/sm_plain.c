/* See sm_plain.h. */
#include "sm_plain.h"

#include "commits.h"
#include "fs_judge.h"
#include "sm_judge.h"
#include "world.h"

#define PLAIN_MAX    256u
#define PLAIN_MAX_NS (5 * UINT64_C(1000000000))

/* Plain writes that were answered: in the world. */
static struct sm_plain {
    uint64_t last_ns; /* of this life */
    unsigned count;
    struct {
        uint64_t commit, answered_ns;
    } writes[PLAIN_MAX];
} * plain;

void sm_plain_begin(void)
{
    plain = world_alloc(sizeof *plain);
}

void sm_plain_lives(void)
{
    plain->last_ns = world->now_ns;
}

void sm_plain_note(uint64_t commit)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < plain->count; i++)
        if (plain->writes[i].commit > commits_acknowledged())
            plain->writes[kept++] = plain->writes[i];
    plain->count = kept;
    if (kept == PLAIN_MAX)
        return;
    plain->writes[kept].commit = commit;
    plain->writes[kept].answered_ns = world->now_ns;
    plain->count++;
}

void sm_judge_end_life(void)
{
    for (unsigned i = 0; i < plain->count && !(world->plan.faults & FAULTS_OF_TIME); i++)
        if (plain->writes[i].answered_ns + PLAIN_MAX_NS <= plain->last_ns)
            fs_acknowledge(plain->writes[i].commit);
    plain->count = 0;
}
