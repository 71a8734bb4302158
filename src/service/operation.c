/* Finds rows in operation tables and executes them. */
#include "service/operation.h"

#include "service/request_body.h"

#include <assert.h>

#include "service/placement_move.h"

/* ---- execution ---- */

bool decision_may_change(const struct decision *d)
{
    return d->operation->rights.effect == WRITES;
}

unsigned decision_action(const struct decision *d)
{
    return d->operation->rights.action;
}

unsigned decision_passes(const struct decision *d)
{
    return d->operation->passes;
}

static enum error check_lease_rule(struct decision *d)
{
    const struct guid *given = d->input->lease_id;

    switch (d->operation->lease) {
    case LEASE_RULE_IGNORED:
    case LEASE_RULE_ACTION:
        return OK;
    case LEASE_RULE_OPTIONAL:
        return lease_check_read(d->lease_resource, &d->lease, given, d->now);
    case LEASE_RULE_WHEN_LEASED:
        return lease_check_write(d->lease_resource, &d->lease, given, d->now);
    }
    assert(false); /* invalid lease rule */
    return E_InternalError;
}

/* Checks the caller's permission on the state that was found. */
static enum error check_permission(struct decision *d)
{
    struct permit_facts facts = { .known = true, .exists = d->subject.exists };
    struct bytes detail = { NULL, 0 };
    enum error e = OK;

    assert(d->operation && d->input);
    if (d->service->permit_facts && d->state)
        e = d->service->permit_facts(d, &facts);
    if (e)
        return e;
    e = permit(&d->operation->rights, &d->input->demands, &d->input->identity, &facts, d->arena,
               &detail);
    if (e)
        problem_of_permission(d->problem, d->arena, detail);
    return e;
}

/* Returns true if the state, and thus the permission, is unknown. decision: 682 */
static bool is_unknown(enum error e)
{
    return decision_is_unfinished(e) || e == E_MisdirectedRequest || (e && error_status(e) >= 500);
}

enum error operation_missing(struct decision *d, enum error e)
{
    enum error permitted = is_unknown(e) ? OK : check_permission(d);

    return permitted ? permitted : e;
}

/* Checks in this order: subject, permission, lease, conditions. decision: 2 */
enum error operation_check(struct decision *d)
{
    const struct operation *operation = d->operation;
    const struct conditions *given = &d->input->conditions;
    enum error e, permitted;

    e = conditions_allowed(operation->condition_class, operation->conditions, given);
    if (e)
        return e;
    /* An error of subject() is returned after the permission check, so that a caller without the
     * right does not learn what exists. */
    e = operation->subject ? operation->subject(d) : OK;
    if (is_unknown(e))
        return e;
    permitted = check_permission(d);
    if (permitted)
        return permitted;
    if (e || !operation->subject)
        return e;
    e = check_lease_rule(d);
    if (e)
        return e;
    d->subject.lease_is_held =
        operation->lease == LEASE_RULE_WHEN_LEASED && d->input->lease_id != NULL;
    return conditions_check(operation->condition_class, given, &d->subject);
}

static bool status_is_promised(const struct operation *operation, int status)
{
    return status == operation->ok[0] || (operation->ok[1] != 0 && status == operation->ok[1]);
}

/* Asserts the rules of the row for a decision. */
static void assert_decided(const struct decision *d, enum error e)
{
    const struct operation *operation = d->operation;

    if (decision_is_unfinished(e))
        return; /* changes will be dropped */
    if (e) {
        assert(changes_empty(d->changes));
        return;
    }
    assert(operation->rights.effect == WRITES || changes_empty(d->changes));
    assert(operation->etag != ETAG_CHANGED || d->result->placed.cell > 0 ||
           (!changes_empty(d->changes) && d->subject.etag.v != 0));
}

enum error operation_decide(struct decision *d, const struct parameters *parameters,
                            struct result *result)
{
    bool has_entered;
    enum error e;

