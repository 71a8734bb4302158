/* What answers to errors say beside their code. recorded; decision: 121, 266 */
#include "fixture.h"

#include "queue/queue.h"

static int setup(void **state)
{
    if (fixture_setup(state) != 0)
        return -1;
    fixture_serve(*state, &queue_service);
    assert_ok(ask(*state, "PUT /que", NULL, NULL), 201);
    return 0;
}

static int teardown(void **state)
{
    fixture_serve(*state, NULL);
    return fixture_teardown(state);
}

static void assert_says(struct reply answer, const char *code, const char *what)
{
    assert_answer(answer, 400, code);
    if (!memmem(answer.body.ptr, answer.body.len, what, strlen(what)))
        fail_msg("%.*s", BYTES_ARG(answer.body));
}

#define AS_A_WHOLE "</Message><LineNumber>0</LineNumber><LinePosition>0</LinePosition><Reason />"

/* Rule: a document that breaks a rule as a whole has no place for it. recorded:
 * test_too_many_cors_rules; decision: 266 */
static void documents_as_a_whole(void **state)
{
    struct fixture *f = *state;
    const char *rule = "<CorsRule><AllowedOrigins>o</AllowedOrigins><AllowedMethods>GET"
                       "</AllowedMethods><AllowedHeaders/><ExposedHeaders/><MaxAgeInSeconds>0"
                       "</MaxAgeInSeconds></CorsRule>";
    const char *policies = "", *rules = "";

    for (int i = 0; i < 6; i++) {
        policies = textf(f, "%s<SignedIdentifier><Id>%d</Id></SignedIdentifier>", policies, i);
        rules = textf(f, "%s%s", rules, rule);
    }
    assert_says(ask(f, "PUT /que?comp=acl", NULL,
                    "<SignedIdentifiers><SignedIdentifier><Id>a</Id><AccessPolicy><Permission>rwdl"
                    "</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>"),
                "InvalidXmlDocument", AS_A_WHOLE);
    assert_says(ask(f, "PUT /que?comp=acl", NULL,
                    textf(f, "<SignedIdentifiers>%s</SignedIdentifiers>", policies)),
                "InvalidXmlDocument", AS_A_WHOLE);
    assert_says(ask(f, "PUT /?comp=properties&restype=service", NULL,
                    textf(f, "<StorageServiceProperties><Cors>%s</Cors></StorageServiceProperties>",
                          rules)),
                "InvalidXmlDocument", AS_A_WHOLE);
}

/* Rule: what is no receipt is said; a queue that is missing comes first. decision: 121 */
static void receipts(void **state)
{
    static const char said[] = "<QueryParameterName>popreceipt</QueryParameterName>"
                               "<QueryParameterValue>a&lt;b</QueryParameterValue>"
                               "<Reason>Invalid pop receipt format</Reason>";
    struct fixture *f = *state;
    const char *message = "messages/00000000-0000-4000-8000-000000000001?popreceipt=a%3Cb";

    assert_says(ask(f, textf(f, "DELETE /que/%s", message), NULL, NULL),
                "InvalidQueryParameterValue", said);
    assert_says(ask(f, textf(f, "PUT /que/%s&visibilitytimeout=1", message), NULL, NULL),
                "InvalidQueryParameterValue", said);
    assert_answer(ask(f, textf(f, "DELETE /none/%s", message), NULL, NULL), 404, "QueueNotFound");
}

static void names(void **state)
{
    assert_says(ask(*state, "PUT /ab", NULL, NULL), "OutOfRangeInput",
                "The specified resource name length is not within the permissible limits.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(documents_as_a_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(receipts, setup, teardown),
        cmocka_unit_test_setup_teardown(names, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
