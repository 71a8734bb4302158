#include "fixture.h"

#include "check/check.h"
#include "service/names.h"

int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    snprintf(f->folder, sizeof f->folder, "/tmp/lagra-check-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    f->arena = arena_new(ARENA);
    *state = f;
    return 0;
}

int teardown(void **state)
{
    struct fixture *f = *state;
    char command[200];

    snprintf(command, sizeof command, "rm -rf %s %s-saved", f->folder, f->folder);
    assert_int_equal(system(command), 0);
    arena_free(f->arena);
    free(f);
    return 0;
}

void open_store(struct fixture *f)
{
    struct store_options options = { .location = f->folder, .sync = true };
    const char *problem = "";

    assert_int_equal(store_open_embedded(&options, &f->store, &problem), STORE_OK);
}

void commit(struct fixture *f, struct partition partition, const struct changes *changes)
{
    struct read_view *snapshot = read_view_open(f->store, partition, STORE_MAY_BLOCK);
    struct commit_part part = { snapshot, changes };
    uint64_t sequence;

    assert_int_equal(store_commit(f->store, &part, 1, clock_now(), STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(snapshot);
}

struct partition named(const char *service, const char *name)
{
    return (struct partition){ account_space(service, bytes_from_string(ACCOUNT)),
                               bytes_from_string(name) };
}

void put_raw(struct fixture *f, struct partition partition, enum record_family family,
             struct bytes key, const char *value)
{
    struct changes *changes = changes_new(f->arena);

    changes_put(changes, family, key, bytes_from_string(value), NULL, 0);
    commit(f, partition, changes);
}

/* What a check prints. */
static const char *run_check(struct fixture *f, const char *folder, const char *salvage_to,
                             int status)
{
    static char said[8192];
    char path[100];
    int before = dup(STDOUT_FILENO);
    FILE *file;
    size_t size;

    snprintf(path, sizeof path, "%s/said", f->folder);
    fflush(stdout);
    assert_non_null(freopen(path, "w", stdout));
    assert_int_equal(check_run(folder, salvage_to, NULL, /* json= */ false), status);
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    file = fopen(path, "r");
    size = fread(said, 1, sizeof said - 1, file);
    said[size] = '\0';
    fclose(file);
    unlink(path);
    print_message("%s", said);
    return said;
}

const char *check(struct fixture *f, int status)
{
    store_close(f->store);
    return run_check(f, f->folder, NULL, status);
}

static const char *salvage_as(struct fixture *f, int status)
{
    char to[100];
    const char *said;

    store_close(f->store);
    snprintf(to, sizeof to, "%s-saved", f->folder);
    said = run_check(f, f->folder, to, status);
    snprintf(f->said, sizeof f->said, "%s", said);
    (void)run_check(f, to, NULL, EXIT_SUCCESS); /* all of it is whole */
    f->store = NULL;
    snprintf(f->salvaged, sizeof f->salvaged, "%s", to);
    return f->said;
}

const char *salvage(struct fixture *f)
{
    return salvage_as(f, EXIT_FAILURE);
}

const char *salvage_whole(struct fixture *f)
{
    return salvage_as(f, EXIT_SUCCESS);
}
