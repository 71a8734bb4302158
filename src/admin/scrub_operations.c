/* `lagra scrub`: begins a pass, and says how far it is. */
#include "admin/admin_private.h"

#define RATE_MAX_MIB (1u << 20)

void admin_scrub_state(struct admin_call *call)
{
    struct json_writer *out = &call->out;
    struct scrub_state state;
    struct store_figures figures = { 0 };

    if (!admin_has_folder(call))
        return;
    state = scrubber_state(call->admin->scrubber);
    (void)store_figures(call->admin->store, &figures);
    json_write_bool(out, "running", state.is_running);
    admin_write_instant(out, "began", state.began);
    json_write_number(out, "records", state.records);
    json_write_number(out, "bytes", state.bytes);
    /* Of what is there now: what is changed meanwhile may be read twice, or not. */
    json_write_number(out, "bytesTotal", figures.piece_bytes + figures.record_bytes);
    json_write_number(out, "errors", state.errors);
    admin_write_instant(out, "lastEnd", state.last_end);
    json_write_number(out, "lastErrors", state.last_errors);
    json_write_number(out, "ended", state.ended);
}

void admin_scrub(struct admin_call *call)
{
    uint64_t mib = 0;

    if (call->given[0].ptr && (!bytes_parse_u64(call->given[0], RATE_MAX_MIB, &mib) || mib == 0)) {
        admin_fail(call, 400, "InvalidArgument", "A rate is MiB a second, from 1 to %u.",
                   RATE_MAX_MIB);
        return;
    }
    admin_scrub_state(call);
    if (call->status == 200)
        scrubber_ask(call->admin->scrubber, mib << 20);
}
