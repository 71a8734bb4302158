/* See container_immutability.h. */
#include "blob/container_immutability.h"

#include "blob/immutability.h"
#include "blob/list_tree.h"
#include "blob/retention.h"
#include "properties/soft_delete.h"
#include "store/states.h"

/* Events of policies and of holds that the log retains. docs: immutable-storage-overview,
 * immutable-container-level-worm-policies "Limits" */
#define POLICY_EVENTS_MAX 7u
#define HOLD_EVENTS_MAX   10u

/* ---- the log ---- */

bool protection_log_next(struct decoder *log, struct protection_event *ret_event)
{
    uint8_t change;

    if (log->at == log->end || log->bad)
        return false;
    change = decode_u8(log);
    *ret_event = (struct protection_event){ .at = decode_u64(log) };
    ret_event->days = decode_u64(log);
    ret_event->tags = decode_bytes(log);
    if (change > PROTECT_RELEASE)
        log->bad = true;
    ret_event->change = (enum protection_change)change;
    return !log->bad;
}

static bool is_of_holds(enum protection_change change)
{
    return change == PROTECT_HOLD || change == PROTECT_RELEASE;
}

static void add_event(struct text *out, const struct protection_event *event)
{
    encode_u8(out, (uint8_t)event->change);
    encode_u64(out, event->at);
    encode_u64(out, event->days);
    encode_bytes(out, event->tags);
}

/* Adds an event. Drops the oldest of its kind if there are too many. */
static struct bytes log_with(struct arena *arena, struct bytes log,
                             const struct protection_event *added)
{
    const bool of_holds = is_of_holds(added->change);
    const unsigned max = of_holds ? HOLD_EVENTS_MAX : POLICY_EVENTS_MAX;
    struct protection_event event;
    unsigned count = 0;
    struct decoder in;
    struct text out;

    for (decoder_init(&in, log); protection_log_next(&in, &event);)
        count += is_of_holds(event.change) == of_holds;
    text_init(&out, arena, log.len + 64);
    for (decoder_init(&in, log); protection_log_next(&in, &event);) {
        if (is_of_holds(event.change) == of_holds && count >= max)
            count--;
        else
            add_event(&out, &event);
    }
    add_event(&out, added);
    return text_bytes(&out);
}

/* ---- tags of legal holds ---- */

/* Three to 23 letters and digits; ret_tag: in lower case, as the management API stores it. */
static enum error read_tag(struct decision *d, struct bytes given, struct bytes *ret_tag)
{
    char *tag = arena_bytes(d->arena, given.len);
    bool is_good = given.len >= HOLD_TAG_MIN && given.len <= HOLD_TAG_MAX;

    for (size_t i = 0; i < given.len && is_good; i++) {
        char c = given.ptr[i];

        tag[i] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
        is_good = (tag[i] >= 'a' && tag[i] <= 'z') || (c >= '0' && c <= '9');
    }
    *ret_tag = bytes_of(tag, given.len);
    return is_good ? OK
                   : decision_fail(d, E_InvalidInput,
                                   "A tag of a legal hold has %u to %u letters and digits.",
                                   HOLD_TAG_MIN, HOLD_TAG_MAX);
}

static bool has_tag(struct bytes tags, struct bytes tag)
{
    struct decoder in;

    for (decoder_init(&in, tags); in.at < in.end && !in.bad;)
        if (bytes_equal(decode_bytes(&in), tag))
            return true;
    return false;
}

/* Appends those tags of a list that are not in the other one. Returns how many. */
static unsigned add_tags(struct text *out, struct bytes tags, struct bytes except)
{
    unsigned count = 0;
    struct decoder in;

    for (decoder_init(&in, tags); in.at < in.end && !in.bad;) {
        struct bytes tag = decode_bytes(&in);

        if (has_tag(except, tag))
            continue;
        encode_bytes(out, tag);
        count++;
    }
    return count;
}

/* Reads "case1,case2". */
static enum error read_tags(struct decision *d, struct bytes given, struct bytes *ret_tags)
{
    struct bytes rest = given, one, tag;
    struct text out;
    enum error e = OK;

    text_init(&out, d->arena, given.len + HOLDS_MAX);
    while (!e && rest.ptr) {
        bytes_cut(rest, ',', &one, &rest);
        e = read_tag(d, one, &tag);
        if (!e && !has_tag(text_bytes(&out), tag))
            encode_bytes(&out, tag);
    }
    *ret_tags = text_bytes(&out);
    return e;
}

static enum error change_holds(struct decision *d, const struct protect_container_parameters *p,
                               struct container_immutability *i)
{
    bool adds = p->change == PROTECT_HOLD;
    struct bytes tags = { NULL, 0 };
    unsigned count = 0;
    struct text out;
    enum error e = read_tags(d, p->tags, &tags);

