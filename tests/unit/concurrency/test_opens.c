/* Opens of a file: every cell of the documented tables, and all pairs of opens with all cachings
 * against what must hold of any verdict. Azure Files "Manage file locks"; semantics 8.2 to 8.4 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "concurrency/opens.h"

#define R   ACCESS_READ
#define W   ACCESS_WRITE
#define D   ACCESS_DELETE
#define RH  (CACHING_READ | CACHING_HANDLE)
#define RW  (CACHING_READ | CACHING_WRITE)
#define RWH CACHING_ALL

static const uint8_t held_sets[] = { 0, CACHING_READ, RH, RW, RWH }; /* all that are ever granted */
#define HELD_SETS (sizeof held_sets / sizeof held_sets[0])

static struct opens_check_result judge_one(const struct file_open *open, uint8_t holds,
                                           const struct file_use *use,
                                           struct caching_break *ret_break)
{
    struct file_caching caching = { .holds = holds, .breaks_to = holds };
    struct file_opens opens = { .opens = open,
                                .open_count = 1,
                                .cachings = &caching,
                                .caching_count = open->caching == NO_CACHING ? 0 : 1 };

    return opens_check(&opens, use, NO_CACHING, ret_break);
}

/* The documented table "SMB share mode -> failing REST operations", a letter for each that fails:
 * Create, Get and List Ranges, Set and Put Range, Delete, Lease. */
static void share_modes_refuse_as_documented(void **state)
{
    static const struct {
        uint8_t share;
        const char *failing;
    } rows[] = {
        { 0, "CGSDL" },   { R, "CSDL" },     { W, "CGDL" },    { D, "CGSDL" },
        { R | W, "CDL" }, { R | D, "CSDL" }, { W | D, "GDL" }, { R | W | D, "D" },
    };
    static const struct {
        char letter;
        enum rest_use use;
    } columns[] = { { 'C', REST_REPLACES }, { 'G', REST_READS },  { 'S', REST_WRITES },
                    { 'D', REST_DELETES },  { 'L', REST_LEASES }, { '-', REST_EXAMINES },
                    { '-', REST_LISTS } };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t j = 0; j < sizeof columns / sizeof columns[0]; j++) {
            struct file_open open = { .access = R, .share = rows[i].share, .caching = NO_CACHING };
            bool fails = strchr(rows[i].failing, columns[j].letter) != NULL;
            struct opens_check_result verdict = judge_one(&open, 0, rest_use(columns[j].use), NULL);

            assert_int_equal(verdict.error, fails ? E_SharingViolation : OK);
            assert_false(verdict.waits);
        }
}

/* Lease File: an open for nothing or Read stands beside it, one with Write or Delete does not. */
static void lease_needs_readers_alone(void **state)
{
    (void)state;
    for (uint8_t access = 0; access <= ACCESS_ALL; access++) {
        struct file_open open = { .access = access, .share = ACCESS_ALL, .caching = NO_CACHING };

        assert_int_equal(judge_one(&open, 0, rest_use(REST_LEASES), NULL).error,
                         access & (W | D) ? E_SharingViolation : OK);
    }
}

/* Opens of SMB beside a lease of REST: none that writes or deletes. */
static void leased_file_has_no_writers(void **state)
{
    struct file_opens opens = { .is_leased = true };

    (void)state;
    for (uint8_t access = 0; access <= ACCESS_ALL; access++) {
        struct file_use open = { .access = access, .share = ACCESS_ALL, .is_open = true };

        assert_int_equal(opens_check(&opens, &open, NO_CACHING, NULL).error,
                         access & (W | D) ? E_SharingViolation : OK);
        open.is_open = false; /* REST itself shows the lease's id */
        assert_int_equal(opens_check(&opens, &open, NO_CACHING, NULL).error, OK);
    }
}

