// Where files and folders are chosen or dropped to be uploaded, and how far their uploads are (uploads.ts).
import { useEffect, useRef, useState } from 'preact/hooks';
import { bytes, number } from './format.ts';
import { addUploads, retryUpload, stopUpload, type Upload, uploadsOf, watchUploads } from './uploads.ts';

const SHOWN = 100;
const STATES: Record<Upload['state'], string> = { waits: ', waits', goes: '', away: ', waits for the server', done: ', done', failed: ', failed', stopped: ', stopped' };

interface Found {
    file: File;
    name: string;
}

/** The files of what was dropped: of folders all, each with its path. */
async function filesOf(entry: FileSystemEntry): Promise<Found[]> {
    if (entry.isFile) {
        const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
        return [{ file, name: entry.fullPath.replace(/^\//, '') }];
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    const found: Found[] = [];
    for (;;) {
        const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
        if (some.length === 0)
            return found;
        for (const one of some)
            found.push(...await filesOf(one));
    }
}

function Line({ of: upload }: { of: Upload }) {
    const isOpen = upload.state === 'goes' || upload.state === 'waits' || upload.state === 'away';

    return <li>
        <span class="name">{upload.name}</span>{' '}
        <span>{bytes(upload.sent)} of {bytes(upload.file.size)}{STATES[upload.state]}{upload.resumed > 0 && `; ${bytes(upload.resumed)} were there`}</span>{' '}
        {isOpen && <button type="button" class="plain" aria-label={`Stop ${upload.name}`} onClick={() => stopUpload(upload)}>Stop</button>}
        {(upload.state === 'failed' || upload.state === 'stopped') &&
            <button type="button" class="plain" aria-label={`Try ${upload.name} again`} onClick={() => retryUpload(upload)}>Try again</button>}
        {isOpen && <progress aria-label={upload.name} max={Math.max(1, upload.file.size)} value={upload.sent} />}
        {upload.problem && <p class="problem" role="alert">{upload.problem}</p>}
    </li>;
}

export function Uploads({ account, container, prefix, onDone }: { account: string; container: string; prefix: string; onDone: () => void }) {
    const [, setTurn] = useState(0);
    const [isOver, setIsOver] = useState(false);
    const uploads = uploadsOf(account, container);
    const done = uploads.filter(({ state }) => state === 'done').length;
    const seen = useRef(done);
    const add = (files: Found[]) => addUploads(account, container, files.map(({ file, name }) => ({ file, name: prefix + name })));
    const choose = (event: Event & { currentTarget: HTMLInputElement }) => {
        // The name of a file in a folder that was chosen is its path.
        add([...event.currentTarget.files ?? []].map((file) => ({ file, name: file.webkitRelativePath || file.name })));
        event.currentTarget.value = '';
    };

    useEffect(() => watchUploads(() => setTurn((n) => n + 1)), []);
    useEffect(() => {
        if (done > seen.current)
            onDone();
        seen.current = done;
    }, [done]);
    return <section aria-label="Upload" class={isOver ? 'dropping' : ''}
        onDragOver={(event) => {
            event.preventDefault();
            setIsOver(true);
        }}
        onDragLeave={() => setIsOver(false)}
        onDrop={(event) => {
            event.preventDefault();
            setIsOver(false);
            // They are asked for at once: behind this event they are there no longer.
            const entries = [...event.dataTransfer?.items ?? []].map((item) => item.webkitGetAsEntry());
            void Promise.all(entries.map((entry) => (entry ? filesOf(entry) : []))).then((found) => add(found.flat()));
        }}>
        <div class="tools">
            <label class="field"><span>Upload files (or drop them here)</span><input type="file" name="files" multiple onChange={choose} /></label>
            <label class="field"><span>A folder</span><input type="file" name="folder" multiple ref={(input) => input?.setAttribute('webkitdirectory', '')} onChange={choose} /></label>
        </div>
        {uploads.length > 0 && <ul class="uploads" aria-label="Uploads">
            {uploads.slice(0, SHOWN).map((upload, i) => <Line key={i} of={upload} />)}
            {uploads.length > SHOWN && <li>and {number(uploads.length - SHOWN)} more; {number(done)} are done</li>}
        </ul>}
    </section>;
}
