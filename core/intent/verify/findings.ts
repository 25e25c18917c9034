import { amongCurrentPeers, begins, type Future } from '../../authority/future.ts';
import { isolatesText, isolatingFromNowOn } from '../../authority/isolation.ts';
import type { Beyond } from '../../authority/judge.ts';
import type { Comparison } from '../../authority/state-after.ts';
import { type ControlFlip, controlTexts } from '../../compliance/flips.ts';
import { type Effect, type EffectSide, outsidePairs } from '../../effect/effect.ts';
import type { Settings } from '../../model/services.ts';
import { type LintCode, lint } from '../../reachability/lint.ts';
import type { Direction } from '../../reachability/model.ts';
import type { Reachability } from '../../reachability/reachability.ts';
import type { NetworkState } from '../../state/state.ts';
import { deniedBefore } from './denied.ts';
import { beyondNamed, type Named, namedBy, namedByEffect } from './excess.ts';
import type { Expectation } from './expectation.ts';
import { joiningTexts } from './joining.ts';
import { controlAddresses, lockOuts } from './lock-out.ts';
import { narrowedDenies } from './narrowed.ts';

export type FindingCode =
  | LintCode
  | 'CALLER_LOCKED_OUT'
  | 'ADMIN_LOCKED_OUT'
  | 'CONTROL_LOCKED_OUT'
  | 'BEYOND_DELEGATION'
  | 'OPENS_LATER'
  | 'KEEPS_OPEN'
  | 'OPENS_TO_NEWCOMERS'
  | 'CLOSES_LATER'
  | 'CLOSES_TO_NEWCOMERS'
  | 'AGENT_ISOLATES'
  | 'OPENS_MORE'
  | 'CLOSES_MORE'
  | 'OUTSIDE_UNKNOWN'
  | 'CHANGES_NOTHING'
  | 'BREAKS_CONTROL'
  | 'MENDS_CONTROL'
  | 'THROUGH_DENY'
  | 'NARROWS_DENY';

/** Something about a proposal that is allowed and probably not meant. Names in the message are data. */
export interface Finding {
  readonly code: FindingCode;
  /** True if the finding makes the plan count as not verified; otherwise it is a warning. */
  readonly blocks: boolean;
  readonly message: string;
  /** The policy it is about, and where in it; null for none. */
  readonly policy: string | null;
  readonly direction: Direction | null;
  readonly rule_index: number | null;
}

/** The requester: an account or agent by its id, and the peer that it acts from, where known. */
export interface Requester {
  readonly id: string;
  readonly peer?: string | undefined;
}

export type Bounds = 'none' | 'records' | 'asks' | 'all';

/** A network as it is before a change, compiled. */
export type State = Pick<Judged, 'before' | 'was'>;

/** The facts by which a proposal is judged. Both states are compiled for the same instant. */
export interface Judged {
  readonly before: NetworkState;
  readonly after: NetworkState;
  /**
   * Returns the effect, on a state, of the changes of records that were named beside orders; undefined where those are the
   * judged changes.
   */
  readonly said: ((on: State) => Effect | undefined) | undefined;
  readonly was: Reachability;
  readonly is: Reachability;
  readonly effect: Effect;
  /** Names of the policies that are created or changed. */
  readonly policies: ReadonlySet<string>;
  readonly expectations: readonly Expectation[];
  /** Returns the connections that orders name in a state; undefined where none were given, or the intent says more. */
  readonly ordered?: ((side: EffectSide, on: NetworkState) => readonly Named[]) | undefined;
  /** Name of the statement that says which connections may open and close, such as `your orders`. */
  readonly author?: string;
  /** Names of the DENY policies in which orders make holes. */
  readonly through?: readonly string[];
  /** True where code wrote the changes from those orders. */
  readonly isWritten?: boolean;
  /**
   * The connections that the expectations bound. `asks`: code that restores a past state wrote the changes; excess is shown
   * and asked about. `all`: orders or a caller name them; excess blocks. `records`: the intent names the resulting
   * records, and so everything that follows from them; where the changes differ from the named ones, only the effect of the
   * named ones.
   */
  readonly bounds: Bounds;
  /** The excess over the authority of the requesting agent; undefined unless an agent asks. */
  readonly beyond: Beyond | undefined;
  /** The connections that it opens and closes later, and for devices that join later. */
  readonly future: Future;
  /** The same change at the later instants at which policies begin that it writes or deletes. */
  readonly later: readonly Comparison[];
  readonly callerPeer: string | undefined;
  readonly settings: Settings;
  /** Controls of frameworks that it fails and did not, or fails no more. */
  readonly controls: readonly ControlFlip[];
}

