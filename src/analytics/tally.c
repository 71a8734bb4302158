/* See analytics_private.h. */
#include "analytics/analytics_private.h"

#include "base/json.h"

#define COUNTS (ANALYTICS_OUTCOMES * ANALYTICS_WHO)

static uint64_t successes(const struct tally *tally)
{
    uint64_t count = 0;

    for (size_t who = 0; who < ANALYTICS_WHO; who++)
        count += tally->counts[OUTCOME_SUCCESS][who];
    return count;
}

void tally_count(struct tally *tally, const struct analytics_event *event)
{
    tally->ingress += event->request_head_bytes + event->received;
    tally->egress += event->response_head_bytes + event->sent;
    tally->counts[event->outcome][event->who]++;
    if (event->outcome == OUTCOME_SUCCESS) {
        tally->e2e_ms += (double)event->all_ns / 1e6;
        tally->server_ms += (double)(event->all_ns - event->wire_ns) / 1e6;
    }
}

static void tally_add(struct tally *tally, const struct tally *more)
{
    tally->ingress += more->ingress;
    tally->egress += more->egress;
    tally->e2e_ms += more->e2e_ms;
    tally->server_ms += more->server_ms;
    for (size_t outcome = 0; outcome < ANALYTICS_OUTCOMES; outcome++)
        for (size_t who = 0; who < ANALYTICS_WHO; who++)
            tally->counts[outcome][who] += more->counts[outcome][who];
}

/* ---- derived values ---- */

/* According to the columns "Billable" and "Availability" of the reference's table of status
 * messages. */
static bool is_billable(size_t outcome, size_t who)
{
    if (outcome == OUTCOME_THROTTLING || outcome == OUTCOME_SERVER_TIMEOUT ||
        outcome == OUTCOME_SERVER_OTHER)
        return false;
    return outcome != OUTCOME_AUTHORIZATION || who != WHO_ANONYMOUS;
}

static bool is_of_availability(size_t outcome, size_t who)
{
    return outcome != OUTCOME_THROTTLING &&
           (outcome != OUTCOME_AUTHORIZATION || who != WHO_ANONYMOUS);
}

struct sums {
    uint64_t total, billable, applicable;
    uint64_t of[ANALYTICS_OUTCOMES];
};

static struct sums sum(const struct tally *tally)
{
    struct sums sums = { .total = 0 };

    for (size_t outcome = 0; outcome < ANALYTICS_OUTCOMES; outcome++) {
        for (size_t who = 0; who < ANALYTICS_WHO; who++) {
            uint64_t count = tally->counts[outcome][who];

            sums.of[outcome] += count;
            sums.total += count;
            if (is_billable(outcome, who))
                sums.billable += count;
            if (is_of_availability(outcome, who))
                sums.applicable += count;
        }
    }
    return sums;
}

/* ---- the entity ---- */

static void add_long(struct text *to, struct bytes name, uint64_t value)
{
    text_printf(to, "%s\"%.*s@odata.type\":\"Edm.Int64\",\"%.*s\":\"", to->len > 1 ? "," : "",
                BYTES_ARG(name), BYTES_ARG(name));
    text_add_u64(to, value);
    text_add_char(to, '"');
}

static void add_double(struct text *to, const char *name, double value)
{
    text_printf(to, ",\"%s@odata.type\":\"Edm.Double\",\"%s\":%.17g", name, name, value);
}

static double percent(uint64_t part, uint64_t all)
{
    return all == 0 ? 0 : 100.0 * (double)part / (double)all;
}

static struct bytes column(struct arena *arena, size_t outcome, size_t who)
{
    struct text name;

    text_init(&name, arena, 40);
    outcome_write(&name, (enum analytics_who)who, (enum analytics_outcome)outcome);
    return text_bytes(&name);
}

