/* Security descriptors as text and as bytes. [MS-DTYP] 2.4.6, 2.5.1; decision: 307 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/encode.h"
#include "acl/security_descriptor.h"

#include <cmocka.h>

static int setup(void **state)
{
    *state = arena_new(1u << 24);
    return 0;
}

static int teardown(void **state)
{
    arena_free(*state);
    return 0;
}

/* The text once more, by way of its bytes; "" for what is refused. */
static const char *again(struct arena *arena, const char *text)
{
    struct security_descriptor of_text, of_bytes;
    struct bytes raw;

    if (!sddl_read(arena, bytes_from_string(text), &of_text))
        return "";
    raw = security_descriptor_encode(arena, &of_text);
    assert_non_null(raw.ptr);
    assert_true(security_descriptor_decode(arena, raw, &of_bytes));
    assert_int_equal(security_descriptor_encode(arena, &of_bytes).len, raw.len);
    assert_memory_equal(security_descriptor_encode(arena, &of_bytes).ptr, raw.ptr, raw.len);
    return arena_string(arena, sddl_write(arena, &of_bytes));
}

#define assert_again(text, wanted) assert_string_equal(again(*state, text), wanted)

/* Rule: what is written by us is read as the same, all types and flags and names. */
static void round_trips(void **state)
{
    static const char *const texts[] = {
        /* recorded: python test_create_permission_for_share */
        "O:S-1-5-21-2127521184-1604012920-1887927527-21560751G:S-1-5-21-2127521184-1604012920-"
        "1887927527-513D:AI(A;;FA;;;SY)(A;;FA;;;BA)(A;;0x1200a9;;;S-1-5-21-397955417-626881126-"
        "188441444-3053964)S:NO_ACCESS_CONTROL",
        "O:BAG:SYD:S:NO_ACCESS_CONTROL",
        "O:BAG:SYD:PARAI(D;OICINPIOID;CCDCLCSWRPWPDTLOCRSDRCWDWOGAGXGWGR;;;WD)S:PARAI",
        "O:BAG:SYD:NO_ACCESS_CONTROLS:(AU;SAFA;FA;;;WD)(ML;;NWNRNX;;;LW)(SP;;;;;S-1-17-1)"
        "(TL;;0x1f0003;;;S-1-19-512-4096)",
        "O:BAG:SYD:(OA;CR;CR;00299570-246d-11d0-a768-00aa006e0529;;PS)"
        "(OD;;RP;;4828cc14-1437-45bc-9b07-ad6f015e5f28;AN)"
        "(OA;;WP;00299570-246d-11d0-a768-00aa006e0529;4828cc14-1437-45bc-9b07-ad6f015e5f28;CO)"
        "(OA;;WP;;;CG)S:(OU;SA;GA;;;AU)",
        "O:S-1-0x123456789abc-1G:S-1-4294967295-1-2-3-4-5-6-7-8-9-10-11-12-13-14-15"
        "D:(A;;FR;;;UD)(A;;FW;;;AC)(A;;FX;;;OW)(A;;KA;;;MP)(A;;KR;;;HI)(A;;KW;;;SI)S:",
        "O:AAG:ANS:" /* no DACL */,
    };

    for (size_t i = 0; i + 1 < sizeof texts / sizeof texts[0]; i++)
        assert_again(texts[i], texts[i]);
    assert_again(texts[sizeof texts / sizeof texts[0] - 1], "");
}

/* Rule: one descriptor has one canonical form, however it is written. */
static void canonical(void **state)
{
    assert_again("o:bag:syd:ai(a;;0X1F01ff;;;s-1-1-0)",
                 "O:BAG:SYD:AI(A;;FA;;;WD)S:NO_ACCESS_CONTROL");
    assert_again("S:D:(A;;017;;;WD)(A;;15;;;WD)(A;;0;;;WD)(A;;GRGR;;;WD)G:S-1-5-18O:S-1-5-32-0544",
                 "O:BAG:SYD:(A;;CCDCLCSW;;;WD)(A;;CCDCLCSW;;;WD)(A;;;;;WD)(A;;GR;;;WD)S:");
    assert_again("O:BAG:SYD:PNO_ACCESS_CONTROLS:ARNO_ACCESS_CONTROL",
                 "O:BAG:SYD:NO_ACCESS_CONTROLS:NO_ACCESS_CONTROL");
    assert_again("O:BAG:SYD:(A;;KX;;;S-1-5-84-0-0-0-0-0)",
                 "O:BAG:SYD:(A;;KR;;;UD)S:NO_ACCESS_CONTROL");
}

