// Limits of the Data Lake endpoint and of hierarchical accounts, as in counts.mjs: one beyond each, in a request.

import { times } from '../memory/asking.mjs';
import { announce, honest, outcome, withServer } from './clients.mjs';

const ARGUMENTS = ['--inMemoryPersistence', '--hierarchical'];
const FS = '/limits', FILE = `${FS}/file`;
const entries = (count, scope = '') => Array.from({ length: count }, (_, i) => `,${scope}user:u${i}:rwx`).join('');
const acl = (more) => [['x-ms-acl', `user::rwx,group::r-x,other::---${more}`]];
const token = (length) => encodeURIComponent('A'.repeat(length));
const deep = (depth) => `${FS}/${'d/'.repeat(depth - 1)}f`;
const LAST_DATE = 'Fri, 31 Dec 9999 23:59:59 GMT', LAST_MS = String(Date.UTC(9999, 11, 31, 23, 59, 59));

/** Requests: [constant, service, method, target, what else it has, the response's status and code] */
const REQUESTS = [
    ['within NAMESPACE_DEPTH_MAX', 'dfs', 'PUT', `${deep(61)}?resource=file`, {}, '201'],
    ['NAMESPACE_DEPTH_MAX', 'dfs', 'PUT', `${deep(62)}?resource=file`, {}, '400 InvalidUri'],
    ['within CONTEXT_MAX', 'dfs', 'PUT', `${FS}/context?resource=file`, { headers: [['x-ms-encryption-context', 'c'.repeat(1024)]] }, '201'],
    ['CONTEXT_MAX', 'dfs', 'PUT', `${FS}/context?resource=file`, { headers: [['x-ms-encryption-context', 'c'.repeat(1025)]] }, '400 InvalidHeaderValue'],
    ['PATH_BODY_MAX', 'dfs', 'PATCH', `${FILE}?action=append&position=0`, { length: (4000 << 20 >>> 0) + 1 }, '413 RequestBodyTooLarge'],
    ['within POSIX_SCOPE_MAX', 'dfs', 'PATCH', `${FS}/dir?action=setAccessControl`, { headers: acl(entries(28)) }, '200'],
    ['POSIX_SCOPE_MAX', 'dfs', 'PATCH', `${FS}/dir?action=setAccessControl`, { headers: acl(entries(29)) }, '400 InvaldAccessControlList'],
    ['POSIX_SCOPE_MAX of default entries', 'dfs', 'PATCH', `${FS}/dir?action=setAccessControl`,
        { headers: acl(`,default:user::rwx,default:group::r-x,default:other::---${entries(29, 'default:')}`) }, '400 InvaldAccessControlList'],
    ['POSIX_ENTRIES_MAX', 'dfs', 'PATCH', `${FS}/dir?action=setAccessControl`, { headers: acl(entries(65)) }, '400 InvaldAccessControlList'],
    ['within POSIX_ID_MAX', 'dfs', 'PATCH', `${FILE}?action=setAccessControl`, { headers: acl(`,user:${'i'.repeat(256)}:rwx`) }, '200'],
    ['POSIX_ID_MAX', 'dfs', 'PATCH', `${FILE}?action=setAccessControl`, { headers: acl(`,user:${'i'.repeat(257)}:rwx`) }, '400 InvaldAccessControlList'],
    ['POSIX_ID_MAX of an owner', 'dfs', 'PATCH', `${FILE}?action=setAccessControl`, { headers: [['x-ms-owner', 'o'.repeat(257)]] }, '400 InvalidHeaderValue'],
    ['CONTINUATION_MAX of a list', 'dfs', 'GET', `${FS}?resource=filesystem&recursive=true&continuation=${token(16385)}`, {}, '400 InvalidQueryParameterValue'],
    ['CONTINUATION_MAX of a delete', 'dfs', 'DELETE', `${FS}/dir?recursive=true&continuation=${token(16385)}`, {}, '400 InvalidQueryParameterValue'],
    ['within EXPIRY_MAX', 'blob', 'PUT', `${FILE}?comp=expiry`, { headers: [['x-ms-expiry-option', 'Absolute'], ['x-ms-expiry-time', LAST_DATE]] }, '200'],
    ['EXPIRY_MAX', 'blob', 'PUT', `${FILE}?comp=expiry`, { headers: [['x-ms-expiry-option', 'RelativeToNow'], ['x-ms-expiry-time', LAST_MS]] }, '400 InvalidHeaderValue'],
];

/** One beyond each limit of a request for a path. */
export async function limits_of_a_path(context) {
    await withServer(context, ARGUMENTS, async (server) => {
        const wrong = [];

        await times(server, 0, 1, async (ask) => {
            await ask('dfs', 'PUT', `${FILE}?resource=file`, { status: 201 });
            await ask('dfs', 'PUT', `${FS}/dir?resource=directory`, { status: 201 });
        });
        for (const [name, service, method, target, { headers = [], body, length }, expected] of REQUESTS)
            await times(server, 0, 1, async (send) => {
                const got = outcome(await (length === undefined ? send(service, method, target, { headers, body })
                    : announce(server, service, method, target, headers, length)));

                if (got !== expected)
                    wrong.push(`${name}: ${got}, not ${expected}`);
            });
        context.assert.deepEqual(wrong, []);
        await honest(server);
    });
}

/** DELETED_MAX: a request for a flat directory deletes so many blobs, and says where to continue. */
export async function a_flat_directory_is_deleted_in_pages(context) {
    await withServer(context, ['--inMemoryPersistence'], async (server) => {
        await times(server, 0, 1010, (ask, i) => ask('blob', 'PUT', `${FS}/d/${i}`, { headers: [['x-ms-blob-type', 'BlockBlob']], status: 201 }));
        await times(server, 0, 1, async (ask) => {
            const first = await ask('dfs', 'DELETE', `${FS}/d?recursive=true`, { status: 200 });
            const continuation = first.headers.get('x-ms-continuation');

            context.assert.ok(continuation);
            const second = await ask('dfs', 'DELETE', `${FS}/d?recursive=true&continuation=${encodeURIComponent(continuation)}`, { status: 200 });
            context.assert.equal(second.headers.get('x-ms-continuation'), undefined);
            context.assert.equal(outcome(await ask('dfs', 'HEAD', `${FS}/d/0`)), '404 PathNotFound');
        });
        await honest(server);
    });
}
