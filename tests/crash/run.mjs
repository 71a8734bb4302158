#!/usr/bin/env node
// kill -9 at random moments and at gates, restart, and look: run.mjs [--soak] [--points N]
// [--messages N] [--seed N] [--only NAME]
//
// Every acknowledged write must be there with its bytes and ETag, every other one wholly there or
// not at all, nothing that was read may be gone, and at the end the store must hold no space for
// blobs that are deleted. Of files, `lagra check` has to find the folder whole: at the end, and with
// --soak after each kill; "names" kills inside renames, creates and deletes of files alone, "path names"
// inside those of a hierarchical account and inside changes of many access control lists, and "path
// renames" only inside its renames and such changes. --only: one of the campaigns. So many messages as
// --messages says (with --soak 1,000,000) go through a queue, with fewer kills: none may be lost, none
// handed out twice. One count for each kill.

import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Control, Server } from '../lib/server.mjs';
import { Tally } from '../lib/tally.mjs';
import { Campaign, randomFrom } from './campaign.mjs';
import { CopyCampaign } from './copies.mjs';
import { FileCampaign } from './files.mjs';
import { HoldCampaign } from './holds.mjs';
import { KeyCampaign } from './keys.mjs';
import { PathCampaign, RenameCampaign } from './paths.mjs';
import { ProtectedCampaign } from './protected.mjs';
import { QueueCampaign } from './queues.mjs';
import { TableCampaign } from './tables.mjs';

const { values: options } = parseArgs({
    options: { soak: { type: 'boolean', default: false }, points: { type: 'string' }, messages: { type: 'string' }, seed: { type: 'string' }, only: { type: 'string' } },
});
const POINTS = Number(options.points ?? (options.soak ? 10000 : 120));
const MESSAGES = Number(options.messages ?? (options.soak ? 1_000_000 : 0));
const SEED = Number(options.seed ?? Date.now() % 1000000);
const COLLECT_EVERY = 100;
/* What an empty store may keep of its extents: the one that is being written. */
const ALLOCATED_LEFT_MAX = 8 << 20;

const LOOKS_MAX = 200;

const tally = new Tally();

async function usageOf(server) {
    const control = new Control(server);
    const text = await control.collect();

    control.close();
    return Object.fromEntries(text.split('\n').map((line) => line.split('=')).map(([name, value]) => [name, Number(value)]));
}

/** Nothing is left of blobs that are deleted, and nothing of what was staged when a kill came. */
async function checkSpace(campaign, server) {
    const isEmpty = (usage) => usage.piece_bytes === 0 && usage.pending_bytes === 0 && usage.allocated_bytes <= ALLOCATED_LEFT_MAX;

    await campaign.removeAll();
    let usage = await usageOf(server);
    /* What a request leaves to the list of deferred tasks is deleted behind it. */
    for (let looks = 1; !isEmpty(usage) && looks < LOOKS_MAX; looks++) {
        await setTimeout(50);
        usage = await usageOf(server);
    }
    tally.count(isEmpty(usage), `orphaned space: ${JSON.stringify(usage)}`);
    await campaign.goOn?.();
}

/** The folder is whole, and is empty once everything is deleted. */
async function checkEnd(what, campaign, server) {
    await server.stop({ keep: true });
    await campaign.checkFolder();
    tally.count(campaign.failures.length === 0, `${what}, seed ${SEED}: ${campaign.failures.join('; ')}`);
    await server.restart();
    await checkSpace(campaign, server);
}

/* How long a request may take to get to its gate. */
const INSIDE_MS = 120000;

/** Each kill was where it was to be, and with many points each such place had some. */
function checkKills(what, kills, points) {
    const sum = [...kills.values()].reduce((total, times) => total + times, 0);

    tally.count(sum === points, `${what}: ${sum} of ${points} kills were inside such a change`);
    if (options.soak)
        console.log([...kills].sort().map(([where, times]) => `  ${where}: ${times}`).join('\n'));
}

