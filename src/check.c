/* Two rounds over all records: the first learns the names of containers and holds the index of pieces
 * against the records, the second reads every byte of every blob. */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "auth/auth.h"
#include "blob/blob.h"
#include "check_records.h"
#include "service/names.h"
#include "store/inspect.h"

#define ADOPT_TRIES      1000u
#define KEY_OF_BASE      '\xFF'
#define KEYS_UNCOMMITTED "uv" /* what keys of uncommitted blocks begin with: blob/uncommitted.h */

enum kind { CONTAINER, QUEUE, TABLE, KINDS };

/* A container, a queue or a table. */
struct known_container {
    struct guid space;
    struct guid account;
    char *name;
    enum kind kind;
};

/* A place, copied. */
struct place_copy {
    bool known;
    struct guid space;
    char *partition;
};

struct lost_range {
    struct place_copy after;
    struct place_copy to;
};

struct check {
    struct store *store;
    struct known_container *containers;
    size_t container_count;
    struct guid *spaces; /* in which there are blobs */
    size_t space_count;
    struct lost_range *lost;
    size_t lost_count;
    uint64_t kinds[KINDS];  /* containers, queues, tables */
    uint64_t counts[KINDS]; /* blobs, messages, entities */
    uint64_t findings;
    char *buffer; /* CHECK_READ_BYTES */
};

static bool check_container(struct bytes value, struct guid *ret_space)
{
    struct container container;
    bool makes_sense = container_decode(value, &container);

    if (makes_sense)
        *ret_space = container.space;
    return makes_sense;
}

static const struct {
    const char *service, *name, *record_key;
    bool (*read)(struct bytes value, struct guid *ret_space);
} kinds[KINDS] = {
    [CONTAINER] = { "blob", "container", "c", check_container },
    [QUEUE] = { "queue", "queue", "q", check_queue },
    [TABLE] = { "table", "table", "t", check_table },
};

static void finding(void *context, const char *sentence)
{
    struct check *check = context;

    check->findings++;
    printf("damaged  %s\n", sentence);
}

/* ---- names ---- */

/* The next name of "name:key[:key];name:..."; empty at the end. */
static struct bytes next_account(struct bytes *list)
{
    struct bytes entry, name, keys;

    bytes_cut(*list, ';', &entry, list);
    bytes_cut(entry, ':', &name, &keys);
    return bytes_trim(name);
}

static const char *account_list(void)
{
    const char *text = getenv("AZURITE_ACCOUNTS");

    return text && *text ? text : DEVELOPMENT_ACCOUNT;
}

/* An account's name cannot be read from its space: those that are served are tried.
 * returns its name; ptr NULL: none of them */
static struct bytes find_account(const struct guid *space, enum kind kind)
{
    struct bytes list = bytes_from_string(account_list());

    while (list.len > 0) {
        struct bytes name = next_account(&list);
        struct guid found = account_space(kinds[kind].service, name);

        if (guid_equal(&found, space))
            return name;
    }
    return (struct bytes){ NULL, 0 };
}

static void print_account(const struct guid *space, enum kind kind)
{
    struct bytes name = find_account(space, kind);

    if (name.ptr)
        printf("%.*s/", BYTES_ARG(name));
    else
        printf("(an account that AZURITE_ACCOUNTS does not name)/");
}

static const struct known_container *find_container(const struct check *check,
                                                    const struct guid *space)
{
    for (size_t i = 0; i < check->container_count; i++)
        if (guid_equal(&check->containers[i].space, space))
            return &check->containers[i];
    return NULL;
}

static void print_blob(const struct check *check, const struct guid *space, struct bytes name)
{
    const struct known_container *container = find_container(check, space);

    if (container) {
        print_account(&container->account, container->kind);
        printf("%s%s%.*s", container->name, name.len > 0 ? "/" : "", BYTES_ARG(name));
    } else {
        printf("(a container whose record is lost)/%.*s", BYTES_ARG(name));
    }
}

static void print_damaged(struct check *check, const struct record_place *place, const char *what)
{
    check->findings++;
    printf("damaged  ");
    print_blob(check, &place->space, place->partition_key);
    if (place->family == RECORD_LISTED && bytes_has_prefix(place->record_key, blob_snapshot_prefix))
        printf(" (a snapshot)");
    printf(": %s\n", what);
}

/* ---- the first round ---- */

static char *copy_text(struct bytes text)
{
    char *copy = xmalloc(text.len + 1);

    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}

static void add_container(struct check *check, struct known_container container)
{
    check->containers =
        xrealloc(check->containers, (check->container_count + 1) * sizeof check->containers[0]);
    check->containers[check->container_count++] = container;
}

static bool is_blob(const struct record_place *place, const struct record *record)
{
    struct blob blob;

    return place->record_key.len > 0 &&
           (place->record_key.ptr[0] == KEY_OF_BASE ||
            bytes_has_prefix(place->record_key, blob_snapshot_prefix)) &&
           blob_decode(record->value, &blob);
}

