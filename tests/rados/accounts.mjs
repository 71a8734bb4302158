// Accounts of a store on a cluster (server.mjs), and what else operators ask a front end.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Connection } from '../lib/http.mjs';
import { sign } from '../lib/sign.mjs';
import { startFrontEnd } from './front_end.mjs';

const ACCOUNTS_MS = 10_000;
const ROTATIONS = 5;

/** A signed List Containers of an account: the status. */
async function listAs(server, account, key) {
    const connection = await Connection.open(server.host, server.port);
    const request = { method: 'GET', target: `/${account}/?comp=list`, headers: [['Host', `${server.host}:${server.port}`]] };

    try {
        return (await connection.exchange(sign(request, { credentials: { account, key } }))).status;
    } finally {
        connection.close();
    }
}

/** Accounts are made and changed on any front end, and all others have them soon; what a data folder alone has is refused. */
export async function accounts(start, binary, cluster, store) {
    const folders = [0, 1].map(() => mkdtempSync(path.join(tmpdir(), 'lagra-front-end-')));
    const begin = (folder) => startFrontEnd(binary, ['--store', store.place, '--location', folder]);
    const failing = (folder) => begin(folder).then((server) => server.kill().then(() => ({ status: 0, stdout: 'it came up', stderr: '' })),
        ({ message }) => ({ status: 1, stdout: '', stderr: message }));
    const servers = await Promise.all(folders.map(begin));
    const problems = [], slowest = [];
    const run = (at, ...words) => spawnSync(binary, [...words, '--location', folders[at]], { encoding: 'utf8' });
    const asked = (at, ...words) => {
        const { status, stdout, stderr } = run(at, ...words, '--json');

        if (status !== 0)
            throw new Error(`lagra ${words.join(' ')}: ${stderr}`);
        return JSON.parse(stdout);
    };
    const reaches = async (what, at, account, key, wanted) => {
        const began = Date.now();
        let status;

        do
            status = await listAs(servers[at], account, key);
        while (status !== wanted && Date.now() < began + ACCOUNTS_MS);
        slowest.push(Date.now() - began);
        if (status !== wanted)
            problems.push(`${what}: ${status}, not ${wanted}, after ${ACCOUNTS_MS / 1000} s`);
    };
    const refused = (what, sentence, ran) => {
        if (ran.status !== 1 || !ran.stderr.includes(sentence))
            problems.push(`${what}: exit code ${ran.status}, ${ran.stdout}${ran.stderr}`);
    };

    const made = asked(0, 'account', 'add', 'shared1');
    await reaches('an account', 1, 'shared1', made.key1, 200);
    for (let i = 0, { key1 } = made; i < ROTATIONS; i++) {
        const { key1: next } = asked(i % 2, 'account', 'rotate-key', 'shared1', '1');

        await reaches('a new key', (i + 1) % 2, 'shared1', next, 200);
        await reaches('an old key', (i + 1) % 2, 'shared1', key1, 403);
        key1 = next;
    }
    asked(1, 'account', 'disable', 'shared1');
    await reaches('a disabled account', 0, 'shared1', made.key2, 403);
    if (!asked(0, 'account', 'list').accounts.some(({ name, state }) => name === 'shared1' && state === 'disabled'))
        problems.push('lagra account list does not show it');
    refused('the same account again', 'There is an account', run(1, 'account', 'add', 'shared1'));
    const { store: shown } = asked(0, 'status');
    if (shown.elsewhere !== store.place || shown.state !== 'healthy')
        problems.push(`lagra status: ${JSON.stringify(shown)}`);
    refused('lagra scrub', 'no data folder', run(0, 'scrub'));
    refused('a folder that is taken', 'another server uses it', await failing(folders[0]));
    for (const server of servers)
        await server.stop();
    writeFileSync(path.join(folders[0], 'format'), '');
    refused('a data folder', 'it holds other files', await failing(folders[0]));
    folders.forEach((folder) => rmSync(folder, { recursive: true }));
    console.log(`accounts: the other front end had them after ${Math.max(...slowest)} ms at most`);
    return problems;
}
