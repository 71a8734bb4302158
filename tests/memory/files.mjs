// What a client of the File service can do again and again to shares, directories and files, by REST.

const FILE = (length) => [['x-ms-type', 'file'], ['x-ms-content-length', `${length}`]];
const LATE = ['x-ms-version', '2025-05-05'];
const SDDL = (i) => `O:S-1-5-21-1-2-3-${i + 1}G:S-1-5-21-1-2-3-513D:(A;;FA;;;S-1-5-21-1-2-3-${i + 1})`;
const guid = (i) => `00000000-0000-4000-8000-${i.toString(16).padStart(12, '0')}`;
const file = (ask, method, target, status, { headers = [], body = '' } = {}) => ask('file', method, target, { headers, body, status });
const create = (ask, path, length = 10, more = []) => file(ask, 'PUT', path, 201, { headers: [...FILE(length), ...more] });
const write = (ask, path, text, status = 201) => file(ask, 'PUT', `${path}?comp=range`, status,
    { headers: [['x-ms-write', 'update'], ['x-ms-range', `bytes=0-${text.length - 1}`]], body: text });
const drop = (ask, path) => file(ask, 'DELETE', path, 202);
const lease = (ask, path, action, status, more = []) => file(ask, 'PUT', `${path}?comp=lease`, status,
    { headers: [['x-ms-lease-action', action], ...more] });

export async function setup(ask) {
    await file(ask, 'PUT', '/mem?restype=share', 201);
    await create(ask, '/mem/source', 70000);
    await file(ask, 'PUT', '/mem/d?restype=directory', 201);
}

