import { type Signal, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Loaded } from '../../api/load.ts';
import type { Order } from '../../api/types.ts';
import { VERBS } from '../../orders/order-list.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import type { Suggestion } from '../../ui/suggestion.ts';
import { WordsField } from '../../ui/words-field.tsx';
import { completions, portCompletions } from './completions.ts';
import { type OrderRow, type RowFaults, rowOf, type WordField } from './order-rows.ts';
import { RowFaultsText, TimeField } from './row-fields.tsx';
import type { Vocabulary } from './vocabulary.ts';

/** As many orders as one change takes. */
const MAX_ROWS = 20;
const NO_FAULTS: RowFaults = {};
const DURATIONS = ['1h', '2h', '8h', '1d', '7d', '30d'];

interface OrderRowsProps {
  readonly vocabulary: Loaded<Vocabulary>;
  readonly rows: Signal<readonly OrderRow[]>;
  /** By the key of the row; those of a row that is changed are dropped. */
  readonly faults: Signal<ReadonlyMap<number, RowFaults>>;
  /** Names that a word of the sentence may mean; they are offered first. */
  readonly near: readonly Suggestion[];
  /** Of the workspace; undefined until it is known. */
  readonly timeZone: string | undefined;
}

/** Orders to edit, each a row: the verb, who, whom, on which ports, from when until when. */
export function OrderRows({ vocabulary, rows, faults, near, timeZone }: OrderRowsProps) {
  const list = useRef<HTMLOListElement>(null);
  const focused = useSignal(rows.peek()[0]?.key);
  useLayoutEffect(() => {
    const place = rows.peek().findIndex(({ key }) => key === focused.value);
    list.current?.children[place]?.querySelector('select')?.focus();
  }, [focused.value]);
  const change = (key: number, fields: Partial<OrderRow>) => {
    rows.value = rows.value.map((row) => (row.key === key ? { ...row, ...fields } : row));
    if (faults.value.has(key)) faults.value = new Map([...faults.value].filter(([other]) => other !== key));
  };
  const add = () => {
    const row = rowOf();
    rows.value = [...rows.value, row];
    focused.value = row.key;
  };
  const remove = (key: number) => {
    rows.value = rows.value.filter((row) => row.key !== key);
    focused.value = rows.value.at(-1)?.key;
  };
  const complete = (text: string) => completions(text, [...near, ...(vocabulary.value?.words ?? [])]);
  return (
    <fieldset class="stack-small">
      <legend class="label">Orders</legend>
      <ReadResult of={vocabulary} loading="" />
      <ol ref={list} class="order-rows">
        {rows.value.map((row, index) => (
          <li key={row.key}>
            <Row
              row={row}
              place={index + 1}
              faults={faults.value.get(row.key) ?? NO_FAULTS}
              complete={complete}
              timeZone={timeZone}
              change={(fields) => change(row.key, fields)}
              remove={() => remove(row.key)}
            />
          </li>
        ))}
      </ol>
      {rows.value.length < MAX_ROWS && (
        <div class="row">
          <button type="button" onClick={add}>
            Add order
          </button>
        </div>
      )}
    </fieldset>
  );
}

interface RowProps {
  readonly row: OrderRow;
  readonly place: number;
  readonly faults: RowFaults;
  readonly complete: (text: string) => readonly Suggestion[];
  readonly timeZone: string | undefined;
  readonly change: (fields: Partial<OrderRow>) => void;
  readonly remove: () => void;
}

function Row({ row, place, faults, complete, timeZone, change, remove }: RowProps) {
  const isDetailed = useSignal(hasDetails(row));
  const words = (field: WordField, label: string, placeholder?: string) => (
    <WordsField
      label={label}
      words={row[field]}
      change={(next) => change({ [field]: next })}
      complete={complete}
      faults={faults[field]}
      {...(placeholder !== undefined && { placeholder })}
    />
  );
  return (
    <fieldset class="order-row" aria-label={`Order ${place}`}>
      <label class="field">
        Action
        <select value={row.do} onChange={({ currentTarget }) => change({ do: currentTarget.value as Order['do'] })}>
          {Object.entries(VERBS).map(([verb, text]) => (
            <option key={verb} value={verb}>
              {text}
            </option>
          ))}
        </select>
        <RowFaultsText of={faults['do']} />
      </label>
      {words('from', 'From', 'Label or peer')}
      {words('to', 'To', 'Label or peer')}
      <WordsField
        label="Ports"
        words={row.ports}
        change={(ports) => change({ ports })}
        complete={portCompletions}
        placeholder="All ports"
        separator={/[\s,]+/}
        faults={faults['ports']}
      />
      {row.do !== 'remove' && (
        <div class="order-times">
          <TimeField
            label="Begins"
            value={row.starts}
            forms="2030-01-31T08:00"
            placeholder="At once"
            timeZone={timeZone}
            faults={faults['starts']}
            change={(starts) => change({ starts })}
          />
          <TimeField
            label="Until"
            value={row.end}
            forms="2h, 7d or 2030-01-31T18:00"
            placeholder="No end"
            options={DURATIONS}
            timeZone={timeZone}
            faults={faults['end']}
            change={(end) => change({ end })}
          />
        </div>
      )}
      <details
        class="more"
        open={isDetailed.value}
        onToggle={({ currentTarget }) => (isDetailed.value = currentTarget.open)}
      >
        <summary>Exceptions and direction</summary>
        <div class="order-row">
          {words('except_from', 'Except from')}
          {words('except_to', 'Except to')}
          {row.do === 'only' ? (
            <label class="field">
              Closes
              <select
                value={row.side}
                onChange={({ currentTarget }) => change({ side: currentTarget.value as OrderRow['side'] })}
              >
                <option value="to">access by others</option>
                <option value="from">access to others</option>
              </select>
              <RowFaultsText of={faults['side']} />
            </label>
          ) : (
            <label class="check">
              <input
                type="checkbox"
                checked={row.isBothWays}
                onChange={({ currentTarget }) => change({ isBothWays: currentTarget.checked })}
              />
              Both ways
            </label>
          )}
          {row.do === 'allow' && (
            <WordsField
              label="Through DENY policies"
              words={row.through}
              change={(through) => change({ through })}
              complete={noCompletions}
              faults={faults['through']}
            />
          )}
        </div>
      </details>
      <button type="button" class="quiet remove" aria-label={`Remove order ${place}`} onClick={remove}>
        <span aria-hidden="true">×</span> <span class="name">Remove order {place}</span>
      </button>
    </fieldset>
  );
}

/** Policies are named by refusals, in full. */
const noCompletions = () => [];

function hasDetails({ except_from, except_to, through, side, isBothWays }: OrderRow): boolean {
  return except_from.length + except_to.length + through.length > 0 || side === 'from' || isBothWays;
}
