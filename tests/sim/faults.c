/* The weather of a life, drawn from the seed. */
#include "faults.h"

#include <errno.h>
#include <limits.h>

#include "commits.h"
#include "damage.h"
#include "scheduler.h"
#include "world.h"

#define SECOND_NS       1000000000u
#define WALL_SET_MAX_NS (INT64_C(250000) * SECOND_NS)

static struct weather {
    unsigned errors_rare;  /* one call in so many fails; 0: none */
    bool errors_of_start;  /* none after it */
    unsigned sites, kinds; /* bits: of calls, of files */
    struct aim {
        unsigned rare; /* one call of the site for such a file in so many fails; 0: none */
        enum site site;
        enum file_kind file;
        int error;
        bool once;
    } aim;
    unsigned short_rare;
    unsigned slow_rare;
    unsigned files_max;
    unsigned no_file_rare; /* others have taken all descriptors at one open in so many; 0: never */
    unsigned away_rare;
    uint64_t stops_ns;
    uint64_t set_wall_ns; /* when the wall clock is set next; 0: never */
    unsigned misread_rare;
    uint64_t calls_to_damage; /* 0: none */
    uint64_t calls_to_crash;  /* UINT64_MAX: none */
    int crash_site;           /* only these calls count; -1: all */
    int crash_file;           /* only those for such files count; -1: all */
    uint64_t calls_after;     /* all count again, after that one */
    bool when_started;        /* none counts while the server starts */
    uint64_t calls_at_most;   /* of all kinds, since it has started; then it comes anyway */
    bool power;
    bool has_faults, was_seen;
} weather = { .calls_to_crash = UINT64_MAX, .files_max = UINT_MAX };

static bool draws(unsigned fault, unsigned times)
{
    return (world->plan.faults & fault) != 0 && world_once_in(STREAM_FAULTS, times);
}

/* Again while it starts: as often at a sync as anywhere. */
static void draw_crash_of_start(void)
{
    weather.when_started = false;
    if (world_once_in(STREAM_FAULTS, 2)) {
        weather.calls_to_crash = 1 + world_draw(STREAM_FAULTS, 300);
        return;
    }
    weather.crash_site = SITE_SYNC;
    weather.calls_to_crash = 1 + world_draw(STREAM_FAULTS, 10);
}

/* At a sync of such a file: what was written of it is in memory alone. A start after a kill takes it
 * as it is, and a power cut while it does loses it. */
static void draw_aimed_crash(void)
{
    bool both = (world->plan.faults & FAULT_KILL) && (world->plan.faults & FAULT_POWER);

    weather.when_started = false;
    weather.crash_site = SITE_SYNC;
    weather.calls_to_crash = 1 + world_draw(STREAM_FAULTS, 4);
    if (both && world->life > 0 && !world->power_lost)
        weather.power = true;
    else
        weather.crash_file = (int)world->plan.aim - 1;
}

static void draw_crash(void)
{
    bool kill = (world->plan.faults & FAULT_KILL) != 0;

    if ((world->plan.faults & (FAULT_KILL | FAULT_POWER)) == 0)
        return;
    weather.power =
        (world->plan.faults & FAULT_POWER) && (!kill || world_once_in(STREAM_FAULTS, 2));
    /* As often early as late; some come while the server starts. Half of them come a few calls
     * after one of a kind that is rare: a sync, a name, a hole. */
    weather.calls_to_crash = 1 + world_draw(STREAM_FAULTS, 16u << world_draw(STREAM_FAULTS, 8));
    weather.crash_site = weather.crash_file = -1;
    weather.when_started = world_once_in(STREAM_FAULTS, 3);
    weather.calls_at_most = 1 + world_draw(STREAM_FAULTS, 8u << world_draw(STREAM_FAULTS, 8));
    /* Where the note of what is durable lags behind what is. */
    if ((world->plan.faults & FAULT_DAMAGE) && world_once_in(STREAM_FAULTS, 3)) {
        weather.crash_site = SITE_SYNC;
        weather.calls_to_crash = 8 + world_draw(STREAM_FAULTS, 32);
        weather.calls_after = 1;
        return;
    }
    if (world->plan.aim > 0 && world_once_in(STREAM_FAULTS, 2)) {
        draw_aimed_crash();
        return;
    }
    if (world->life > 0 && world_once_in(STREAM_FAULTS, world->spoiled > 0 ? 2 : 3)) {
        draw_crash_of_start();
        return;
    }
    if (world_once_in(STREAM_FAULTS, 2)) {
        weather.crash_site = (int)world_draw(STREAM_FAULTS, SITES);
        weather.calls_to_crash = weather.crash_site < SITE_NAME ? 1 + weather.calls_to_crash / 8
                                                                : 1 + world_draw(STREAM_FAULTS, 8);
        weather.calls_after =
            world_once_in(STREAM_FAULTS, 2) ? 1 : 1 + world_draw(STREAM_FAULTS, 8);
    }
}