/** Everything found, what blocks first. */
export function findingsOf(judged: Judged): Finding[] {
  const found = [
    ...delegationFindings(judged),
    ...excessFindings(judged),
    ...unseenFindings(
      judged,
      // The plan shows its effect at the first begin alone, so closings at a later begin are reported here.
      isWhollySaid(judged) && judged.later.length === 0
        ? 'all'
        : namedClosings(judged, judged.future.closed.views[0] ?? judged),
      judged.ordered?.('opened', judged.before),
    ),
    ...momentFindings(judged),
    ...judged.later.flatMap((then) => momentFindings({ ...judged, ...then })),
    ...idleFindings(judged),
    ...controlFindings(judged),
    ...lintFindings(judged),
  ].filter(
    ({ code, message }, index, all) => all.findIndex((one) => one.code === code && one.message === message) === index,
  );
  return found.toSorted((a, b) => Number(b.blocks) - Number(a.blocks));
}

/** Findings that compare both states at one instant, and so are looked for at each at which the change changes anything. */
function momentFindings(judged: Judged): Finding[] {
  return [...throughFindings(judged), ...isolationFindings(judged), ...lockOutFindings(judged)];
}

/** A delegated agent may not do through others what it may not do itself. */
function delegationFindings({ beyond }: Judged): Finding[] {
  if (!beyond?.delegated) return [];
  const [row] = beyond.rows;
  const example = row ? `, for example ${row.src} to ${row.dst} on ${row.ports}` : '';
  const text = `${beyond.reasons.join('; ')}${example}, beyond what the agent ${beyond.agent} was delegated`;
  return [blocking('BEYOND_DELEGATION', text)];
}

/**
 * Returns findings on connections that the effect does not show: those that open or close later, and those of future peers.
 *
 * @param closing the named closings, which are not reported; `all` where every closing was named
 * @param opening the openings that orders name: between peers of now, these only stay open for longer
 */
export function unseenFindings(
  { effect, future }: Pick<Judged, 'effect' | 'future'>,
  closing: readonly Named[] | 'all' = [],
  opening: readonly Named[] = [],
): Finding[] {
  const textsOf = (side: EffectSide, named: readonly Named[]) =>
    [textsOfLater(future, side, effect, named), joiningTexts(future, side, named)] as const;
  const [opensLater, opensToNewcomers] = textsOf('opened', []);
  const [closesLater, closesToNewcomers] = closing === 'all' ? [[], []] : textsOf('closed', closing);
  const opensUnnamed = opening.length === 0 ? opensLater : textsOfLater(future, 'opened', effect, opening);
  const keepsOpen = opensUnnamed.length === 0 ? opensLater : [];
  const [coverEnds, ends] = begins(future)
    ? ['policies have begun or ended', 'policies have begun or ended']
    : ['policies that cover it have ended', 'policies have ended'];
  const found: [FindingCode, readonly string[], string][] = [
    ['OPENS_LATER', opensUnnamed, `it opens more once ${coverEnds}: `],
    ['KEEPS_OPEN', keepsOpen, `it stays open as ordered when ${coverEnds}: `],
    ['OPENS_TO_NEWCOMERS', opensToNewcomers, ''],
    ['CLOSES_LATER', closesLater, `it closes more once ${ends}: `],
    ['CLOSES_TO_NEWCOMERS', closesToNewcomers, ''],
  ];
  return found.flatMap(([code, texts, start]) =>
    texts.length > 0 ? [{ ...blocking(code, start + texts.join('; ')), blocks: false }] : [],
  );
}

