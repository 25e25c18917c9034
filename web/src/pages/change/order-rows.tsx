import { type Signal, useSignal } from '@preact/signals';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { Loaded } from '../../api/load.ts';
import type { Order } from '../../api/types.ts';
import { VERBS } from '../../orders/order-list.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import type { Suggestion } from '../../ui/suggestion.ts';
import { WordsField } from '../../ui/words-field.tsx';
import { completions, portCompletions } from './completions.ts';
import { type OrderRow, type RowFaults, rowOf, type WordField } from './order-rows.ts';
import type { Vocabulary } from './vocabulary.ts';

/** As many orders as one change takes. */
const MAX_ROWS = 20;
const NO_FAULTS: RowFaults = {};

interface OrderRowsProps {
  readonly vocabulary: Loaded<Vocabulary>;
  readonly rows: Signal<readonly OrderRow[]>;
  /** By the key of the row; those of a row that is changed are dropped. */
  readonly faults: Signal<ReadonlyMap<number, RowFaults>>;
  /** Names that a word of the sentence may mean; they are offered first. */
  readonly near: readonly Suggestion[];
}

/** Orders to edit, each a row: the verb, who, whom, on which ports, until when. */
export function OrderRows({ vocabulary, rows, faults, near }: OrderRowsProps) {
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
  readonly change: (fields: Partial<OrderRow>) => void;
  readonly remove: () => void;
}

function Row({ row, place, faults, complete, change, remove }: RowProps) {
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
        <Faults of={faults['do']} />
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
      {row.do !== 'remove' && <EndField end={row.end} faults={faults['end']} change={(end) => change({ end })} />}
      <details
        class="more"
        open={isDetailed.value}
        onToggle={({ currentTarget }) => (isDetailed.value = currentTarget.open)}
      >
        <summary>Exceptions, direction and begin</summary>
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
              <Faults of={faults['side']} />
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
          {row.do !== 'remove' && (
            <BeginField starts={row.starts} faults={faults['starts']} change={(starts) => change({ starts })} />
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

function hasDetails({ except_from, except_to, through, starts, side, isBothWays }: OrderRow): boolean {
  return except_from.length + except_to.length + through.length > 0 || starts !== '' || side === 'from' || isBothWays;
}

interface BeginFieldProps {
  readonly starts: string;
  readonly faults: readonly string[] | undefined;
  readonly change: (starts: string) => void;
}

function BeginField({ starts, faults = [], change }: BeginFieldProps) {
  return (
    <label class="field">
      Begins
      <input
        value={starts}
        placeholder="At once"
        title="A time such as 2030-01-31T08:00 in the time zone of the workspace"
        autocomplete="off"
        spellcheck={false}
        maxLength={64}
        aria-invalid={faults.length > 0}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
      <Faults of={faults} />
    </label>
  );
}

interface EndFieldProps {
  readonly end: string;
  readonly faults: readonly string[] | undefined;
  readonly change: (end: string) => void;
}

/** A duration or a time. */
function EndField({ end, faults = [], change }: EndFieldProps) {
  const id = useId();
  return (
    <label class="field">
      Until
      <input
        list={`${id}-durations`}
        value={end}
        placeholder="No end"
        title="2h, 7d, or a time such as 2030-01-31T18:00 in the time zone of the workspace"
        autocomplete="off"
        spellcheck={false}
        maxLength={64}
        aria-invalid={faults.length > 0}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
      <datalist id={`${id}-durations`}>
        {['1h', '2h', '8h', '1d', '7d', '30d'].map((duration) => (
          <option key={duration} value={duration} />
        ))}
      </datalist>
      <Faults of={faults} />
    </label>
  );
}

function Faults({ of = [] }: { of: readonly string[] | undefined }) {
  return of.length === 0 ? null : <span class="fault break">{of.join(' ')}</span>;
}