/* The documented table of breaks. An open that shares everything; Delete File waits for its handle. */
static void operations_break_as_documented(void **state)
{
    enum { NO = 0xFF };
    static const struct {
        enum rest_use use;
        struct {
            uint8_t holds, to; /* NO: no break */
            bool waits;
        } cells[3];
    } rows[] = {
        { REST_READS, { { RWH, RH, true }, { RH, NO, false }, { RW, CACHING_READ, true } } },
        { REST_EXAMINES, { { RWH, RH, true }, { RH, NO, false }, { RW, CACHING_READ, true } } },
        { REST_LISTS, { { RWH, NO, false }, { RH, NO, false }, { RW, NO, false } } },
        { REST_WRITES, { { RWH, 0, true }, { RH, 0, false }, { RW, 0, true } } },
        { REST_DELETES, { { RWH, RW, true }, { RH, CACHING_READ, true }, { RW, NO, false } } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t j = 0; j < 3; j++) {
            struct file_open open = { .access = R, .share = ACCESS_ALL, .caching = 0 };
            struct caching_break given = { .to = NO };
            struct opens_check_result verdict =
                judge_one(&open, rows[i].cells[j].holds, rest_use(rows[i].use), &given);

            assert_int_equal(verdict.waits, rows[i].cells[j].waits);
            assert_int_equal(verdict.break_count, rows[i].cells[j].to == NO ? 0 : 1);
            assert_int_equal(given.to, rows[i].cells[j].to);
            if (rows[i].use == REST_DELETES && rows[i].cells[j].to == NO)
                assert_int_equal(verdict.error, E_SharingViolation);
            else
                assert_int_equal(verdict.error, OK);
        }
}

/* Opens for attributes alone ask nothing of others and are asked nothing, except by a delete. */
static void attributes_take_no_part(void **state)
{
    (void)state;
    for (int use = 0; use < REST_USES; use++) {
        struct file_open open = { .access = 0, .share = 0, .caching = NO_CACHING };

        assert_int_equal(judge_one(&open, 0, rest_use((enum rest_use)use), NULL).error,
                         use == REST_DELETES ? E_SharingViolation : OK);
    }
}

static void pending_and_read_only_refuse(void **state)
{
    struct file_opens pending = { .is_delete_pending = true, .is_read_only = true };
    struct file_opens read_only = { .is_read_only = true };

    (void)state;
    for (int use = 0; use < REST_USES; use++) {
        const struct file_use *rest = rest_use((enum rest_use)use);

        assert_int_equal(opens_check(&pending, rest, NO_CACHING, NULL).error,
                         use == REST_LISTS ? OK : E_DeletePending);
        assert_int_equal(opens_check(&read_only, rest, NO_CACHING, NULL).error,
                         use == REST_WRITES || use == REST_REPLACES ? E_ReadOnlyAttribute : OK);
    }
}

/* ---- any two opens, with any caching, and any use ---- */

#define OPENS 2

/* Two opens, each with a caching of its own, or both with the first. */
struct scene {
    struct file_open opens[OPENS];
    struct file_caching cachings[OPENS];
    struct file_opens all;
};

static void check_verdict(const struct scene *scene, const struct file_use *use, uint16_t own,
                          const struct opens_check_result *verdict,
                          const struct caching_break *breaks)
{
    assert_true(verdict->break_count <= OPENS);
    if (verdict->error) {
        assert_int_equal(verdict->break_count, 0);
        assert_false(verdict->waits);
    }
    for (size_t i = 0; i < verdict->break_count; i++) {
        const struct file_caching *caching = &scene->cachings[breaks[i].caching];

        assert_int_not_equal(breaks[i].caching, own);
        assert_int_equal(breaks[i].to & ~caching->breaks_to, 0); /* never gives anything */
        if (caching->is_oplock)
            assert_int_equal(breaks[i].to & ~CACHING_READ, 0);
        assert_int_not_equal(breaks[i].to, caching->breaks_to); /* not sent twice */
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(breaks[i].caching, breaks[j].caching);
    }
    if (verdict->error || verdict->waits)
        return;
    for (size_t i = 0; i < OPENS; i++) { /* it goes on: everybody bears it */
        assert_false(use->needs_no_open);
        if (scene->opens[i].access && use->access) {
            assert_int_equal(use->access & ~scene->opens[i].share, 0);
            assert_int_equal(scene->opens[i].access & ~use->share, 0);
        }
    }
    for (uint16_t i = 0; i < scene->all.caching_count; i++)
        if (i != own)
            assert_int_equal(scene->cachings[i].holds & use->waits_for, 0);
}

/* Every client acknowledges what it is asked; the operation is then decided within two rounds. */
static void settle(struct scene *scene, const struct file_use *use, uint16_t own)
{
    struct caching_break breaks[OPENS];

    for (int round = 0;; round++) {
        struct opens_check_result verdict = opens_check(&scene->all, use, own, breaks);

        check_verdict(scene, use, own, &verdict, breaks);
        if (!verdict.waits)
            return;
        assert_true(round < 3);
        for (size_t i = 0; i < verdict.break_count; i++)
            scene->cachings[breaks[i].caching].breaks_to = breaks[i].to;
        for (size_t i = 0; i < scene->all.caching_count; i++)
            scene->cachings[i].holds = scene->cachings[i].breaks_to;
    }
}

/* An oplock is never RH: such a one is a lease. */
static struct file_caching caching_of(uint8_t holds, bool is_oplock)
{
    return (struct file_caching){ holds, holds, is_oplock && holds != RH };
}

static void judge_scene(const struct file_open *first, const struct file_open *second,
                        size_t cachings, struct file_caching holds, struct file_caching other,
                        const struct file_use *use)
{
    for (uint16_t own = 0; own <= cachings; own++) {
        struct scene scene = { .opens = { *first, *second }, .cachings = { holds, other } };

        scene.opens[0].caching = 0;
        scene.opens[1].caching = (uint16_t)(cachings - 1);
        scene.all = (struct file_opens){
            .opens = scene.opens,
            .open_count = OPENS,
            .cachings = scene.cachings,
            .caching_count = cachings,
        };
        settle(&scene, use, own < cachings ? own : NO_CACHING);
    }
}

static void any_two_opens_are_decided(void **state)
{
    (void)state;
    for (unsigned pair = 0; pair < 1u << 12; pair++) {
        struct file_open first = { .access = pair & 7, .share = pair >> 3 & 7 };
        struct file_open second = { .access = pair >> 6 & 7, .share = pair >> 9 & 7 };

        for (size_t held = 0; held < HELD_SETS * HELD_SETS; held++)
            for (int use = 0; use < REST_USES; use++)
                for (unsigned kinds = 0; kinds < 8; kinds++)
                    judge_scene(&first, &second, kinds & 4 ? 2 : 1,
                                caching_of(held_sets[held % HELD_SETS], kinds & 1),
                                caching_of(held_sets[held / HELD_SETS], kinds & 2),
                                rest_use((enum rest_use)use));
    }
}

/* Sharing is mutual: whichever of two opens comes first, the other may come or may not. */
static void sharing_is_mutual(void **state)
{
    (void)state;
    for (unsigned pair = 0; pair < 1u << 12; pair++) {
        struct file_open a = { pair & 7, pair >> 3 & 7, MEETS_ALL, NO_CACHING };
        struct file_open b = { pair >> 6 & 7, pair >> 9 & 7, MEETS_ALL, NO_CACHING };
        struct file_use as_a = { .access = a.access, .share = a.share, .is_open = true };
        struct file_use as_b = { .access = b.access, .share = b.share, .is_open = true };

        assert_int_equal(judge_one(&a, 0, &as_b, NULL).error, judge_one(&b, 0, &as_a, NULL).error);
    }
}

/* A break that is under way is waited for and not sent again; one that must go further is. */
static void breaks_are_sent_once(void **state)
{
    struct file_open open = { .access = R, .share = ACCESS_ALL, .caching = 0 };
    struct file_caching caching = { .holds = RWH, .breaks_to = RH };
    struct file_opens opens = {
        .opens = &open, .open_count = 1, .cachings = &caching, .caching_count = 1
    };
    struct caching_break breaks[1];
    struct opens_check_result verdict =
        opens_check(&opens, rest_use(REST_READS), NO_CACHING, breaks);

    (void)state;
    assert_true(verdict.waits);
    assert_int_equal(verdict.break_count, 0);
    verdict = opens_check(&opens, rest_use(REST_WRITES), NO_CACHING, breaks);
    assert_true(verdict.waits);
    assert_int_equal(verdict.break_count, 1);
    assert_int_equal(breaks[0].to, 0);
    assert_false(opens_check(&opens, rest_use(REST_WRITES), 0, breaks).waits); /* its own */
}

/* A caching of several opens is broken once, wherever those stand among others: the caller has room for no more. */
static void each_caching_is_broken_once(void **state)
{
    static const uint16_t orders[][4] = {
        { 0, 1, 1, 0 }, { 0, 1, 0, 1 }, { 1, 0, 0, 0 }, { 1, 1, 1, 0 }
    };
    struct file_caching cachings[] = { { RWH, RWH, false }, { RWH, RWH, false } };

    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        struct file_open list[4];
        struct file_opens opens = {
            .opens = list, .open_count = 4, .cachings = cachings, .caching_count = 2
        };
        struct caching_break breaks[4];
        struct opens_check_result verdict;

        for (size_t j = 0; j < 4; j++)
            list[j] = (struct file_open){ .access = R, .share = R, .caching = orders[i][j] };
        verdict = opens_check(&opens, rest_use(REST_DELETES), NO_CACHING, breaks);
        assert_true(verdict.waits);
        assert_int_equal(verdict.break_count, 2);
        assert_int_equal(breaks[0].caching, orders[i][0]);
        assert_int_equal(breaks[1].caching, 1 - orders[i][0]);
    }
}

