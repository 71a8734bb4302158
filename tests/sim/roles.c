/* See roles.h. */
#include "roles.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth.h"
#include "base/arena.h"
#include "base/dates.h"
#include "judge.h"
#include "roles_rights.h"
#include "roles_token.h"
#include "scheduler.h"
#include "services.h"
#include "world.h"

#define ASSIGNMENTS 7u
#define SECOND_NS   UINT64_C(1000000000)

bool roles_are_used(void)
{
    return world->plan.service < SIM_FILE && world->plan.fronts == 0 &&
           world_mix(world->plan.seed ^ 0x401E5) % 3 == 0;
}

/* Returns whether the configuration says in which resource group the account is. */
static bool has_places(void)
{
    return world_mix(world->plan.seed ^ 0x91ACE) % 2 == 0;
}

/* ---- assignments ---- */

#define PLACE    "/subscriptions/s1/resourceGroups/g1"
#define ACCOUNTS "/providers/Microsoft.Storage/storageAccounts/"
#define OWN      PLACE ACCOUNTS DEVELOPMENT_ACCOUNT

enum reach {
    AT_ROOT,
    AT_SUBSCRIPTION,
    AT_GROUP,
    AT_OTHER_SUBSCRIPTION,
    AT_OTHER_GROUP,
    AT_ACCOUNT,
    AT_NAMESAKE, /* an account of this name in another resource group */
    AT_OTHER_ACCOUNT,
    AT_SERVICE,
    AT_OTHER_SERVICE,
    AT_CONTAINER,
    AT_OTHER_SERVICES_CONTAINER, /* a container of this name in another service */
    REACHES
};
/* Of the container: %c the service, %s the name. */
static const char *const scopes[REACHES] = {
    [AT_ROOT] = "/",
    [AT_SUBSCRIPTION] = "/subscriptions/s1",
    [AT_GROUP] = "/subscriptions/S1/resourceGroups/g1",
    [AT_OTHER_SUBSCRIPTION] = "/subscriptions/s2",
    [AT_OTHER_GROUP] = "/subscriptions/s1/resourceGroups/g2",
    [AT_ACCOUNT] = OWN,
    [AT_NAMESAKE] = "/subscriptions/s1/resourceGroups/g2" ACCOUNTS DEVELOPMENT_ACCOUNT,
    [AT_OTHER_ACCOUNT] = PLACE ACCOUNTS "devstoreaccount2",
};

struct assignment {
    bool exists;
    unsigned principal;
    const struct role *role;
    enum reach reach;
    unsigned container;
};

/* The assignments, as of one moment. The first lets principal 0 do everything with blobs. */
struct document {
    const struct document *older;
    uint64_t number;
    struct assignment assignments[ASSIGNMENTS];
};

/* In the world; set before any life begins. */
static const struct document **newest;

void roles_begin(void)
{
    struct document *first = world_alloc(sizeof *first);

    first->assignments[0] = (struct assignment){ .exists = true,
                                                 .role = &roles_built_in[BLOB_OWNER],
                                                 .reach = AT_ACCOUNT };
    newest = world_alloc(sizeof(struct document *));
    *newest = first;
}

static bool reaches(const struct assignment *assignment, int container)
{
    enum reach reach = assignment->reach;

    if (reach <= AT_GROUP)
        return has_places();
    if (reach == AT_NAMESAKE)
        return !has_places();
    if (reach == AT_CONTAINER)
        return container == (int)assignment->container;
    return reach == AT_ACCOUNT || reach == AT_SERVICE;
}

static unsigned actions_of(const struct document *document, unsigned principal, int container)
{
    unsigned actions = 0;

    for (unsigned i = 0; i < ASSIGNMENTS; i++) {
        const struct assignment *one = &document->assignments[i];

        if (one->exists && one->principal == principal && reaches(one, container) &&
            (one->role->service == 0 || one->role->service == sim_service()->name[0]))
            actions |= one->role->actions;
    }
    return actions;
}

/* ---- the server's trust ---- */

