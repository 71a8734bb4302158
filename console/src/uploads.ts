// Uploads of many files, several at a time, each in blocks. They continue whatever page is shown, wait while the server is away
// or nobody is signed in, and skip blocks that exist: the ids of blocks identify the file.
import type { BlockBlobClient } from '@azure/storage-blob';
import { containerOf } from './clients.ts';
import { ask, hasToken, wordsOf } from './server.ts';

const AT_A_TIME = 3;
const BLOCK_BYTES = 8 << 20;
const BLOCKS_AT_A_TIME = 3;
const BLOCKS_MAX = 50000; // rest: Put-Block-List
const AGAIN_MS = 1000;

export interface Upload {
    account: string;
    container: string;
    file: File;
    name: string;
    sent: number;
    resumed: number; // bytes uploaded before
    state: 'waits' | 'goes' | 'away' | 'done' | 'failed' | 'stopped';
    problem?: string;
    stop: AbortController;
}

let uploads: Upload[] = [];
const waiting: Upload[] = [];
const watchers = new Set<() => void>();
let going = 0;

export const uploadsOf = (account: string, container: string) => uploads.filter((one) => one.account === account && one.container === container);

export function watchUploads(watcher: () => void) {
    watchers.add(watcher);
    return () => {
        watchers.delete(watcher);
    };
}

function change(upload: Upload, more: Partial<Upload>) {
    Object.assign(upload, more);
    watchers.forEach((watcher) => watcher());
}

// ---- while the server is away ----

const pause = (signal: AbortSignal) => new Promise<void>((resolve) => {
    setTimeout(resolve, AGAIN_MS);
    signal.addEventListener('abort', () => resolve(), { once: true });
});

/** Returns true if a retry may succeed: there was no response, the server is busy, or nobody is signed in. */
async function mayRetry(error: unknown, file: File): Promise<boolean> {
    const { statusCode, status = statusCode } = error as { statusCode?: number; status?: number };

    if (status === 401)
        await ask('session').catch(() => {}); // shows the sign-in page if the session has ended
    else if (status === undefined)
        await file.slice(0, 1).arrayBuffer(); // throws if the file cannot be read
    return status === undefined || status === 401 || status >= 500;
}

/** Repeats the work until it succeeds, fails for good, or is stopped. */
async function insist<T>(upload: Upload, work: (blob: BlockBlobClient) => Promise<T>): Promise<T> {
    for (;;) {
        try {
            const done = await work((await containerOf(upload.account, upload.container)).getBlockBlobClient(upload.name));
            if (upload.state === 'away')
                change(upload, { state: 'goes' });
            return done;
        } catch (error) {
            if (upload.stop.signal.aborted || !(await mayRetry(error, upload.file)))
                throw error;
            change(upload, { state: 'away' });
        }
        do
            await pause(upload.stop.signal);
        while (!hasToken() && !upload.stop.signal.aborted);
    }
}

// ---- blocks ----

interface Block {
    id: string;
    begin: number;
    end: number;
}

/** The same file always has the same blocks. All ids of blocks have the same length. */
function blocksOf({ size, lastModified }: File): Block[] {
    const step = Math.max(BLOCK_BYTES, Math.ceil(size / BLOCKS_MAX));

    return Array.from({ length: Math.ceil(size / step) }, (_, i) => ({
        id: btoa(`${size.toString(36).padStart(10, '0')}-${lastModified.toString(36).padStart(10, '0')}-${String(i).padStart(6, '0')}`),
        begin: i * step, end: Math.min(size, (i + 1) * step),
    }));
}

async function blocksThere(blob: BlockBlobClient): Promise<Map<string, number>> {
    try {
        const { uncommittedBlocks = [] } = await blob.getBlockList('uncommitted');
        return new Map(uncommittedBlocks.map(({ name, size }) => [name, size]));
    } catch (error) {
        if ((error as { statusCode?: number }).statusCode === 404)
            return new Map();
        throw error;
    }
}

async function sendBlocks(upload: Upload) {
    const { file, stop: { signal: abortSignal } } = upload;
    const blocks = blocksOf(file);
    const there = await insist(upload, blocksThere);
    const left = blocks.filter(({ id, begin, end }) => there.get(id) !== end - begin);
    const resumed = file.size - left.reduce((sum, { begin, end }) => sum + end - begin, 0);
    const work = async () => {
        for (let block = left.shift(); block; block = left.shift()) {
            const { id, begin, end } = block;
            await insist(upload, (blob) => blob.stageBlock(id, file.slice(begin, end), end - begin, { abortSignal }));
            change(upload, { sent: upload.sent + end - begin });
        }
    };

    change(upload, { resumed, sent: resumed });
    await Promise.all(Array.from({ length: BLOCKS_AT_A_TIME }, work));
    await insist(upload, (blob) => blob.commitBlockList(blocks.map(({ id }) => id), { abortSignal, blobHTTPHeaders: headersOf(file) }));
}

const headersOf = (file: File) => ({ blobContentType: file.type || 'application/octet-stream' });

// ---- files ----

async function send(upload: Upload) {
    const { file, stop: { signal: abortSignal } } = upload;

    change(upload, { state: 'goes', sent: 0, resumed: 0, problem: undefined });
    try {
        if (file.size > BLOCK_BYTES)
            await sendBlocks(upload);
        else
            await insist(upload, (blob) => blob.upload(file, file.size, { abortSignal, blobHTTPHeaders: headersOf(file) }));
        change(upload, { state: 'done', sent: file.size });
    } catch (error) {
        change(upload, abortSignal.aborted ? { state: 'stopped' } : { state: 'failed', problem: wordsOf(error) });
    }
}

async function next() {
    const upload = waiting.shift();

    if (!upload)
        return;
    going++;
    if (!upload.stop.signal.aborted)
        await send(upload);
    going--;
    void next();
}

function begin(more: Upload[]) {
    waiting.push(...more);
    while (going < AT_A_TIME && waiting.length > 0)
        void next();
}

/** Adds files, each with the name of its blob. Uploads that are done leave the list. */
export function addUploads(account: string, container: string, files: { file: File; name: string }[]) {
    const more = files.map(({ file, name }): Upload => ({ account, container, file, name, sent: 0, resumed: 0, state: 'waits', stop: new AbortController() }));

    uploads = [...uploads.filter(({ state }) => state !== 'done'), ...more];
    watchers.forEach((watcher) => watcher());
    begin(more);
}

export function stopUpload(upload: Upload) {
    upload.stop.abort();
    change(upload, { state: 'stopped' });
}

export function retryUpload(upload: Upload) {
    change(upload, { state: 'waits', stop: new AbortController() });
    begin([upload]);
}