/**
 * Returns sentences on connections between current peers that open, or close, beyond those shown and named, from the first
 * future view that has any.
 */
function textsOfLater(future: Future, side: EffectSide, shown: Effect, named: readonly Named[]): readonly string[] {
  const { newcomers = new Map() } = future;
  const [first, ...others] = future[side].views;
  // Whoever joins aside, the first does what is shown; to name what is done is dear, and most views do nothing else.
  const later = others.filter(({ effect }) => effect[`${side}Digest`] !== first?.effect[`${side}Digest`]);
  for (const view of later) {
    if (view.effect.outside === undefined && shown.outside !== undefined) return [OUTSIDE_UNKNOWN];
    const texts = beyondNamed(amongCurrentPeers(view, newcomers), side, [...namedByEffect(shown, side), ...named], '');
    if (texts.length > 0) return texts;
  }
  return [];
}

/** Returns true if a person has to see a finding that the effect does not show: such a plan is never approved automatically. */
export function isUnseen(finding: Pick<Finding, 'code'>): boolean {
  return opensUnseen(finding) || closesUnseen(finding) || makesHole(finding);
}

export function opensUnseen({ code }: Pick<Finding, 'code'>): boolean {
  return code === 'OPENS_LATER' || code === 'KEEPS_OPEN' || code === 'OPENS_TO_NEWCOMERS';
}

/** Where nothing of it is found, all that closes later and for newcomers was named. */
export function closesUnseen({ code }: Pick<Finding, 'code'>): boolean {
  return code === 'CLOSES_LATER' || code === 'CLOSES_TO_NEWCOMERS';
}

export function makesHole({ code }: Pick<Finding, 'code'>): boolean {
  return code === 'THROUGH_DENY';
}

/** Returns true if a finding exceeds the named connections without blocking: a person is asked whether it is intended. */
export function isBeyondNamed({ code, blocks }: Pick<Finding, 'code' | 'blocks'>): boolean {
  return !blocks && (code === 'OPENS_MORE' || code === 'CLOSES_MORE');
}

/** Returns findings for DENY policies that a change opens connections through, or that deny less after it. */
function throughFindings({ through = [], future, ...judged }: Judged): Finding[] {
  const finding = (code: FindingCode, policy: string, message: string) => {
    return { ...blocking(code, message), policy, blocks: false };
  };
  const { newcomers = new Map<string, string>() } = future;
  const called = (name: string) => newcomers.get(name) ?? name;
  const denied = new Map(
    [...future.opened.views, judged]
      .flatMap(deniedBefore)
      .map(({ policy, src, dst }) => [policy, `${called(src)} to ${called(dst)}`]),
  );
  const opened = [...denied].filter(([policy]) => !through.includes(policy));
  const narrowed = narrowedDenies(judged).filter((policy) => !(through.includes(policy) || denied.has(policy)));
  return [
    ...through.map((policy) =>
      finding('THROUGH_DENY', policy, `it makes a hole in the policy ${policy}, which denies these connections`),
    ),
    ...opened.map(([policy, pair]) =>
      finding('THROUGH_DENY', policy, `it opens connections that the policy ${policy} denies: for example ${pair}`),
    ),
    ...narrowed.map((policy) =>
      finding('NARROWS_DENY', policy, `it takes connections from those that the policy ${policy} denies`),
    ),
  ];
}

/**
 * Returns findings for policies of delegated agents that would isolate peers beyond their reach, because the change removes the
 * isolation that covered them.
 */
function isolationFindings(judged: Judged): Finding[] {
  return isolatingFromNowOn(judged).map((policy) => {
    const message = `${isolatesText([policy])}: delete it too`;
    return { ...blocking('AGENT_ISOLATES', message), policy, blocks: false };
  });
}

