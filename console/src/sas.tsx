// Creates shared access signatures for a container or a blob, as a link and as a connection string.
import { useState } from 'preact/hooks';
import { Name } from './names.tsx';
import { ask, publicUrl, type Session } from './server.ts';
import { Dialog, Field, Problem, useAction } from './ui.tsx';

const VERSION = '2022-11-02';
// In the order that the service requires. rest: Create-service-SAS
const RIGHTS: [string, string, 'cb' | 'c'][] = [['r', 'read', 'cb'], ['a', 'append', 'cb'], ['c', 'create', 'cb'], ['w', 'write', 'cb'], ['d', 'delete', 'cb'],
    ['l', 'list', 'c'], ['t', 'tags', 'cb']];

export function Sas({ session, account, container, blob, onClose }: { session: Session; account: string; container: string; blob?: string; onClose: () => void }) {
    const [made, setMade] = useState<{ link: string; connection: string }>();
    const { problem, busy, run } = useAction();
    const resource = blob === undefined ? 'c' : 'b';
    const submit = (event: SubmitEvent) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget as HTMLFormElement);
        void run(async () => {
            const fields = new URLSearchParams({
                sv: VERSION, sr: resource, sp: RIGHTS.map(([letter]) => letter).filter((letter) => form.get(`right-${letter}`)).join(''),
                se: `${new Date(String(form.get('expiry'))).toISOString().slice(0, 19)}Z`,
            });
            if (form.get('addresses'))
                fields.set('sip', String(form.get('addresses')));
            const { query } = await ask<{ query: string }>('make-sas', { account, service: 'b', container, object: blob ?? '', query: fields.toString() });
            const endpoint = publicUrl(session, 'blob', account);
            const path = blob === undefined ? '' : `/${blob.split('/').map(encodeURIComponent).join('/')}`;
            setMade({ link: `${endpoint}/${container}${path}?${query}`, connection: `BlobEndpoint=${endpoint};SharedAccessSignature=${query}` });
        });
    };
    const tomorrow = new Date(Date.now() + 86400000);
    const local = new Date(tomorrow.getTime() - tomorrow.getTimezoneOffset() * 60000).toISOString().slice(0, 16);

    return <Dialog title={<>SAS link to <Name of={blob ?? container} /></>} onClose={onClose}>
        <form onSubmit={submit}>
            <fieldset class="checks"><legend>Permissions</legend>
                {RIGHTS.filter(([, , of]) => of.includes(resource)).map(([letter, name]) =>
                    <label key={letter}><input type="checkbox" name={`right-${letter}`} defaultChecked={letter === 'r'} /> {name}</label>)}
            </fieldset>
            <Field label="Expiry" name="expiry" type="datetime-local" value={local} required />
            <Field label="Allowed IP addresses" name="addresses" hint="192.0.2.1 or 192.0.2.1-192.0.2.9. Leave empty for all." />
            <Problem of={problem} />
            {made && <>
                <label class="field"><span>Link</span><textarea name="link" readOnly rows={4} value={made.link} /></label>
                <label class="field"><span>Connection string</span><textarea name="connection" readOnly rows={4} value={made.connection} /></label>
            </>}
            <p class="buttons">
                <button type="submit" class="primary" disabled={busy}>Create</button>
                <button type="button" onClick={onClose}>Close</button>
            </p>
        </form>
    </Dialog>;
}