/* ---- oplocks ---- */

/* What each kind of operation leaves of an oplock: nothing between level II and what it was (MS-SMB2 2.2.23.1); a rename
 * of a batch oplock nothing (MS-FSA 2.1.4.12, FileRenameInformation). Rule 19 */
static void oplocks_break_to_level_ii(void **state)
{
    static const uint8_t levels[] = { CACHING_READ, RW, RWH };

    (void)state;
    for (int use = 0; use < REST_USES; use++)
        for (size_t i = 0; i < sizeof levels; i++) {
            const struct file_use *rest = rest_use((enum rest_use)use);
            struct file_caching caching = { levels[i], levels[i], true };
            struct file_open open = { .share = ACCESS_ALL, .caching = 0 };
            struct file_opens opens = {
                .opens = &open, .open_count = 1, .cachings = &caching, .caching_count = 1
            };
            struct caching_break given;
            struct opens_check_result verdict = opens_check(&opens, rest, NO_CACHING, &given);

            assert_int_equal(verdict.break_count, levels[i] & rest->breaks_caching ? 1 : 0);
            if (verdict.break_count > 0)
                assert_int_equal(given.to,
                                 use == REST_RENAMES ? 0 : CACHING_READ & ~rest->breaks_caching);
        }
}

/* A write by the handle itself takes its level II, and no other oplock or lease. Rule 23 */
static void own_write_takes_level_ii(void **state)
{
    const struct file_use write = { .share = ACCESS_ALL,
                                    .breaks_caching = RWH,
                                    .changes_data = true };

    (void)state;
    for (size_t i = 0; i < HELD_SETS; i++)
        for (int is_oplock = 0; is_oplock < 2; is_oplock++) {
            struct file_caching caching = caching_of(held_sets[i], is_oplock);
            struct file_open open = { .share = ACCESS_ALL, .caching = 0 };
            struct file_opens opens = {
                .opens = &open, .open_count = 1, .cachings = &caching, .caching_count = 1
            };
            bool goes = is_oplock && held_sets[i] == CACHING_READ;
            struct caching_break given;

            assert_int_equal(opens_check(&opens, &write, 0, &given).break_count, goes ? 1 : 0);
        }
}