    assert(changes_empty(d->changes));
    assert(d->operation->functions && parameters->operation == d->operation);
    assert(!d->malformed == !d->malformed_because);
    e = operation_check(d);
    if (!e && d->malformed) {
        *d->problem = *d->malformed_because;
        e = d->malformed;
    }
    if (!e && d->service->enter)
        e = d->service->enter(d);
    has_entered = !changes_empty(d->changes);
    if (!e)
        e = d->operation->functions->decide(d, parameters, result);
    if (e && has_entered && !decision_is_unfinished(e))
        decision_drop_changes(d); /* the changes of enter() */
    if (!e && d->operation->functions->merged_path)
        e = placement_check_list(d);
    if (!e && d->service->leave)
        e = d->service->leave(d);
    result->now = d->now;
    result->etag = d->subject.etag;
    result->modified = d->subject.modified;
    if (!e && d->leaves_more)
        decision_defer_collection(d);
    assert_decided(d, e);
    return e;
}

void operation_answer(struct answer *a, const struct parameters *parameters,
                      const struct result *result)
{
    const struct operation *operation = parameters->operation;

    assert(operation->functions && a->response->body_kind == BODY_NONE);
    a->now = result->now;
    if (result->placed.cell > 0) {
        answer_elsewhere(a, result->placed);
        return;
    }
    answer_status(a, operation->ok[0]);
    operation->functions->answer(a, parameters, result);
    if (operation->etag != ETAG_NONE && result->etag.v != 0)
        a->call->service->answer_etag(a, result->etag, result->modified);
    if (a->call->service->reads_are_not_cached && (a->call->method & (METHOD_GET | METHOD_HEAD)))
        answer_string(a, "Cache-Control", "no-cache");
    if (a->error)
        return; /* the operation rendered its own error body */
    answer_structured(a);
    assert(status_is_promised(operation, a->response->status));
}

/* ---- lookup ---- */

/* Returns "comp=...&restype=..." of the request's parameters. */
static struct bytes selector_of(const struct call *call)
{
    struct bytes comp = call_query(call, "comp");
    struct bytes restype = call_query(call, "restype");
    struct text out;

    text_init(&out, call->arena, 64);
    if (comp.ptr) {
        text_add_string(&out, "comp=");
        text_add(&out, comp);
    }
    if (restype.ptr) {
        if (out.len > 0)
            text_add_char(&out, '&');
        text_add_string(&out, "restype=");
        text_add(&out, restype);
    }
    return text_bytes(&out);
}

static bool selector_fits(const struct operation *row, struct bytes selector)
{
    if (strcmp(row->selector, SELECTOR_ANY) == 0)
        return true;
    if (selector.len == 0 || row->selector[0] == '\0')
        return selector.len == 0 && row->selector[0] == '\0';
    return bytes_is_nocase(selector, row->selector);
}

static bool level_fits(const struct operation *row, const struct call *call)
{
    return row->level == LEVEL_ANY || row->level == call->input.resource->level;
}

/* Excludes most rows without comparing strings. */
static bool method_and_level_fit(const struct operation *row, enum http_method method,
                                 uint32_t level)
{
    return (row->methods & method) && (row->level == level || row->level == LEVEL_ANY);
}

/* Returns the header or parameter for a part of a row's variant ("header", "header=value",
 * "?name=value"), as sent. */
static struct bytes part_given(struct bytes part, const struct call *call, struct bytes *ret_wanted)
{
    struct bytes name;

    bytes_cut(part, '=', &name, ret_wanted);
    if (name.ptr[0] == '?')
        return call_query(call, arena_string(call->arena, bytes_from(name, 1)));
    if (bytes_has_prefix(name, bytes_from_string("if-")))
        return call_condition(call, arena_string(call->arena, name));
    return call_find_header(call, name);
}

/* Like part_given(), for the first part. */
static struct bytes variant_given(const struct operation *row, const struct call *call,
                                  struct bytes *ret_wanted)
{
    struct bytes first, rest;

    bytes_cut(bytes_from_string(row->variant), '&', &first, &rest);
    return part_given(first, call, ret_wanted);
}

