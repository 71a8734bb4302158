// A cluster of several cells for tests: a front end for each cell, and where containers are created.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Member, removeClusterAfter } from './cell_member.mjs';
import { Connection } from './http.mjs';
import { run } from './program.mjs';
import { freePorts } from './server.mjs';
import { DEVELOPMENT } from './sign.mjs';

const PINS_READ_MS = 2700; // the root reads them again every 2000 ms
const KNOWN_MS = 300; // until the owners of all cells are known to each other

/** { cluster, owners, standby, place }: owners[n - 1] owns cell n. withStandby: one more front end, without a cell; smb: SMB too;
 *  withMetrics: each has metrics(), a function that returns their text; prepare: is called with the new cluster's directory before its
 *  front ends start. */
export async function startCells(t, { cells = 2, args = [], env = {}, withStandby = false, smb = false, withMetrics = false, prepare = null } = {}) {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-cells-'));
    const cluster = join(folder, 'shared');

    removeClusterAfter(t, folder);
    const { code, errors } = await run(['cluster', 'init', cluster, '--cells', `${cells}`]);
    assert.equal(code, 0, errors);
    await prepare?.(cluster);
    const start = async (name, more) => {
        const log = join(folder, `${name}.log`);
        const [port] = withMetrics ? await freePorts(1) : [];
        const management = withMetrics ? ['--managementPort', `${port}`] : [];
        const member = await Member.start(cluster, { args: ['--accessLog', log, ...management, ...args, ...more], env, smb });

        t.after(() => member.end('SIGKILL'));
        member.lines = () => readFileSync(log, 'utf8').trim().split('\n').filter(Boolean).map((line) => JSON.parse(line));
        member.metrics = async () => {
            const connection = await Connection.open('127.0.0.1', port);
            const answer = await connection.exchange({ method: 'GET', target: '/metrics', headers: [['Host', '127.0.0.1']] });
            connection.close();
            return answer.body.toString();
        };
        return member;
    };
    const owners = await Promise.all(Array.from({ length: cells }, (_, i) => start(`cell${i + 1}`, ['--cell', `${i + 1}`])));
    await Promise.all(owners.map((owner) => owner.until(200)));
    const standby = withStandby ? await start('standby', []) : null;
    await Promise.all([...owners, ...standby ? [standby] : []].map((member) => member.until(200, '/-/ready')));
    await delay(KNOWN_MS);
    /** Has new containers of the account created in this cell. */
    const place = async (cell, account = DEVELOPMENT.account) => {
        const placed = await run(['cluster', 'place', cluster, account, `${cell}`]);

        assert.equal(placed.code, 0, placed.errors);
        await delay(PINS_READ_MS);
    };
    return { cluster, owners, standby, place };
}
