/* The access check: whatever is asked of whatever list, the answer is that of the algorithm of [MS-DTYP] 2.5.3.2, which
 * is written here as it stands there. decision: 440 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "acl/access_check.h"
#include "acl/sid.h"

#include <cmocka.h>

#define R          MAY_READ_DATA
#define W          MAY_WRITE_DATA
#define ENTRIES    3
#define ALPHABET   108 /* entries that a list is made of */
#define COUNT(all) (sizeof(all) / sizeof(all)[0])

static const struct bytes stranger = BYTES("\x01\x01\0\0\0\0\0\x05\x13\0\0\0");
static const struct bytes some_object = BYTES("0123456789abcdef");
static struct access_token token;

/* ---- the algorithm of the document, for a request ---- */

static bool sid_in_token(struct bytes sid)
{
    return bytes_equal(sid, access_token_user(&token)) ||
           bytes_equal(sid, access_token_group(&token)) || bytes_equal(sid, sid_everyone);
}

static bool is_for_owner(const struct ace *ace)
{
    return bytes_equal(ace->sid, sid_owner_rights);
}

static bool is_here(const struct ace *ace)
{
    return !(ace->flags & ACE_INHERIT_ONLY);
}

static bool granted(const struct security_descriptor *sd, uint32_t request)
{
    bool is_owner = sid_in_token(sd->owner), has_owner_rights = false;
    uint32_t remaining = request;

    for (size_t i = 0; i < sd->dacl.count; i++)
        has_owner_rights |= is_here(&sd->dacl.aces[i]) && is_for_owner(&sd->dacl.aces[i]);
    if (is_owner && !has_owner_rights)
        remaining &= ~(MAY_READ_CONTROL | MAY_WRITE_DAC);
    for (size_t i = 0; i < sd->dacl.count; i++) {
        const struct ace *ace = &sd->dacl.aces[i];

        if (!is_here(ace) || !(is_for_owner(ace) ? is_owner : sid_in_token(ace->sid)))
            continue;
        switch (ace->type) {
        case ACE_ALLOWED:
            remaining &= ~ace->mask;
            break;
        case ACE_ALLOWED_OBJECT:
            remaining &= ace->object.ptr ? ~0u : ~ace->mask;
            break;
        default:
            if (remaining & ace->mask)
                return false;
        }
    }
    return remaining == 0;
}

/* ---- all lists of few entries ---- */

/* Entry number `at` of the alphabet: each type, for each SID, of each mask. */
static struct ace entry(unsigned at)
{
    static const struct bytes *const sids[] = {
        NULL, NULL, &stranger, &sid_everyone, &sid_owner_rights, &sid_creator_owner
    };
    static const uint32_t masks[] = { R, R | W, W | MAY_READ_CONTROL };
    static const struct {
        uint8_t type, flags;
        bool has_object;
    } kinds[] = { { ACE_ALLOWED, 0, false },
                  { ACE_DENIED, 0, false },
                  { ACE_ALLOWED, ACE_INHERIT_ONLY, false },
                  { ACE_DENIED, ACE_INHERIT_ONLY, false },
                  { ACE_ALLOWED_OBJECT, 0, true },
                  { ACE_DENIED_OBJECT, 0, true } };
    unsigned kind = at % COUNT(kinds), sid = at / COUNT(kinds) % COUNT(sids);
    struct ace ace = { .type = kinds[kind].type,
                       .flags = kinds[kind].flags,
                       .mask = masks[at / COUNT(kinds) / COUNT(sids)] };

    ace.sid = sid == 0 ? access_token_user(&token) : access_token_group(&token);
    if (sids[sid])
        ace.sid = *sids[sid];
    if (kinds[kind].has_object)
        ace.object = some_object;
    return ace;
}

static void check(const struct security_descriptor *sd)
{
    static const uint32_t requests[] = {
        R, W, R | W, MAY_READ_CONTROL, MAY_WRITE_DAC, MAY_READ_CONTROL | R, MAY_WRITE_OWNER
    };
    uint32_t rights = access_check(sd, &token);

    for (size_t i = 0; i < COUNT(requests); i++)
        if (granted(sd, requests[i]) != ((requests[i] & ~rights) == 0))
            fail_msg("request %x, rights %x, %zu entries", requests[i], rights, sd->dacl.count);
}

