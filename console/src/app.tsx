// The console: signing in, the menu, and the page that the address names, whose script is loaded when it is opened.
import { type ComponentType, render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { hrefOf, useRoute, type Route } from './route.ts';
import { ask, hasToken, isAway, loadScript, onSignedOut, Refusal, type Session, signIn, signOut } from './server.ts';
import { Field, Problem, useAction } from './ui.tsx';

const POLL_MS = 5000;

export interface PageProps {
    session: Session;
    account: string;
    route: Route;
    refresh: () => void; // loads the session again: its accounts may have changed
}
interface Page {
    name: string;
    title: string;
    isThere: (session: Session) => boolean;
    load: () => Promise<{ default: ComponentType<PageProps> }>;
}

const PAGES: Page[] = [
    { name: 'overview', title: 'Overview', isThere: () => true, load: () => import('./overview.tsx') },
    { name: 'blobs', title: 'Blobs', isThere: ({ services }) => services.blob !== undefined, load: () => import('./blobs.tsx') },
    { name: 'queues', title: 'Queues', isThere: ({ services }) => services.queue !== undefined, load: () => import('./queues.tsx') },
    { name: 'tables', title: 'Tables', isThere: ({ services }) => services.table !== undefined, load: () => import('./tables.tsx') },
    { name: 'files', title: 'Files', isThere: ({ services }) => services.file !== undefined, load: () => import('./files.tsx') },
    { name: 'accounts', title: 'Accounts', isThere: ({ operator }) => operator, load: () => import('./accounts.tsx') },
    { name: 'server', title: 'Server', isThere: ({ operator }) => operator, load: () => import('./operate.tsx') },
    { name: 'faults', title: 'Faults', isThere: ({ faults }) => faults, load: () => import('./faults.tsx') },
];

/** The secret of a sign-in link, or of text that contains one. */
const secretOf = (text: string) => /(?:#link=|^\s*)([0-9a-f]{64})\s*$/.exec(text)?.[1];

function SignIn({ problem: before, onDone }: { problem: unknown; onDone: () => void }) {
    const { problem, busy, run } = useAction();
    const submit = async (event: SubmitEvent) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget as HTMLFormElement);
        const text = (name: string) => String(form.get(name) ?? '').trim();
        const link = form.has('link') ? secretOf(text('link')) : undefined;
        if (await run(async () => {
            if (form.has('link') && !link)
                throw new Error('This is not a sign-in link. The command "lagra console" prints one.');
            await signIn(link ? { link } : { account: text('account'), key: text('key') });
        }))
            onDone();
    };

    return <main class="sign-in">
        <h1>Lagra</h1>
        <Problem of={problem ?? before} />
        <form onSubmit={submit} aria-label="With an account key">
            <Field label="Account" name="account" required />
            <Field label="Key" name="key" type="password" required hint="Base64, as in a connection string." />
            <p class="buttons"><button type="submit" class="primary" disabled={busy}>Sign in</button></p>
        </form>
        <form onSubmit={submit} aria-label="As the operator">
            <h2>Operators</h2>
            <p>Run <code>lagra console</code> on the server. It prints a link, which can be opened or pasted here.</p>
            <Field label="Link" name="link" required />
            <p class="buttons"><button type="submit" disabled={busy}>Sign in with the link</button></p>
        </form>
    </main>;
}

/** Loads the script of a page. */
function usePage(page: Page) {
    const [shown, setShown] = useState<{ is: ComponentType<PageProps>; name: string }>();
    const [problem, setProblem] = useState<unknown>();
    const [turn, setTurn] = useState(0);

    useEffect(() => {
        let isOver = false;
        setProblem(undefined);
        loadScript(page.load).then((module) => isOver || setShown({ is: module.default, name: page.name }), (error: unknown) => isOver || setProblem(error));
        return () => {
            isOver = true;
        };
    }, [page.name, turn]);
    return { Shown: shown?.name === page.name ? shown.is : undefined, problem, retry: () => setTurn((n) => n + 1) };
}