static void write_scope(const struct assignment *assignment, struct text *text)
{
    static const char letters[] = "bqt";
    static const char *const services[] = { "blobServices", "queueServices", "tableServices" };
    static const char *const containers[] = { "containers", "queues", "tables" };
    unsigned service;

    if (assignment->reach < AT_SERVICE) {
        text_add_string(text, scopes[assignment->reach]);
        return;
    }
    service = (unsigned)(strchr(letters, sim_service()->name[0]) - letters);
    if (assignment->reach == AT_OTHER_SERVICE || assignment->reach == AT_OTHER_SERVICES_CONTAINER)
        service = (service + 1) % 3;
    text_printf(text, OWN "/%s/default", services[service]);
    if (assignment->reach >= AT_CONTAINER)
        text_printf(text, "/%s/%s", containers[service],
                    sim_service()->names[assignment->container]);
}

/* As `az role assignment list` prints them. A malformed list must have no effect. */
static struct bytes write_document(const struct document *document, bool is_malformed,
                                   struct arena *arena)
{
    const char *separator = "";
    struct text text;

    text_init(&text, arena, 2048);
    text_add_char(&text, '[');
    for (unsigned i = 0; i < ASSIGNMENTS; i++) {
        const struct assignment *one = &document->assignments[i];

        if (!one->exists)
            continue;
        text_printf(&text, "%s{\"principalId\":\"%s\",\"roleDefinitionName\":\"%s\",\"scope\":\"",
                    separator, roles_principal(one->principal), one->role->name);
        write_scope(one, &text);
        text_add_string(&text, "\"}");
        separator = ",";
    }
    if (is_malformed)
        text_printf(&text, "%s{\"scope\":\"/\"}", separator);
    text_add_char(&text, ']');
    return text_bytes(&text);
}

/* Returns NULL if the server refuses the assignments. */
static struct trust *make_trust(const struct document *document, bool is_malformed)
{
    struct arena *arena = arena_new(1 << 20);
    struct trust_options options = { .issuer = TOKEN_ISSUER };
    struct trust_problem problem = { .text = "" };
    struct trust *trust;

    options.keys = token_keys(arena);
    options.roles = write_document(document, is_malformed, arena);
    if (has_places())
        options.accounts = bytes_from_string("[{\"id\":\"" OWN "\"}]");
    trust = trust_new(&options, &problem);
    if (!trust != is_malformed)
        world_fail("role assignments: \"%s\"", problem.text);
    arena_free(arena);
    return trust;
}

struct trust *roles_begin_life(void)
{
    const struct trust_options basic = { .basic = true };

    /* Users of hierarchical accounts have no role. */
    return roles_are_used() || world->plan.service == SIM_PATH ? make_trust(*newest, false)
                                                               : trust_new(&basic, NULL);
}

/* ---- changes ---- */

static const struct role *draw_role(void)
{
    const struct role *role;

    do
        role = &roles_built_in[world_draw(STREAM_SYSTEM, roles_count)];
    while (role->service != 0 && role->service != sim_service()->name[0] &&
           world_draw(STREAM_SYSTEM, 8) > 0);
    return role;
}

static enum reach draw_reach(void)
{
    static const enum reach often[] = { AT_ACCOUNT, AT_SERVICE, AT_CONTAINER, AT_CONTAINER };

    return world_draw(STREAM_SYSTEM, 2) == 0 ? often[world_draw(STREAM_SYSTEM, 4)]
                                             : (enum reach)world_draw(STREAM_SYSTEM, REACHES);
}

static void change_one(struct document *document)
{
    struct assignment *one = &document->assignments[1 + world_draw(STREAM_SYSTEM, ASSIGNMENTS - 1)];

    if (one->exists && world_draw(STREAM_SYSTEM, 3) > 0) {
        one->exists = false;
        return;
    }
    *one = (struct assignment){ .exists = true,
                                .principal = 1 + world_draw(STREAM_SYSTEM, PRINCIPALS),
                                .role = draw_role(),
                                .reach = draw_reach() };
    if (world_draw(STREAM_SYSTEM, 3) == 0)
        one->container = world_draw(STREAM_SYSTEM, sim_service()->name_count);
}