    if (e)
        return e;
    text_init(&out, d->arena, i->holds.len + tags.len + 1);
    count = add_tags(&out, i->holds, adds ? bytes_of(NULL, 0) : tags);
    if (adds)
        count += add_tags(&out, tags, i->holds);
    if (count > HOLDS_MAX)
        return decision_fail(d, E_InvalidInput, "A container has at most %u legal hold tags.",
                             HOLDS_MAX);
    i->holds = text_bytes(&out);
    i->holds_append = count > 0 && (adds ? p->append == APPEND_TO_ALL : i->holds_append);
    return OK;
}

/* ---- policies ---- */

static enum error check_days(struct decision *d, const struct protect_container_parameters *p)
{
    return p->days >= 1 && p->days <= POLICY_DAYS_MAX
               ? OK
               : decision_fail(d, E_InvalidInput, "A policy has 1 to %u days.", POLICY_DAYS_MAX);
}

static enum error set_policy(struct decision *d, const struct protect_container_parameters *p,
                             struct container_immutability *i)
{
    enum error e = check_days(d, p);

    if (e)
        return e;
    if (i->mode == POLICY_LOCKED)
        return E_ContainerImmutabilityPolicyLocked;
    if (i->has_versions && p->append != APPEND_TO_NONE)
        return decision_fail(d, E_InvalidInput,
                             "The policy of blob versions does not permit appending.");
    i->mode = POLICY_UNLOCKED;
    i->days = p->days;
    i->append = p->append;
    return OK;
}

static enum error extend_policy(struct decision *d, const struct protect_container_parameters *p,
                                struct container_immutability *i)
{
    enum error e = check_days(d, p);

    if (!e && i->mode != POLICY_LOCKED)
        e = decision_fail(d, E_InvalidInput, "Only a locked policy is extended.");
    if (!e && p->days <= i->days)
        e = decision_fail(d, E_InvalidInput, "A locked policy has %u days, which only grow.",
                          (unsigned)i->days);
    if (!e && i->extensions >= EXTENSIONS_MAX)
        e = decision_fail(d, E_InvalidInput, "A locked policy is extended at most %u times.",
                          EXTENSIONS_MAX);
    if (e)
        return e;
    i->days = p->days;
    i->extensions++;
    return OK;
}

static enum error change_policy(struct decision *d, const struct protect_container_parameters *p,
                                struct container_immutability *i)
{
    if (p->change == PROTECT_POLICY)
        return set_policy(d, p, i);
    if (p->change == PROTECT_EXTEND)
        return extend_policy(d, p, i);
    if (i->mode == POLICY_LOCKED)
        return E_ContainerImmutabilityPolicyLocked;
    if (i->mode == POLICY_NONE)
        return decision_fail(d, E_InvalidInput, "The container has no policy.");
    if (p->change == PROTECT_LOCK) {
        i->mode = POLICY_LOCKED;
        return OK;
    }
    i->mode = POLICY_NONE;
    i->days = 0;
    i->append = APPEND_TO_NONE;
    return OK;
}

/* A policy of the container would end for its existing blobs, which have none of their own.
 * decision: 1406 */
static enum error enable_versions(struct decision *d, struct container_immutability *i)
{
    struct service_properties properties;
    enum store_result result = service_properties_guard(d, "blob", &properties);

    if (result)
        return decision_fail_store(d, result);
    if (blob_state(d)->container.hierarchical)
        return decision_fail(d, E_BlobOperationNotSupported,
                             "A container with a hierarchical namespace has no blob versions.");
    if (!properties.is_versioning_enabled)
        return decision_fail(d, E_BlobOperationNotSupported,
                             "Enable versioning for the account first.");
    if (i->mode != POLICY_NONE || i->holds.len > 0)
        return decision_fail(d, E_BlobOperationNotSupported,
                             "Remove the container's policy and legal holds first.");
    i->has_versions = true;
    return OK;
}

/* ---- the operations ---- */

static enum error change(struct decision *d, const struct protect_container_parameters *p,
                         struct container_immutability *i)
{
    switch (p->change) {
    case PROTECT_VERSIONS:
        return enable_versions(d, i);
    case PROTECT_POLICY:
    case PROTECT_LOCK:
    case PROTECT_EXTEND:
    case PROTECT_REMOVE:
        return change_policy(d, p, i);
    case PROTECT_HOLD:
    case PROTECT_RELEASE:
        return i->has_versions ? decision_fail(d, E_BlobOperationNotSupported,
                                               "The blobs have legal holds of their own.")
                               : change_holds(d, p, i);
    case PROTECT_CLOSE:
    case PROTECT_OPEN:
        i->is_closed = p->change == PROTECT_CLOSE;
        return OK;
    }
    return E_InvalidInput;
}

