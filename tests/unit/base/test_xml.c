/* XML written and read. xml.h; rfc: 3629 3 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/xml.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct xml_limits limits = { .depth_max = 5, .nodes_max = 100 };

static int set_up(void **state)
{
    *state = arena_new(16 << 20);
    return 0;
}

static int tear_down(void **state)
{
    arena_free(*state);
    return 0;
}

static struct xml_node *parse(void **state, struct bytes document)
{
    struct xml_error error;

    return xml_parse(*state, document, limits, &error);
}

/* Written as the real service does: byte order mark, empty elements with a space. */
static void written(void **state)
{
    struct text out;

    text_init(&out, *state, 0);
    xml_begin(&out);
    xml_open(&out, "A b=\"1\"");
    xml_element_string(&out, "B", "x");
    xml_element_string(&out, "C", "");
    xml_element_u64(&out, "D", 0);
    xml_element(&out, "E", bytes_of(NULL, 0));
    xml_close(&out, "A");
    assert_true(bytes_is(text_bytes(&out), "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?>"
                                           "<A b=\"1\"><B>x</B><C /><D>0</D><E /></A>"));
}

/* Names may hold anything: it comes back as it was. Control characters that XML cannot say become
 * U+FFFD, so that an answer is well-formed always. */
static void escaped(void **state)
{
    static const struct bytes same[] = {
        BYTES("a<b>&\"c'"), BYTES("&amp;"),     BYTES("]]>"),          BYTES(" a "),
        BYTES("\r\n\t"),    BYTES("a\rb"),      BYTES("\xC3\xA4\x7F"), BYTES("\xF0\x9F\x98\x80"),
        BYTES("<!--"),      BYTES("<![CDATA["),
    };
    struct xml_node *node;
    struct text out;

    for (size_t i = 0; i < COUNT(same); i++) {
        text_init(&out, *state, 0);
        xml_element(&out, "N", same[i]);
        node = parse(state, text_bytes(&out));
        assert_non_null(node);
        assert_true(bytes_equal(node->text, same[i]));
    }
    for (char c = 1; c < 0x20; c++) {
        if (c == '\t' || c == '\n' || c == '\r')
            continue;
        text_init(&out, *state, 0);
        xml_element(&out, "N", bytes_of(&c, 1));
        node = parse(state, text_bytes(&out));
        assert_non_null(node);
        assert_true(bytes_is(node->text, "\xEF\xBF\xBD"));
    }
}

/* Elements in their order, texts joined, attributes and comments passed over. */
static void tree(void **state)
{
    struct xml_node *root =
        parse(state, bytes_from_string(
                         "\xEF\xBB\xBF<?xml version='1.0' encoding='utf-8'?>\n"
                         "<Root a='1'><!-- c --><One>x<![CDATA[<y>]]>&lt;&#65;</One>"
                         "<Two/><One>second</One><Deep><Er><Est>t</Est></Er></Deep></Root>"));

    assert_non_null(root);
    assert_true(bytes_is(root->name, "Root"));
    assert_true(bytes_is(root->first_child->name, "One"));
    assert_true(bytes_is(root->first_child->text, "x<y><A"));
    assert_true(bytes_is(root->first_child->next->name, "Two"));
    assert_true(root->first_child->next->text.ptr && root->first_child->next->text.len == 0);
    assert_ptr_equal(xml_child(root, "One"), root->first_child);
    assert_null(xml_child(root, "one"));
    assert_true(bytes_is(xml_child(xml_child(xml_child(root, "Deep"), "Er"), "Est")->text, "t"));
}

static void expect_escaped(void **state, struct bytes value, const char *expected)
{
    struct text out;

    text_init(&out, *state, 0);
    xml_escape(&out, value);
    assert_true(bytes_is(text_bytes(&out), expected));
}

/* Line feeds and tabs go out as they are: the parser of @azure/storage-blob does not decode
 * references to them. */
static void line_feeds(void **state)
{
    expect_escaped(state, bytes_from_string("GET\n\n\tx\r"), "GET\n\n\tx&#xD;");
}

/* One value that is no UTF-8 does not spoil a listing for all: it is taken as Latin-1, and the two
 * code points that XML does not have are replaced. Metadata come from headers, which may hold any
 * bytes. rfc: 9110 5.5 */
static void bytes_of_any_kind(void **state)
{
    char all[255];

    expect_escaped(state, bytes_from_string("caf\xE9<\xFF"), "caf\xC3\xA9&lt;\xC3\xBF");
    expect_escaped(state, bytes_from_string("\xEF\xBF\xBE<\xEF\xBF\xBF\xEF\xBF\xBD"),
                   "\xEF\xBF\xBD&lt;\xEF\xBF\xBD\xEF\xBF\xBD");
    expect_escaped(state, bytes_from_string("\xEF\xBF\xBF"), "\xEF\xBF\xBD");
    expect_escaped(state, bytes_from_string("x\xEF\xBF\xBCx"), "x\xEF\xBF\xBCx");
    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (char)(i + 1);
    for (size_t from = 0; from < sizeof all; from++)
        for (size_t length = 0; length < 4 && from + length <= sizeof all; length++) {
            struct text out;

            text_init(&out, *state, 0);
            xml_element(&out, "N", bytes_of(all + from, length));
            assert_non_null(parse(state, text_bytes(&out)));
        }
}

