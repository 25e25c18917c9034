import { type CheckedPlan, checkStatements } from '../../../core/intent/plan/check-statements.ts';
import type { Order, Plan } from '../api/types.ts';
import { Chip, type Tone } from '../design/chip.tsx';
import type { Fact } from '../ui/facts.tsx';
import { Lines } from '../ui/lines.tsx';

const TONE: Record<Plan['check'], Tone | ''> = { matches: 'ok', 'not checked': 'warn', differs: 'danger' };

/** Shape beside the word and the color of a check. */
const MARK: Record<Plan['check'], string> = { matches: '✓', 'not checked': '?', differs: '✗' };

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
  readonly of: CheckedPlan;
  readonly objections: readonly string[];
  /** True if a sentence of its own stands beside the orders. */
  readonly isQuoted: boolean;
}

/** What the control plane checked and what it did not, each with its own word, and what speaks against the change. */
export function Checked({ of, objections, isQuoted }: CheckedProps) {
  return (
    <>
      {checkStatements(of, isQuoted, objections.length > 0).map(({ check, text }) => (
        <p key={text}>
          <Chip tone={TONE[check]}>
            <span aria-hidden="true">{MARK[check]}</span> {check}
          </Chip>{' '}
          <span class={check === 'differs' ? 'fault' : ''}>{text}</span>
        </p>
      ))}
      <Lines lines={objections} />
    </>
  );
}

/** Returns the sentence of a workflow that its orders do not say themselves. */
export function quotedIntent({ intent, reading, orders }: Read & { readonly intent: string }): string | undefined {
  return orders && `${intent}.` === reading ? undefined : intent;
}
