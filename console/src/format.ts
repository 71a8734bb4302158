// Numbers and dates as the user's locale writes them.
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
/* Created once: toLocaleString() creates one for each call, which takes tens of KiB until garbage is collected. */
const [WHOLE, TENTHS, HUNDREDTHS] = [0, 1, 2].map((maximumFractionDigits) => new Intl.NumberFormat(undefined, { maximumFractionDigits })) as
    [Intl.NumberFormat, Intl.NumberFormat, Intl.NumberFormat];
const TIMES = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const SECONDS = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const DAYS = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

export function bytes(count: number | undefined): string {
    let unit = 0;
    let value = count ?? 0;

    for (; value >= 1024 && unit < UNITS.length - 1; unit++)
        value /= 1024;
    return `${(unit === 0 || value >= 100 ? WHOLE : TENTHS).format(value)} ${UNITS[unit]}`;
}

export const number = (value: number) => (value < 10 ? HUNDREDTHS : WHOLE).format(value);
/** "1 blob", "2,000 blobs". */
export const counted = (count: number, one: string, many = `${one}s`) => `${WHOLE.format(count)} ${count === 1 ? one : many}`;
export const time = (at: Date | undefined) => at ? TIMES.format(at) : '';
export const clock = (at: Date) => CLOCK.format(at);
export const clockSeconds = (at: Date) => SECONDS.format(at);
export const day = (at: Date) => DAYS.format(at);
export const duration = (microseconds: number) => microseconds >= 1000000 ? `${number(microseconds / 1000000)} s` : `${number(microseconds / 1000)} ms`;

/** Remaining retention of a soft-deleted item: whole days, as lists report them. */
export const daysLeft = (days: number | undefined) => (!days ? 'less than a day left' : days === 1 ? '1 day left' : `${number(days)} days left`);
