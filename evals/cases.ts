import type { EvalCase } from './case.ts';
import { ASKING } from './cases/asking.ts';
import { CLOSING } from './cases/closing.ts';
import { OPENING } from './cases/opening.ts';
import { SCOPES } from './cases/scopes.ts';

/** All cases but those that were held out. */
export const CASES: readonly EvalCase[] = [...OPENING, ...CLOSING, ...ASKING, ...SCOPES];