/* An open that reads the descriptor and attributes alone breaks oplocks, and no leases. Rule 23 */
static void descriptors_spare_leases(void **state)
{
    const struct file_use looks = { .share = ACCESS_ALL,
                                    .breaks_caching = CACHING_WRITE,
                                    .waits_for = CACHING_WRITE,
                                    .breaks_oplocks_only = true };

    (void)state;
    for (int is_oplock = 0; is_oplock < 2; is_oplock++) {
        struct file_caching caching = { RWH, RWH, is_oplock };
        struct file_opens opens = { .cachings = &caching, .caching_count = 1 };
        struct caching_break given;

        assert_int_equal(opens_check(&opens, &looks, NO_CACHING, &given).waits, is_oplock);
    }
}

/* Who has waited for one break waits for the one that follows it, too. */
static void waiting_goes_on(void **state)
{
    struct file_use reads = { .access = R, .share = ACCESS_ALL, .waits_for = CACHING_WRITE };
    struct file_caching caching = { RH, CACHING_READ, false };
    struct file_opens opens = { .cachings = &caching, .caching_count = 1 };
    struct caching_break given;

    (void)state;
    assert_false(opens_check(&opens, &reads, NO_CACHING, &given).waits);
    reads.has_waited = true;
    assert_true(opens_check(&opens, &reads, NO_CACHING, &given).waits);
}