/** Returns a finding for a plan with expectations that opens and closes nothing. */
function idleFindings({ expectations, effect }: Judged): Finding[] {
  const pairs =
    effect.openedPairs + effect.closedPairs + outsidePairs(effect, 'opened') + outsidePairs(effect, 'closed');
  if (expectations.length === 0 || pairs > 0 || effect.outside === undefined) return [];
  return [
    { ...blocking('CHANGES_NOTHING', 'nothing opens and nothing closes when this plan is applied'), blocks: false },
  ];
}

/** Returns findings on controls that flip. A workspace without a framework in force gets none: see `frameworksInForce`. */
function controlFindings({ controls }: Pick<Judged, 'controls'>): Finding[] {
  const { broken, mended } = controlTexts(controls);
  const of = (code: FindingCode) => (text: string) => ({ ...blocking(code, `it ${text}`), blocks: false });
  return [...broken.map(of('BREAKS_CONTROL')), ...mended.map(of('MENDS_CONTROL'))];
}

function excessFindings(judged: Judged): Finding[] {
  const { effect, expectations, before, bounds, said, ordered } = judged;
  const unknown = effect.outside === undefined ? [blocking('OUTSIDE_UNKNOWN', OUTSIDE_UNKNOWN)] : [];
  if (bounds === 'none' || isWhollySaid(judged)) return unknown;
  const { groups = [], outside = [] } = said?.(judged) ?? {};
  const ending = judged.author === undefined ? undefined : `, which is not in ${judged.author}`;
  const openings = [
    ...namedBy(expectations, 'opened', before),
    ...(ordered?.('opened', before) ?? []),
    ...namedByEffect({ groups: bounds === 'records' || ordered ? groups : [], outside }, 'opened'),
  ];
  const opened = beyondNamed(effect, 'opened', openings, ending);
  const closed = beyondNamed(effect, 'closed', namedClosings(judged, judged), ending);
  return [
    ...unknown,
    ...opened.map((text) => ({ ...blocking('OPENS_MORE', text), blocks: bounds !== 'asks' })),
    // Code wrote the changes of orders: what else closes belongs to sub-agents of those that were named.
    ...closed.map((text) => ({ ...blocking('CLOSES_MORE', text), blocks: bounds !== 'asks' && !judged.isWritten })),
  ];
}

/** Returns true if the changes are those that the intent names, so that their whole effect is requested. */
function isWhollySaid({ bounds, said }: Judged): boolean {
  return bounds === 'records' && !said;
}

/** Returns the closings that were named, resolved against the peers of a state. */
function namedClosings({ expectations, said, ordered }: Judged, on: State): Named[] {
  const effect = said?.(on);
  const named = [...namedBy(expectations, 'closed', on.before), ...(ordered?.('closed', on.before) ?? [])];
  return [...named, ...(effect ? namedByEffect(effect, 'closed') : [])];
}

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

function lintFindings({ is, policies, expectations, isWritten }: Judged): Finding[] {
  if (policies.size === 0) return [];
  return lint(is, policies).map(({ code, policy, direction, rule_index, message, fix }) => ({
    code,
    policy,
    direction,
    rule_index,
    // Orders say themselves how much they open and close.
    blocks: !isWritten && isTooWide(code, expectations),
    message: `${policy}: ${message}. ${fix.slice(0, -1)}`,
  }));
}

/** Any to any is meant only where it is said. */
function isTooWide(code: LintCode, expectations: readonly Expectation[]): boolean {
  const isSaid = (expect: Expectation['expect']) =>
    expectations.some((one) => one.expect === expect && one.src === '*' && one.dst === '*' && !one.except?.length);
  if (code === 'ANY_TO_ANY') return !isSaid('allow');
  return code === 'DENY_MATCHES_EVERYTHING' && !isSaid('deny');
}
