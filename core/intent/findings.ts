import type { NetworkState } from '../network/state.ts';
import { type LintCode, lint } from '../reachability/lint.ts';
import type { Direction } from '../reachability/model.ts';
import type { Reachability } from '../reachability/reachability.ts';
import type { Effect } from './effect.ts';
import type { Expectation } from './planner.ts';

/** Something about a proposal that is allowed and probably not meant. Names in the message are data. */
export interface Finding {
  readonly code: LintCode;
  /** Whether the plan counts as not verified because of it; else it is a warning. */
  readonly blocks: boolean;
  readonly message: string;
  /** The policy it is about, and where in it; null for none. */
  readonly policy: string | null;
  readonly direction: Direction | null;
  readonly rule_index: number | null;
}

/** What a proposal is judged by. Both states are compiled for the same instant. */
export interface Judged {
  readonly before: NetworkState;
  readonly after: NetworkState;
  readonly was: Reachability;
  readonly is: Reachability;
  readonly effect: Effect;
  /** Names of the policies that are created or changed. */
  readonly policies: ReadonlySet<string>;
  readonly expectations: readonly Expectation[];
}

/** Everything found, what blocks first. */
export function findingsOf(judged: Judged): Finding[] {
  return lintFindings(judged).toSorted((a, b) => Number(b.blocks) - Number(a.blocks));
}

function lintFindings({ is, policies, expectations }: Judged): Finding[] {
  if (policies.size === 0) return [];
  return lint(is, policies).map((warning) => ({
    ...warning,
    blocks: isTooWide(warning.code, expectations),
    message: `${warning.policy}: ${warning.message}`,
  }));
}

/** Any to any is meant only where it is said. */
function isTooWide(code: LintCode, expectations: readonly Expectation[]): boolean {
  const isSaid = (expect: Expectation['expect']) =>
    expectations.some((one) => one.expect === expect && one.src === '*' && one.dst === '*' && !one.except?.length);
  if (code === 'ANY_TO_ANY') return !isSaid('allow');
  return code === 'DENY_MATCHES_EVERYTHING' && !isSaid('deny');
}
