// The pages are TypeScript: their types fit, and all of them together are small.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

test('types match', () => {
    const { status, stdout } = spawnSync(process.execPath, [path.join(ROOT, 'console/node_modules/typescript/bin/tsc'), '-p', path.join(ROOT, 'console')], { encoding: 'utf8' });
    assert.equal(status, 0, stdout);
});

test('all pages together are smaller than 300 KiB compressed', (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'lagra-console-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(ROOT, 'console/bundle.mjs'), path.join(folder, 'assets.c'), path.join(folder, 'assets.d'), 'assets.c'],
        { encoding: 'utf8', env: { ...process.env, CONSOLE_SIZES: '1' } });
    assert.equal(status, 0, stderr);
    const size = stdout.trim().split('\n').reduce((sum, line) => sum + Number(line.trim().split(' ')[0]), 0);
    assert.ok(size > 100 * 1024 && size < 300 * 1024, `${size} bytes`);
});
