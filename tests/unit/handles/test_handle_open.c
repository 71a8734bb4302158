/* Opening and closing by SMB: dispositions, kinds, share modes, leases of REST, delete pending, snapshots.
 * MS-FSA 2.1.5.1; semantics 8.2, 8.3 */
#include "handles.h"

/* ---- dispositions ---- */

enum there { NOTHING, A_FILE, A_DIRECTORY };

static void make(struct fixture *f, enum there what)
{
    if (what == A_FILE)
        assert_ok(ask(f, "PUT /sha/x", "x-ms-type: file\nx-ms-content-length: 7", NULL), 201);
    else if (what == A_DIRECTORY)
        assert_ok(ask(f, "PUT /sha/x?restype=directory", NULL, NULL), 201);
}

/* Deletes what is there, if anything. */
static void unmake(struct fixture *f)
{
    (void)ask(f, "DELETE /sha/x", NULL, NULL);
    (void)ask(f, "DELETE /sha/x?restype=directory", NULL, NULL);
    assert_int_equal(ask(f, "HEAD /sha/x", NULL, NULL).status, 404);
}

#define NONE (-1)

static const struct {
    enum there there;
    enum open_disposition disposition;
    struct {
        enum error error;
        int action; /* NONE: refused */
    } as[3];        /* by enum open_kind: any, file, directory */
} cells[] = {
#define REFUSED(code)                                                                              \
    {                                                                                              \
        code, NONE                                                                                 \
    }
#define DONE(action)                                                                               \
    {                                                                                              \
        OK, action                                                                                 \
    }
    { NOTHING, OPEN_SUPERSEDES, { DONE(OPENED_NEW), DONE(OPENED_NEW), REFUSED(E_InvalidInput) } },
    { NOTHING,
      OPEN_EXISTING,
      { REFUSED(E_ResourceNotFound), REFUSED(E_ResourceNotFound), REFUSED(E_ResourceNotFound) } },
    { NOTHING, OPEN_NEW, { DONE(OPENED_NEW), DONE(OPENED_NEW), DONE(OPENED_NEW) } },
    { NOTHING, OPEN_OR_NEW, { DONE(OPENED_NEW), DONE(OPENED_NEW), DONE(OPENED_NEW) } },
    { NOTHING,
      OPEN_OVERWRITES,
      { REFUSED(E_ResourceNotFound), REFUSED(E_ResourceNotFound), REFUSED(E_ResourceNotFound) } },
    { NOTHING,
      OPEN_OVERWRITES_OR_NEW,
      { DONE(OPENED_NEW), DONE(OPENED_NEW), REFUSED(E_InvalidInput) } },
    { A_FILE,
      OPEN_SUPERSEDES,
      { DONE(OPENED_NEW_FOR_OLD), DONE(OPENED_NEW_FOR_OLD), REFUSED(E_ResourceTypeMismatch) } },
    { A_FILE,
      OPEN_EXISTING,
      { DONE(OPENED_EXISTING), DONE(OPENED_EXISTING), REFUSED(E_ResourceTypeMismatch) } },
    { A_FILE,
      OPEN_NEW,
      { REFUSED(E_ResourceAlreadyExists), REFUSED(E_ResourceAlreadyExists),
        REFUSED(E_ResourceAlreadyExists) } },
    { A_FILE,
      OPEN_OR_NEW,
      { DONE(OPENED_EXISTING), DONE(OPENED_EXISTING), REFUSED(E_ResourceTypeMismatch) } },
    { A_FILE,
      OPEN_OVERWRITES,
      { DONE(OPENED_OVERWRITTEN), DONE(OPENED_OVERWRITTEN), REFUSED(E_ResourceTypeMismatch) } },
    { A_FILE,
      OPEN_OVERWRITES_OR_NEW,
      { DONE(OPENED_OVERWRITTEN), DONE(OPENED_OVERWRITTEN), REFUSED(E_ResourceTypeMismatch) } },
    { A_DIRECTORY,
      OPEN_SUPERSEDES,
      { REFUSED(E_InvalidInput), REFUSED(E_ResourceTypeMismatch), REFUSED(E_InvalidInput) } },
    { A_DIRECTORY,
      OPEN_EXISTING,
      { DONE(OPENED_EXISTING), REFUSED(E_ResourceTypeMismatch), DONE(OPENED_EXISTING) } },
    { A_DIRECTORY,
      OPEN_NEW,
      { REFUSED(E_ResourceAlreadyExists), REFUSED(E_ResourceAlreadyExists),
        REFUSED(E_ResourceAlreadyExists) } },
    { A_DIRECTORY,
      OPEN_OR_NEW,
      { DONE(OPENED_EXISTING), REFUSED(E_ResourceTypeMismatch), DONE(OPENED_EXISTING) } },
    { A_DIRECTORY,
      OPEN_OVERWRITES,
      { REFUSED(E_InvalidInput), REFUSED(E_ResourceTypeMismatch), REFUSED(E_InvalidInput) } },
    { A_DIRECTORY,
      OPEN_OVERWRITES_OR_NEW,
      { REFUSED(E_InvalidInput), REFUSED(E_ResourceTypeMismatch), REFUSED(E_InvalidInput) } },
#undef REFUSED
#undef DONE
};

