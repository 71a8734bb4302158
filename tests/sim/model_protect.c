/* Retention policies, legal holds and keys of customers: what is refused, and what stays with a state of a blob.
 * rest: Set-Blob-Immutability-Policy, Delete-Blob-Immutability-Policy, Set-Blob-Legal-Hold, Encryption-at-rest;
 * docs: immutable-container-level-worm-policies, immutable-version-level-worm-policies */
#include <string.h>

#include "model_private.h"
#include "services.h"
#include "world.h"

#define SECOND_TICKS   UINT64_C(10000000)
/* Ticks of the server's clock at the beginning of 1970. */
#define UNIX_TICKS     UINT64_C(621355968000000000)
#define DAYS_MAX       146000u
#define EXTENSIONS_MAX 5u

bool protect_is_on(void)
{
    return world->plan.service == SIM_PROTECT;
}

bool protect_has_keys(void)
{
    return protect_is_on() && !(world->plan.faults & FAULT_WIRE);
}

uint64_t protect_day(void)
{
    bool is_short = protect_is_on() && !(world->plan.faults & FAULT_CLOCK);

    return is_short ? 3 * SECOND_TICKS : 86400 * SECOND_TICKS;
}

/* ---- what is protected ---- */

static bool refuse_if(struct run *run, bool by_hold, bool by_policy)
{
    if (!by_hold && !by_policy)
        return true;
    rule_refuse(run, 409, by_hold ? "BlobImmutableDueToLegalHold" : "BlobImmutableDueToPolicy");
    return false;
}

/* Returns whether the policy permits appending to blobs of that kind. */
static bool appends(const struct protection *p, enum blob_kind kind)
{
    return p->append == APPENDS_TO_ALL
               ? kind != KIND_PAGES
               : p->append == APPENDS_TO_APPEND_BLOBS && kind == KIND_APPENDED;
}

/* One state of a blob: the base, a snapshot or a version. */
struct piece {
    uint64_t created, modified;
    enum blob_kind kind;
    const struct shield *shield;
};

static struct piece base_of(const struct blob_state *b)
{
    return (struct piece){ b->created, b->modified, b->contents.kind, &b->shield };
}

static struct piece snapshot_of(const struct snapshot_state *s)
{
    return (struct piece){ s->created, s->modified, s->contents.kind, &s->shield };
}

/* Is it protected from deletion? The days of a container count from the creation, or from the last change of what may
 * be appended to. */
static bool check_deletion(struct run *run, struct piece piece)
{
    const struct protection *p = &run->out->container.protection;
    uint64_t now = run->doubt.kept.now;
    uint64_t from = appends(p, piece.kind) ? piece.modified : piece.created;

    if (p->has_versions)
        return refuse_if(run, piece.shield->hold, piece.shield->until > now);
    return refuse_if(run, p->tags > 0,
                     p->mode != NOT_RETAINED && from + p->days * protect_day() > now);
}

bool rule_check_deletion(struct run *run)
{
    const struct blob_state *b = &run->out->blob;
    const struct ask *ask = run->ask;

    if (run->out->snapshot)
        return check_deletion(run, snapshot_of(run->out->snapshot));
    for (unsigned i = 0; i < b->snapshot_count && ask->delete_mode != DELETE_BASE; i++)
        if (b->snapshots[i].expires == 0 && !b->snapshots[i].is_version &&
            !check_deletion(run, snapshot_of(&b->snapshots[i])))
            return false;
    return ask->delete_mode == DELETE_ONLY || !b->exists || check_deletion(run, base_of(b));
}

static bool creates(enum op op)
{
    return op == OP_PUT_BLOB || op == OP_PUT_BLOCK || op == OP_PUT_BLOCK_LIST || op == OP_COPY;
}

static bool changes_in_place(enum op op)
{
    return op == OP_SET_METADATA || op == OP_SET_PROPERTIES || op == OP_PUT_PAGE ||
           op == OP_CLEAR_PAGE;
}

bool rule_check_protection(struct run *run)
{
    const struct protection *p = &run->out->container.protection;
    const struct blob_state *b = &run->out->blob;
    enum op op = run->ask->op;
    bool is_append = op == OP_APPEND_BLOCK || op == OP_SEAL, by_policy = p->mode != NOT_RETAINED;

    if (p->is_closed && (creates(op) || op == OP_UNDELETE)) {
        rule_refuse(run, 409, "ContainerBeingDeleted");
        return false;
    }
    if (!b->exists)
        return true;
    if (p->has_versions)
        return (!changes_in_place(op) && !is_append) ||
               refuse_if(run, b->shield.hold, b->shield.mode != NOT_RETAINED);
    if (creates(op) || changes_in_place(op) || op == OP_SNAPSHOT)
        return refuse_if(run, p->tags > 0, by_policy);
    return !is_append || refuse_if(run, p->tags > 0 && !p->holds_append,
                                   by_policy && !appends(p, b->contents.kind));
}