/* Rule: nothing is taken that is not understood to its end. */
static void refused_texts(void **state)
{
    static const char *const parts[] = {
        "(A;;FA;;;DA)",
        "(A;;FA;;;LA)",
        "(XA;;FA;;;WD;(a==1))",
        "(XA;;FA;;;WD)",
        "(ZA;;FA;;;WD)",
        "(RA;;;;;WD;(\"a\",TI,0,1))",
        "(AU;SA;FA;;;WD)",
        "(AL;;FA;;;WD)",
        "(A;;FA;;;WD",
        "(A;;FA;;;WD))",
        "(A;;FA;;WD)",
        "(A;;FA;;;WD;)",
        "(A;XX;FA;;;WD)",
        "(A;O;FA;;;WD)",
        "(A;;F;;;WD)",
        "(A;;0x;;;WD)",
        "(A;;08;;;WD)",
        "(A;;0x100000000;;;WD)",
        "(A;;4294967296;;;WD)",
        "(A;;FA;;;)",
        "(A;;FA;;;W)",
        "(A;;FA;;;WDX)",
        "(A;;FA;00299570-246d-11d0-a768-00aa006e0529;;WD)",
        "(OA;;FA;00299570246d11d0a76800aa006e0529;;WD)",
        "(A;;FA;;;S-1-5)",
        "(A;;FA;;;S-1-5-)",
        "(A;;FA;;;S-1-5-4294967296)",
        "(A;;FA;;;S-1-0x1000000000000-1)",
        "(A;;FA;;;S-2-5-1)",
        "(A;;FA;;;S-1-5-1-2-3-4-5-6-7-8-9-10-11-12-13-14-15-16)",
        " ",
        "X",
        "D:",
        "NO_ACCESS_CONTROL(A;;FA;;;WD)",
        "(A;;FA;;;WD)NO_ACCESS_CONTROL",
        "(;;FA;;;WD)",
        "()",
        "(A;;0xFAG;;;WD)",
    };
    static const char *const whole[] = {
        "",
        "O:BA",
        "O:BAG:SY",
        "G:SYD:",
        "O:BAD:",
        "O:BAG:SYD:O:BA",
        "O:BAG:SYD:S:S:",
        "O:G:SYD:",
        "O:XXG:SYD:",
        "invalidPermission",
        "O:BAG:SYS:(A;;FA;;;WD)D:",
    };
    char text[256];

    assert_again("O:BAG:SYD:(A;;FA;;;WD)", "O:BAG:SYD:(A;;FA;;;WD)S:NO_ACCESS_CONTROL");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        snprintf(text, sizeof text, "O:BAG:SYD:%s", parts[i]);
        assert_again(text, "");
    }
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        assert_again(whole[i], "");
}

/* Rule: a list has 16 bits for its length, a descriptor 64 KiB. */
static void large(void **state)
{
    struct security_descriptor descriptor;
    struct text text;

    text_init(&text, *state, 1 << 16);
    text_add_string(&text, "O:BAG:SYD:");
    for (int i = 0; i < 3270; i++)
        text_add_string(&text, "(A;;FA;;;WD)");
    assert_true(sddl_read(*state, text_bytes(&text), &descriptor));
    assert_non_null(security_descriptor_encode(*state, &descriptor).ptr);
    for (int i = 0; i < 6; i++)
        text_add_string(&text, "(A;;FA;;;WD)");
    assert_true(sddl_read(*state, text_bytes(&text), &descriptor));
    assert_null(security_descriptor_encode(*state, &descriptor).ptr);
    text_add_string(&text, "(A;;FA;;;WD)");
    assert_false(sddl_read(*state, text_bytes(&text), &descriptor));
}

/* Rule: every offset and length of bytes is looked at: each of a valid descriptor, cut anywhere or with
 * any byte changed, is read or refused, and what is read is written and read as the same. */