/* Writes that began before the container was protected depend on it, without its partition in their
 * commit. */
struct restart {
    struct commit_callback callback;
    struct store *store;
    struct guid space;
};

static void restart_decisions(struct commit_callback *callback)
{
    const struct restart *restart = (const struct restart *)(void *)callback;

    store_restart_decisions(restart->store, restart->space);
}

/* For tasks and pending copies. */
static void write_second(struct decision *d, const struct container *container)
{
    const struct partition at =
        container_protection_partition(d->arena, container->space, &container->root.name);
    struct decision_part *part = decision_open(d, at, changes_new(d->arena));

    container_protection_write(part->changes, d->arena, &container->immutability);
    decision_keep_above(d);
}

/* The ETag of the container is unchanged, like that of a blob. */
enum error protect_container_decide(struct decision *d,
                                    const struct protect_container_parameters *p,
                                    struct protect_container_result *r)
{
    struct container container = blob_state(d)->container;
    struct container_immutability *i = &container.immutability;
    struct restart *restart = arena_alloc(d->arena, sizeof *restart);
    struct protection_event event = { .change = p->change, .at = d->now, .days = p->days };
    enum error e = change(d, p, i);

    if (e)
        return e;
    event.tags = p->tags;
    if (p->change < PROTECT_CLOSE)
        i->log = log_with(d->arena, i->log, &event);
    container_write(d->changes, d->arena, &container);
    write_second(d, &container);
    *restart = (struct restart){ .callback = { .run = restart_decisions },
                                 .store = d->store,
                                 .space = container.space };
    decision_on_commit(d, &restart->callback);
    r->immutability = *i;
    return OK;
}

enum error get_container_protection_decide(struct decision *d,
                                           const struct get_container_protection_parameters *p,
                                           struct get_container_protection_result *r)
{
    (void)p;
    r->immutability = blob_state(d)->container.immutability;
    return OK;
}

/* ---- deletion of the container ---- */

/* Returns true for a blob, snapshot or version that is neither soft-deleted nor a directory. */
static bool is_blob(const struct space_record *record)
{
    struct blob blob;

    if ((!bytes_is(record->record_key, "\xFF") &&
         !bytes_has_prefix(record->record_key, blob_snapshot_prefix)) ||
        !blob_decode(record->value, &blob))
        return false;
    return !blob.uncommitted && !blob.is_directory && blob.deletion.at == 0;
}

static enum store_result find_blob(struct decision *d, bool *ret_found)
{
    const struct guid space = blob_state(d)->container.space;
    const struct bytes start = bytes_from_string("");
    struct space_iterator *iterator = space_iterator_open(d->store, space, start, start, d->access);
    struct space_record record;
    enum store_result result = STORE_OK;

    *ret_found = false;
    while (!*ret_found && !(result = space_iterator_next(iterator, &record)))
        *ret_found = is_blob(&record);
    decision_saw(d, space_iterator_sequence(iterator));
    space_iterator_close(iterator);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* Does the same for a hierarchical container, whose space may have the files of others. */
static enum store_result find_file(struct decision *d, bool *ret_found)
{
    static const struct list_blobs_parameters all;
    struct tree_records *records = tree_records_open(d, &all, bytes_of("", 0));
    struct space_record record;
    enum store_result result = STORE_OK;

    *ret_found = false;
    while (!*ret_found && !(result = tree_records_next(records, &record)))
        *ret_found = is_blob(&record);
    tree_records_close(records);
    if (result == STORE_NOT_FOUND)
        result = STORE_OK;
    return result ? result : tree_records_confirm(records);
}

static enum error refuse_drop(const struct container_immutability *i)
{
    if (i->has_versions)
        return E_ContainerImmutableStorageWithVersioningEnabled;
    return i->mode == POLICY_LOCKED ? E_ContainerImmutabilityPolicyLocked
                                    : E_BlobImmutableDueToPolicy;
}

enum error immutability_permit_drop(struct decision *d)
{
    const struct container_immutability *i = &blob_state(d)->container.immutability;
    enum store_result result;
    bool has_blobs;

    if (i->holds.len > 0)
        return E_ContainerHasLegalHold;
    if (!i->has_versions && i->mode == POLICY_NONE)
        return OK;
    if (!d->input->by_operator || !i->is_closed)
        return refuse_drop(i);
    result =
        blob_state(d)->container.hierarchical ? find_file(d, &has_blobs) : find_blob(d, &has_blobs);
    if (result)
        return decision_fail_store(d, result);
    return has_blobs ? refuse_drop(i) : OK;
}
