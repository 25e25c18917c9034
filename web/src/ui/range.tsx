import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { route, setQuery } from '../route/route.ts';
import { ago, DAY_MS, HOUR_MS, instantOf, instantOfLocal, localText, zone } from '../time/moment.ts';
import { Popover } from './popover.tsx';
import { exactTime, shortTime } from './time.tsx';

export interface Range {
  readonly from: string;
  readonly to: string;
}

const QUICK = {
  hour: { title: 'Last hour', ms: HOUR_MS },
  day: { title: 'Last 24 hours', ms: DAY_MS },
  week: { title: 'Last 7 days', ms: 7 * DAY_MS },
  month: { title: 'Last 30 days', ms: 30 * DAY_MS },
} as const;
export type QuickRange = keyof typeof QUICK;
const NAMES = Object.keys(QUICK) as QuickRange[];

/**
 * The range of the address (`from`, `to`); undefined until it has one. An address without one gets the range that is
 * usual for the page, in fixed instants: what is looked at stays the same while one looks, and in a link.
 */
export function useRange(usual: QuickRange): ReadonlySignal<Range | undefined> {
  const own = useRef(route.peek().page).current;
  const text = useComputed(() => {
    const { query } = route.value;
    const [from, to] = [instantOf(query.get('from')), instantOf(query.get('to'))];
    return from !== undefined && to !== undefined && from <= to ? `${from} ${to}` : '';
  });
  useLayoutEffect(() => {
    // Another page may be open already, whose address is its own.
    if (text.value === '' && route.peek().page === own) setRange(usual);
  }, [text.value]);
  return useComputed(() => {
    const [from = '', to = ''] = text.value.split(' ');
    return text.value === '' ? undefined : { from, to };
  });
}

/** Up to now, from a while ago. */
export function setRange(name: QuickRange): void {
  setQuery({ from: ago(QUICK[name].ms), to: ago(0) });
}

/** Chooses the range of the address: relative ones become fixed instants. */
export function RangeControl({ range }: { range: Range | undefined }) {
  const text = range ? `${shortTime(range.from)} to ${shortTime(range.to)}` : 'Range';
  return (
    <Popover label={`Range: ${text}`} text={text}>
      {(close) => <RangePanel range={range} close={close} />}
    </Popover>
  );
}

function RangePanel({ range, close }: { range: Range | undefined; close: () => void }) {
  const from = useSignal(range ? localText(range.from) : '');
  const to = useSignal(range ? localText(range.to) : '');
  const [begin, end] = [instantOfLocal(from.value), instantOfLocal(to.value)];
  const isReversed = begin !== undefined && end !== undefined && end < begin;
  const submit = (event: Event) => {
    event.preventDefault();
    if (begin === undefined || end === undefined || isReversed) return;
    setQuery({ from: begin, to: end });
    close();
  };
  return (
    <div class="stack">
      <h2>Range</h2>
      {range && (
        <p class="small dim">
          {exactTime(range.from)}
          <br />
          {exactTime(range.to)}
        </p>
      )}
      <div class="row">
        {NAMES.map((name) => (
          <button
            key={name}
            type="button"
            onClick={() => {
              setRange(name);
              close();
            }}
          >
            {QUICK[name].title}
          </button>
        ))}
      </div>
      <form class="stack-small" onSubmit={submit}>
        <LocalTime label={`From (${zone()})`} value={from} />
        <LocalTime label={`To (${zone()})`} value={to} />
        {isReversed && <p class="fault">The range ends before it begins.</p>}
        <button type="submit" disabled={begin === undefined || end === undefined || isReversed}>
          Set range
        </button>
      </form>
    </div>
  );
}

function LocalTime({ label, value }: { label: string; value: { value: string } }) {
  return (
    <label class="field">
      {label}
      <input
        type="datetime-local"
        step={1}
        required
        value={value.value}
        onInput={({ currentTarget }) => {
          value.value = currentTarget.value;
        }}
      />
    </label>
  );
}