async function killAndLook(campaign, server, random, point, inside) {
    const gated = point % 4 === 0;

    if (inside)
        return cutAndLook(campaign, server, point, { ms: INSIDE_MS, gated: true, inside });

    return cutAndLook(campaign, server, point, { ms: gated ? 300 : 1 + random(60), gated });
}

async function cutAndLook(campaign, server, point, work) {
    await campaign.work({ ...work, cut: () => server.kill() });
    if (options.soak)
        await campaign.checkFolder?.();
    await server.restart();
    const ok = (await campaign.verify()) && campaign.failures.length === 0;

    tally.count(ok, `point ${point} of seed ${SEED}: ${campaign.failures.splice(0).join('; ')}`);
    return ok;
}

/** inside: each kill is inside a change that the campaign takes for one */
async function run(what, Kind, points, inside = false) {
    if (options.only && options.only !== what)
        return;
    const random = randomFrom(SEED);
    const server = await Server.start(Kind.serverOptions?.() ?? {});
    const campaign = new Kind(server, random);

    try {
        await campaign.create();
        for (let point = 1; point <= points; point++) {
            if (!(await killAndLook(campaign, server, random, point, inside)))
                break; /* the model no longer fits */
            if (point % COLLECT_EVERY === 0)
                await checkSpace(campaign, server);
            if (options.soak && point % 100 === 0)
                console.log(`${what}: ${point} kills, ${campaign.changes} changes`);
        }
        if (campaign.checkFolder)
            await checkEnd(what, campaign, server);
        console.log(`${what}: ${points} kills, ${campaign.changes} changes, seed ${SEED}`);
        if (inside)
            checkKills(what, campaign.kills, points);
    } catch (error) {
        tally.count(false, `${what}, seed ${SEED}: ${error.stack}`);
    } finally {
        await server.stop();
    }
}

/** Short messages, until there were so many. */
async function runMany(messages) {
    const random = randomFrom(SEED);
    const server = await Server.start();
    const campaign = new QueueCampaign(server, random);
    let kills = 0, ok = true;

    try {
        await campaign.create();
        while (ok && campaign.messages < messages) {
            ok = await cutAndLook(campaign, server, ++kills, { ms: 1 + random(8000), gated: false, clients: 24, longEvery: 1000 });
            if (kills % 20 === 0)
                console.log(`messages: ${kills} kills, ${campaign.messages} messages`);
        }
        console.log(`messages: ${kills} kills, ${campaign.messages} messages, seed ${SEED}`);
    } catch (error) {
        tally.count(false, `messages, seed ${SEED}: ${error.stack}`);
    } finally {
        await server.stop();
    }
}

await run('blobs', Campaign, POINTS);
await run('copies', CopyCampaign, Math.ceil(POINTS / 16));
await run('messages', QueueCampaign, Math.ceil(POINTS / 4));
await run('holds', HoldCampaign, Math.ceil(POINTS / 16));
await run('protected containers', ProtectedCampaign, Math.ceil(POINTS / 16));
await run('keys', KeyCampaign, Math.ceil(POINTS / 16));
await run('transactions', TableCampaign, Math.ceil(POINTS / 4));
await run('files', FileCampaign, Math.ceil(POINTS / (options.soak ? 5 : 16)));
await run('names', FileCampaign, Math.ceil(POINTS / (options.soak ? 5 : 32)), true);
await run('paths', PathCampaign, Math.ceil(POINTS / (options.soak ? 5 : 16)));
await run('path names', PathCampaign, Math.ceil(POINTS / (options.soak ? 5 : 32)), true);
await run('path renames', RenameCampaign, Math.ceil(POINTS / (options.soak ? 5 : 32)), true);
if (MESSAGES > 0 && !options.only)
    await runMany(MESSAGES);
tally.end('crash');
