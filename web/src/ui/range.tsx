import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { route, setQuery } from '../route/route.ts';
import { time } from '../texts/time.ts';
import { ago, DAY_MS, HOUR_MS, instantOf, instantOfLocal, localText, zone } from '../time/moment.ts';
import { Popover } from './popover.tsx';
import { exactTime, shortTime } from './time.tsx';

export interface Range {
  readonly from: string;
  readonly to: string;
}

const QUICK = { hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS, month: 30 * DAY_MS } as const;
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
  setQuery({ from: ago(QUICK[name]), to: ago(0) });
}

/** Chooses the range of the address: relative ones become fixed instants. */
export function RangeControl({ range }: { range: Range | undefined }) {
  const text = range ? time.span(shortTime(range.from), shortTime(range.to)) : time.range;
  return (
    <Popover label={`${time.range}: ${text}`} text={text}>
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
      <h2>{time.range}</h2>
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
            {time.quick[name]}
          </button>
        ))}
      </div>
      <form class="stack-small" onSubmit={submit}>
        <LocalTime label={time.from(zone())} value={from} />
        <LocalTime label={time.to(zone())} value={to} />
        {isReversed && <p class="fault">{time.reversed}</p>}
        <button type="submit" disabled={begin === undefined || end === undefined || isReversed}>
          {time.setRange}
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