function Shell({ session, problem, refresh }: { session: Session; problem: unknown; refresh: () => void }) {
    const route = useRoute();
    const pages = PAGES.filter(({ isThere }) => isThere(session));
    const page = pages.find(({ name }) => name === route.page) ?? pages[0]!;
    const account = session.accounts.includes(route.parts[0] ?? '') ? route.parts[0]! : localStorage.getItem('lagra-console-account') ?? '';
    const chosen = session.accounts.includes(account) ? account : session.accounts[0] ?? '';
    const { Shown, problem: pageProblem, retry } = usePage(page);
    const [isOpen, setIsOpen] = useState(false);
    const main = useRef<HTMLElement>(null);

    useEffect(() => {
        document.title = `${page.title} · Lagra`;
        setIsOpen(false);
    }, [route.page, route.parts.join('/')]);
    const choose = (name: string) => {
        localStorage.setItem('lagra-console-account', name);
        location.hash = hrefOf(page.name, [name]);
    };

    return <>
        <a class="skip" href="#main" onClick={(event) => {
            event.preventDefault();
            main.current?.focus();
        }}>Skip to content</a>
        <header onKeyDown={(event) => event.key === 'Escape' && setIsOpen(false)}>
            <strong>Lagra</strong>
            <button type="button" class="menu-button" aria-expanded={isOpen} aria-controls="menu" onClick={() => setIsOpen(!isOpen)}>{page.title}</button>
            <div id="menu" class={isOpen ? 'menu open' : 'menu'}>
                <nav aria-label="Pages"><ul>
                    {pages.map(({ name, title }) => <li key={name}>
                        <a href={hrefOf(name, ['overview', 'accounts', 'server', 'faults'].includes(name) ? [] : [chosen])} aria-current={name === page.name ? 'page' : undefined}
                            onClick={() => setIsOpen(false)}>{title}</a>
                    </li>)}
                </ul></nav>
                {session.accounts.length > 1 && <label class="account"><span>Account</span>
                    <select onChange={(event) => choose(event.currentTarget.value)}>
                        {session.accounts.map((name) => <option key={name} value={name} selected={name === chosen}>{name}</option>)}
                    </select>
                </label>}
                <span class="who">{session.operator ? 'operator' : chosen}</span>
                <button type="button" onClick={() => void signOut()}>Sign out</button>
            </div>
        </header>
        <main ref={main} id="main" tabIndex={-1}>
            {!Shown && <h1>{page.title}</h1>}
            <Problem of={problem} />
            <Problem of={pageProblem} retry={retry} />
            {Shown ? <Shown session={session} account={chosen} route={route} refresh={refresh} /> : !pageProblem && <p role="status">Loading…</p>}
        </main>
        <footer>Lagra {session.version} · <a href="licenses.txt">third-party licenses</a></footer>
    </>;
}

/** Signs in with a link that `lagra console` has printed, which is valid once, and removes it from the address. */
async function useLink() {
    const link = secretOf(location.hash);

    if (!link)
        return;
    history.replaceState(null, '', location.pathname);
    await signIn({ link });
}

/** The session, loaded again when the page changes and by a timer, so that new accounts appear. */
function useSession() {
    const [session, setSession] = useState<Session | null>();
    const [problem, setProblem] = useState<unknown>();
    const refresh = (isTimed = false) => {
        if (hasToken())
            void ask<Session>('session', {}, { isTimed }).then((now) => setSession((before) => (JSON.stringify(before) === JSON.stringify(now) ? before : now)), () => {});
    };
    const enter = async () => {
        let failed: unknown;
        try {
            await useLink();
        } catch (error) {
            failed = error;
        }
        try {
            const now = hasToken() ? await ask<Session>('session') : null;
            setProblem(failed);
            setSession(now);
        } catch (error) {
            if (!(error instanceof Refusal && error.status === 401))
                setProblem(failed ?? error);
            else if (failed)
                setProblem(failed);
            setSession((before) => (isAway(error) ? before : null));
        }
    };

    useEffect(() => {
        const timer = setInterval(() => document.visibilityState === 'visible' && refresh(true), POLL_MS);
        // A link that is pasted into the address of this page changes only what is behind "#", and loads nothing.
        const moved = () => (secretOf(location.hash) ? void enter() : refresh());
        onSignedOut((hasEnded) => {
            setProblem(hasEnded ? new Error('The session has ended. Sign in again.') : undefined);
            setSession(null);
        });
        addEventListener('hashchange', moved);
        void enter();
        return () => {
            clearInterval(timer);
            removeEventListener('hashchange', moved);
        };
    }, []);
    return { session, problem, refresh, enter: () => void enter() };
}

function App() {
    const { session, problem, refresh, enter } = useSession();

    useEffect(() => {
        // A file that misses the drop zone must not replace the page.
        const ignore = (event: DragEvent) => event.preventDefault();
        addEventListener('dragover', ignore);
        addEventListener('drop', ignore);
    }, []);
    if (session)
        return <Shell session={session} problem={problem} refresh={() => refresh()} />;
    if (session === null)
        return <SignIn problem={problem} onDone={enter} />;
    return <main class="sign-in">
        <h1>Lagra</h1>
        <Problem of={problem} retry={enter} />
        {!problem && <p role="status">Loading…</p>}
    </main>;
}

render(<App />, document.body);