/* Without requests, availability is 100 %. */
static void add_rates(struct text *to, const struct tally *tally, const struct sums *sums)
{
    uint64_t count = successes(tally), timeouts;

    timeouts = sums->of[OUTCOME_CLIENT_TIMEOUT] + sums->of[OUTCOME_SERVER_TIMEOUT];
    add_double(to, "Availability",
               sums->applicable == 0 ? 100 : percent(sums->billable, sums->applicable));
    add_double(to, "AverageE2ELatency", count == 0 ? 0 : tally->e2e_ms / (double)count);
    add_double(to, "AverageServerLatency", count == 0 ? 0 : tally->server_ms / (double)count);
    add_double(to, "PercentSuccess", percent(count, sums->total));
    add_double(to, "PercentThrottlingError", percent(sums->of[OUTCOME_THROTTLING], sums->total));
    add_double(to, "PercentTimeoutError", percent(timeouts, sums->total));
    add_double(to, "PercentServerOtherError", percent(sums->of[OUTCOME_SERVER_OTHER], sums->total));
    add_double(to, "PercentClientOtherError", percent(sums->of[OUTCOME_CLIENT_OTHER], sums->total));
    add_double(to, "PercentAuthorizationError",
               percent(sums->of[OUTCOME_AUTHORIZATION], sums->total));
    add_double(to, "PercentNetworkError", percent(sums->of[OUTCOME_NETWORK], sums->total));
}

struct bytes tally_write(struct arena *arena, const struct tally *tally)
{
    const struct sums sums = sum(tally);
    struct text to;

    text_init(&to, arena, 4096);
    text_add_char(&to, '{');
    add_long(&to, bytes_from_string("TotalIngress"), tally->ingress);
    add_long(&to, bytes_from_string("TotalEgress"), tally->egress);
    add_long(&to, bytes_from_string("TotalRequests"), sums.total);
    add_long(&to, bytes_from_string("TotalBillableRequests"), sums.billable);
    add_rates(&to, tally, &sums);
    for (size_t outcome = 0; outcome < ANALYTICS_OUTCOMES; outcome++)
        for (size_t who = 0; who < ANALYTICS_WHO; who++)
            add_long(&to, column(arena, outcome, who), tally->counts[outcome][who]);
    text_add_char(&to, '}');
    return text_bytes(&to);
}

/* ---- parsing ---- */

enum { INGRESS = COUNTS, EGRESS, E2E, SERVER, MEMBERS };

static bool read_long(const struct json_member *member, uint64_t *ret_value)
{
    return member->kind == JSON_STRING && bytes_parse_u64(member->text, INT64_MAX, ret_value);
}

bool tally_read(struct arena *arena, struct bytes json, struct tally *tally)
{
    const char *names[MEMBERS] = { [INGRESS] = "TotalIngress",
                                   [EGRESS] = "TotalEgress",
                                   [E2E] = "AverageE2ELatency",
                                   [SERVER] = "AverageServerLatency" };
    struct json_member members[MEMBERS];
    struct tally stored = { .ingress = 0 };
    double count;

    for (size_t i = 0; i < COUNTS; i++)
        names[i] = arena_string(arena, column(arena, i / ANALYTICS_WHO, i % ANALYTICS_WHO));
    if (!json_object_pick(arena, json, 2, names, MEMBERS, members))
        return false;
    for (size_t i = 0; i < COUNTS; i++)
        if (!read_long(&members[i], &stored.counts[i / ANALYTICS_WHO][i % ANALYTICS_WHO]))
            return false;
    if (!read_long(&members[INGRESS], &stored.ingress) ||
        !read_long(&members[EGRESS], &stored.egress) ||
        !json_number(&members[E2E], &stored.e2e_ms) ||
        !json_number(&members[SERVER], &stored.server_ms))
        return false;
    count = (double)successes(&stored);
    stored.e2e_ms *= count;
    stored.server_ms *= count;
    tally_add(tally, &stored);
    return true;
}