/* Rule: what each disposition makes of nothing, a file and a directory, for each kind that is asked for.
 * MS-SMB2 2.2.13, MS-FSA 2.1.5.1.1, 2.1.5.1.2 */
static void dispositions(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        for (int kind = 0; kind < 3; kind++) {
            struct handle_open open = asked("x", MAY_RWD, cells[i].disposition);
            bool overwritten = cells[i].as[kind].action == OPENED_OVERWRITTEN ||
                               cells[i].as[kind].action == OPENED_NEW_FOR_OLD;

            make(f, cells[i].there);
            open.kind = (enum open_kind)kind;
            assert_int_equal(run(f, handle_open_attempt, &open), cells[i].as[kind].error);
            if (cells[i].as[kind].error == OK) {
                assert_int_equal(open.action, cells[i].as[kind].action);
                assert_int_equal(open.lasts, open.action != OPENED_EXISTING);
                assert_int_equal(open.info.kind == TREE_DIRECTORY,
                                 cells[i].there == A_DIRECTORY ||
                                     (cells[i].there == NOTHING && kind == OPEN_DIRECTORY));
                assert_int_equal(open.info.length,
                                 cells[i].there == A_FILE && !overwritten ? 7 : 0);
                assert_int_equal(open.handle.node, open.info.node);
                assert_false(closed(f, &open.handle));
            }
            unmake(f);
        }
    }
}

/* Rule: what is overwritten keeps its id and when it was created; of what it has said before only
 * FILE_OVERWRITE keeps attributes. MS-FSA 2.1.5.1.2.1 */
static void overwriting(void **state)
{
    static const struct {
        enum open_disposition disposition;
        uint32_t attributes;
    } cases[] = { { OPEN_OVERWRITES,
                    ATTRIBUTE_NOT_CONTENT_INDEXED | ATTRIBUTE_ARCHIVE | ATTRIBUTE_OFFLINE },
                  { OPEN_SUPERSEDES, ATTRIBUTE_ARCHIVE | ATTRIBUTE_OFFLINE } };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct handle_open first = asked("x", MAY_RWD, OPEN_NEW), again;
        struct reply stats;

        first.attributes = ATTRIBUTE_NOT_CONTENT_INDEXED;
        assert_int_equal(run(f, handle_open_attempt, &first), OK);
        assert_int_equal(writes(f, &first.handle, 0, "contents"), OK);
        again = asked("x", MAY_RWD, cases[i].disposition);
        again.attributes = ATTRIBUTE_OFFLINE;
        assert_int_equal(run(f, handle_open_attempt, &again), OK);
        assert_int_equal(again.info.node, first.info.node);
        assert_int_equal(again.info.created, first.info.created);
        assert_true(again.info.written > first.info.written);
        assert_int_equal(again.info.attributes, cases[i].attributes);
        assert_int_equal(shown(f, &first.handle).length, 0);
        stats = ask(f, "GET /sha?restype=share&comp=stats", NULL, NULL);
        assert_non_null(strstr(arena_string(handles_arena(), stats.body), "<ShareUsageBytes>0<"));
        closed(f, &first.handle);
        closed(f, &again.handle);
        unmake(f);
    }
}

