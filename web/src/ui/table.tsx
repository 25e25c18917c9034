import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Loaded } from '../api/load.ts';
import { queryPart, setQuery } from '../route/route.ts';
import { ReadResult } from './read-result.tsx';

export const NO_MATCH = 'Nothing matches. Clear the search to see all.';

export interface Column<R> {
  readonly name: string;
  readonly cell: (row: R) => ComponentChildren;
  /** What rows are sorted by; without it the column is not sorted by. */
  readonly order?: (row: R) => string | number;
  /** Numbers stand at the end of their cell. */
  readonly isNumber?: boolean;
  /** Left out on narrow screens. */
  readonly isMinor?: boolean;
  /** Takes the room that others leave. */
  readonly isWide?: boolean;
}

export interface TableProps<R> {
  readonly label: string;
  readonly columns: readonly Column<R>[];
  readonly rows: ReadonlySignal<readonly R[]>;
  readonly keyOf: (row: R) => string;
  readonly open?: ((row: R) => void) | undefined;
  readonly selected?: string | undefined;
  /** The state of the read that the rows are of. */
  readonly read: Loaded<unknown>;
  /** Text for an answer without rows. */
  readonly empty: ComponentChildren;
  /** One of several things on its page: it takes no more room than its rows, and a part of the screen. */
  readonly isPart?: boolean;
}

/** Height of a row in CSS pixels: every row has one line, so that only those in sight are drawn. */
const ROW = 40;
const AHEAD = 12;
/** Rows that are drawn whole, so that the browser finds and prints all of them. */
const MOST_WHOLE = 200;

/** A list whose order stands in the address (`sort`, `desc`). Long ones draw what is in sight. */
export function Table<R>({ read, ...props }: TableProps<R>) {
  return (
    <div class="stack table-side">
      <ReadResult of={read}>{() => <Rows {...props} />}</ReadResult>
    </div>
  );
}

function Rows<R>({ label, columns, rows, keyOf, open, selected, empty, isPart }: Omit<TableProps<R>, 'read'>) {
  const viewport = useRef<HTMLDivElement>(null);
  const seen = useSignal({ top: 0, height: 800 });
  const sorted = useComputed(() => {
    const column = columns.find(({ name }) => name === queryPart('sort'));
    const { order } = column ?? {};
    if (!order) return rows.value;
    const sign = queryPart('desc') !== null ? -1 : 1;
    const keyed = rows.value.map((row) => [order(row), row] as const);
    keyed.sort(([a], [b]) => (a < b ? -sign : a > b ? sign : 0));
    return keyed.map(([, row]) => row);
  });
  useLayoutEffect(() => {
    const element = viewport.current;
    if (!element) return undefined;
    const look = () => {
      seen.value = { top: element.scrollTop, height: element.clientHeight };
    };
    const watch = new ResizeObserver(look);
    watch.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      watch.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, []);
  const all = sorted.value;
  const isWhole = all.length <= MOST_WHOLE;
  const first = isWhole ? 0 : Math.max(0, Math.floor(seen.value.top / ROW) - AHEAD);
  const last = isWhole
    ? all.length
    : Math.min(all.length, Math.ceil((seen.value.top + seen.value.height) / ROW) + AHEAD);
  const style = `table ${isPart ? 'part' : ''} ${isWhole ? 'whole' : ''}`;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be scrolled by keys too
    <section class={style} ref={viewport} aria-label={label} tabIndex={0}>
      <table aria-rowcount={all.length + 1}>
        <thead>
          <tr>
            {columns.map((column) => (
              <Heading key={column.name} column={column} />
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <Space rows={first} columns={columns.length} />}
          {all.slice(first, last).map((row, index) => {
            const key = keyOf(row);
            return (
              <tr
                key={key}
                aria-rowindex={first + index + 2}
                aria-selected={selected === undefined ? undefined : selected === key}
                class={open && 'opens'}
                onClick={open && ((event) => isOnControl(event) || open(row))}
              >
                {columns.map(({ name, cell, isNumber, isMinor, isWide }) => (
                  <td
                    key={name}
                    class={`${isNumber ? 'number' : ''} ${isMinor ? 'minor' : ''} ${isWide ? 'widest' : ''}`}
                  >
                    {cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
          {last < all.length && <Space rows={all.length - last} columns={columns.length} />}
        </tbody>
      </table>
      {all.length === 0 && empty}
    </section>
  );
}

function Heading<R>({ column: { name, order, isNumber, isMinor } }: { column: Column<R> }) {
  const isSorted = queryPart('sort') === name;
  const isDescending = isSorted && queryPart('desc') !== null;
  const sort = isSorted ? (isDescending ? 'descending' : 'ascending') : undefined;
  const turn = () =>
    setQuery({ sort: isDescending ? undefined : name, desc: isSorted && !isDescending ? '1' : undefined });
  return (
    <th scope="col" aria-sort={sort} class={`${isNumber ? 'number' : ''} ${isMinor ? 'minor' : ''}`}>
      {order ? (
        <button type="button" class="quiet" onClick={turn}>
          {name}
          <span aria-hidden="true">{isSorted ? (isDescending ? ' ↓' : ' ↑') : ''}</span>
        </button>
      ) : (
        name
      )}
    </th>
  );
}

function Space({ rows, columns }: { rows: number; columns: number }) {
  return (
    <tr>
      <td colSpan={columns} style={{ height: `${rows * ROW}px`, padding: 0 }} />
    </tr>
  );
}

function isOnControl({ target }: Event): boolean {
  return target instanceof Element && target.closest('a, button, input, select, label') !== null;
}

/** A search that stands in the address. */
export function SearchBox({ label, field = 'q' }: { label: string; field?: string }) {
  return (
    <input
      type="search"
      aria-label={label}
      placeholder="Search"
      value={queryPart(field) ?? ''}
      onInput={({ currentTarget }) => setQuery({ [field]: currentTarget.value })}
    />
  );
}

/** Whether every word of the search is in one of the texts, whatever its case. */
export function matches(search: string, shown: readonly string[]): boolean {
  const text = shown.join('\n').toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