/* As often soon as late, for most lives are short. */
static uint64_t draw_wall_time(void)
{
    uint64_t random = world_random(STREAM_FAULTS);

    return world->now_ns + (random >> 8) % (60 * (uint64_t)SECOND_NS >> random % 12);
}

/* Also while nobody ran. */
static void draw_clock(void)
{
    if (!draws(FAULT_CLOCK, 2))
        return;
    weather.set_wall_ns = draw_wall_time();
    if (world_once_in(STREAM_FAULTS, 4))
        weather.set_wall_ns = world->now_ns;
}

/* Not where a power cut was or will be: there nobody can tell a torn end of the log from a damaged
 * one. */
static void draw_lies(void)
{
    if (world->note_is_old || weather.power || !draws(FAULT_DAMAGE, 2))
        return;
    if (world_once_in(STREAM_FAULTS, 2))
        weather.misread_rare = 8u << world_draw(STREAM_FAULTS, 6);
    else
        weather.calls_to_damage =
            1 + world_draw(STREAM_FAULTS, 16u << world_draw(STREAM_FAULTS, 8));
}

/* Days at the most, so that what expires after a week does not. */
void faults_set_wall(void)
{
    static const int64_t sizes_s[] = { 1, 59, 119, 130, 950, 3600, 82800, 172800 };
    int64_t step = sizes_s[0];

    if (weather.set_wall_ns == 0 || world->now_ns < weather.set_wall_ns)
        return;
    step = sizes_s[world_draw(STREAM_FAULTS, 8)] * (int64_t)SECOND_NS;
    if (world_once_in(STREAM_FAULTS, 2))
        step = -step;
    if (world->wall_set_ns + step > WALL_SET_MAX_NS || world->wall_set_ns + step < -WALL_SET_MAX_NS)
        step = -step;
    world->wall_ns += step;
    world->wall_set_ns += step;
    world->wall_steps++;
    world->wall_set_at_ns = world->now_ns;
    weather.set_wall_ns = draw_wall_time();
    world_say("%.6f the wall clock is set by %lld s", (double)world->now_ns / 1e9,
              (long long)(step / (int64_t)SECOND_NS));
}

static void note_lie(enum fault_cell cell, enum file_kind file, const char *what)
{
    faults_note_of(cell, file, EILSEQ);
    world->was_damaged = true;
    world->damaged++;
    weather.misread_rare = 0; /* one is enough */
    world_say("%.6f damage: %s", (double)world->now_ns / 1e9, what);
}

void faults_misread(const struct inode *inode, uint64_t at, void *bytes, size_t size)
{
    char what[200];

    if (weather.misread_rare == 0 || size == 0 || world->was_damaged ||
        !world_once_in(STREAM_FAULTS, weather.misread_rare))
        return;
    if (damage_read(inode, at, bytes, size, what, sizeof what))
        note_lie(CELL_MISREAD, inode->file, what);
}

static void count_to_damage(void)
{
    enum file_kind file;
    char what[200];

    if (weather.calls_to_damage == 0 || --weather.calls_to_damage > 0 || world->was_damaged)
        return;
    if (damage_disk(false, &file, what, sizeof what))
        note_lie(CELL_DAMAGE_RUNNING, file, what);
    else
        weather.calls_to_damage = 64; /* there is no such file yet */
}

static bool aims_at(enum file_kind file)
{
    return world->plan.aim == (unsigned)file + 1;
}

/* One call of one kind of file, which else is seldom the one that fails: tables are written now and
 * then, the note of what is durable in four bytes. */