/* Rule: what is hidden or of the system is overwritten by those who say so; what is read-only by nobody, and it
 * is not opened to be written or deleted on close. MS-FSA 2.1.5.1.2.1 */
static void attributes_refuse(void **state)
{
    static const struct {
        uint32_t has, says;
        enum open_disposition disposition;
        uint32_t desired;
        bool deletes;
        enum error error;
    } cases[] = {
        { ATTRIBUTE_HIDDEN, 0, OPEN_OVERWRITES, MAY_RWD, false, E_AuthorizationPermissionMismatch },
        { ATTRIBUTE_HIDDEN, ATTRIBUTE_HIDDEN, OPEN_OVERWRITES, MAY_RWD, false, OK },
        { ATTRIBUTE_SYSTEM, ATTRIBUTE_HIDDEN, OPEN_SUPERSEDES, MAY_RWD, false,
          E_AuthorizationPermissionMismatch },
        { ATTRIBUTE_SYSTEM, 0, OPEN_EXISTING, MAY_RWD, false, OK },
        { ATTRIBUTE_READ_ONLY, 0, OPEN_OVERWRITES, MAY_READ_DATA, false, E_ReadOnlyAttribute },
        { ATTRIBUTE_READ_ONLY, 0, OPEN_EXISTING, MAY_WRITE_DATA, false, E_ReadOnlyAttribute },
        { ATTRIBUTE_READ_ONLY, 0, OPEN_EXISTING, MAY_APPEND_DATA, false, E_ReadOnlyAttribute },
        { ATTRIBUTE_READ_ONLY, 0, OPEN_EXISTING, MAY_READ_DATA | MAY_DELETE, false, OK },
        { ATTRIBUTE_READ_ONLY, 0, OPEN_EXISTING, MAY_WRITE_ATTRIBUTES, false, OK },
        { ATTRIBUTE_READ_ONLY, 0, OPEN_EXISTING, MAY_DELETE, true, E_ReadOnlyAttribute },
        { ATTRIBUTE_READ_ONLY, 0, OPEN_EXISTING, MAY_MAXIMUM, false, OK },
        { 0, ATTRIBUTE_READ_ONLY, OPEN_NEW, MAY_RWD, false, OK }, /* who makes it may write it */
        { 0, ATTRIBUTE_READ_ONLY, OPEN_NEW, MAY_RWD, true, E_ReadOnlyAttribute },
        { 0, 0, OPEN_NEW, MAY_READ_DATA, true, E_AuthorizationPermissionMismatch },
        { 0, 0, OPEN_NEW, UINT32_C(0x00800000), false, E_AuthorizationPermissionMismatch },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct handle_open open = asked("x", cases[i].desired, cases[i].disposition);

        if (cases[i].disposition != OPEN_NEW) {
            struct handle_open first = asked("x", MAY_READ_DATA, OPEN_NEW);

            first.attributes = cases[i].has;
            assert_int_equal(run(f, handle_open_attempt, &first), OK);
            closed(f, &first.handle);
        }
        open.attributes = cases[i].says;
        open.deletes = cases[i].deletes;
        assert_int_equal(run(f, handle_open_attempt, &open), cases[i].error);
        if (!cases[i].error)
            closed(f, &open.handle);
        if (cases[i].desired == MAY_MAXIMUM)
            assert_int_equal(open.handle.granted, MAY_ALL & ~(MAY_WRITE_DATA | MAY_APPEND_DATA));
        (void)ask(f, "PUT /sha/x?comp=properties", "x-ms-file-attributes: None", NULL);
        unmake(f);
    }
}

/* Rule: names that no file can have, and ways that lead nowhere. semantics 10.1 */
static void names(void **state)
{
    static const struct {
        const char *path;
        enum error error;
    } cases[] = {
        { "a/b", E_InvalidResourceName },
        { "a:b", E_InvalidResourceName },
        { "a*", E_InvalidResourceName },
        { "a\\..\\b", E_InvalidResourceName },
        { ".", E_InvalidResourceName },
        { "a\\\\b", E_InvalidResourceName },
        { "a\x01", E_InvalidResourceName },
        { "\xff", E_InvalidResourceName },
        { "no\\file", E_ParentNotFound },
        { "x\\file", E_ParentNotFound },
        { "a.", OK },
        { "a b ", OK },
    };
    struct fixture *f = *state;

    make(f, A_FILE);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct handle_open open = asked(cases[i].path, MAY_RWD, OPEN_OR_NEW);

        assert_int_equal(run(f, handle_open_attempt, &open), cases[i].error);
    }
}