export const KINDS = (server) => ({
    'a share: create, metadata, ACL, lease, delete': async (ask, i) => {
        const at = `/share${i}?restype=share`, id = ['x-ms-lease-id', guid(i)];

        await file(ask, 'PUT', at, 201);
        await file(ask, 'PUT', `${at}&comp=metadata`, 200, { headers: [['x-ms-meta-n', `${i}`]] });
        await file(ask, 'PUT', `${at}&comp=acl`, 200, { body: `<SignedIdentifiers><SignedIdentifier><Id>${i}</Id><AccessPolicy>` +
            '<Permission>r</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>' });
        await file(ask, 'PUT', `${at}&comp=lease`, 201, { headers: [['x-ms-lease-action', 'acquire'], ['x-ms-lease-duration', '15'],
            ['x-ms-proposed-lease-id', guid(i)]] });
        await file(ask, 'DELETE', at, 202, { headers: [id] });
    },
    'a share with a file: a snapshot, deleted with it': async (ask, i) => {
        await file(ask, 'PUT', `/kept${i}?restype=share`, 201);
        await create(ask, `/kept${i}/f`);
        await file(ask, 'PUT', `/kept${i}?restype=share&comp=snapshot`, 201);
        await file(ask, 'DELETE', `/kept${i}?restype=share`, 202, { headers: [['x-ms-delete-snapshots', 'include']] });
    },
    'a file: create, written, read, listed, deleted': async (ask, i) => {
        const path = `/mem/f${i}`;

        await create(ask, path, 20000);
        await write(ask, path, `text ${i}`);
        await file(ask, 'GET', path, 200);
        await file(ask, 'GET', `${path}?comp=rangelist`, 200);
        await file(ask, 'PUT', `${path}?comp=range`, 201, { headers: [['x-ms-write', 'clear'], ['x-ms-range', 'bytes=0-511']] });
        await drop(ask, path);
    },
    'a file that stays': (ask, i) => create(ask, `/mem/d/${i}`),
    'a file written over': async (ask, i) => {
        await create(ask, '/mem/one', 20000 + i % 30000);
        await write(ask, '/mem/one', 'o'.repeat(1 + i % 9000), [201, 416]);
    },
    'a directory: create, metadata, properties, listed, deleted': async (ask, i) => {
        const at = `/mem/d${i}?restype=directory`;

        await file(ask, 'PUT', at, 201);
        await file(ask, 'PUT', `${at}&comp=metadata`, 200, { headers: [['x-ms-meta-n', `${i}`]] });
        await file(ask, 'PUT', `${at}&comp=properties`, 200, { headers: [['x-ms-file-attributes', 'Directory|Hidden']] });
        await file(ask, 'GET', `${at}&comp=list&prefix=${i}`, 200);
        await drop(ask, at);
    },
    'properties, metadata and the size of a file': async (ask, i) => {
        const path = `/mem/described-${i % 16}`;

        await create(ask, path);
        await file(ask, 'PUT', `${path}?comp=properties`, 200, { headers: [['x-ms-content-type', `text/${i}`], ['x-ms-content-length', `${i % 5000}`]] });
        await file(ask, 'PUT', `${path}?comp=metadata`, 200, { headers: [[`x-ms-meta-n${i}`, `${i}`]] });
        await file(ask, 'HEAD', path, 200);
    },
    'permissions: created, read, of a file': async (ask, i) => {
        const { headers } = await file(ask, 'PUT', '/mem?restype=share&comp=filepermission', 201, { body: JSON.stringify({ permission: SDDL(i) }) });
        const key = headers.get('x-ms-file-permission-key');

        await file(ask, 'GET', '/mem?restype=share&comp=filepermission', 200, { headers: [['x-ms-file-permission-key', key]] });
        await create(ask, '/mem/permitted', 1, [['x-ms-file-permission', SDDL(i + 1)], LATE]);
    },
    'a lease of a file: all of its actions': async (ask, i) => {
        const path = `/mem/leased${i}`, id = ['x-ms-lease-id', guid(i)], other = ['x-ms-lease-id', guid(i + 0x10000000)];

        await create(ask, path);
        await lease(ask, path, 'acquire', 201, [['x-ms-lease-duration', '-1'], ['x-ms-proposed-lease-id', guid(i)]]);
        await lease(ask, path, 'change', 200, [id, ['x-ms-proposed-lease-id', guid(i + 0x10000000)]]);
        await lease(ask, path, 'break', 202);
        await lease(ask, path, 'release', [200, 409, 412], [other]);
        await drop(ask, path);
    },
    'a rename of a file and of a directory': async (ask, i) => {
        const from = (name) => [['x-ms-file-rename-source', `http://${server.host}:${server.ports.file}/${server.account}/mem/${name}`], LATE];

        await create(ask, `/mem/old${i}`);
        await file(ask, 'PUT', `/mem/new${i}?comp=rename`, 200, { headers: from(`old${i}`) });
        await drop(ask, `/mem/new${i}`);
        await file(ask, 'PUT', `/mem/olddir${i}?restype=directory`, 201);
        await file(ask, 'PUT', `/mem/newdir${i}?restype=directory&comp=rename`, 200, { headers: from(`olddir${i}`) });
        await drop(ask, `/mem/newdir${i}?restype=directory`);
    },
    'a copy of a file': async (ask, i) => {
        await file(ask, 'PUT', `/mem/copy${i}`, 202, { headers: [['x-ms-copy-source', `http://${server.host}:${server.ports.file}/${server.account}/mem/source`]] });
        await drop(ask, `/mem/copy${i}`);
    },
    'a snapshot of a share, deleted': async (ask) => {
        const { headers } = await file(ask, 'PUT', '/mem?restype=share&comp=snapshot', [201, 409]);
        const snapshot = headers.get('x-ms-snapshot');

        if (snapshot)
            await file(ask, 'DELETE', `/mem?restype=share&sharesnapshot=${encodeURIComponent(snapshot)}`, 202);
    },
    'handles listed and closed by force where there are none': async (ask, i) => {
        await file(ask, 'GET', `/mem/source?comp=listhandles&maxresults=${i % 100 + 1}`, 200);
        await file(ask, 'PUT', '/mem/source?comp=forceclosehandles', [200, 404], { headers: [['x-ms-handle-id', i % 2 ? '*' : `${i + 1}`]] });
    },
    'files, directories and shares that are not there': async (ask, i) => {
        await file(ask, 'GET', `/mem/none${i}`, 404);
        await file(ask, 'GET', `/none${i}/f`, 404);
        await file(ask, 'GET', `/mem/none${i}/f${i}`, 404);
        await file(ask, 'GET', '/mem/source', 416, { headers: [['x-ms-range', `bytes=${70000 + i}-${80000 + i}`]] });
        await file(ask, 'GET', `/?comp=list&prefix=none${i}`, 200);
    },
});