/* May it be the record of a container, queue or table? An entity may have the same key. */
static bool is_named(const struct record_place *place, enum kind *ret_kind)
{
    enum kind kind = CONTAINER;

    while (kind < KINDS && !bytes_is(place->record_key, kinds[kind].record_key))
        kind++;
    *ret_kind = kind;
    return kind < KINDS && place->family == RECORD_LISTED && place->partition_key.len > 0;
}

/* Records of a space come one after the other. */
static void learn(void *context, const struct record_place *place, const struct record *record)
{
    struct check *check = context;
    struct guid space;
    enum kind kind;

    if (place->family != RECORD_LISTED)
        return;
    if (is_named(place, &kind) && kinds[kind].read(record->value, &space)) {
        add_container(check, (struct known_container){ space, place->space,
                                                       copy_text(place->partition_key), kind });
        check->kinds[kind]++;
    } else if (is_blob(place, record) &&
               (check->space_count == 0 ||
                !guid_equal(&check->spaces[check->space_count - 1], &place->space))) {
        check->spaces = xrealloc(check->spaces, (check->space_count + 1) * sizeof check->spaces[0]);
        check->spaces[check->space_count++] = place->space;
    }
}

/* An entity may look like the record of a queue, by its key and by chance. */
static void forget_entities(struct check *check)
{
    size_t kept = 0;

    for (size_t i = 0; i < check->container_count; i++) {
        struct known_container *known = &check->containers[i];
        const struct known_container *owner = find_container(check, &known->account);

        if (owner && owner->kind == TABLE) {
            check->kinds[known->kind]--;
            free(known->name);
        } else {
            check->containers[kept++] = *known;
        }
    }
    check->container_count = kept;
}

/* ---- the second round ---- */

static void check_blob(struct check *check, const struct record_place *place,
                       const struct record *record)
{
    struct blob blob;

    check->counts[CONTAINER] +=
        place->record_key.len > 0 && place->record_key.ptr[0] == KEY_OF_BASE;
    if (!blob_decode(record->value, &blob))
        print_damaged(check, place, "its record makes no sense");
    else if (blob.content.length > 0 &&
             check_content(check->store, place, &blob.content, check->buffer))
        print_damaged(check, place, "some of its bytes cannot be read");
}

static void check_uncommitted(struct check *check, const struct record_place *place,
                              const struct record *record)
{
    for (size_t i = 0; i < record->piece_count; i++) {
        const struct piece *piece = &record->pieces[i];

        for (uint32_t at = 0; at < piece->length;) {
            uint32_t left = piece->length - at;
            uint32_t size = left < CHECK_READ_BYTES ? left : CHECK_READ_BYTES;

            if (piece_read(check->store, piece, at, size, check->buffer, NULL)) {
                print_damaged(check, place, "an uncommitted block cannot be read");
                return;
            }
            at += size;
        }
    }
}

/* Of a queue or a table. */
static void check_part(struct check *check, enum kind kind, const struct record_place *place,
                       const struct record *record)
{
    struct arena *arena = arena_new(CHECK_ARENA_MAX);
    bool counts;
    const char *wrong =
        (kind == QUEUE ? check_message : check_entity)(check->store, arena, place, record, &counts);

    check->counts[kind] += counts;
    if (wrong)
        print_damaged(check, place, wrong);
    arena_free(arena);
}

/* The record of a container, queue or table that could not be read. */
static void check_named(struct check *check, enum kind kind, const struct record_place *place,
                        const struct record *record)
{
    struct guid space;

    if (!find_account(&place->space, kind).ptr || kinds[kind].read(record->value, &space))
        return;
    check->findings++;
    printf("damaged  ");
    print_account(&place->space, kind);
    printf("%.*s: the record of the %s makes no sense\n", BYTES_ARG(place->partition_key),
           kinds[kind].name);
}

static void check_record(void *context, const struct record_place *place,
                         const struct record *record)
{
    struct check *check = context;
    const struct known_container *container = find_container(check, &place->space);
    enum kind kind;

    if (container && container->kind != CONTAINER) {
        check_part(check, container->kind, place, record);
    } else if (!container && is_named(place, &kind)) {
        check_named(check, kind, place, record);
    } else if (!container) {
        if (place->family == RECORD_LISTED && is_blob(place, record))
            print_damaged(check, place, "its container is lost");
    } else if (place->family == RECORD_LISTED) {
        check_blob(check, place, record);
    } else if (place->record_key.len > 0 && strchr(KEYS_UNCOMMITTED, place->record_key.ptr[0])) {
        check_uncommitted(check, place, record);
    }
}

static void ignore(void *context, const char *sentence)
{
    (void)context;
    (void)sentence;
}

/* ---- salvage ---- */

static struct place_copy copy_place(const struct record_place *place)
{
    if (!place)
        return (struct place_copy){ .known = false };
    return (struct place_copy){ true, place->space, copy_text(place->partition_key) };
}