/* Rule: the root is a directory that is there. */
static void root(void **state)
{
    struct handle_open open = asked("", MAY_READ_DATA, OPEN_OR_NEW);
    struct fixture *f = *state;

    assert_int_equal(run(f, handle_open_attempt, &open), OK);
    assert_int_equal(open.action, OPENED_EXISTING);
    assert_int_equal(open.handle.node, TREE_ROOT);
    assert_int_equal(sets_pending(f, &open.handle, true), E_ResourceTypeMismatch);
    assert_false(closed(f, &open.handle));
    open.kind = OPEN_FILE;
    assert_int_equal(run(f, handle_open_attempt, &open), E_ResourceTypeMismatch);
}

/* ---- sharing ---- */

static uint32_t mask_of(unsigned access)
{
    return MAY_READ_ATTRIBUTES | ((access & R) ? MAY_READ_DATA : 0) |
           ((access & W) ? MAY_WRITE_DATA : 0) | ((access & D) ? MAY_DELETE : 0);
}

/* Rule: all 4,096 pairs of two opens, each by what it may do and what it shares. MS-FSA 2.1.5.1.2.2 */
static void share_modes(void **state)
{
    struct fixture *f = *state;

    make(f, A_FILE);
    for (unsigned i = 0; i < 8 * 8 * 8 * 8; i++) {
        unsigned access1 = i % 8, share1 = i / 8 % 8, access2 = i / 64 % 8, share2 = i / 512;
        bool bears = access1 == 0 || access2 == 0 || (!(access2 & ~share1) && !(access1 & ~share2));
        struct handle_open first = asked("x", mask_of(access1), OPEN_EXISTING);
        struct handle_open second = asked("x", mask_of(access2), OPEN_EXISTING);

        first.share = (uint8_t)share1;
        second.share = (uint8_t)share2;
        assert_int_equal(run(f, handle_open_attempt, &first), OK);
        assert_int_equal(run(f, handle_open_attempt, &second), bears ? OK : E_SharingViolation);
        if (bears)
            closed(f, &second.handle);
        closed(f, &first.handle);
    }
}

/* Rule: overwriting writes, whatever is asked for beside. */
static void overwriting_shares(void **state)
{
    struct handle_open first = asked("x", MAY_READ_DATA, OPEN_EXISTING);
    struct handle_open second = asked("x", MAY_READ_ATTRIBUTES, OPEN_OVERWRITES);
    struct fixture *f = *state;

    make(f, A_FILE);
    first.share = R | D;
    assert_int_equal(run(f, handle_open_attempt, &first), OK);
    assert_int_equal(run(f, handle_open_attempt, &second), E_SharingViolation);
    assert_int_equal(shown(f, &first.handle).length, 7);
}

/* Rule: while it is leased by Lease File, SMB opens it to read alone. semantics 8.2 */
static void leased(void **state)
{
    struct fixture *f = *state;

    make(f, A_FILE);
    assert_ok(ask(f, "PUT /sha/x?comp=lease", "x-ms-lease-action: acquire\nx-ms-lease-duration: -1",
                  NULL),
              201);
    for (unsigned access = 0; access < 8; access++) {
        struct handle_open open = asked("x", mask_of(access), OPEN_EXISTING);

        assert_int_equal(run(f, handle_open_attempt, &open),
                         access & (W | D) ? E_SharingViolation : OK);
        if (!(access & (W | D)))
            closed(f, &open.handle);
    }
    assert_ok(ask(f, "PUT /sha/x?comp=lease", "x-ms-lease-action: break", NULL), 202);
    opened(f, "x", MAY_RWD, OPEN_EXISTING);
}

/* Rule: a handle that shares nothing keeps REST's operations away, as the seeds say; once it is closed they go
 * on. Each cell: test_passes. */