static void damaged_bytes(void **state)
{
    struct security_descriptor descriptor;
    struct arena *arena = arena_new(1u << 26);
    struct bytes raw;
    char *copy;

    assert_true(sddl_read(*state,
                          bytes_from_string("O:BAG:SYD:AI(A;OICI;FA;;;WD)"
                                            "(OA;;RP;00299570-246d-11d0-a768-00aa006e0529;;PS)"
                                            "S:(AU;SA;GA;;;AU)"),
                          &descriptor));
    raw = security_descriptor_encode(*state, &descriptor);
    for (size_t len = 0; len < raw.len; len++)
        assert_false(security_descriptor_decode(arena, arena_copy(arena, bytes_of(raw.ptr, len)),
                                                &descriptor));
    for (size_t at = 0; at < raw.len; at++) {
        for (unsigned value = 0; value < 256; value++) {
            struct arena_mark mark = arena_mark(arena);
            struct bytes encoded;

            copy = arena_bytes(arena, raw.len);
            memcpy(copy, raw.ptr, raw.len);
            copy[at] = (char)value;
            if (security_descriptor_decode(arena, bytes_of(copy, raw.len), &descriptor)) {
                encoded = security_descriptor_encode(arena, &descriptor);
                assert_string_equal(
                    again(arena, arena_string(arena, sddl_write(arena, &descriptor))),
                    arena_string(arena, sddl_write(arena, &descriptor)));
                assert_true(security_descriptor_decode(arena, encoded, &descriptor));
            }
            arena_rewind(arena, mark);
        }
    }
    arena_free(arena);
}

/* Rule: the bytes are those of [MS-DTYP] 2.4.6, also in another order and with room between. */
static void bytes_of_windows(void **state)
{
    /* As a Windows lays it out: SACL absent, DACL, owner, group. */
    static const char raw[] = "\x01\x00\x04\x84\x30\0\0\0\x3C\0\0\0\0\0\0\0\x14\0\0\0"
                              "\x02\x00\x1C\0\x01\0\0\0"
                              "\0\x03\x14\0\xFF\x01\x1F\0\x01\x01\0\0\0\0\0\x01\0\0\0\0"
                              "\x01\x01\0\0\0\0\0\x05\x12\0\0\0"
                              "\x01\x01\0\0\0\0\0\x05\x12\0\0\0";
    struct security_descriptor descriptor;

    assert_true(security_descriptor_decode(*state, bytes_of(raw, sizeof raw - 1), &descriptor));
    assert_string_equal(arena_string(*state, sddl_write(*state, &descriptor)),
                        "O:SYG:SYD:AI(A;OICI;FA;;;WD)S:NO_ACCESS_CONTROL");
}

/* Rule: an entry lies in its list, and has room for its mask, whatever bytes follow. [MS-DTYP] 2.4.5 */
static void entries_lie_in_their_list(void **state)
{
    /* Revision, owner, group, no SACL, DACL; the list's length and then the entry's are what is changed. */
    static const char raw[] = "\x01\x00\x04\x80\x30\0\0\0\x3C\0\0\0\0\0\0\0\x14\0\0\0"
                              "\x02\x00\x1C\0\x01\0\0\0"
                              "\0\x03\x14\0\xFF\x01\x1F\0\x01\x01\0\0\0\0\0\x01\0\0\0\0"
                              "\x01\x01\0\0\0\0\0\x05\x12\0\0\0"
                              "\x01\x01\0\0\0\0\0\x05\x12\0\0\0";
    static const struct {
        size_t at;
        char length;
    } changes[] = { { 22, 0x18 }, { 22, 0x10 }, { 30, 0x04 }, { 30, 0x00 }, { 30, 0x20 } };
    struct security_descriptor descriptor;
    char copy[sizeof raw];

    assert_true(security_descriptor_decode(*state, bytes_of(raw, sizeof raw - 1), &descriptor));
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        memcpy(copy, raw, sizeof raw);
        copy[changes[i].at] = changes[i].length;
        assert_false(
            security_descriptor_decode(*state, bytes_of(copy, sizeof raw - 1), &descriptor));
    }
}

static const char *inherited(struct arena *arena, const char *parent, bool for_directory)
{
    struct security_descriptor descriptor;

    assert_true(sddl_read(arena, bytes_from_string(parent), &descriptor));
    descriptor =
        security_descriptor_inherit(arena, &descriptor, for_directory, &descriptor_of_system);
    return again(arena, arena_string(arena, sddl_write(arena, &descriptor)));
}