/* Names are known after the first round only. */
static void note_lost(void *context, const struct record_place *after,
                      const struct record_place *to)
{
    struct check *check = context;

    check->findings++;
    check->lost = xrealloc(check->lost, (check->lost_count + 1) * sizeof check->lost[0]);
    check->lost[check->lost_count++] = (struct lost_range){ copy_place(after), copy_place(to) };
}

static void print_place(const struct check *check, const struct place_copy *place,
                        const char *unknown)
{
    if (!place->known)
        printf("%s", unknown);
    else
        print_blob(check, &place->space, bytes_from_string(place->partition));
}

static void print_lost(const struct check *check)
{
    for (size_t i = 0; i < check->lost_count; i++) {
        printf("lost     records behind ");
        print_place(check, &check->lost[i].after, "the beginning of a table");
        printf(" and up to ");
        print_place(check, &check->lost[i].to, "its end");
        printf("\n");
    }
}

/* Makes a container of blobs whose container's record is lost, so that they can be read. */
static bool adopt(struct check *check, const struct guid *space, const char *name)
{
    struct bytes list = bytes_from_string(account_list());
    struct partition partition = { blob_account_space(next_account(&list)),
                                   bytes_from_string(name) };
    struct arena *arena = arena_new(CHECK_ARENA_MAX);
    struct snapshot *snapshot = snapshot_open(check->store, partition, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(arena);
    struct commit_part part = { snapshot, changes };
    instant now = clock_now();
    struct container container = {
        .space = *space,
        .created = now,
        .etag = etag_after((struct etag){ 0 }, now),
        .modified = now,
    };
    struct container found;
    uint64_t sequence;
    bool adopted = false;

    if (container_read(snapshot, arena, &found) == STORE_NOT_FOUND) {
        container_write(changes, arena, &container);
        adopted = !store_commit(check->store, &part, 1, now, STORE_MAY_BLOCK, &sequence);
    }
    if (adopted)
        add_container(check, (struct known_container){ *space, partition.space,
                                                       copy_text(partition.key), CONTAINER });
    snapshot_close(snapshot);
    arena_free(arena);
    return adopted;
}

static void adopt_all(struct check *check)
{
    unsigned number = 0;

    for (size_t i = 0; i < check->space_count; i++) {
        char name[32];
        bool adopted = find_container(check, &check->spaces[i]) != NULL;

        if (adopted)
            continue;
        check->findings++;
        do
            snprintf(name, sizeof name, "salvaged-%u", ++number);
        while (!(adopted = adopt(check, &check->spaces[i], name)) && number < ADOPT_TRIES);
        printf("lost     the record of a container: %s%s\n",
               adopted ? "its blobs are in the container " : "its blobs are out of reach",
               adopted ? name : "");
    }
}

static void release(struct check *check)
{
    for (size_t i = 0; i < check->container_count; i++)
        free(check->containers[i].name);
    for (size_t i = 0; i < check->lost_count; i++) {
        free(check->lost[i].after.partition);
        free(check->lost[i].to.partition);
    }
    free(check->containers);
    free(check->spaces);
    free(check->lost);
    free(check->buffer);
}

/* ---- the whole ---- */

static bool look_at_all(struct check *check, const char *location, bool salvages)
{
    struct store_options options = { .location = location, .must_exist = true, .sync = true };
    struct store_usage usage;
    const char *problem = "";
    enum store_result result = store_open_embedded(&options, &check->store, &problem);

    if (result) {
        fprintf(stderr, "lagra: cannot open the data folder %s: %s\n", location, problem);
        return false;
    }
    /* Contents of deleted containers are gone then. */
    store_collect_now(check->store, &usage);
    check->buffer = xmalloc(CHECK_READ_BYTES);
    result = store_inspect(check->store, learn, finding, check);
    forget_entities(check);
    if (salvages)
        adopt_all(check);
    print_lost(check);
    if (!result)
        result = store_inspect(check->store, check_record, ignore, check);
    store_close(check->store);
    if (result)
        fprintf(stderr, "lagra: not all records could be read: %s\n", store_result_text(result));
    return !result;
}

static void print_totals(const struct check *check)
{
    static const char *const counted[KINDS] = { "blobs", "messages", "entities" };

    for (enum kind kind = CONTAINER; kind < KINDS; kind++)
        printf("%" PRIu64 " %s in %" PRIu64 " %ss%s", check->counts[kind], counted[kind],
               check->kinds[kind], kinds[kind].name, kind + 1 < KINDS ? ", " : "");
    printf("; damaged or lost: %" PRIu64 "\n", check->findings);
}

int check_run(const char *location, const char *salvage_to)
{
    struct check check = { 0 };
    const struct salvage_listener listener = { finding, note_lost, &check };
    const char *problem = "";
    bool done = true;

    if (salvage_to && store_salvage(location, salvage_to, &listener, &problem)) {
        fprintf(stderr, "lagra: cannot salvage %s to %s: %s\n", location, salvage_to, problem);
        done = false;
    }
    if (done)
        done = look_at_all(&check, salvage_to ? salvage_to : location, salvage_to != NULL);
    if (done)
        print_totals(&check);
    release(&check);
    return done && check.findings == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
