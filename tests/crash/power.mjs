#!/usr/bin/env node
// Power cuts: power.mjs [--soak] [--cuts N] [--seed N]
//
// The data folder lies on an ext4 of its own on a loop device. A cut shuts that file system down
// without flushing anything, not even its journal; then it is mounted again, as after a power loss,
// and each acknowledged write must be there. A server whose syncs are switched off must be caught
// by the same campaign, or it tests nothing. Needs root and loop devices.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Server } from '../lib/server.mjs';
import { Campaign, randomFrom } from './campaign.mjs';
import { FileCampaign } from './files.mjs';
import { QueueCampaign } from './queues.mjs';
import { SmbCampaign } from './smb.mjs';
import { TableCampaign } from './tables.mjs';

const { values: options } = parseArgs({
    options: { soak: { type: 'boolean', default: false }, cuts: { type: 'string' }, seed: { type: 'string' } },
});
const CUTS = Number(options.cuts ?? (options.soak ? 500 : 20));
const UNSAFE_CUTS = 20;
const SEED = Number(options.seed ?? Date.now() % 1000000);
const DISK_MIB = 4096; /* sparse */
const CUT = path.join(path.dirname(process.env.LAGRA_BINARY), 'tests/crash/cut');

/** A disk that can lose its power. */
class Disk {
    constructor(folder) {
        this.image = path.join(folder, 'disk');
        this.mountPoint = path.join(folder, 'mount');
        mkdirSync(this.mountPoint);
        execFileSync('truncate', ['-s', `${DISK_MIB}M`, this.image]);
        execFileSync('mkfs.ext4', ['-q', '-F', this.image], { stdio: 'pipe' });
        this.mount();
    }

    mount() {
        execFileSync('mount', ['-o', 'loop', this.image, this.mountPoint], { stdio: 'pipe' });
    }

    unmount() {
        execFileSync('umount', [this.mountPoint], { stdio: 'pipe' });
    }

    cut() {
        execFileSync(CUT, [this.mountPoint], { stdio: 'pipe' });
    }
}

async function withDisk(work) {
    const folder = mkdtempSync(path.join(tmpdir(), 'lagra-power-'));
    let disk = null;

    try {
        disk = new Disk(folder);
        return await work(disk);
    } finally {
        if (disk)
            spawnSync('umount', [disk.mountPoint], { stdio: 'ignore' });
        rmSync(folder, { recursive: true, force: true });
    }
}

/** Cuts until one is not survived; returns how many were, and what was wrong with the next. */
async function cutAndLook(cuts, env, Kind) {
    const random = randomFrom(SEED);

    return withDisk(async (disk) => {
        const server = await Server.start({ location: path.join(disk.mountPoint, 'data'), env, args: Kind.args ?? [] });
        const campaign = new Kind(server, random);

        await campaign.create();
        for (let survived = 0; survived < cuts; survived++) {
            await campaign.work({
                ms: 20 + random(200),
                deaf: true,
                cut: async () => {
                    disk.cut();
                    await server.kill();
                },
            });
            disk.unmount();
            disk.mount();
            try {
                await server.restart();
                await campaign.verify();
            } catch (error) {
                campaign.failures.push(error.message);
            }
            if (campaign.failures.length > 0) {
                await server.kill();
                return { survived, wrong: campaign.failures.join('; ') };
            }
        }
        await server.stop({ keep: true });
        return { survived: cuts, wrong: null };
    });
}

/** Why this machine cannot run the test; null when it can. */
async function obstacle() {
    if (process.getuid() !== 0)
        return 'it needs root';
    return withDisk(() => null).catch((error) => `no ext4 on a loop device: ${error.message.split('\n')[0]}`);
}

const why = await obstacle();
if (why) {
    console.log(`skipped: ${why}`);
    console.log('power: 0 passed, 0 failed, 1 skipped');
} else {
    const total = { passed: 0, failed: 0 };

    for (const [what, Kind] of [['blobs', Campaign], ['messages', QueueCampaign], ['transactions', TableCampaign], ['files', FileCampaign],
        ['writes by SMB', SmbCampaign]]) {
        const safe = await cutAndLook(options.soak || options.cuts ? CUTS : Kind.cuts ?? CUTS, {}, Kind);
        const unsafe = await cutAndLook(UNSAFE_CUTS, { LAGRA_UNSAFE_NO_SYNC: '1' }, Kind);

        if (safe.wrong)
            console.log(`FAILED ${what}: cut ${safe.survived + 1} of seed ${SEED}: ${safe.wrong}`);
        if (!unsafe.wrong)
            console.log(`FAILED ${what}: ${UNSAFE_CUTS} cuts did not show that syncs were off`);
        console.log(`${what}: ${safe.survived} cuts survived; without syncs it was cut ${unsafe.survived + 1} that showed it; ` +
            `seed ${SEED}`);
        total.passed += safe.survived + (unsafe.wrong ? 1 : 0);
        total.failed += (safe.wrong ? 1 : 0) + (unsafe.wrong ? 0 : 1);
    }
    console.log(`power: ${total.passed} passed, ${total.failed} failed`);
    process.exitCode = total.failed === 0 ? 0 : 1;
}