static void change(struct trust_holder *holder)
{
    struct document *next = world_alloc(sizeof *next);
    struct trust *trust;

    *next = **newest;
    next->older = *newest;
    next->number++;
    for (unsigned i = world_draw(STREAM_SYSTEM, 3) + 1; i > 0; i--)
        change_one(next);
    if (world_draw(STREAM_SYSTEM, 8) == 0) {
        make_trust(next, true);
        return;
    }
    trust = make_trust(next, false);
    sched_hold();
    trust_replace(holder, trust);
    *newest = next;
    sched_release();
    world_say("%.6f roles %llu", (double)world->now_ns / 1e9, (unsigned long long)next->number);
}

/* As often as clients ask, or now and then. */
static void *change_for_ever(void *holder)
{
    sched_name("roles");
    for (;;) {
        change(holder);
        sched_sleep(world_draw(STREAM_SYSTEM, 2) == 0
                        ? world_draw(STREAM_SYSTEM, 5000) * UINT64_C(1000)
                        : world_draw(STREAM_SYSTEM, 3000) * (SECOND_NS / 1000));
    }
    return NULL;
}

void roles_start(struct trust_holder *holder)
{
    pthread_t id;

    if (roles_are_used())
        pthread_create(&id, NULL, change_for_ever, holder);
}

/* ---- requests ---- */

static bool can_have_token(const struct ask *ask)
{
    if (ask->signature != SIGNED || ask->malformed || ask->queue.malformed ||
        (world->plan.faults & FAULT_WIRE))
        return false;
    return world->plan.service != SIM_BLOB || (ask->op != OP_BATCH && ask->op != OP_COPY);
}

void roles_draw(unsigned client, unsigned number, struct ask *ask)
{
    uint64_t random = world_mix(world->plan.seed * 6700417 + client * 65537 + number);

    if (!roles_are_used())
        return;
    if (ask->signature == SIGNED_BY_USER) {
        ask->token = 1 + (unsigned)(random % PRINCIPALS);
        return;
    }
    if (!can_have_token(ask) || random % 3 > 0)
        return;
    random /= 3;
    if (world->plan.service == SIM_BLOB && random % 16 == 0)
        *ask = (struct ask){ .op = OP_GET_SERVICE, .wants_key = true, .think_ns = ask->think_ns };
    random /= 16;
    ask->token = 1 + (unsigned)(random % PRINCIPALS);
    random /= PRINCIPALS;
    if (random % 10 == 0)
        ask->flaw = 1 + (unsigned)(random / 10 % (FLAWS - 1));
}

const char *roles_principal(unsigned principal)
{
    static const char *const ids[PRINCIPALS + 1] = { "aaaaaaaa-1111-4111-8111-111111111111",
                                                     "aaaaaaaa-1111-4111-8111-111111111112",
                                                     "aaaaaaaa-1111-4111-8111-111111111113",
                                                     "aaaaaaaa-1111-4111-8111-111111111114" };

    return ids[principal];
}

/* rest: Get-User-Delegation-Key */
struct bytes roles_key_body(struct arena *arena)
{
    int64_t now_s = ((int64_t)world->now_ns + world->wall_ns) / (int64_t)SECOND_NS;
    char date[INSTANT_ISO_SIZE];

    instant_format_iso(INSTANT_UNIX_EPOCH + (uint64_t)(now_s + 3600) * TICKS_PER_SECOND, date);
    return arena_printf(arena,
                        "<?xml version=\"1.0\" encoding=\"utf-8\"?><KeyInfo><Expiry>%.19sZ</Expiry>"
                        "</KeyInfo>",
                        date);
}

bool roles_sends_securely(const struct ask *ask)
{
    return ask->flaw != IS_NOT_SECURE;
}

void roles_format(const struct ask *ask, char *to, size_t size)
{
    to[0] = '\0';
    if (ask->token > 0)
        (void)snprintf(to, size, "%sprincipal %u %s: ", ask->wants_key ? "a key for " : "",
                       ask->token, token_flaws[ask->flaw]);
}

