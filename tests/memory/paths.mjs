// What a client can do again and again to the paths of a hierarchical account.

import { times } from './asking.mjs';

export const ARGUMENTS = ['--hierarchical'];
const FS = '/mem';
const BLOCK = ['x-ms-blob-type', 'BlockBlob'];
const guid = (i) => `00000000-0000-4000-8000-${i.toString(16).padStart(12, '0')}`;
const acl = (i) => ['x-ms-acl', `user::rwx,user:u${i}:r-x,group::r-x,other::---`];
const defaults = (i) => ['x-ms-acl', `user::rwx,group::r-x,other::---,default:user::rwx,default:user:u${i}:rwx,default:group::r-x,default:other::---`];
const retention = (days) => '<StorageServiceProperties><DeleteRetentionPolicy>' +
    (days > 0 ? `<Enabled>true</Enabled><Days>${days}</Days>` : '<Enabled>false</Enabled>') + '</DeleteRetentionPolicy></StorageServiceProperties>';

const make = (ask, path, kind = 'file', headers = []) => ask('dfs', 'PUT', `${path}?resource=${kind}`, { headers, status: 201 });
const append = (ask, path, position, body, more = '') => ask('dfs', 'PATCH', `${path}?action=append&position=${position}${more}`, { body, status: 202 });
const flush = (ask, path, position, more = '') => ask('dfs', 'PATCH', `${path}?action=flush&position=${position}${more}`, { status: 200 });
const rename = (ask, from, to) => ask('dfs', 'PUT', `${to}?mode=legacy`, { headers: [['x-ms-rename-source', from]], status: 201 });
const drop = (ask, path, recursive = false) => ask('dfs', 'DELETE', `${path}?recursive=${recursive}`, { status: 200 });
const list = (ask, query) => ask('dfs', 'GET', `${FS}?resource=filesystem&recursive=true&${query}`, { status: 200 });
const keep = (days) => (ask) => ask('blob', 'PUT', '/?restype=service&comp=properties', { body: retention(days), status: 202 });
const undelete = (ask, path, id) => ask('blob', 'PUT', `${path}?comp=undelete`, {
    headers: id ? [['x-ms-undelete-source', `?deletionid=${id}`]] : [], status: 200,
});

export async function setup(ask) {
    await ask('dfs', 'PUT', `${FS}?resource=filesystem`, { status: 201 });
    await make(ask, `${FS}/lists/a/b`);
    await make(ask, `${FS}/lists/a/c`);
    await make(ask, `${FS}/lists/d/e`);
}