static void draw_aim(void)
{
    static const struct {
        unsigned fault;
        int error;
    } ways[] = { { FAULT_ERRORS, EIO }, { FAULT_SPACE, ENOSPC }, { FAULT_FILES, EMFILE } };
    struct aim *aim = &weather.aim;
    unsigned way, all = FAULT_ERRORS | FAULT_SPACE | FAULT_FILES;

    if ((world->plan.faults & all) == 0 ||
        (world->plan.aim == 0 && !world_once_in(STREAM_FAULTS, 2)))
        return;
    do
        way = world_draw(STREAM_FAULTS, 3);
    while ((world->plan.faults & ways[way].fault) == 0);
    aim->rare = 1u << world_draw(STREAM_FAULTS, aims_at(FILE_OTHER)   ? 9
                                                : world->plan.aim > 0 ? 4
                                                                      : 6);
    aim->site = (enum site)world_draw(STREAM_FAULTS, SITE_OPEN + 1);
    if (aims_at(FILE_EXTENT) && world_once_in(STREAM_FAULTS, 2))
        aim->site = SITE_SYNC;
    aim->file = (enum file_kind)world_draw(STREAM_FAULTS, FILE_KINDS);
    aim->error = ways[way].error;
    aim->once = world_once_in(STREAM_FAULTS, 2);
    if (world->plan.aim > 0)
        aim->file = (enum file_kind)(world->plan.aim - 1);
    if (aim->error == ENOSPC)
        aim->site = SITE_WRITE;
    if (aim->error == EMFILE)
        aim->site = SITE_OPEN;
    weather.stops_ns = world->now_ns + world_draw(STREAM_FAULTS, 60) * (uint64_t)SECOND_NS;
}

void faults_begin(bool calm)
{
    weather = (struct weather){ .calls_to_crash = UINT64_MAX, .files_max = UINT_MAX };
    world->disk->pages_max = UINT64_MAX;
    weather.away_rare = 1u << world_draw(STREAM_FAULTS, 8);
    if (calm)
        return;
    draw_crash();
    draw_clock();
    draw_lies();
    weather.stops_ns = world->now_ns + world_draw(STREAM_FAULTS, 20) * (uint64_t)SECOND_NS / 10;
    if (draws(FAULT_ERRORS, 2)) {
        weather.errors_rare = 4u << world_draw(STREAM_FAULTS, 8);
        weather.sites = world_once_in(STREAM_FAULTS, 2)
                            ? 1u << world_draw(STREAM_FAULTS, SITES)
                            : 1u + world_draw(STREAM_FAULTS, (1u << SITES) - 1);
        weather.kinds = world_once_in(STREAM_FAULTS, 2) ? 7 : 1u << world_draw(STREAM_FAULTS, 3);
    }
    if (weather.errors_rare && world_once_in(STREAM_FAULTS, 4)) {
        /* Syncs of contents alone: the rest of the store lives on to see what became of them. */
        weather.errors_rare = 2u << world_draw(STREAM_FAULTS, 4);
        weather.sites = 1u << SITE_SYNC;
        weather.kinds = 1u << 1;
    }
    if (weather.errors_rare && world_once_in(STREAM_FAULTS, 3)) {
        /* A start alone, which reads most of what there is. */
        weather.errors_rare = 16u << world_draw(STREAM_FAULTS, 4);
        weather.errors_of_start = true;
        weather.sites = 1u << SITE_READ | 1u << SITE_OPEN;
        weather.kinds = 7;
    }
    if (draws(FAULT_SHORT, 3))
        weather.short_rare = 2u << world_draw(STREAM_FAULTS, 6);
    if (draws(FAULT_LATENCY, 4))
        weather.slow_rare = 20u << world_draw(STREAM_FAULTS, 4);
    if (draws(FAULT_FILES, 4))
        weather.files_max = world_once_in(STREAM_FAULTS, 2) ? 5 + world_draw(STREAM_FAULTS, 40)
                                                            : 3 + world_draw(STREAM_FAULTS, 10);
    if (draws(FAULT_FILES, 4))
        weather.no_file_rare = 4u << world_draw(STREAM_FAULTS, 6);
    if (draws(FAULT_SPACE, 6))
        world->disk->pages_max = world->disk->pages_used + world_draw(STREAM_FAULTS, 600);
    draw_aim();
    weather.has_faults = weather.aim.rare || weather.errors_rare || weather.slow_rare ||
                         weather.no_file_rare || weather.files_max != UINT_MAX ||
                         world->disk->pages_max != UINT64_MAX;
}

bool faults_have_stopped(void)
{
    if (!weather.has_faults)
        return true;
    if (world->now_ns < weather.stops_ns)
        return false;
    weather.aim.rare = 0;
    weather.errors_rare = 0;
    weather.short_rare = 0;
    weather.slow_rare = 0;
    weather.files_max = UINT_MAX;
    weather.no_file_rare = 0;
    world->disk->pages_max = UINT64_MAX;
    return true;
}

bool faults_were_seen(void)
{
    return weather.was_seen;
}

