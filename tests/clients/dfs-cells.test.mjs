// The Data Lake endpoint of a cluster: filesystems in different cells, reached through any front end, also when the owner of a cell
// is killed between two requests. docs/cells.md; issue 47
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startCells } from '../lib/cells.mjs';
import { run } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';
import { rawDfs } from './dfs-setup.mjs';

const FS = 'resource=filesystem';

/** Requests to one front end. */
function through(member) {
    const ask = (method, target, headers = {}, body = '', service = 'dfs') =>
        member.ask(method, target, { service, headers: Object.entries(headers), body: Buffer.from(body) });
    const must = async (...request) => {
        const answer = await ask(...request);
        assert.ok(answer.status < 300, `${request.slice(0, 2)}: ${answer.status} ${answer.body}`);
        return answer;
    };
    const header = (answer, wanted) => answer.headers.get(wanted);
    const json = async (target) => JSON.parse((await must('GET', target)).body.toString());
    return { ask, must, json, header };
}

async function pagesOf(front, target, member, max) {
    const found = [];
    for (let continuation = ''; ;) {
        const answer = await front.must('GET', `${target}&maxResults=${max}${continuation}`);
        found.push(...JSON.parse(answer.body.toString())[member].map(({ name }) => name));
        const next = front.header(answer, 'x-ms-continuation');
        if (!next)
            return found;
        continuation = `&continuation=${encodeURIComponent(next)}`;
    }
}

/** A cluster with a filesystem in each of its two cells: { fronts, owners, standby, filesystems }. */
async function start(t, args) {
    const { owners, standby, place } = await startCells(t, { args, withStandby: true });
    const fronts = [...owners, standby].map(through);
    const filesystems = ['in-one', 'in-two'];
    for (const [i, name] of filesystems.entries()) {
        await place(i + 1);
        await fronts[0].must('PUT', `/${name}?${FS}`, { 'x-ms-properties': `cell=${btoa(`${i + 1}`)}` });
    }
    return { fronts, owners, standby, place, filesystems };
}

const pathsOf = async (front, filesystem) => (await front.json(`/${filesystem}?${FS}&recursive=true`)).paths.map(({ name }) => name);

async function write(front, path, text) {
    await front.must('PUT', `${path}?resource=file`);
    await front.must('PATCH', `${path}?action=append&position=0`, {}, text);
    await front.must('PATCH', `${path}?action=flush&position=${text.length}`);
}

