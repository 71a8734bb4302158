#!/usr/bin/env node
// Starts a cluster (cluster.mjs) and runs on it what the RADOS in memory passes too: run.mjs --build FOLDER, a build
// with -Drados=true. The last line is "rados: N passed, N failed".

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Cluster } from './cluster.mjs';

const LIMIT_MS = 300_000;
const POOL = 'test';

const { values: { build } } = parseArgs({ options: { build: { type: 'string' } } });
const cluster = await Cluster.start();

try {
    cluster.createPool(POOL);
    const { status, stdout, stderr } = spawnSync(path.resolve(build, 'tests/unit/store/rados/cluster_test'), [], {
        encoding: 'utf8', timeout: LIMIT_MS,
        env: { ...process.env, LAGRA_RADOS_CONF: cluster.configuration, LAGRA_RADOS_POOL: POOL, CMOCKA_MESSAGE_OUTPUT: 'TAP' },
    });
    const count = (pattern) => (stdout.match(pattern) ?? []).length;
    const passed = count(/^ok\b/gm);
    const failed = count(/^not ok\b/gm) || (status === 0 && passed > 0 ? 0 : 1);

    if (failed > 0)
        console.log(`${stdout}${stderr}`);
    console.log(`rados: ${passed} passed, ${failed} failed`);
    process.exitCode = failed > 0 ? 1 : 0;
} finally {
    await cluster.stop();
}