static void shares_nothing(void **state)
{
    struct handle_open open = asked("x", MAY_READ_DATA, OPEN_NEW);
    struct fixture *f = *state;

    open.share = 0;
    assert_int_equal(run(f, handle_open_attempt, &open), OK);
    assert_answer(ask(f, "PUT /sha/x?comp=metadata", "x-ms-meta-a: b", NULL), 409,
                  "SharingViolation");
    assert_answer(ask(f, "DELETE /sha/x", NULL, NULL), 409, "SharingViolation");
    closed(f, &open.handle);
    assert_ok(ask(f, "PUT /sha/x?comp=metadata", "x-ms-meta-a: b", NULL), 200);
}

/* ---- deleting ---- */

/* Rule: what is to be deleted is there until its last handle closes, takes no operation and no open, and is
 * there again once the disposition is taken back. semantics 8.3 */
static void delete_pending(void **state)
{
    struct fixture *f = *state;
    struct held_handle first, second;
    struct handle_open third = asked("x", MAY_READ_ATTRIBUTES, OPEN_EXISTING);

    make(f, A_FILE);
    first = opened(f, "x", MAY_RWD, OPEN_EXISTING);
    second = opened(f, "x", MAY_READ_DATA, OPEN_EXISTING);
    assert_int_equal(sets_pending(f, &second, true), E_SharingViolation);
    assert_int_equal(sets_pending(f, &first, true), OK);
    assert_true(shown(f, &second).is_delete_pending);
    assert_int_equal(run(f, handle_open_attempt, &third), E_DeletePending);
    assert_answer(ask(f, "GET /sha/x", NULL, NULL), 409, "DeletePending");
    assert_answer(ask(f, "DELETE /sha/x", NULL, NULL), 409, "DeletePending");
    assert_int_equal(sets_pending(f, &first, false), OK);
    assert_ok(ask(f, "GET /sha/x", NULL, NULL), 200);
    assert_int_equal(sets_pending(f, &first, true), OK);
    assert_false(closed(f, &first));
    assert_answer(ask(f, "GET /sha/x", NULL, NULL), 409, "DeletePending");
    assert_true(closed(f, &second));
    assert_answer(ask(f, "GET /sha/x", NULL, NULL), 404, "ResourceNotFound");
    assert_int_equal(run(f, handle_open_attempt, &third), E_ResourceNotFound);
}

/* Rule: one that deletes on close does so when it closes, and the file goes with the last one. MS-FSA 2.1.5.5 */
static void delete_on_close(void **state)
{
    struct handle_open first = asked("x", MAY_DELETE, OPEN_NEW);
    struct fixture *f = *state;
    struct held_handle second;

    first.deletes = true;
    assert_int_equal(run(f, handle_open_attempt, &first), OK);
    second = opened(f, "x", MAY_READ_DATA, OPEN_EXISTING);
    assert_false(shown(f, &second).is_delete_pending);
    assert_false(closed(f, &first.handle));
    assert_true(shown(f, &second).is_delete_pending);
    assert_true(closed(f, &second));
    assert_int_equal(ask(f, "HEAD /sha/x", NULL, NULL).status, 404);
}

/* Rule: a directory with something in it is not deleted, nor is anything made in one that is to be. */
static void directories(void **state)
{
    struct fixture *f = *state;
    struct held_handle directory, file;
    struct handle_open open = asked("x\\b", MAY_RWD, OPEN_OR_NEW);

    make(f, A_DIRECTORY);
    directory = opened(f, "x", MAY_DELETE, OPEN_EXISTING);
    file = opened(f, "x\\a", MAY_RWD, OPEN_NEW);
    assert_int_equal(sets_pending(f, &directory, true), E_DirectoryNotEmpty);
    assert_int_equal(sets_pending(f, &file, true), OK);
    assert_true(closed(f, &file));
    assert_int_equal(sets_pending(f, &directory, true), OK);
    assert_int_equal(run(f, handle_open_attempt, &open), E_DeletePending);
    assert_answer(ask(f, "PUT /sha/x/b", "x-ms-type: file\nx-ms-content-length: 0", NULL), 409,
                  "DeletePending");
    assert_answer(ask(f, "PUT /sha/x/b?restype=directory", NULL, NULL), 409, "DeletePending");
    assert_true(closed(f, &directory));
    assert_int_equal(ask(f, "GET /sha/x?restype=directory", NULL, NULL).status, 404);
}

