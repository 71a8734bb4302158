#!/usr/bin/env node
// Cells on a real CephFS (ceph.mjs): run.mjs --build FOLDER [--program FILE] [--seed N] [TEST..]. Two machines with one cell (one.mjs), then three
// with two cells (several.mjs); machines die, hang, are cut off and evicted, an OSD and the MDS are killed, the cell is handed over, all under writers
// of all services. Afterwards nothing that was acknowledged is lost or doubled, no reader has seen anything go back, and the histories of registers are
// linearizable.
//
// Without names each test runs once, but for those that take minutes (LONG). --program: in the place of FOLDER/lagra. --campaign: faults by lot, until
// so many machines have died, hung or been cut off (--deaths 200), and so many OSDs (--osds 20) and MDS (--mds 10) were killed, or until --minutes N
// are over. Prints for each failover the longest time in which no writer got a response; nothing depends on times. Where no CephFS can be started it
// says why, and nothing has passed or failed. The last line is "N passed, N failed".

import path from 'node:path';
import { parseArgs } from 'node:util';
import { Campaign } from './campaign.mjs';
import { CephFs, lacking } from './ceph.mjs';
import { kernelClient, lacking as lackingKernel } from './kernel.mjs';
import { LONG, TESTS, oneCell } from './one.mjs';
import { seed } from './random.mjs';
import { Report } from './report.mjs';
import { EVENTS, severalCells } from './several.mjs';

const { values: options, positionals: wanted } = parseArgs({
    allowPositionals: true,
    options: {
        build: { type: 'string' }, program: { type: 'string' }, seed: { type: 'string', default: '1' },
        campaign: { type: 'boolean', default: false }, minutes: { type: 'string', default: '0' },
        deaths: { type: 'string', default: '200' }, osds: { type: 'string', default: '20' }, mds: { type: 'string', default: '10' },
    },
});
const KERNEL = 'kernel', SEVERAL = 'several'; // the names of the tests of kernel.mjs and several.mjs

process.env.LAGRA_BINARY = path.resolve(options.program ?? path.join(options.build, 'lagra'));
seed(Number(options.seed));
const report = new Report();

/** On a file system of its own. */
async function checkKernel() {
    const lacks = lackingKernel(), began = Date.now();

    if (lacks.length > 0) {
        console.log(`skipped: no guest with the kernel's CephFS client can be started here: ${lacks.join('; ')}`);
        return;
    }
    const { problems, said } = await kernelClient();

    report.test(KERNEL, began, problems, said);
}

/** Each on a file system of its own. */
async function testCephFuse(test, ...more) {
    const fs = await CephFs.start();
    const stop = () => fs.stop().finally(() => process.exit(1));

    for (const signal of ['SIGINT', 'SIGTERM'])
        process.once(signal, stop);
    try {
        await test(fs, ...more);
    } catch (error) {
        report.test(test.name, Date.now(), [error.stack]);
    } finally {
        for (const signal of ['SIGINT', 'SIGTERM'])
            process.off(signal, stop);
        await fs.stop();
    }
}

/** Each test by its name. */
async function runTests(names) {
    const here = names.filter((name) => name !== KERNEL && name !== SEVERAL);

    if (here.some((name) => !TESTS[name] && !LONG[name]))
        throw new Error(`there are ${[...Object.keys(TESTS), ...Object.keys(LONG), SEVERAL, KERNEL].join(', ')}`);
    if (here.length > 0)
        await testCephFuse(oneCell, here, report, !here.includes('unfenced'));
    if (names.includes(SEVERAL))
        await testCephFuse(severalCells, null, report);
    if (names.includes(KERNEL))
        await checkKernel();
}

async function runCampaign() {
    const campaign = new Campaign({ deaths: Number(options.deaths), osds: Number(options.osds), mds: Number(options.mds) }, Number(options.minutes) * 60_000);
    const began = Date.now();

    await campaign.run([
        { names: Object.keys(TESTS), run: (names) => testCephFuse(oneCell, names, report) },
        { names: Object.keys(EVENTS), run: (names) => testCephFuse(severalCells, names, report) },
    ]);
    campaign.missing().forEach((missing) => console.log(`the time was over: ${missing}`));
    console.log(`${Math.round((Date.now() - began) / 60_000)} minutes`);
    report.summary();
}

async function main() {
    const lacks = lacking();

    if (lacks.length > 0)
        console.log(`skipped: no CephFS can be started here: ${lacks.join('; ')}`);
    else if (options.campaign)
        await runCampaign();
    else
        await runTests(wanted.length > 0 ? wanted : [...Object.keys(TESTS), SEVERAL, KERNEL]);
}

await main().catch((error) => report.test('run', Date.now(), [error.stack]));
console.log(`${report.passed} passed, ${report.failed} failed`);
process.exit(report.failed > 0 ? 1 : 0);
