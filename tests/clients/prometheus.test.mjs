// Metrics as Debian's Prometheus reads them: the form of the page, the alert rules and the dashboard of
// packaging/monitoring, against a server that it scrapes. docs/monitoring.md
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { BlobServiceClient } from '@azure/storage-blob';
import { freePorts, Server } from '../lib/server.mjs';
import { credential, once as one } from './setup.mjs';

const MONITORING = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../packaging/monitoring');
const isThere = spawnSync('promtool', ['--version']).status === 0 && spawnSync('prometheus', ['--version']).status === 0;
const skip = isThere ? false : 'prometheus is not installed: tools/prepare test';

/** Until it is true; the tests' limit ends it. */
async function until(ask) {
    for (;;) {
        const found = await ask().catch(() => false);
        if (found)
            return found;
        await delay(50);
    }
}

test('the rules of alerts are right, and say what they should', { skip }, () => {
    execFileSync('promtool', ['check', 'rules', path.join(MONITORING, 'alerts.yml')]);
    execFileSync('promtool', ['test', 'rules', path.join(MONITORING, 'alerts.test.yml')]);
});

/** A server with something of everything to count. */
async function busyServer(t) {
    const [management] = await freePorts(1);
    const server = await Server.start({ args: ['--managementPort', `${management}`, '--usageEvery', '1s'] });
    t.after(() => server.kill().then(() => server.remove()));
    const container = new BlobServiceClient(server.url, credential, one).getContainerClient('counted');
    await container.create();
    for (let i = 0; i < 20; i++)
        await container.getBlockBlobClient(`b${i}`).upload('x'.repeat(1000), 1000);
    await assert.rejects(container.getBlobClient('none').download());
    return { server, container, page: `http://127.0.0.1:${management}/metrics`, management };
}

test('promtool finds nothing to say of the page', { skip }, async (t) => {
    const { page } = await busyServer(t);
    const text = await (await fetch(page)).text();
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
    assert.deepEqual([status, stdout, stderr], [0, '', '']);
});

test('Prometheus scrapes it; every rule and every panel of the dashboard is answered', { skip }, async (t) => {
    const { management, container } = await busyServer(t);
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-prometheus-'));
    const [port] = await freePorts(1);
    t.after(() => rm(folder, { recursive: true, force: true }));
    await writeFile(path.join(folder, 'prometheus.yml'),
        `global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }\n` +
        `rule_files: ['${path.join(MONITORING, 'alerts.yml')}']\n` +
        `scrape_configs: [{ job_name: lagra, static_configs: [{ targets: ['127.0.0.1:${management}'] }] }]\n`);
    const child = spawn('prometheus', [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`,
        `--web.listen-address=127.0.0.1:${port}`, '--log.level=error'], { stdio: ['ignore', 'ignore', 'inherit'] });
    const ended = once(child, 'close');
    t.after(() => { child.kill('SIGKILL'); return ended; });
    const ask = async (what) => {
        const answer = await (await fetch(`http://127.0.0.1:${port}/api/v1/${what}`)).json();
        assert.equal(answer.status, 'success', JSON.stringify(answer));
        return answer.data;
    };
    const query = async (expression) => (await ask(`query?query=${encodeURIComponent(expression)}`)).result;

    // Counters go up between two scrapes, so that rates are something.
    await until(async () => {
        await container.getBlockBlobClient('more').upload('x', 1);
        await container.getBlobClient('none').download().catch(() => {});
        const [rate] = await query('sum(rate(lagra_requests_total{code!="Success"}[1m]))');
        return Number(rate?.value[1]) > 0 && (await query('lagra_account_bytes{service="blob"} > 0')).length > 0;
    });
    assert.equal((await query('up{job="lagra"} == 1')).length, 1);
    const rules = await until(async () => {
        const { groups: [{ rules: all }] } = await ask('rules');
        return all.every(({ health }) => health !== 'unknown') && all;
    });
    assert.ok(rules.length >= 11);
    for (const { name, health, lastError } of rules)
        assert.deepEqual([health, lastError], ['ok', undefined], name);
    assert.deepEqual((await ask('alerts')).alerts.filter(({ labels }) => labels.severity === 'critical'), []);

    const { panels } = JSON.parse(await readFile(path.join(MONITORING, 'grafana.json'), 'utf8'));
    assert.ok(panels.length >= 20);
    for (const { title, targets } of panels)
        for (const { expr } of targets) {
            const result = await query(expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1m'));
            assert.ok(result.length > 0, `${title}: nothing answers ${expr}`);
        }
});