/* Rule: a directory that deletes on close stays when something is in it then. */
static void not_empty_on_close(void **state)
{
    struct handle_open open = asked("x", MAY_DELETE, OPEN_EXISTING);
    struct fixture *f = *state;

    make(f, A_DIRECTORY);
    open.deletes = true;
    assert_int_equal(run(f, handle_open_attempt, &open), OK);
    assert_ok(ask(f, "PUT /sha/x/b?restype=directory", NULL, NULL), 201);
    assert_false(closed(f, &open.handle));
    assert_ok(ask(f, "GET /sha/x?restype=directory", NULL, NULL), 200);
}

/* ---- handles that are gone ---- */

/* Rule: what was closed by force is closed; its commands find nothing. rest: Force-Close-Handles */
static void closed_by_force(void **state)
{
    struct fixture *f = *state;
    struct held_handle handle = opened(f, "x", MAY_RWD, OPEN_NEW);
    enum error e;

    assert_ok(ask(f, "PUT /sha/x?comp=forceclosehandles", "x-ms-handle-id: *", NULL), 200);
    assert_null(reads(f, &handle, 0, 1, &e));
    assert_int_equal(e, E_ResourceNotFound);
    assert_int_equal(writes(f, &handle, 0, "a"), E_ResourceNotFound);
    assert_false(closed(f, &handle));
}

/* Rule: a share that was deleted is gone for its handles, also where another one has its name. */
static void share_gone(void **state)
{
    struct handle_open open = asked("x", MAY_RWD, OPEN_OR_NEW);
    struct fixture *f = *state;
    struct held_handle handle = opened(f, "x", MAY_RWD, OPEN_NEW);

    assert_ok(ask(f, "DELETE /sha?restype=share", NULL, NULL), 202);
    assert_int_equal(run(f, handle_open_attempt, &open), E_ShareNotFound);
    assert_int_equal(writes(f, &handle, 0, "a"), E_ShareNotFound);
    assert_false(closed(f, &handle));
}

/* Rule: a share that is restored comes back without what was open of it. decision: 379 */
static void share_restored(void **state)
{
    static const char properties[] = "<StorageServiceProperties><ShareDeleteRetentionPolicy><"
                                     "Enabled>true</Enabled><Days>1</Days>"
                                     "</ShareDeleteRetentionPolicy></StorageServiceProperties>";
    struct fixture *f = *state;
    struct handle_open alone = asked("x", MAY_RWD, OPEN_OR_NEW);
    struct held_handle again;
    struct reply list;
    const char *text, *version;
    enum error e;

    alone.share = 0;
    assert_ok(ask(f, "PUT /?restype=service&comp=properties", NULL, properties), 202);
    assert_int_equal(run(f, handle_open_attempt, &alone), OK);
    assert_int_equal(sets_pending(f, &alone.handle, true), OK);
    assert_ok(ask(f, "DELETE /sha?restype=share", NULL, NULL), 202);
    assert_int_equal(writes(f, &alone.handle, 0, "a"), E_ShareNotFound);
    list = ask(f, "GET /?comp=list&include=deleted", NULL, NULL);
    version = strstr(textf(f, "%.*s", BYTES_ARG(list.body)), "<Version>");
    assert_non_null(version);
    text = textf(f, "x-ms-deleted-share-name: sha\nx-ms-deleted-share-version: %.16s",
                 version + strlen("<Version>"));
    assert_ok(ask(f, "PUT /sha?restype=share&comp=undelete", text, NULL), 201);

    assert_null(reads(f, &alone.handle, 0, 1, &e));
    assert_int_equal(e, E_ResourceNotFound);
    assert_false(closed(f, &alone.handle));
    list = ask(f, "GET /sha/x?comp=listhandles", NULL, NULL);
    assert_null(strstr(textf(f, "%.*s", BYTES_ARG(list.body)), "<Handle>"));
    assert_ok(ask(f, "GET /sha/x", NULL, NULL), 200);
    again = opened(f, "x", MAY_RWD, OPEN_EXISTING);
    assert_int_equal(writes(f, &again, 0, "a"), OK);
    assert_false(closed(f, &again));
    assert_ok(ask(f, "DELETE /sha/x", NULL, NULL), 202);
}

