import type { Order, Plan } from '../api/types.ts';
import { Chip, type Tone } from '../design/chip.tsx';
import type { Fact } from '../ui/facts.tsx';
import { Lines } from '../ui/lines.tsx';

const CHECK = {
  matches: 'The effect matches what is listed below. Check that this is what you intended.',
  'not checked': 'The effect was not checked against the intent. Review it yourself.',
  differs: 'The effect is not what the intent says.',
} as const;

const TONE: Record<Plan['check'], Tone | ''> = { matches: 'ok', 'not checked': 'warn', differs: 'danger' };

/** Shape beside the word and the color of a check. */
const MARK: Record<Plan['check'], string> = { matches: '✓', 'not checked': '?', differs: '✗' };

/** A sentence beside orders, against these. */
const BESIDE_ORDERS: Record<Plan['check'], string> = {
  matches: 'The sentence says the same.',
  'not checked': 'The sentence was not compared with the orders.',
  differs: 'The sentence says something else than the orders.',
};

/** Who read the sentence; who wrote orders or sent finished changes, which may be of a tool or a suggestion. */
const READERS = {
  language: ['Read by', 'the built-in reader'],
  model: ['Read by', 'a language model'],
  agent: ['Sent by', 'an agent or program'],
  person: ['Sent by', 'a person'],
} as const;

interface Read {
  readonly read_by: Plan['read_by'] | null;
  readonly reading: string | null;
  readonly orders?: readonly Order[] | undefined;
}

/** Returns the reader of an intent, with its statement where no orders say it; the sender of what was not read. */
export function readByFact({ read_by: by, reading, orders }: Read): Fact {
  if (by === null) return ['Read by', undefined];
  const [label, reader] = READERS[by];
  if (reading === null || orders) return [label, reader];
  return [label, label === 'Sent by' ? `${reader}, as finished changes: ${reading}` : `${reader}: ${reading}`];
}

interface CheckedProps {
  readonly of: Pick<Plan, 'check' | 'expectations_hold' | 'orders'>;
  readonly objections: readonly string[];
  /** True if a sentence of its own stands beside the orders. */
  readonly isQuoted: boolean;
}

/** The check of the control plane in its own word, the effect against the orders or the intent, and what speaks against it. */
export function Checked({ of: { check, expectations_hold: hold, orders }, objections, isQuoted }: CheckedProps) {
  const isAsOrdered = hold ?? check !== 'differs';
  return (
    <>
      <p>
        <Chip tone={TONE[check]}>
          <span aria-hidden="true">{MARK[check]}</span> {check}
        </Chip>{' '}
        {!orders && CHECK[check]}
        {orders && isQuoted && <span class={check === 'differs' ? 'fault' : 'dim'}>{BESIDE_ORDERS[check]}</span>}
      </p>
      {orders ? (
        <p class={isAsOrdered ? '' : 'fault'}>
          {isAsOrdered ? 'Effect matches the orders.' : 'Effect does not match the orders.'}
        </p>
      ) : (
        hold !== null && (
          <p>
            {hold
              ? 'The result meets the demands that came with the changes.'
              : 'The result does not meet the demands that came with the changes.'}
          </p>
        )
      )}
      <Lines lines={objections} />
    </>
  );
}

/** Returns the sentence of a workflow that its orders do not say themselves. */
export function quotedIntent({ intent, reading, orders }: Read & { readonly intent: string }): string | undefined {
  return orders && `${intent}.` === reading ? undefined : intent;
}