/* ---- the judge ---- */

/* Requests in progress. */
static struct {
    const struct ask *ask; /* NULL if it has no principal */
    uint64_t first;        /* number of the assignments when it started */
} requests[SLOTS_MAX];

void roles_asked(unsigned slot, const struct ask *ask)
{
    requests[slot].ask = roles_are_used() && ask->token > 0 ? ask : NULL;
    requests[slot].first = (*newest)->number;
}

/* Compares the request, or each part of it, with all assignments since it
 * started. */
static void find_verdicts(unsigned slot, bool *ret_may_permit, bool *ret_may_refuse)
{
    const struct ask *ask = requests[slot].ask;
    struct needs needs;

    roles_needs(ask, &needs);
    *ret_may_permit = ask->flaw == NO_FLAW;
    *ret_may_refuse = ask->flaw != NO_FLAW;
    for (unsigned i = 0; ask->flaw == NO_FLAW && i < needs.count; i++) {
        bool is_permitted = false;

        for (const struct document *at = *newest; at && at->number >= requests[slot].first;
             at = at->older) {
            unsigned actions = actions_of(at, ask->token, needs.container);

            if (needs.actions[i] & ~actions)
                *ret_may_refuse = true;
            else
                is_permitted = true;
        }
        *ret_may_permit &= is_permitted;
    }
}

static noreturn void fail(unsigned slot, const struct reply *answer, const char *why)
{
    char asked[400];

    ask_format(requests[slot].ask, asked, sizeof asked);
    world_fail("%s\n  asked:    %s\n  response: %d %s\n  assignments from %llu to "
               "%llu",
               why, asked, answer ? answer->status : 0, answer ? answer->code : "",
               (unsigned long long)requests[slot].first, (unsigned long long)(*newest)->number);
}

void roles_committed(unsigned slot)
{
    bool may_permit, may_refuse;

    if (!requests[slot].ask)
        return;
    find_verdicts(slot, &may_permit, &may_refuse);
    if (!may_permit)
        fail(slot, NULL, "a request that no role permits has committed");
}

/* The response to a part of a transaction is in the body. */
static bool has_part(const struct reply *answer, const char *text)
{
    return world->plan.service == SIM_TABLE && answer->status == 202 &&
           memmem(answer->body, answer->body_size, text, strlen(text));
}

static bool says(const struct reply *answer, const char *code)
{
    return (answer->status == 403 && strcmp(answer->code, code) == 0) || has_part(answer, code);
}

/* Malformed requests are refused before their permissions are checked. */
static bool is_malformed(const struct reply *answer)
{
    return answer->status == 400 || has_part(answer, "HTTP/1.1 400 ");
}

bool roles_refused(unsigned slot, const struct reply *answer, bool may_fail)
{
    const struct ask *ask = requests[slot].ask;
    bool may_permit, may_refuse;
    const char *code;

    if (!ask || !answer->came)
        return false;
    find_verdicts(slot, &may_permit, &may_refuse);
    code = ask->flaw == NO_FLAW ? "AuthorizationPermissionMismatch" : "AuthenticationFailed";
    if (may_refuse && says(answer, code)) {
        world->checks++;
        return true;
    }
    if (may_permit || (may_fail && judge_says_cannot(answer)))
        return false;
    if (is_malformed(answer) || (ask->signature == SIGNED_BY_USER && answer->status == 403))
        return false; /* the SAS itself may permit nothing */
    fail(slot, answer, "a request is served that no role permits");
}

void roles_judge_key(unsigned slot, const struct reply *answer, bool may_fail)
{
    const char *oid = roles_principal(requests[slot].ask->token);

    world->requests++;
    if (!answer->came || roles_refused(slot, answer, may_fail) ||
        (may_fail && judge_says_cannot(answer)))
        return;
    if ((world->plan.faults & FAULT_CLOCK) && answer->status == 400)
        return; /* the key would end in the past, or too late */
    if (answer->status != 200 || !memmem(answer->body, answer->body_size, oid, strlen(oid)))
        fail(slot, answer, "no key for a user who may have one");
}
