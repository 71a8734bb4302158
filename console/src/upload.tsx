// Uploads of many files, some at a time, each by blocks. One that fails is named, and can be tried again: the others go on.
import { useRef, useState } from 'preact/hooks';
import { containerOf } from './clients.ts';
import { bytes } from './format.ts';
import { wordsOf } from './server.ts';

const AT_A_TIME = 3;
const BLOCK_BYTES = 8 << 20;
const BLOCKS_AT_A_TIME = 3;

interface Upload {
    file: File;
    name: string;
    sent: number;
    state: 'waits' | 'goes' | 'done' | 'failed' | 'stopped';
    problem?: string;
    stop: AbortController;
}

/** The name of a file in a folder that was chosen is its path. */
const nameOf = (file: File) => file.webkitRelativePath || file.name;

export function Uploads({ account, container, prefix, onDone }: { account: string; container: string; prefix: string; onDone: () => void }) {
    const [uploads, setUploads] = useState<Upload[]>([]);
    const [isOver, setIsOver] = useState(false);
    const waiting = useRef<Upload[]>([]);
    const going = useRef(0);
    const change = (upload: Upload, more: Partial<Upload>) => {
        Object.assign(upload, more);
        setUploads((all) => [...all]);
    };

    const send = async (upload: Upload) => {
        change(upload, { state: 'goes', sent: 0, problem: undefined });
        try {
            const blob = (await containerOf(account, container)).getBlockBlobClient(upload.name);
            await blob.uploadData(upload.file, {
                blockSize: BLOCK_BYTES, maxSingleShotSize: BLOCK_BYTES, concurrency: BLOCKS_AT_A_TIME, abortSignal: upload.stop.signal,
                blobHTTPHeaders: { blobContentType: upload.file.type || 'application/octet-stream' },
                onProgress: ({ loadedBytes }) => change(upload, { sent: loadedBytes }),
            });
            change(upload, { state: 'done', sent: upload.file.size });
            onDone();
        } catch (error) {
            change(upload, upload.stop.signal.aborted ? { state: 'stopped' } : { state: 'failed', problem: wordsOf(error) });
        }
    };
    const next = async () => {
        const upload = waiting.current.shift();
        if (!upload)
            return;
        going.current++;
        if (!upload.stop.signal.aborted)
            await send(upload);
        going.current--;
        void next();
    };
    const begin = (more: Upload[]) => {
        waiting.current.push(...more);
        while (going.current < AT_A_TIME && waiting.current.length > 0)
            void next();
    };
    const add = (files: Iterable<File>) => {
        const more = [...files].map((file): Upload =>
            ({ file, name: prefix + nameOf(file), sent: 0, state: 'waits', stop: new AbortController() }));
        setUploads((all) => [...all.filter(({ state }) => state !== 'done'), ...more]);
        begin(more);
    };
    const choose = (event: Event & { currentTarget: HTMLInputElement }) => {
        add(event.currentTarget.files ?? []);
        event.currentTarget.value = '';
    };

    return <section aria-label="Upload" class={isOver ? 'dropping' : ''}
        onDragOver={(event) => {
            event.preventDefault();
            setIsOver(true);
        }}
        onDragLeave={() => setIsOver(false)}
        onDrop={(event) => {
            event.preventDefault();
            setIsOver(false);
            add(event.dataTransfer?.files ?? []);
        }}>
        <div class="tools">
            <label class="field"><span>Upload files (or drop them here)</span><input type="file" name="files" multiple onChange={choose} /></label>
            <label class="field"><span>A folder</span><input type="file" name="folder" multiple ref={(input) => input?.setAttribute('webkitdirectory', '')} onChange={choose} /></label>
        </div>
        {uploads.length > 0 && <ul class="uploads" aria-label="Uploads">
            {uploads.map((upload, i) => <li key={i}>
                <span class="name">{upload.name}</span>{' '}
                <span>{bytes(upload.sent)} of {bytes(upload.file.size)}{upload.state === 'goes' ? '' : `, ${upload.state}`}</span>{' '}
                {(upload.state === 'goes' || upload.state === 'waits') &&
                    <button type="button" class="plain" aria-label={`Stop ${upload.name}`} onClick={() => {
                        upload.stop.abort();
                        change(upload, { state: 'stopped' });
                    }}>Stop</button>}
                {(upload.state === 'failed' || upload.state === 'stopped') &&
                    <button type="button" class="plain" aria-label={`Try ${upload.name} again`} onClick={() => {
                        change(upload, { state: 'waits', stop: new AbortController() });
                        begin([upload]);
                    }}>Try again</button>}
                {upload.state === 'goes' && <progress aria-label={upload.name} max={Math.max(1, upload.file.size)} value={upload.sent} />}
                {upload.problem && <p class="problem" role="alert">{upload.problem}</p>}
            </li>)}
        </ul>}
    </section>;
}
