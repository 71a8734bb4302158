/* A second connection of an SMB client's session. MS-SMB2 3.3.5.5.2 */
#include "sm_link_private.h"

static struct link channels[CLIENTS_MAX];

bool sm_channel_begin(unsigned slot)
{
    struct link *link = link_at(slot), *channel = &channels[slot];

    link_begin(channel, slot);
    channel->home = link;
    link->channel = channel;
    if (link_bind(channel))
        return true;
    sm_channel_cut(slot);
    sm_channel_end(slot);
    return false;
}

void sm_channel_write(unsigned slot, uint16_t command, struct wire_writer *ret_writer)
{
    link_write(&channels[slot], command, 1, ret_writer);
}

void sm_channel_send(unsigned slot)
{
    (void)link_send(&channels[slot]);
}

void sm_channel_cut(unsigned slot)
{
    link_cut(&channels[slot]);
}

void sm_channel_end(unsigned slot)
{
    link_free(&channels[slot]);
    link_at(slot)->channel = NULL;
}
