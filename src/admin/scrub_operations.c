/* `lagra scrub`: starts a pass, and reports its progress. */
#include "admin/admin_private.h"

#define RATE_MAX_MIB (1u << 20)

/* Returns the total size of a pass: what it has read if it has ended, otherwise an estimate from
 * the current size, since changed data may be read twice, or not at all. */
static uint64_t total_of(const struct admin_call *call, const struct scrub_state *state)
{
    struct store_figures figures = { 0 };
    uint64_t all;

    if (!state->is_running)
        return state->bytes;
    (void)store_figures(call->admin->store, &figures);
    all = figures.piece_bytes + figures.live_record_bytes;
    return all > state->bytes ? all : state->bytes;
}

void admin_scrub_state(struct admin_call *call)
{
    struct json_writer *out = &call->out;
    struct scrub_state state = scrubber_state(call->admin->scrubber);

    json_write_bool(out, "running", state.is_running);
    admin_write_instant(out, "began", state.began);
    json_write_number(out, "records", state.records);
    json_write_number(out, "bytes", state.bytes);
    json_write_number(out, "bytesTotal", total_of(call, &state));
    json_write_number(out, "errors", state.errors);
    admin_write_instant(out, "lastEnd", state.last_end);
    json_write_number(out, "lastErrors", state.last_errors);
    json_write_number(out, "ended", state.ended);
}

void admin_scrub(struct admin_call *call)
{
    uint64_t mib = 0;

    if (call->given[0].ptr && (!bytes_parse_u64(call->given[0], RATE_MAX_MIB, &mib) || mib == 0)) {
        admin_fail(call, 400, "InvalidArgument",
                   "The rate must be a number of MiB per second from 1 to %u.", RATE_MAX_MIB);
        return;
    }
    admin_scrub_state(call);
    scrubber_ask(call->admin->scrubber, mib << 20);
}
