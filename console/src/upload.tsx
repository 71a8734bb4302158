// The uploads into a container, and their progress (uploads.ts).
import { useEffect, useRef, useState } from 'preact/hooks';
import { bytes, number } from './format.ts';
import { Name, visible } from './names.tsx';
import { retryUpload, stopUpload, type Upload, uploadsOf, watchUploads } from './uploads.ts';

const SHOWN = 100;
const STATES: Record<Upload['state'], string> = { waits: ', waiting', goes: '', away: ', waiting for the server', done: ', done', failed: ', failed', stopped: ', stopped' };

function Line({ of: upload }: { of: Upload }) {
    const isOpen = upload.state === 'goes' || upload.state === 'waits' || upload.state === 'away';

    return <li>
        <span class="name"><Name of={upload.name} /></span>{' '}
        <span>{bytes(upload.sent)} of {bytes(upload.file.size)}{STATES[upload.state]}{upload.resumed > 0 && `; ${bytes(upload.resumed)} had been uploaded before`}</span>{' '}
        {isOpen && <button type="button" class="plain" aria-label={`Stop ${visible(upload.name)}`} onClick={() => stopUpload(upload)}>Stop</button>}
        {(upload.state === 'failed' || upload.state === 'stopped') &&
            <button type="button" class="plain" aria-label={`Retry ${visible(upload.name)}`} onClick={() => retryUpload(upload)}>Retry</button>}
        {isOpen && <progress aria-label={visible(upload.name)} max={Math.max(1, upload.file.size)} value={upload.sent} />}
        {upload.problem && <p class="problem" role="alert">{upload.problem}</p>}
    </li>;
}

export function Uploads({ account, container, onDone }: { account: string; container: string; onDone: () => void }) {
    const [, setTurn] = useState(0);
    const uploads = uploadsOf(account, container);
    const done = uploads.filter(({ state }) => state === 'done').length;
    const seen = useRef(done);

    useEffect(() => watchUploads(() => setTurn((n) => n + 1)), []);
    useEffect(() => {
        if (done > seen.current)
            onDone();
        seen.current = done;
    }, [done]);
    if (uploads.length === 0)
        return null;
    return <ul class="uploads" aria-label="Uploads">
        {uploads.slice(0, SHOWN).map((upload, i) => <Line key={i} of={upload} />)}
        {uploads.length > SHOWN && <li>and {number(uploads.length - SHOWN)} more; {number(done)} done</li>}
    </ul>;
}