/* Rule: what is granted to a request is what the document's algorithm grants, of all lists of up to three entries, for
 * the owner and for others. [MS-DTYP] 2.5.3.2 */
static void all_lists(void **state)
{
    struct ace aces[ENTRIES];
    struct security_descriptor sd = { .dacl = { .aces = aces } };
    const struct bytes owners[] = { access_token_user(&token), stranger };

    (void)state;
    for (size_t owner = 0; owner < COUNT(owners); owner++) {
        sd.owner = owners[owner];
        for (unsigned at = 0; at < ALPHABET * ALPHABET * ALPHABET; at++) {
            aces[0] = entry(at % ALPHABET);
            aces[1] = entry(at / ALPHABET % ALPHABET);
            aces[2] = entry(at / ALPHABET / ALPHABET);
            /* Shorter lists are the beginnings of the longer ones. */
            for (sd.dacl.count = at < ALPHABET * ALPHABET ? 0 : 3; sd.dacl.count <= ENTRIES;
                 sd.dacl.count++)
                check(&sd);
        }
    }
}

/* Rule: no list lets everybody do everything, an empty one lets the owner alone read and write it. */
static void no_list(void **state)
{
    struct security_descriptor sd = { .owner = stranger, .dacl = { .null = true } };

    (void)state;
    assert_int_equal(access_check(&sd, &token), MAY_ALL);
    sd.dacl.null = false;
    assert_int_equal(access_check(&sd, &token), 0);
    sd.owner = access_token_user(&token);
    assert_int_equal(access_check(&sd, &token), MAY_READ_CONTROL | MAY_WRITE_DAC);
}

/* Rule: generic rights of an entry are those of files, and no entry gives more than a file knows: not the SACL.
 * [MS-DTYP] 2.4.3, MS-SMB2 2.2.13.1.1 */
static void generic(void **state)
{
    static const struct {
        uint32_t mask, rights;
    } cases[] = { { MAY_GENERIC_READ, 0x120089 },
                  { MAY_GENERIC_WRITE, 0x120116 },
                  { MAY_GENERIC_EXECUTE, 0x1200A0 },
                  { MAY_GENERIC_ALL, 0x1F01FF },
                  { MAY_ACCESS_SACL, 0 },
                  { MAY_MAXIMUM, 0 },
                  { 0xFFFFFFFF, 0x1F01FF } };
    struct ace ace = { .type = ACE_ALLOWED, .sid = sid_authenticated_users };
    struct security_descriptor sd = { .owner = stranger, .dacl = { .aces = &ace, .count = 1 } };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        ace.mask = cases[i].mask;
        assert_int_equal(access_check(&sd, &token), cases[i].rights);
    }
}

/* Rule: an account is one user, the same wherever it is; other accounts are others. decision: 440 */
static void identities(void **state)
{
    struct access_token again = access_token_of_account(bytes_from_string("devstoreaccount1"));
    struct access_token other = access_token_of_account(bytes_from_string("devstoreaccount2"));
    struct arena *arena = arena_new(1 << 12);
    struct text text;

    (void)state;
    text_init(&text, arena, 128);
    sid_add_text(&text, access_token_user(&token));
    assert_string_equal(arena_string(arena, text_bytes(&text)),
                        "S-1-5-21-920137035-452551894-623932983-1000");
    assert_memory_equal(&again, &token, sizeof token);
    assert_false(access_token_has(&token, access_token_user(&other)));
    assert_false(access_token_has(&token, access_token_group(&other)));
    for (const struct bytes *const *sid =
             (const struct bytes *const[]){ &sid_everyone, &sid_network, &sid_builtin_users, NULL };
         *sid; sid++)
        assert_true(access_token_has(&token, **sid));
    assert_false(access_token_has(&token, sid_system));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_lists),
        cmocka_unit_test(no_list),
        cmocka_unit_test(generic),
        cmocka_unit_test(identities),
    };

    token = access_token_of_account(bytes_from_string("devstoreaccount1"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