/* Rule: a file that Create File writes over keeps its handles, which are of the new contents. decision: 338 */
static void replaced_by_rest(void **state)
{
    struct fixture *f = *state;
    struct held_handle handle = opened(f, "x", MAY_READ_DATA, OPEN_NEW);
    enum error e;

    assert_ok(ask(f, "PUT /sha/x", "x-ms-type: file\nx-ms-content-length: 3", NULL), 201);
    assert_ok(ask(f, "PUT /sha/x?comp=range", "x-ms-write: update\nx-ms-range: bytes=0-2", "new"),
              201);
    assert_string_equal(reads(f, &handle, 0, 10, &e), "new");
    assert_answer(ask(f, "DELETE /sha/x", NULL, NULL), 409, "SharingViolation");
    closed(f, &handle);
    assert_ok(ask(f, "DELETE /sha/x", NULL, NULL), 202);
}

/* ---- snapshots ---- */

/* Rule: what a snapshot of the share has is opened by its date, is as it was, and is only read. */
static void snapshots(void **state)
{
    struct fixture *f = *state;
    struct tree_connect_snapshots dates = { .tree_connect = the_mount() };
    struct held_handle handle = opened(f, "x", MAY_RWD, OPEN_NEW);
    struct handle_open old;
    enum error e;

    assert_int_equal(writes(f, &handle, 0, "before"), OK);
    assert_ok(ask(f, "PUT /sha?restype=share&comp=snapshot", NULL, NULL), 201);
    assert_int_equal(writes(f, &handle, 0, "after!"), OK);
    assert_int_equal(sets_pending(f, &handle, true), OK);
    assert_true(closed(f, &handle));
    assert_int_equal(run(f, tree_connect_snapshots_attempt, &dates), OK);
    assert_int_equal(dates.count, 1);
    old = asked("x", MAY_WRITE_DATA, OPEN_EXISTING);
    old.snapshot = dates.dates[0];
    assert_int_equal(run(f, handle_open_attempt, &old), E_ShareSnapshotOperationNotSupported);
    old.desired = MAY_MAXIMUM;
    assert_int_equal(run(f, handle_open_attempt, &old), OK);
    assert_false(old.handle.granted & (MAY_WRITE_DATA | MAY_DELETE | MAY_WRITE_ATTRIBUTES));
    assert_string_equal(reads(f, &old.handle, 0, 10, &e), "before");
    assert_int_equal(shown(f, &old.handle).length, 6);
    assert_int_equal(writes(f, &old.handle, 0, "a"), E_ShareSnapshotOperationNotSupported);
    assert_int_equal(sets_pending(f, &old.handle, true), E_ShareSnapshotOperationNotSupported);
    assert_false(closed(f, &old.handle));
    old.snapshot += TICKS_PER_SECOND;
    assert_int_equal(run(f, handle_open_attempt, &old), E_ResourceNotFound);
}

/* ---- the share ---- */

/* Rule: its size is its quota, and what its files have of it. */
static void size(void **state)
{
    struct tree_connect_size size = { .tree_connect = the_mount() };
    struct fixture *f = *state;

    make(f, A_FILE);
    assert_int_equal(run(f, tree_connect_size_attempt, &size), OK);
    assert_int_equal(size.quota_bytes, (uint64_t)SHARE_QUOTA_DEFAULT_GIB << 30);
    assert_int_equal(size.used_bytes, 7);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, handles_setup, handles_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(dispositions),
        TEST(overwriting),
        TEST(attributes_refuse),
        TEST(names),
        TEST(root),
        TEST(share_modes),
        TEST(overwriting_shares),
        TEST(leased),
        TEST(shares_nothing),
        TEST(delete_pending),
        TEST(delete_on_close),
        TEST(directories),
        TEST(not_empty_on_close),
        TEST(closed_by_force),
        TEST(share_gone),
        TEST(share_restored),
        TEST(replaced_by_rest),
        TEST(snapshots),
        TEST(size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