/* Rule: what is for files is theirs, what is for directories goes on below them, once if it says so.
 * [MS-DTYP] 2.5.3.4.3 */
static void inheritance(void **state)
{
    static const char none[] = "(A;;FA;;;SY)";
    static const struct {
        const char *ace, *file, *directory;
    } cases[] = {
        { "(A;;FA;;;WD)", none, none },
        { "(A;OI;FA;;;WD)", "(A;ID;FA;;;WD)", "(A;OIIOID;FA;;;WD)" },
        { "(A;CI;FA;;;WD)", none, "(A;CIID;FA;;;WD)" },
        { "(A;OICI;FA;;;WD)", "(A;ID;FA;;;WD)", "(A;OICIID;FA;;;WD)" },
        { "(D;OICIIO;GA;;;WD)", "(D;ID;FA;;;WD)", "(D;ID;FA;;;WD)(D;OICIIOID;GA;;;WD)" },
        { "(A;OICINP;FA;;;WD)", "(A;ID;FA;;;WD)", "(A;ID;FA;;;WD)" },
        { "(A;OINP;FA;;;WD)", "(A;ID;FA;;;WD)", none },
        { "(A;OICI;FR;;;CO)", "(A;ID;FR;;;SY)", "(A;ID;FR;;;SY)(A;OICIIOID;FR;;;CO)" },
    };
    char parent[128], wanted[128];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(parent, sizeof parent, "O:BAG:BAD:PAI%s", cases[i].ace);
        snprintf(wanted, sizeof wanted, "O:SYG:SYD:AI%sS:NO_ACCESS_CONTROL", cases[i].file);
        assert_string_equal(inherited(*state, parent, false), wanted);
        snprintf(wanted, sizeof wanted, "O:SYG:SYD:AI%sS:NO_ACCESS_CONTROL", cases[i].directory);
        assert_string_equal(inherited(*state, parent, true), wanted);
    }
}

/* Rule: entries are marked as inherited where the directory's list says that it is one of such entries, and that alone.
 * smbtorture, smb2.acls.INHERITFLAGS */
static void marks(void **state)
{
    assert_string_equal(
        inherited(*state, "O:BAG:BAD:AR(A;OICIID;FA;;;WD)S:AI(AU;OISA;FA;;;WD)", true),
        "O:SYG:SYD:(A;OICI;FA;;;WD)S:AI(AU;OIIOIDSA;FA;;;WD)");
    assert_string_equal(inherited(*state, "O:BAG:BAD:AI(A;OICI;FA;;;WD)", true),
                        "O:SYG:SYD:AI(A;OICIID;FA;;;WD)S:NO_ACCESS_CONTROL");
}

/* Rule: what somebody makes is that one's: owner and group, and CREATOR OWNER and CREATOR GROUP of what it inherits;
 * if it inherits nothing, that one and the system may do everything. [MS-DTYP] 2.5.3.4.1, 2.5.3.4.2 */
static void maker(void **state)
{
    const struct descriptor_maker users = { BYTES("\x01\x01\0\0\0\0\0\x05\x13\0\0\0"),
                                            BYTES("\x01\x01\0\0\0\0\0\x05\x14\0\0\0") };
    struct security_descriptor parent, child;

    assert_true(
        sddl_read(*state, bytes_from_string("O:BAG:BAD:(A;OI;FR;;;CO)(A;OI;FX;;;CG)"), &parent));
    child = security_descriptor_inherit(*state, &parent, false, &users);
    assert_string_equal(arena_string(*state, sddl_write(*state, &child)),
                        "O:LSG:NSD:(A;;FR;;;LS)(A;;FX;;;NS)S:NO_ACCESS_CONTROL");
    assert_true(sddl_read(*state, bytes_from_string("O:BAG:BAD:NO_ACCESS_CONTROL"), &parent));
    child = security_descriptor_inherit(*state, &parent, true, &users);
    assert_string_equal(arena_string(*state, sddl_write(*state, &child)),
                        "O:LSG:NSD:(A;;FA;;;LS)(A;;FA;;;SY)S:NO_ACCESS_CONTROL");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(round_trips),   TEST(canonical),
        TEST(refused_texts), TEST(large),
        TEST(damaged_bytes), TEST(bytes_of_windows),
        TEST(inheritance),   TEST(marks),
        TEST(maker),         TEST(entries_lie_in_their_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
