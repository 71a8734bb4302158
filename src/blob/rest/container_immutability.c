/* Requests and responses of the operator's operations on the protection of a container. Their
 * arguments are headers, and their response is a JSON object, which `lagra container` prints. */
#include "blob/container_immutability.h"
#include "base/json.h"
#include "blob/rest/request.h"
#include "service/answer.h"

static const char change_header[] = "x-ms-protection-change";
static const char days_header[] = "x-ms-protection-days";
static const char append_header[] = "x-ms-protection-append";
static const char tags_header[] = "x-ms-protection-tags";

static const char *const change_names[] = {
    [PROTECT_VERSIONS] = "versions", [PROTECT_POLICY] = "policy", [PROTECT_LOCK] = "lock",
    [PROTECT_EXTEND] = "extend",     [PROTECT_REMOVE] = "remove", [PROTECT_HOLD] = "hold",
    [PROTECT_RELEASE] = "release",   [PROTECT_CLOSE] = "close",   [PROTECT_OPEN] = "open",
};
static const char *const append_names[] = {
    [APPEND_TO_NONE] = "none",
    [APPEND_TO_APPEND_BLOBS] = "append-blobs",
    [APPEND_TO_ALL] = "all",
};
/* Changes that have each argument. */
#define WITH_DAYS   (1u << PROTECT_POLICY | 1u << PROTECT_EXTEND)
#define WITH_APPEND (1u << PROTECT_POLICY | 1u << PROTECT_HOLD)
#define WITH_TAGS   (1u << PROTECT_HOLD | 1u << PROTECT_RELEASE)

/* Returns the index of the header's value; `count` if it is absent or unknown. */
static size_t read_word(struct call *call, const char *header, const char *const *names,
                        size_t count)
{
    const struct bytes text = call_header(call, header);
    size_t i = 0;

    while (i < count && !bytes_is(text, names[i]))
        i++;
    return i;
}

/* Requires an argument, or refuses it. */
static enum error check_argument(struct call *call, const char *header, bool is_wanted,
                                 bool is_required)
{
    const struct bytes text = call_header(call, header);

    if (text.ptr && !is_wanted)
        return call_fail(call, E_InvalidInput, "This change does not have all these arguments.");
    if (!text.ptr && is_required)
        return call_fail(call, E_InvalidInput, "The number of days, or a tag, is missing.");
    return OK;
}

static enum error read_append(struct call *call, enum append_rule *ret_append)
{
    const size_t count = sizeof append_names / sizeof append_names[0];
    size_t i = read_word(call, append_header, append_names, count);

    *ret_append = i < count ? (enum append_rule)i : APPEND_TO_NONE;
    return i < count || !call_header(call, append_header).ptr
               ? OK
               : call_fail(call, E_InvalidInput, "Appending is none, append-blobs or all.");
}

enum error protect_container_check(struct call *call, struct protect_container_parameters *p)
{
    const size_t count = sizeof change_names / sizeof change_names[0];
    size_t i = read_word(call, change_header, change_names, count);
    uint64_t days = 0;
    bool has_days = false;
    unsigned bit;
    enum error e;

    if (i == count)
        return call_fail(call, E_InvalidInput,
                         "The change is versions, policy, lock, extend, remove, hold or release.");
    bit = 1u << i;
    p->change = (enum protection_change)i;
    p->tags = call_header(call, tags_header);
    e = check_argument(call, days_header, bit & WITH_DAYS, bit & WITH_DAYS);
    if (!e)
        e = check_argument(call, append_header, bit & WITH_APPEND, false);
    if (!e)
        e = check_argument(call, tags_header, bit & WITH_TAGS, bit & WITH_TAGS);
    if (!e)
        e = read_append(call, &p->append);
    if (!e)
        e = call_read_number(call, days_header, UINT32_MAX, &has_days, &days);
    p->days = (uint32_t)days;
    if (!e && p->change == PROTECT_HOLD && p->append == APPEND_TO_APPEND_BLOBS)
        e = call_fail(call, E_InvalidInput, "A legal hold permits appending to none or all.");
    return e;
}

/* ---- the response ---- */

static void write_tags(struct json_writer *out, struct bytes tags)
{
    struct decoder in;

    json_write_name(out, "holds");
    json_write_begin(out, '[');
    for (decoder_init(&in, tags); in.at < in.end && !in.bad;) {
        struct bytes tag = decode_bytes(&in);

        if (out->follows)
            text_add_char(out->to, ',');
        json_write_string(out->to, tag);
        out->follows = true;
    }
    json_write_end(out, ']');
}

static void write_event(struct json_writer *out, const struct protection_event *event)
{
    char at[INSTANT_ISO_SIZE];

    instant_format_iso(event->at, at);
    json_write_begin(out, '{');
    json_write_member(out, "at", bytes_from_string(at));
    json_write_member(out, "change", bytes_from_string(change_names[event->change]));
    if (event->days > 0)
        json_write_number(out, "days", event->days);
    if (event->tags.ptr)
        json_write_member(out, "tags", event->tags);
    json_write_end(out, '}');
}

static void write_log(struct json_writer *out, struct bytes log)
{
    struct protection_event event;
    struct decoder in;

    json_write_name(out, "log");
    json_write_begin(out, '[');
    for (decoder_init(&in, log); protection_log_next(&in, &event);)
        write_event(out, &event);
    json_write_end(out, ']');
}

static void answer_protection(struct answer *a, const struct container_immutability *i)
{
    struct text *text = arena_alloc(a->arena, sizeof *text);
    struct json_writer out = { .to = text };

    text_init(text, a->arena, 256);
    json_write_begin(&out, '{');
    json_write_bool(&out, "versions", i->has_versions);
    if (i->mode != POLICY_NONE) {
        json_write_member(&out, "policy", bytes_from_string(policy_mode_text(i->mode)));
        json_write_number(&out, "days", i->days);
        json_write_member(&out, "append", bytes_from_string(append_names[i->append]));
        json_write_number(&out, "extensions", i->extensions);
    }
    write_tags(&out, i->holds);
    if (i->holds.len > 0)
        json_write_member(&out, "holdsAppend", bytes_from_string(i->holds_append ? "all" : "none"));
    if (i->is_closed)
        json_write_bool(&out, "closed", true);
    write_log(&out, i->log);
    json_write_end(&out, '}');
    a->response->body_kind = BODY_BYTES;
    a->response->body = text_bytes(text);
}

void protect_container_answer(struct answer *a, const struct protect_container_parameters *p,
                              const struct protect_container_result *r)
{
    (void)p;
    answer_protection(a, &r->immutability);
}

OPERATION_CHECKS_NOTHING(get_container_protection)

void get_container_protection_answer(struct answer *a,
                                     const struct get_container_protection_parameters *p,
                                     const struct get_container_protection_result *r)
{
    (void)p;
    answer_protection(a, &r->immutability);
}
