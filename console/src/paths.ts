// Requests to the Data Lake endpoint for directories, renames and access control lists of accounts with a hierarchical namespace.
// rest: datalakestoragegen2
import { ask, dataUrl, Refusal, type Session, signatureOf } from './server.ts';

const VERSION = '2022-11-02';
const SIGNED_MS = 300000;
const PATHS_AT_A_TIME = '2000';

/** Returns true if the console can use the account's directories. */
export const hasDirectories = ({ hierarchical, services }: Session, account: string) => hierarchical.includes(account) && services.dfs !== undefined;

const encoded = (path: string) => path.split('/').map(encodeURIComponent).join('/');

/** A shared access signature for the access control of a container's paths, which that of the account does not permit. */
async function accessSignatureOf(account: string, container: string): Promise<string> {
    const se = `${new Date(Date.now() + SIGNED_MS).toISOString().slice(0, 19)}Z`;
    const fields = new URLSearchParams({ sv: VERSION, sr: 'c', sp: 'op', se });

    return (await ask<{ query: string }>('make-sas', { account, service: 'b', container, query: fields.toString() })).query;
}

/** path: "" is the root directory of the container. */
async function send(account: string, container: string, path: string, method: string, query: Record<string, string>, headers: Record<string, string> = {}) {
    const url = `${dataUrl('dfs', account)}/${encodeURIComponent(container)}${path && `/${encoded(path)}`}`;
    const signature = await (method === 'PATCH' ? accessSignatureOf(account, container) : signatureOf(account));
    const answer = await fetch(`${url}?${new URLSearchParams(query).toString()}&${signature}`,
        { method, headers: { 'x-ms-version': VERSION, ...headers }, cache: 'no-store' });

    if (answer.ok)
        return answer;
    const { error } = await answer.json().catch(() => ({})) as { error?: { message?: string } };
    throw new Refusal(answer.status, answer.headers.get('x-ms-error-code') ?? 'Unknown', error?.message ?? `The server responded with status ${answer.status}.`);
}

export interface Access {
    owner: string;
    group: string;
    permissions: string;
    entries: string[];
}

export async function accessOf(account: string, container: string, path: string): Promise<Access> {
    const { headers } = await send(account, container, path, 'HEAD', { action: 'getAccessControl' });
    const of = (name: string) => headers.get(`x-ms-${name}`) ?? '';

    return { owner: of('owner'), group: of('group'), permissions: of('permissions'), entries: of('acl').split(',').filter(Boolean) };
}

/** Sets what is given of a path's owner, group, and either permissions or entries. */
export async function setAccess(account: string, container: string, path: string, { owner, group, permissions, entries }: Partial<Access>) {
    await send(account, container, path, 'PATCH', { action: 'setAccessControl' }, {
        ...(owner && { 'x-ms-owner': owner }), ...(group && { 'x-ms-group': group }), ...(permissions && { 'x-ms-permissions': permissions }),
        ...(entries && { 'x-ms-acl': entries.join(',') }),
    });
}

export type AccessMode = 'set' | 'modify' | 'remove';

/** Changes the lists of a directory and of everything in it. onDone: called with the number of paths after each page. */
export async function setAccessBelow(account: string, container: string, path: string, mode: AccessMode, entries: string[], onDone: (count: number) => void) {
    for (let continuation: string | null = '', count = 0; continuation !== null;) {
        const answer: Response = await send(account, container, path, 'PATCH',
            { action: 'setAccessControlRecursive', mode, maxRecords: PATHS_AT_A_TIME, ...(continuation && { continuation }) }, { 'x-ms-acl': entries.join(',') });
        const { directoriesSuccessful, filesSuccessful, failedEntries } = await answer.json() as
            { directoriesSuccessful: number; filesSuccessful: number; failedEntries: { name: string; errorMessage: string }[] };

        count += directoriesSuccessful + filesSuccessful;
        onDone(count);
        if (failedEntries[0])
            throw new Error(`${failedEntries[0].name}: ${failedEntries[0].errorMessage}`);
        continuation = answer.headers.get('x-ms-continuation');
    }
}

export async function createDirectory(account: string, container: string, path: string) {
    await send(account, container, path, 'PUT', { resource: 'directory' }, { 'If-None-Match': '*' });
}

/** Renames a file or directory within its container, a directory with everything in it. */
export async function renamePath(account: string, container: string, from: string, to: string, replaces: boolean) {
    const source = `/${encodeURIComponent(container)}/${encoded(from)}?${await signatureOf(account)}`;
    await send(account, container, to, 'PUT', { mode: 'legacy' }, { 'x-ms-rename-source': source, ...(!replaces && { 'If-None-Match': '*' }) });
}

/** Restores one deletion of a path. rest: Undelete-Blob */
export async function undeletePath(account: string, container: string, path: string, deletionId: string) {
    const answer = await fetch(`${dataUrl('blob', account)}/${encodeURIComponent(container)}/${encoded(path)}?comp=undelete&${await signatureOf(account)}`,
        { method: 'PUT', headers: { 'x-ms-version': VERSION, 'x-ms-undelete-source': `?deletionid=${deletionId}` }, cache: 'no-store' });

    if (!answer.ok)
        throw new Refusal(answer.status, answer.headers.get('x-ms-error-code') ?? 'Unknown',
            /<Message>([^<\n]*)/.exec(await answer.text())?.[1] ?? `The server responded with status ${answer.status}.`);
}

/** Deletes a directory and everything in it. */
export async function removeDirectory(account: string, container: string, path: string) {
    await send(account, container, path, 'DELETE', { recursive: 'true' });
}