/* ---- grants ---- */

/* "RWH" */
static uint8_t caching_bits(const char *letters)
{
    return (uint8_t)((strchr(letters, 'R') ? CACHING_READ : 0) |
                     (strchr(letters, 'W') ? CACHING_WRITE : 0) |
                     (strchr(letters, 'H') ? CACHING_HANDLE : 0));
}

/* Rule 24, every pair of what another open that reads data holds and what is wanted. Where the other one may
 * write back, it is one that the open does not break. The rows of the first three columns are what Windows gives:
 * smb2.lease.break and .oplock; lower case are oplocks. */
static void grants_beside_another(void **state)
{
    static const struct {
        const char *held;
        const char *given[5]; /* of leases R, RH, RW, RWH; of any oplock */
    } rows[] = {
        { "", { "R", "RH", "R", "RH", "R" } },  { "R", { "R", "RH", "R", "RH", "R" } },
        { "RH", { "R", "RH", "R", "RH", "" } }, { "RW", { "", "", "", "", "" } },
        { "RWH", { "", "", "", "", "" } },      { "oR", { "R", "R", "R", "R", "R" } },
        { "oRW", { "", "", "", "", "" } },      { "oRWH", { "", "", "", "", "" } },
    };
    static const struct {
        uint8_t wants;
        bool is_oplock;
        size_t column;
    } asked[] = { { CACHING_READ, false, 0 },
                  { RH, false, 1 },
                  { RW, false, 2 },
                  { RWH, false, 3 },
                  { CACHING_READ, true, 4 },
                  { RW, true, 4 },
                  { RWH, true, 4 },
                  { CACHING_WRITE, false, 5 },
                  { CACHING_HANDLE, false, 5 },
                  { 0, false, 5 } };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t j = 0; j < sizeof asked / sizeof asked[0]; j++) {
            uint8_t held = caching_bits(rows[i].held);
            struct file_caching caching = { held, held, rows[i].held[0] == 'o' };
            struct file_open open = { R, ACCESS_ALL, MEETS_ALL, 0 };
            struct file_opens opens = {
                .opens = &open, .open_count = 1, .cachings = &caching, .caching_count = 1
            };
            const char *given = asked[j].column < 5 ? rows[i].given[asked[j].column] : "";

            assert_int_equal(opens_grant(&opens, asked[j].wants, asked[j].is_oplock, NO_CACHING),
                             caching_bits(given));
        }
}