/* ---- policies and holds of blobs ---- */

static uint64_t ticks_of(int64_t unix_s)
{
    return UNIX_TICKS + (uint64_t)unix_s * SECOND_TICKS;
}

static bool check_until(struct run *run)
{
    uint64_t until = ticks_of(run->ask->protect.until_s), now = run->doubt.kept.now;

    if (until > now && until - now <= DAYS_MAX * protect_day())
        return true;
    rule_refuse(run, 400, "InvalidHeaderValue");
    return false;
}

static bool check_versions(struct run *run)
{
    if (run->out->container.protection.has_versions)
        return true;
    rule_refuse(run, 409, "BlobOperationNotSupported");
    return false;
}

struct shield rule_default_shield(const struct run *run)
{
    const struct protection *p = &run->out->container.protection;
    uint64_t until = run->doubt.kept.now + p->days * protect_day();

    if (!p->has_versions || p->mode == NOT_RETAINED)
        return (struct shield){ .mode = NOT_RETAINED };
    return (struct shield){ .mode = p->mode,
                            .until = (until + SECOND_TICKS - 1) / SECOND_TICKS * SECOND_TICKS };
}

bool rule_give_shield(struct run *run, struct shield *ret_shield)
{
    const struct protect_ask *ask = &run->ask->protect;

    *ret_shield = rule_default_shield(run);
    if ((ask->has_policy || ask->has_hold) && !check_versions(run))
        return false;
    if (ask->has_policy && !check_until(run))
        return false;
    if (ask->has_policy) {
        ret_shield->mode = ask->has_mode ? ask->mode : UNLOCKED;
        ret_shield->until = ticks_of(ask->until_s);
    }
    ret_shield->hold = ask->has_hold && ask->hold;
    return true;
}

void rule_set_shield(struct run *run)
{
    struct blob_state *b = &run->out->blob;
    const struct protect_ask *ask = &run->ask->protect;
    struct shield *shield =
        run->out->snapshot ? &b->snapshots[run->out->snapshot - b->snapshots].shield : &b->shield;
    uint64_t until = ticks_of(ask->until_s);

    run->out->stamp = NULL;
    if (!check_versions(run) || (run->ask->op == OP_SET_POLICY && !check_until(run)))
        return;
    if (run->ask->op == OP_SET_HOLD) {
        shield->hold = ask->hold;
    } else if (run->ask->op == OP_SET_POLICY) {
        if (shield->mode == LOCKED &&
            ((ask->has_mode && ask->mode != LOCKED) || until < shield->until)) {
            rule_refuse(run, 409, "BlobImmutableDueToPolicy");
            return;
        }
        shield->until = until;
        if (ask->has_mode)
            shield->mode = ask->mode;
        else if (shield->mode == NOT_RETAINED)
            shield->mode = UNLOCKED;
    } else if (shield->mode == LOCKED) {
        rule_refuse(run, 409, "ImmutabilityPolicyDeleteOnLockedPolicy");
        return;
    } else {
        shield->mode = NOT_RETAINED;
        shield->until = 0;
    }
    rule_succeed(run, 200, true);
}

void rule_set_created(struct run *run, enum blob_kind kind)
{
    struct blob_state *b = &run->out->blob;

    if (!b->exists || b->contents.kind != kind)
        b->created = run->doubt.kept.now;
}

/* ---- policies and holds of containers ---- */

static void refuse_input(struct run *run)
{
    rule_refuse(run, 400, "InvalidInput");
}

static void set_policy(struct run *run, struct protection *p)
{
    const struct protect_ask *ask = &run->ask->protect;

    if (ask->days < 1 || ask->days > DAYS_MAX) {
        refuse_input(run);
    } else if (p->mode == LOCKED) {
        rule_refuse(run, 409, "ContainerImmutabilityPolicyLocked");
    } else if (p->has_versions && ask->append != APPENDS_NOTHING) {
        refuse_input(run);
    } else {
        p->mode = UNLOCKED;
        p->days = ask->days;
        p->append = ask->append;
    }
}

