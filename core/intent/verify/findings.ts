import type { Compared } from '../../authority/excess.ts';
import type { Beyond } from '../../authority/judge.ts';
import type { Effect } from '../../effect/effect.ts';
import type { Settings } from '../../model/services.ts';
import { type LintCode, lint } from '../../reachability/lint.ts';
import type { Direction } from '../../reachability/model.ts';
import type { Reachability } from '../../reachability/reachability.ts';
import type { NetworkState } from '../../state/state.ts';
import { beyondNamed, namedBy, namedByEffect } from './excess.ts';
import type { Expectation } from './expectation.ts';
import type { Joining } from './joining.ts';
import { controlAddresses, lockOuts } from './lock-out.ts';

export type FindingCode =
  | LintCode
  | 'CALLER_LOCKED_OUT'
  | 'ADMIN_LOCKED_OUT'
  | 'CONTROL_LOCKED_OUT'
  | 'BEYOND_DELEGATION'
  | 'OPENS_LATER'
  | 'OPENS_TO_NEWCOMERS'
  | 'OPENS_MORE'
  | 'CLOSES_MORE'
  | 'OUTSIDE_UNKNOWN';

/** Something about a proposal that is allowed and probably not meant. Names in the message are data. */
export interface Finding {
  readonly code: FindingCode;
  /** Whether the plan counts as not verified because of it; else it is a warning. */
  readonly blocks: boolean;
  readonly message: string;
  /** The policy it is about, and where in it; null for none. */
  readonly policy: string | null;
  readonly direction: Direction | null;
  readonly rule_index: number | null;
}

/** Who asks: an account or agent by its id, and the peer they act from, where it is known. */
export interface Requester {
  readonly id: string;
  readonly peer?: string | undefined;
}

/** What a proposal is judged by. Both states are compiled for the same instant. */
export interface Judged {
  readonly before: NetworkState;
  readonly after: NetworkState;
  /** What comes of what the grammar reads in the intent, where that is not what is judged. */
  readonly said: Effect | undefined;
  readonly was: Reachability;
  readonly is: Reachability;
  readonly effect: Effect;
  /** Names of the policies that are created or changed. */
  readonly policies: ReadonlySet<string>;
  readonly expectations: readonly Expectation[];
  /**
   * Whether the expectations name what may open and close. By who read the intent: what the grammar reads and makes is
   * shown and asked about; what a caller or a model makes beyond it is not proven.
   */
  readonly bounds: 'none' | 'closing' | 'all';
  /** What exceeds the authority of the agent that asks, where an agent does. */
  readonly beyond: Beyond | undefined;
  /** The same proposal at later instants, as far as something ends until then. */
  readonly later: readonly Compared[];
  /** What it opens for devices that join later, now and at each later instant; undefined where that cannot be tried. */
  readonly joining: readonly (Joining | undefined)[];
  readonly callerPeer: string | undefined;
  readonly settings: Settings;
}

/** Everything found, what blocks first. */
export function findingsOf(judged: Judged): Finding[] {
  const found = [
    ...delegationFindings(judged),
    ...excessFindings(judged),
    ...laterFindings(judged),
    ...joiningFindings(judged),
    ...lockOutFindings(judged),
    ...lintFindings(judged),
  ];
  return found.toSorted((a, b) => Number(b.blocks) - Number(a.blocks));
}

/** A delegated agent may not do through others what it may not do itself. */
function delegationFindings({ beyond }: Judged): Finding[] {
  if (!beyond?.delegated) return [];
  const [row] = beyond.rows;
  const example = row ? `, for example ${row.src} to ${row.dst} on ${row.ports}` : '';
  const text = `${beyond.reasons.join('; ')}${example}, beyond what the agent ${beyond.agent} was delegated`;
  return [blocking('BEYOND_DELEGATION', text)];
}

/** What is shown opens no more than it seems to, once policies that cover connections today have ended. */
function laterFindings({ effect, later }: Judged): Finding[] {
  const more = later.map((view) => openedBeyond(view.effect, effect)).find((texts) => texts.length > 0);
  if (!more) return [];
  const message = `it opens more once policies that cover it today have ended: ${more.join('; ')}`;
  return [{ ...blocking('OPENS_LATER', message), blocks: false }];
}

/** What an effect opens that another does not. */
function openedBeyond(effect: Effect, shown: Effect): string[] {
  if (effect.digest === shown.digest) return [];
  if (effect.outside === undefined && shown.outside !== undefined) return [OUTSIDE_UNKNOWN];
  return beyondNamed(effect, 'opened', namedByEffect(shown, 'opened'), '');
}

/** Devices that are not there yet are in no effect: what opens for them is said by itself. */
function joiningFindings({ joining }: Judged): Finding[] {
  const found = joining.map((one) => one?.texts ?? [JOINING_UNKNOWN]).find((texts) => texts.length > 0);
  if (!found) return [];
  const message = found.join('; ');
  return [{ ...blocking('OPENS_TO_NEWCOMERS', message), blocks: false }];
}

/** What the effect does not show and a person has to see: a plan with it is not approved by itself. */
export function opensUnseen({ code }: Pick<Finding, 'code'>): boolean {
  return code === 'OPENS_LATER' || code === 'OPENS_TO_NEWCOMERS';
}

function excessFindings({ effect, expectations, before, bounds, said }: Judged): Finding[] {
  const unknown = effect.outside === undefined ? [blocking('OUTSIDE_UNKNOWN', OUTSIDE_UNKNOWN)] : [];
  if (bounds === 'none') return unknown;
  const { outside = [] } = said ?? {};
  const opened =
    bounds === 'closing'
      ? []
      : beyondNamed(effect, 'opened', [
          ...namedBy(expectations, 'opened', before),
          ...namedByEffect({ groups: [], outside }, 'opened'),
        ]);
  const closed = beyondNamed(effect, 'closed', [
    ...namedBy(expectations, 'closed', before),
    ...(said ? namedByEffect(said, 'closed') : []),
  ]);
  return [
    ...unknown,
    ...opened.map((text) => blocking('OPENS_MORE', text)),
    ...closed.map((text) => ({ ...blocking('CLOSES_MORE', text), blocks: bounds === 'all' })),
  ];
}

const JOINING_UNKNOWN =
  'policies name more ranges of addresses of the network than can be tried for devices that join later';

const OUTSIDE_UNKNOWN =
  'it touches more ranges of addresses outside of the network than can be compared: plan it in smaller parts';

const LOCK_OUT_CODES = {
  caller: 'CALLER_LOCKED_OUT',
  admin: 'ADMIN_LOCKED_OUT',
  control: 'CONTROL_LOCKED_OUT',
} as const satisfies Record<string, FindingCode>;

function lockOutFindings({ before, was, is, effect, callerPeer, settings }: Judged): Finding[] {
  const control = controlAddresses(settings);
  return lockOuts({ before, was, is, effect, callerPeer, control }).map(({ who, message }) =>
    blocking(LOCK_OUT_CODES[who], message),
  );
}

function blocking(code: FindingCode, message: string): Finding {
  return { code, blocks: true, message, policy: null, direction: null, rule_index: null };
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