test('every operation on filesystems of any cell through any front end', async (t) => {
    const { fronts, filesystems } = await start(t, ['--hierarchical']);

    for (const front of fronts) {
        assert.deepEqual(await pagesOf(front, '/?resource=account&prefix=in-', 'filesystems', 1), filesystems);
        for (const [i, name] of filesystems.entries()) {
            const properties = await front.must('HEAD', `/${name}?${FS}`);
            assert.deepEqual([front.header(properties, 'x-ms-properties'), front.header(properties, 'x-ms-namespace-enabled')], [`cell=${btoa(`${i + 1}`)}`, 'true']);
            const other = fronts[(fronts.indexOf(front) + 1) % fronts.length];
            /* Each step is seen by the next one, through another front end. */
            await front.must('PUT', `/${name}/a/b?resource=directory`);
            await other.must('PUT', `/${name}/a/b/f?resource=file`);
            await front.must('PATCH', `/${name}/a/b/f?action=append&position=0`, {}, 'con');
            await other.must('PATCH', `/${name}/a/b/f?action=append&position=3`, {}, 'tent');
            await front.must('PATCH', `/${name}/a/b/f?action=flush&position=7`);
            assert.equal((await other.must('GET', `/${name}/a/b/f`)).body.toString(), 'content');
            assert.equal((await front.must('GET', `/${name}/a/b/f`, {}, '', 'blob')).body.toString(), 'content');
            await other.must('PATCH', `/${name}/a?action=setAccessControlRecursive&mode=modify`, { 'x-ms-acl': 'group::rwx' });
            const list = await front.must('HEAD', `/${name}/a/b/f?action=getAccessControl`);
            assert.equal(front.header(list, 'x-ms-acl'), 'user::rw-,group::rwx,other::---');
            await front.must('PUT', `/${name}/moved?mode=legacy`, { 'x-ms-rename-source': `/${name}/a/b` });
            assert.deepEqual(await pathsOf(other, name), ['a', 'moved', 'moved/f']);
            assert.deepEqual(await pagesOf(other, `/${name}?${FS}&recursive=true`, 'paths', 1), ['a', 'moved', 'moved/f']);
            const lease = front.header(await other.must('POST', `/${name}/moved/f`, { 'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '-1' }), 'x-ms-lease-id');
            assert.equal((await front.ask('DELETE', `/${name}/moved/f`)).status, 412);
            await front.must('DELETE', `/${name}/moved/f`, { 'x-ms-lease-id': lease });
            await front.must('DELETE', `/${name}/moved?recursive=true`);
            await other.must('DELETE', `/${name}/a?recursive=true`);
            assert.deepEqual(await pathsOf(front, name), []);
            const missing = await front.ask('GET', `/${name}/a`);
            assert.deepEqual([missing.status, JSON.parse(missing.body.toString()).error.code], [404, 'PathNotFound']);
        }
        const missing = await front.ask('HEAD', `/none?${FS}`);
        assert.deepEqual([missing.status, front.header(missing, 'x-ms-error-code')], [404, 'FilesystemNotFound']);
    }
    /* Each filesystem has a tree of its own. */
    await fronts[0].must('PUT', '/in-one/f?resource=file');
    for (const [to, from, status, code] of [['in-two', 'in-one', 501, 'NotImplemented'], ['in-one', 'in-two', 501, 'NotImplemented'], ['in-one', 'in-one', 404, 'SourcePathNotFound']]) {
        const refused = await fronts[2].ask('PUT', `/${to}/g`, { 'x-ms-rename-source': `/${from}/${to === from ? 'none' : 'f'}` });
        assert.deepEqual([refused.status, JSON.parse(refused.body.toString()).error.code], [status, code]);
    }
    await fronts[0].must('DELETE', '/in-one/f');
    await fronts[2].must('DELETE', `/in-two?${FS}`);
    assert.deepEqual(await pagesOf(fronts[1], '/?resource=account&prefix=in-', 'filesystems', 1), ['in-one']);
});

test('the owner of a cell is killed between an append and its flush, a rename and a list, and in the pages of a delete', async (t) => {
    const { fronts, owners, standby } = await start(t, []);
    const [root, , other] = fronts;
    const names = Array.from({ length: 1100 }, (_, i) => `d/${String(i).padStart(4, '0')}`);

    await write(root, '/in-two/kept', 'kept');
    await root.must('PUT', '/in-two/f?resource=file');
    await other.must('PATCH', '/in-two/f?action=append&position=0', {}, 'appended');
    await root.must('PUT', '/in-two/d?resource=directory');
    for (let i = 0; i < names.length; i += 50)
        await Promise.all(names.slice(i, i + 50).map((name) => root.must('PUT', `/in-two/${name}`, { 'x-ms-blob-type': 'BlockBlob' }, '', 'blob')));
    const page = await root.must('DELETE', '/in-two/d?recursive=true');
    const next = encodeURIComponent(root.header(page, 'x-ms-continuation'));
    await owners[1].end('SIGKILL');
    await standby.until(200);
    await root.must('PATCH', '/in-two/f?action=flush&position=8');
    assert.equal((await root.must('GET', '/in-two/f')).body.toString(), 'appended');
    const left = await pathsOf(root, 'in-two');
    assert.deepEqual(left, ['d', ...names.slice(names.length - (left.length - 3)), 'f', 'kept']);
    assert.equal(other.header(await other.must('DELETE', `/in-two/d?recursive=true&continuation=${next}`), 'x-ms-continuation'), undefined);
    assert.deepEqual(await pathsOf(other, 'in-two'), ['f', 'kept']);
});

test('an acknowledged rename and its access control survive the owner', async (t) => {
    const { fronts, owners, standby } = await start(t, ['--hierarchical']);
    const [root] = fronts;

    await write(root, '/in-two/a/f', 'x');
    await root.must('PATCH', '/in-two/a?action=setAccessControl', { 'x-ms-permissions': '1777' });
    await root.must('PUT', '/in-two/b', { 'x-ms-rename-source': '/in-two/a' });
    await owners[1].end('SIGKILL');
    await standby.until(200);
    assert.deepEqual(await pathsOf(root, 'in-two'), ['b', 'b/f']);
    assert.equal(root.header(await root.must('HEAD', '/in-two/b?action=getAccessControl'), 'x-ms-permissions'), 'rwxrwxrwt');
    await root.must('DELETE', '/in-two/b?recursive=true');
    assert.deepEqual(await pathsOf(fronts[2], 'in-two'), []);
});

test('filesystems of a server whose backup becomes a cell share their tree: they are renamed to one another, and not moved', async (t) => {
    const plain = await Server.start({ args: ['--hierarchical'] });
    const backups = `${plain.location}-backups`;
    const lagra = async (code, ...words) => {
        const ran = await run(words, {}, 60000);
        assert.equal(ran.code, code, `${words.join(' ')}: ${ran.output}${ran.errors}`);
        return ran.output + ran.errors;
    };
    t.after(() => plain.stop());
    const single = { must: async (method, target, headers = {}, body = '') =>
        assert.ok((await rawDfs(method, target, headers, body, { base: { host: plain.host, port: plain.ports.dfs } })).status < 300, target) };
    for (const name of ['old', 'older'])
        await single.must('PUT', `/${name}?${FS}`);
    await write(single, '/old/d/f', 'x');
    await lagra(0, 'backup', backups, '--location', plain.location);
    const [backup] = readdirSync(backups);
    const { owners, cluster, place } = await startCells(t, { args: ['--hierarchical'],
        prepare: (at) => lagra(0, 'backup', 'restore', join(backups, backup), join(at, 'cells', '0002', 'data')) });
    const [root] = owners.map(through);
    await lagra(0, 'cluster', 'reclaim', cluster);
    await root.must('PUT', '/older/d?mode=legacy', { 'x-ms-rename-source': '/old/d' });
    assert.deepEqual([await pathsOf(root, 'old'), await pathsOf(root, 'older')], [[], ['d', 'd/f']]);
    assert.match(await lagra(1, 'cluster', 'move', cluster, DEVELOPMENT.account, 'container', 'older', '1'), /its paths in one tree with other containers/);
    assert.deepEqual(await pathsOf(root, 'older'), ['d', 'd/f']);
    await place(2);
    await root.must('PUT', `/new?${FS}`);
    const refused = await root.ask('PUT', '/new/d', { 'x-ms-rename-source': '/older/d' });
    assert.deepEqual([refused.status, JSON.parse(refused.body.toString()).error.code], [501, 'NotImplemented']);
    await lagra(0, 'cluster', 'move', cluster, DEVELOPMENT.account, 'container', 'new', '1');
});
