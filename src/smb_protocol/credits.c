/* See credits.h. */
#include "smb_protocol/credits.h"

#include <assert.h>
#include <string.h>

static void assert_window(const struct credit_window *window)
{
    assert(window->low <= window->high && window->high - window->low <= SMB_CREDITS_MAX);
}

static bool is_taken(const struct credit_window *window, uint64_t id)
{
    uint64_t bit = id % SMB_CREDITS_MAX;

    return window->taken[bit / 64] >> (bit % 64) & 1;
}

static void set_taken(struct credit_window *window, uint64_t id, bool taken)
{
    uint64_t bit = id % SMB_CREDITS_MAX, mask = UINT64_C(1) << (bit % 64);

    if (taken)
        window->taken[bit / 64] |= mask;
    else
        window->taken[bit / 64] &= ~mask;
}

void credits_init(struct credit_window *window)
{
    memset(window, 0, sizeof *window);
    window->high = 1;
}

bool credits_take(struct credit_window *window, uint64_t first, uint32_t count)
{
    assert(count > 0);
    if (first < window->low || first >= window->high || count > window->high - first)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (is_taken(window, first + i))
            return false;
    for (uint32_t i = 0; i < count; i++)
        set_taken(window, first + i, true);
    while (window->low < window->high && is_taken(window, window->low))
        set_taken(window, window->low++, false);
    assert_window(window);
    return true;
}

uint16_t credits_grant(struct credit_window *window, uint16_t requested)
{
    uint64_t room = SMB_CREDITS_MAX - (window->high - window->low);
    uint16_t granted = requested > 0 ? requested : 1;

    if (granted > room)
        granted = (uint16_t)room;
    window->high += granted;
    assert_window(window);
    return granted;
}

uint32_t credits_left(const struct credit_window *window)
{
    uint32_t left = 0;

    for (uint64_t id = window->low; id < window->high; id++)
        left += !is_taken(window, id);
    return left;
}