/* Rule 24: alone, or beside opens that it does not meet, everything; beside locks nothing. */
static void grants_alone(void **state)
{
    (void)state;
    for (uint8_t meets = 0; meets <= MEETS_ALL; meets++)
        for (int is_oplock = 0; is_oplock < 2; is_oplock++)
            for (uint8_t wants = 0; wants <= CACHING_ALL; wants++) {
                struct file_open open = { 0, ACCESS_ALL, meets, NO_CACHING };
                struct file_opens opens = { .opens = &open, .open_count = 1 };
                bool is_alone = !(meets & (is_oplock ? MEETS_OPLOCKS : MEETS_LEASES));
                uint8_t has = is_alone ? wants : wants & (uint8_t)~CACHING_WRITE;

                if (!(has & CACHING_READ))
                    has = 0;
                if (is_oplock && !(has & CACHING_WRITE))
                    has &= CACHING_READ;
                assert_int_equal(opens_grant(&opens, wants, is_oplock, NO_CACHING), has);
                opens.has_locks = true;
                assert_int_equal(opens_grant(&opens, wants, is_oplock, NO_CACHING), 0);
            }
}

/* Rule 24: a lease grows to all that is asked for or not at all, and never while it is broken:
 * smb2.lease.upgrade2, upgrade3 */
static void leases_grow_to_all_or_not_at_all(void **state)
{
    static const struct {
        const char *held, *other, *wants, *becomes;
    } rows[] = {
        { "", "", "R", "R" },       { "", "", "RWH", "RWH" },    { "R", "", "RH", "RH" },
        { "R", "", "RW", "RW" },    { "R", "", "RWH", "RWH" },   { "RH", "", "RW", "RH" },
        { "RH", "", "RWH", "RWH" }, { "RW", "", "RH", "RW" },    { "RW", "", "RWH", "RWH" },
        { "RWH", "", "R", "RWH" },  { "RWH", "", "", "RWH" },    { "R", "R", "RW", "R" },
        { "R", "R", "RH", "RH" },   { "R", "R", "RWH", "R" },    { "R", "RH", "RH", "RH" },
        { "RH", "R", "RWH", "RH" }, { "RH", "RH", "RWH", "RH" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t held = caching_bits(rows[i].held), other = caching_bits(rows[i].other);
        struct file_caching cachings[] = { { held, held, false }, { other, other, false } };
        struct file_open opened[] = { { R, ACCESS_ALL, MEETS_ALL, 0 },
                                      { R, ACCESS_ALL, MEETS_ALL, 1 } };
        size_t count = other ? 2 : 1;
        struct file_opens opens = {
            .opens = opened, .open_count = count, .cachings = cachings, .caching_count = count
        };
        uint8_t wants = caching_bits(rows[i].wants);

        assert_int_equal(opens_grant(&opens, wants, false, 0), caching_bits(rows[i].becomes));
        cachings[0].breaks_to = 0;
        if (held)
            assert_int_equal(opens_grant(&opens, wants, false, 0), held);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(share_modes_refuse_as_documented),
        cmocka_unit_test(lease_needs_readers_alone),
        cmocka_unit_test(leased_file_has_no_writers),
        cmocka_unit_test(operations_break_as_documented),
        cmocka_unit_test(attributes_take_no_part),
        cmocka_unit_test(pending_and_read_only_refuse),
        cmocka_unit_test(any_two_opens_are_decided),
        cmocka_unit_test(sharing_is_mutual),
        cmocka_unit_test(breaks_are_sent_once),
        cmocka_unit_test(each_caching_is_broken_once),
        cmocka_unit_test(oplocks_break_to_level_ii),
        cmocka_unit_test(own_write_takes_level_ii),
        cmocka_unit_test(descriptors_spare_leases),
        cmocka_unit_test(waiting_goes_on),
        cmocka_unit_test(grants_beside_another),
        cmocka_unit_test(grants_alone),
        cmocka_unit_test(leases_grow_to_all_or_not_at_all),
    };

    return cmocka_run_group_tests_name("opens", tests, NULL, NULL);
}