static void extend_policy(struct run *run, struct protection *p)
{
    unsigned days = run->ask->protect.days;

    if (days > DAYS_MAX || p->mode != LOCKED || days <= p->days ||
        p->extensions >= EXTENSIONS_MAX) {
        refuse_input(run);
        return;
    }
    p->days = days;
    p->extensions++;
}

static void lock_or_remove(struct run *run, struct protection *p)
{
    if (p->mode == LOCKED) {
        rule_refuse(run, 409, "ContainerImmutabilityPolicyLocked");
    } else if (p->mode == NOT_RETAINED) {
        refuse_input(run);
    } else if (run->ask->protect.change == CHANGE_LOCK) {
        p->mode = LOCKED;
    } else {
        p->mode = NOT_RETAINED;
        p->days = 0;
        p->append = APPENDS_NOTHING;
    }
}

static void change_holds(struct run *run, struct protection *p)
{
    const struct protect_ask *ask = &run->ask->protect;
    bool adds = ask->change == CHANGE_HOLD;

    if (p->has_versions) {
        rule_refuse(run, 409, "BlobOperationNotSupported");
        return;
    }
    p->tags = adds ? p->tags | ask->tags : p->tags & ~ask->tags;
    p->holds_append = p->tags > 0 && (adds ? ask->append == APPENDS_TO_ALL : p->holds_append);
}

/* A policy of the container would end for what is there. */
static void enable_versions(struct run *run, struct protection *p)
{
    if (!kept_is_versioned_at(run->doubt.source_at) || p->mode != NOT_RETAINED || p->tags > 0)
        rule_refuse(run, 409, "BlobOperationNotSupported");
    else
        p->has_versions = true;
}

void rule_protect_container(struct run *run)
{
    struct protection *p = &run->out->container.protection;

    run->out->stamp = NULL;
    rule_succeed(run, 200, true);
    switch (run->ask->protect.change) {
    case CHANGE_VERSIONS:
        enable_versions(run, p);
        break;
    case CHANGE_POLICY:
        set_policy(run, p);
        break;
    case CHANGE_EXTEND:
        extend_policy(run, p);
        break;
    case CHANGE_LOCK:
    case CHANGE_REMOVE:
        lock_or_remove(run, p);
        break;
    case CHANGE_HOLD:
    case CHANGE_RELEASE:
        change_holds(run, p);
        break;
    case CHANGE_CLOSE:
    case CHANGE_OPEN:
    case PROTECT_CHANGES:
        p->is_closed = run->ask->protect.change == CHANGE_CLOSE;
        break;
    }
}

/* Is there a blob, a snapshot or a version that is not soft-deleted? Snapshots that were deleted a moment ago may
 * count until their records are gone. */
static bool has_blobs(const struct run *run)
{
    const struct container_state *c = &run->out->container;
    uint64_t at = run->doubt.source_at;

    for (unsigned i = 0; i < BLOBS; i++) {
        const struct blob_state *b = model_blob_in(c->space, i, at);

        if (b->incarnation != c->incarnation)
            continue;
        if (b->exists || (run->doubt.came_back && !run->commits && b->gone[0]))
            return true;
        for (unsigned s = 0; s < b->snapshot_count; s++)
            if (b->snapshots[s].expires == 0 || (run->doubt.came_back && !run->commits))
                return true;
    }
    return false;
}

bool rule_check_drop(struct run *run)
{
    const struct protection *p = &run->out->container.protection;

    if (p->tags == 0 && !p->has_versions && p->mode == NOT_RETAINED)
        return true;
    if (p->tags == 0 && run->ask->protect.by_operator && p->is_closed && !has_blobs(run))
        return true;
    rule_refuse(run, 409,
                p->tags > 0         ? "ContainerHasLegalHold"
                : p->has_versions   ? "ContainerImmutableStorageWithVersioningEnabled"
                : p->mode == LOCKED ? "ContainerImmutabilityPolicyLocked"
                                    : "BlobImmutableDueToPolicy");
    return false;
}

bool protect_forbids_replacing(unsigned container)
{
    const struct protection *p = &model_container_at(container, world->commits)->protection;

    return p->tags > 0 || p->has_versions || p->mode != NOT_RETAINED;
}

/* ---- keys ---- */

bool rule_check_key(struct run *run, unsigned key)
{
    unsigned given = run->ask->protect.key;

    if (given == key)
        return true;
    rule_refuse(run, 409,
                key == 0     ? "BlobDoesNotUseCustomerSpecifiedEncryption"
                : given == 0 ? "BlobUsesCustomerSpecifiedEncryption"
                             : "BlobCustomerSpecifiedEncryptionMismatch");
    return false;
}