static bool variant_fits(const struct operation *row, const struct call *call)
{
    struct bytes rest = bytes_from_string(row->variant);

    while (rest.len > 0) {
        struct bytes part, wanted, given;

        bytes_cut(rest, '&', &part, &rest);
        given = part_given(part, call, &wanted);
        if (!given.ptr || (wanted.ptr && !bytes_equal_nocase(given, wanted)))
            return false;
    }
    return true;
}

/* Blames the parameter that no row of this level has: restype if a row has this comp, otherwise
 * comp. Elements as recorded for Get Blob Service Stats at the primary. */
static void blame_selector(const struct service *service, const struct call *call)
{
    struct bytes comp = call_query(call, "comp");
    struct bytes restype = call_query(call, "restype");
    struct bytes known = arena_printf(call->arena, "comp=%.*s", BYTES_ARG(comp));
    bool comp_known = !comp.ptr && restype.ptr;

    for (size_t i = 0; i < service->operation_count && restype.ptr; i++) {
        struct bytes first, rest;

        bytes_cut(bytes_from_string(service->operations[i].selector), '&', &first, &rest);
        comp_known |= level_fits(&service->operations[i], call) && bytes_equal_nocase(first, known);
    }
    problem_set_field(call->problem, "QueryParameterName",
                      bytes_from_string(comp_known ? "restype" : "comp"));
    problem_add_field(call->problem, "QueryParameterValue", comp_known ? restype : comp);
    problem_add_field(call->problem, "Reason", bytes_from_string(""));
}

/* Determines why no row matches the request. If several headers would each select a row, the last
 * such row determines the error. rest: Status-and-Error-Codes2 */
static enum error why_none(const struct service *service, const struct call *call,
                           struct bytes selector)
{
    bool selector_known = false, verb_known = false, variant_sent = false;
    const struct operation *blamed = NULL;
    struct bytes wanted, name;

    for (size_t i = 0; i < service->operation_count; i++) {
        const struct operation *row = &service->operations[i];

        if (!level_fits(row, call) || !selector_fits(row, selector))
            continue;
        /* Preflight rows match everything, so they do not show what exists. */
        if (row->methods == METHOD_OPTIONS)
            continue;
        selector_known = true;
        if ((row->methods & call->method) == 0)
            continue;
        verb_known = true;
        if (!variant_sent || variant_given(row, call, &wanted).ptr)
            blamed = row;
        variant_sent = variant_sent || variant_given(row, call, &wanted).ptr;
    }
    assert(!verb_known || blamed);
    if (verb_known) {
        bytes_cut(bytes_from_string(blamed->variant), '=', &name, &wanted);
        problem_set_header(call->problem, arena_string(call->arena, name),
                           variant_given(blamed, call, &wanted));
        return variant_sent ? E_InvalidHeaderValue : E_MissingRequiredHeader;
    }
    if (!selector_known)
        blame_selector(service, call);
    return selector_known ? E_UnsupportedHttpVerb : E_InvalidQueryParameterValue;
}

/* Returns the first of these rows that matches the request, or NULL. */
static const struct operation *find_row(const struct operation *rows, size_t count,
                                        const struct call *call, struct bytes selector)
{
    uint32_t level = call->input.resource->level;

    for (const struct operation *row = rows; row < rows + count; row++)
        if (method_and_level_fit(row, call->method, level) && selector_fits(row, selector) &&
            variant_fits(row, call))
            return row;
    return NULL;
}

const struct operation *operation_find(const struct service *service, const struct call *call,
                                       enum error *ret_error)
{
    struct bytes selector = selector_of(call);
    const struct operation *row = NULL;

    if (call->input.by_operator)
        row = find_row(service->operator_operations, service->operator_operation_count, call,
                       selector);
    if (!row)
        row = find_row(service->operations, service->operation_count, call, selector);
    if (row)
        return row;
    *ret_error = why_none(service, call, selector);
    assert(*ret_error != OK);
    return NULL;
}
