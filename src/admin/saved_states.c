/* See saved_states.h. */
#include "admin/saved_states.h"

#include <assert.h>

#include "admin/stored_accounts.h"
#include "base/clock.h"

/* Returns the index of a saved state, or saved->count if none exists with this name. */
static size_t index_of(const struct saved_states *saved, struct bytes name)
{
    size_t i = 0;

    while (i < saved->count && !bytes_is(name, saved->of[i].name))
        i++;
    return i;
}

enum saved_result saved_states_save(struct saved_states *saved, struct bytes name)
{
    size_t i = index_of(saved, name);
    struct store_state *state;

    assert(name.len > 0 && name.len <= SAVED_NAME_MAX);
    if (i == SAVED_STATES_MAX)
        return SAVED_TOO_MANY;
    state = store_keep_state(saved->store);
    if (!state)
        return SAVED_NEVER;
    if (i < saved->count)
        store_drop_state(saved->store, saved->of[i].state);
    else
        saved->count++;
    saved->of[i] = (struct saved_state){ .state = state, .at = clock_now() };
    memcpy(saved->of[i].name, name.ptr, name.len);
    return SAVED_DONE;
}

enum saved_result saved_states_load(struct saved_states *saved, struct bytes name)
{
    size_t i = index_of(saved, name);
    enum store_result result;
    struct guid accounts;
    uint64_t sequence;

    if (i == saved->count)
        return SAVED_NONE;
    accounts = stored_accounts_space();
    result = store_return_to(saved->store, saved->of[i].state, &accounts, &sequence);
    if (!result)
        result = store_await(saved->store, sequence);
    if (result)
        return result == STORE_FULL       ? SAVED_NO_ROOM
               : result == STORE_SHORTAGE ? SAVED_TOO_FAR
                                          : SAVED_FAILED;
    saved->of[i].loaded++;
    return SAVED_DONE;
}

enum saved_result saved_states_drop(struct saved_states *saved, struct bytes name)
{
    size_t i = index_of(saved, name);

    if (i == saved->count)
        return SAVED_NONE;
    store_drop_state(saved->store, saved->of[i].state);
    saved->count--;
    memmove(&saved->of[i], &saved->of[i + 1], (saved->count - i) * sizeof saved->of[0]);
    return SAVED_DONE;
}

void saved_states_show(const struct saved_states *saved, struct json_writer *out)
{
    json_write_begin(out, '[');
    for (size_t i = 0; i < saved->count; i++) {
        char at[INSTANT_ISO_SIZE];

        instant_format_iso(saved->of[i].at, at);
        json_write_begin(out, '{');
        json_write_member(out, "name", bytes_from_string(saved->of[i].name));
        json_write_member(out, "saved", bytes_from_string(at));
        json_write_number(out, "loaded", saved->of[i].loaded);
        json_write_end(out, '}');
    }
    json_write_end(out, ']');
}

void saved_states_release(struct saved_states *saved)
{
    while (saved->count > 0)
        store_drop_state(saved->store, saved->of[--saved->count].state);
}
