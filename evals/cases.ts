import type { EvalCase } from './case.ts';
import { ASKING } from './cases/asking.ts';
import { BLIND } from './cases/blind.ts';
import { CLOSING } from './cases/closing.ts';
import { HELD_OUT } from './cases/held-out.ts';
import { HELD_OUT_AGAIN } from './cases/held-out-again.ts';
import { OPENING } from './cases/opening.ts';
import { SCOPES } from './cases/scopes.ts';
import { SPOKEN } from './cases/spoken.ts';
import { STRANGERS } from './cases/strangers.ts';
import { WORDINGS } from './cases/wordings.ts';

/** All cases but those that were held out. */
export const CASES: readonly EvalCase[] = [
  ...OPENING,
  ...CLOSING,
  ...ASKING,
  ...SCOPES,
  ...WORDINGS,
  ...SPOKEN,
  ...STRANGERS,
];

/** All of them: what a model is asked. */
export const ALL_CASES: readonly EvalCase[] = [...CASES, ...HELD_OUT, ...HELD_OUT_AGAIN, ...BLIND];
