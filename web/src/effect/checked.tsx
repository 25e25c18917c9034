import type { Plan } from '../api/types.ts';
import { texts } from '../texts/texts.ts';
import { Lines } from '../ui/lines.tsx';

const TONE: Record<Plan['check'], string> = { matches: 'ok', 'not checked': 'warn', differs: 'danger' };

/** The reader of the intent, with its statement. */
export function readByText(by: Plan['read_by'], reading: string | null): string {
  const { [by]: reader } = texts.review.readers;
  return reading === null ? reader : `${reader}: ${reading}`;
}

interface CheckedProps {
  readonly check: Plan['check'];
  /** True where the caller's own expectations hold; null without any. */
  readonly hold: boolean | null;
  readonly objections: readonly string[];
}

/** The effect against the intent, apart from what its caller expects, and what speaks against it. */
export function Checked({ check, hold, objections }: CheckedProps) {
  const words = texts.effect;
  return (
    <>
      <span class={`tag ${TONE[check]}`}>{check}</span> {words.check[check]}
      {hold !== null && <p>{hold ? words.expectationsHold : words.expectationsFail}</p>}
      <Lines lines={objections} />
    </>
  );
}