int faults_note(int error)
{
    weather.was_seen = true;
    world->faults++;
    world_trace((uint64_t)error << 32);
    return error;
}

int faults_note_of(enum fault_cell cell, enum file_kind file, int error)
{
    cell_reached(cell, file);
    return faults_note(error);
}

/* Is this the call that the crash waits for? */
static bool is_reached(enum site site, enum file_kind file)
{
    if (commits_here()->has_started && --weather.calls_at_most == 0)
        return true;
    if (weather.when_started && !commits_here()->has_started)
        return false;
    if (weather.crash_site >= 0 && weather.crash_site != (int)site)
        return false;
    if (weather.crash_file >= 0 && weather.crash_file != (int)file)
        return false;
    if (--weather.calls_to_crash > 0)
        return false;
    if (weather.calls_after == 0)
        return true;
    weather.crash_site = weather.crash_file = -1;
    weather.calls_to_crash = weather.calls_after;
    weather.calls_after = 0;
    return false;
}

static void count_down(enum site site, enum file_kind file)
{
    if (weather.calls_to_crash == UINT64_MAX || !is_reached(site, file))
        return;
    if (!weather.power)
        cell_reached(commits_here()->has_started ? CELL_KILL : CELL_KILL_OF_START, file);
    world->power_lost = weather.power;
    world_say("%s at %.6f s", weather.power ? "power cut" : "kill", (double)world->now_ns / 1e9);
    world_end(OUTCOME_KILLED);
}

/* A sync says itself what becomes of the pages; the punch of a hole is only tried. */
static int note_error(enum site site, enum file_kind file, int error)
{
    if (error != EIO)
        return faults_note_of(error == ENOSPC ? CELL_FULL : CELL_DESCRIPTORS, file, error);
    if (site == SITE_READ || site == SITE_OPEN)
        return faults_note_of(CELL_READ, file, EIO);
    if (site == SITE_WRITE || site == SITE_NAME)
        return faults_note_of(CELL_WRITE, file, EIO);
    return faults_note(EIO);
}

static bool is_aimed_at(enum site site, enum file_kind file)
{
    struct aim *aim = &weather.aim;

    if (aim->rare == 0 || aim->site != site || aim->file != file ||
        !world_once_in(STREAM_FAULTS, aim->rare))
        return false;
    if (aim->once)
        aim->rare = 0;
    return true;
}

int faults_at(enum site site, unsigned kind, enum file_kind file)
{
    count_down(site, file);
    count_to_damage();
    if (!weather.has_faults || faults_have_stopped())
        return 0;
    if (is_aimed_at(site, file))
        return note_error(site, file, weather.aim.error);
    if (weather.errors_of_start && commits_here()->has_started)
        return 0;
    if (weather.errors_rare && weather.sites >> site & 1 && weather.kinds >> kind & 1 &&
        world_once_in(STREAM_FAULTS, weather.errors_rare))
        return note_error(site, file, EIO);
    return 0;
}

enum sync_failure faults_sync_failure(void)
{
    return (enum sync_failure)world_draw(STREAM_FAULTS, SYNC_FAILURES);
}

size_t faults_shorten(size_t size, enum file_kind file)
{
    /* No file system cuts a sector. */
    if (weather.short_rare == 0 || size <= SECTOR_SIZE ||
        !world_once_in(STREAM_FAULTS, weather.short_rare))
        return size;
    cell_reached(CELL_SHORT, file);
    return 1 + (size_t)(world_random(STREAM_FAULTS) % (size - 1));
}

void faults_take_time(enum site site, enum file_kind file)
{
    if (sched_is_held())
        return;
    if (weather.slow_rare && !faults_have_stopped() &&
        world_once_in(STREAM_FAULTS, world->plan.aim == file + 1 ? 2 : weather.slow_rare)) {
        faults_note_of(CELL_SLOW, file, ETIME);
        sched_sleep(world_random(STREAM_FAULTS) % (30 * (uint64_t)SECOND_NS));
        return;
    }
    if (site == SITE_SYNC)
        sched_sleep(world_once_in(STREAM_FAULTS, 16) ? world_draw(STREAM_FAULTS, 300000000)
                                                     : 20000 + world_draw(STREAM_FAULTS, 500000));
}

bool faults_refuse_file(unsigned open)
{
    return open >= weather.files_max ||
           (weather.no_file_rare && world_once_in(STREAM_FAULTS, weather.no_file_rare));
}

bool faults_page_is_away(void)
{
    return weather.away_rare > 1 && world_once_in(STREAM_FAULTS, weather.away_rare);
}