/* A document type is refused before anything in it can do harm: entities that double (the billion
 * laughs), entities from files, and the declaration alone. */
static void no_document_types(void **state)
{
    static const char *const bad[] = {
        ("<!DOCTYPE a [<!ENTITY x \"xxxxxxxxxx\"><!ENTITY y \"&x;&x;&x;&x;&x;&x;&x;&x;&x;&x;\">"
         "<!ENTITY z \"&y;&y;&y;&y;&y;&y;&y;&y;&y;&y;\">]><a>&z;</a>"),
        "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>",
        "<!DOCTYPE a SYSTEM \"http://localhost/a.dtd\"><a/>",
        "<!DOCTYPE a><a/>",
        "<!DOCTYPE a []><a/>",
        "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY % p \"q\"> %p;]><a/>",
        "<a>&x;</a>",
        "<a b=\"&x;\"/>",
    };

    for (size_t i = 0; i < COUNT(bad); i++)
        if (parse(state, bytes_from_string(bad[i])))
            fail_msg("taken: %s", bad[i]);
}

/* What is not well-formed is refused: cut, crossed, not UTF-8, with characters XML has not. */
static void not_well_formed(void **state)
{
    static const struct bytes bad[] = {
        BYTES(""),
        BYTES(" "),
        BYTES("a"),
        BYTES("<a>"),
        BYTES("<a></b>"),
        BYTES("<a><b></a></b>"),
        BYTES("<a/><b/>"),
        BYTES("<a/>x"),
        BYTES("<a b=1/>"),
        BYTES("<a b='1' b='2'/>"),
        BYTES("<a>&</a>"),
        BYTES("<a>\xFF</a>"),
        BYTES("<a>\xC0\x80</a>"),
        BYTES("<a>\xED\xA0\x80</a>"),
        BYTES("<a>\xC3</a>"),
        BYTES("<a>\0</a>"),
        BYTES("<a>\x01</a>"),
        BYTES("<a>&#0;</a>"),
        BYTES("<a>&#x1F;</a>"),
        BYTES("<a>&#xFFFF;</a>"),
        BYTES("<a>]]></a>"),
        BYTES("<?xml version='1.0' encoding='x-unknown'?><a/>"),
    };

    for (size_t i = 0; i < COUNT(bad); i++)
        if (parse(state, bad[i]))
            fail_msg("taken: %.*s", BYTES_ARG(bad[i]));
    assert_null(parse(state, bytes_of(NULL, 0)));
}

/* A document cut anywhere is refused. */
static void cut_at_every_length(void **state)
{
    static const char document[] = "<?xml version='1.0'?><a><b>text</b><c d='e'>&amp;</c></a>";

    assert_non_null(parse(state, bytes_from_string(document)));
    for (size_t length = 0; length < sizeof document - 1; length++)
        assert_null(parse(state, bytes_of(document, length)));
}

/* Depth and number of elements are bounded, and the error says which. */
static void bounded(void **state)
{
    struct text wide;
    struct xml_error error;

    assert_non_null(parse(state, bytes_from_string("<a><a><a><a><a/></a></a></a></a>")));
    assert_null(xml_parse(*state, bytes_from_string("<a><a><a><a><a><a/></a></a></a></a></a>"),
                          limits, &error));
    assert_string_equal(error.reason, "too deeply nested");

    text_init(&wide, *state, 0);
    text_add_string(&wide, "<a>");
    for (int i = 0; i < 99; i++)
        text_add_string(&wide, "<b/>");
    text_add_string(&wide, "</a>");
    assert_non_null(parse(state, text_bytes(&wide)));
    wide.len -= 4;
    text_add_string(&wide, "<b/></a>");
    assert_null(xml_parse(*state, text_bytes(&wide), limits, &error));
    assert_string_equal(error.reason, "too many elements");
}

/* Where it went wrong is told, from 1, as InvalidXmlDocument says it. */
static void error_place(void **state)
{
    struct xml_error error = { .line = 0 };

    assert_null(xml_parse(*state, bytes_from_string("<a>\n  <b></c>\n</a>"), limits, &error));
    assert_int_equal(error.line, 2);
    assert_true(error.position >= 6 && error.position <= 9);
    assert_non_null(error.reason);
}

/* Where the name in the end tag of each element lies, as InvalidXmlDocument says it of a fault in
 * one. */
static void end_place(void **state)
{
    struct bytes document = bytes_from_string("<a>\n <b>\xc3\xa9</b><c/>\n <d>\n\n  </d>\n</a>");
    struct xml_node *a = parse(state, document);
    const struct {
        struct xml_node *node;
        unsigned long line, position;
    } places[] = {
        { a, 6, 3 },
        { a->first_child, 2, 8 },
        { a->first_child->next, 2, 12 },
        { a->first_child->next->next, 5, 5 },
    };

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        unsigned long line, position;

        xml_find_end(document, places[i].node, &line, &position);
        assert_int_equal(line, places[i].line);
        assert_int_equal(position, places[i].position);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(escaped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(line_feeds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bytes_of_any_kind, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tree, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_document_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(not_well_formed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cut_at_every_length, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(error_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(end_place, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