export const KINDS = (server) => ({
    'a filesystem: created, listed, deleted': async (ask, i) => {
        await ask('dfs', 'PUT', `/fs${i}?resource=filesystem`, { status: 201 });
        await make(ask, `/fs${i}/d/f`);
        await ask('dfs', 'HEAD', `/fs${i}?resource=filesystem`, { status: 200 });
        await ask('dfs', 'GET', `/?resource=account&prefix=fs${i}`, { status: 200 });
        await ask('dfs', 'DELETE', `/fs${i}?resource=filesystem`, { status: 202 });
    },
    'a file: created, appended, flushed, read, deleted': async (ask, i) => {
        const path = `${FS}/file-${i}`, body = Buffer.alloc(20000, `${i}`);

        await make(ask, path, 'file', [['x-ms-properties', `n=${Buffer.from(`${i}`).toString('base64')}`]]);
        await append(ask, path, 0, body);
        await flush(ask, path, body.length);
        await append(ask, path, body.length, 'more', '&flush=true');
        await ask('dfs', 'GET', path, { status: 200 });
        await ask('dfs', 'HEAD', path, { status: 200 });
        await drop(ask, path);
    },
    'bytes that are never flushed': async (ask, i) => {
        await make(ask, `${FS}/open-${i}`);
        await append(ask, `${FS}/open-${i}`, 0, Buffer.alloc(17000, 'b'));
        await drop(ask, `${FS}/open-${i}`);
    },
    'directories: created, filled, renamed, deleted': async (ask, i) => {
        await make(ask, `${FS}/dir-${i}/in/deep/f`);
        await rename(ask, `${FS}/dir-${i}/in`, `${FS}/dir-${i}/out`);
        await rename(ask, `${FS}/dir-${i}`, `${FS}/moved-${i}`);
        await drop(ask, `${FS}/moved-${i}`, true);
    },
    'a file renamed over another one': async (ask, i) => {
        await make(ask, `${FS}/from-${i}`);
        await make(ask, `${FS}/to-${i % 16}-${i >> 8}`);
        await rename(ask, `${FS}/from-${i}`, `${FS}/to-${i % 16}-${i >> 8}`);
    },
    'lists of paths in pages': async (ask, i) => {
        const first = await list(ask, `directory=lists&maxResults=1&upn=${i % 2 === 0}`);

        await list(ask, `directory=lists&continuation=${encodeURIComponent(first.headers.get('x-ms-continuation'))}`);
    },
    'access control: lists of files and directories, also recursive': async (ask, i) => {
        const path = `${FS}/acl-${i % 16}`;

        await make(ask, path, 'directory');
        await make(ask, `${path}/f-${i}`);
        for (const headers of [[defaults(i)], [['x-ms-permissions', '0750']], [['x-ms-owner', `o${i}`]]])
            await ask('dfs', 'PATCH', `${path}?action=setAccessControl`, { headers, status: 200 });
        await ask('dfs', 'HEAD', `${path}/f-${i}?action=getAccessControl`, { status: 200 });
        for (const mode of ['set', 'modify'])
            await ask('dfs', 'PATCH', `${path}?action=setAccessControlRecursive&mode=${mode}&maxRecords=3`, { headers: [acl(i)], status: 200 });
        await drop(ask, `${path}/f-${i}`);
    },
    'leases of files and directories': async (ask, i) => {
        const id = ['x-ms-lease-id', guid(i)], proposed = ['x-ms-proposed-lease-id', guid(i)];

        for (const kind of ['file', 'directory']) {
            const path = `${FS}/leased-${kind}-${i}`, act = (action, more, status) =>
                ask('dfs', 'POST', path, { headers: [['x-ms-lease-action', action], ...more], status });

            await make(ask, path, kind);
            await act('acquire', [['x-ms-lease-duration', '-1'], proposed], 201);
            await act('renew', [id], 200);
            await act('break', [['x-ms-lease-break-period', '0']], 202);
            await drop(ask, path);
        }
        await make(ask, `${FS}/auto-${i}`);
        await ask('dfs', 'PATCH', `${FS}/auto-${i}?action=append&position=0&flush=true`, {
            headers: [['x-ms-lease-action', 'acquire-release'], ['x-ms-lease-duration', '15'], proposed], body: 'x', status: 202,
        });
        await drop(ask, `${FS}/auto-${i}`);
    },
    'files that expire, and others whose expiry is taken away': async (ask, i) => {
        const expire = (path, option, more = []) => ask('blob', 'PUT', `${path}?comp=expiry`, { headers: [['x-ms-expiry-option', option], ...more], status: 200 });

        for (const path of [`${FS}/expires-${i}`, `${FS}/stays-${i}`]) {
            await ask('blob', 'PUT', path, { headers: [BLOCK], body: Buffer.alloc(17000, 'e'), status: 201 });
            await expire(path, 'RelativeToNow', [['x-ms-expiry-time', '3600000']]);
        }
        await expire(`${FS}/stays-${i}`, 'NeverExpire');
        await drop(ask, `${FS}/stays-${i}`);
        await expire(`${FS}/expires-${i}`, 'RelativeToNow', [['x-ms-expiry-time', '1']]);
    },
    'deleted paths: listed and restored': {
        async all(from, to) {
            await times(server, 0, 1, keep(7));
            await times(server, from, to, async (ask, i) => {
                const path = `${FS}/kept-${i}`;

                await make(ask, `${path}/d/f`);
                const { headers } = await drop(ask, path, true);
                await ask('blob', 'GET', `${FS}?restype=container&comp=list&showonly=deleted&prefix=kept-${i}`, { status: 200 });
                await undelete(ask, path, headers.get('x-ms-deletion-id'));
                await drop(ask, `${path}/d/f`);
                await undelete(ask, `${path}/d/f`);
            });
            await times(server, 0, 1, keep(0));
            await times(server, from, to, (ask, i) => drop(ask, `${FS}/kept-${i}`, true));
        },
    },
    'snapshots of files': async (ask, i) => {
        const path = `${FS}/snapped-${i}`;

        await ask('blob', 'PUT', path, { headers: [BLOCK], body: Buffer.alloc(17000, 's'), status: 201 });
        await ask('blob', 'PUT', `${path}?comp=snapshot`, { status: 201 });
        await ask('blob', 'DELETE', path, { headers: [['x-ms-delete-snapshots', 'include']], status: 202 });
    },
    'requests for paths that are refused': async (ask, i) => {
        await ask('dfs', 'PUT', `${FS}/lists/a/b/c-${i}?resource=file`, { status: 409 });
        await ask('dfs', 'PATCH', `${FS}/lists/a/b?action=append&position=${1000000 + i}&flush=true`, { body: 'x', status: 400 });
        await ask('dfs', 'DELETE', `${FS}/lists?recursive=false`, { status: 409 });
        await ask('dfs', 'PUT', `${FS}/none-${i}`, { headers: [['x-ms-rename-source', `${FS}/missing-${i}`]], status: 404 });
        await ask('blob', 'PUT', `${FS}/gone-${i}?comp=undelete`, { status: 404 });
    },
});
