import { isAgentId } from '../../base/ids.ts';
import type { CallContext } from '../../base/operation.ts';
import type { NetworkChange } from '../../changes/changes.ts';
import { counted } from '../../effect/markdown.ts';
import type { RequesterKind } from '../../model/workspaces.ts';
import type { Order } from '../orders/order.ts';
import type { Expectation, RecordExpectation } from '../verify/expectation.ts';

/** Readers that turn an intent into a change. `agent` includes any program that sends its own changes. */
export const READERS = ['language', 'agent', 'model', 'person'] as const;
export type ReadBy = (typeof READERS)[number];

/**
 * The computed effect against what the built-in reader derived from the intent. `not checked`: there is no such statement,
 * or a question of the plan is open.
 */
export const CHECKS = ['matches', 'differs', 'not checked'] as const;
export type Check = (typeof CHECKS)[number];

/** Author of the changes: the built-in reader, a model, the caller, or the code that brings a past state back. */
export type PlannedBy = 'grammar' | 'model' | 'caller' | 'revert';

/** Source of `expectations` in plans and workflows of earlier versions. `caller` includes those of the grammar. */
export type ExpectedBy = 'language' | 'planner' | 'caller';

/** An intent as orders, and changes of records beside them. */
export interface IntentReading {
  readonly orders: readonly Order[];
  readonly edits: readonly NetworkChange[];
}

/** The parts of a proposal that say who reads the intent and what has to hold. */
export interface Stated {
  readonly expectations: readonly Expectation[];
  readonly records: readonly RecordExpectation[];
  /** The caller's own, which say nothing about the intent. */
  readonly callerExpectations?: readonly Expectation[];
  /** The orders from which code wrote the changes: those of the reader, or the caller's own. */
  readonly orders?: readonly Order[];
  /** Changes of records beside the orders. */
  readonly edits?: readonly NetworkChange[];
  /** Requirements of the caller that must hold afterwards, among other things. */
  readonly hold?: readonly Order[];
  /** The intent as the built-in reader reads it; absent where it wrote `orders`, or does not read it. */
  readonly intended?: IntentReading;
  readonly plannedBy: PlannedBy;
}

/** Returns who writes the changes of a call: a person only in a session, and never over MCP, where an agent may answer. */
export function writerOf({ caller, face }: Pick<CallContext<unknown>, 'caller' | 'face'>): RequesterKind {
  return caller.kind === 'user' && caller.interactive && face === 'rest' ? 'person' : 'agent';
}

/** Returns the intent as the built-in reader reads it, whoever wrote the changes. */
export function intentReading({ orders, edits = [], intended, plannedBy }: Stated): IntentReading | undefined {
  return plannedBy === 'grammar' && orders ? { orders, edits } : intended;
}

/** Tells whether the intent says what has to hold, independently of whoever wrote the changes. */
export function hasStatement(stated: Stated): boolean {
  const { expectations, records, plannedBy } = stated;
  if (intentReading(stated)) return true;
  const isIndependent = plannedBy === 'grammar' || plannedBy === 'revert';
  return isIndependent && expectations.length + records.length > 0;
}

/** Statements of the intent about records, which earlier versions checked. */
interface EarlierRecordExpectation {
  readonly kind: 'absent' | 'closed-by-default';
}

/** A stored plan or workflow, of this version or of an earlier one. */
interface StoredReading {
  readonly expectations: readonly Expectation[];
  readonly records: readonly (RecordExpectation | EarlierRecordExpectation)[];
  readonly expectedBy?: ExpectedBy;
  readonly callerExpectations?: readonly Expectation[];
  readonly plannedBy?: PlannedBy;
  readonly readBy?: ReadBy;
  readonly sentence?: string;
  readonly summary: string;
  readonly requesterId: string;
}

/**
 * Returns a stored plan or workflow as a proposal. Earlier versions did not say who stated what: there, only a plan of the
 * grammar without expectations of the caller has a statement of the intent. Statements beside changes of the caller, and
 * those about records, are not checked any more.
 */
export function storedReading(spec: StoredReading): Stated & { readonly sentence: string; readonly readBy: ReadBy } {
  const { plannedBy = 'caller', expectedBy = plannedBy === 'grammar' ? 'language' : undefined } = spec;
  const isMixed = expectedBy === 'caller';
  const isBesideChanges = expectedBy === 'language' && plannedBy !== 'grammar';
  const callerExpectations = isMixed ? spec.expectations : spec.callerExpectations;
  return {
    expectations: isMixed || isBesideChanges ? [] : spec.expectations,
    records: spec.records.filter((one) => one.kind === 'restored'),
    ...(callerExpectations && { callerExpectations }),
    plannedBy,
    sentence: spec.sentence ?? spec.summary,
    readBy: readByOf(spec) ?? (isAgentId(spec.requesterId) ? 'agent' : 'person'),
  };
}

/** Returns who read the intent of a stored workflow; undefined where an earlier version did not keep it. */
export function readByOf({
  readBy,
  plannedBy,
  requesterId,
}: Pick<StoredReading, 'readBy' | 'plannedBy' | 'requesterId'>): ReadBy | undefined {
  if (readBy !== undefined || plannedBy === undefined) return readBy;
  if (plannedBy === 'grammar') return 'language';
  if (plannedBy === 'model') return 'model';
  return isAgentId(requesterId) ? 'agent' : 'person';
}

/** Returns the check of a stored workflow. Earlier versions let expectations of its caller count. */
export function storedCheck({
  check,
  verification,
  plannedBy,
  expectedBy,
}: {
  readonly check?: Check;
  readonly verification?: string;
  readonly plannedBy?: PlannedBy;
  readonly expectedBy?: ExpectedBy;
}): Check {
  if (check !== undefined) return check;
  return verification === 'proven' && plannedBy === 'grammar' && expectedBy === undefined ? 'matches' : 'not checked';
}

/** Returns an expectation as a sentence without a full stop. */
export function expectationText({ src, dst, except = [], protocol, port, endPort, expect }: Expectation): string {
  const but = except.length === 0 ? '' : ` (but for ${except.join(', ')})`;
  const range = port === undefined ? '' : ` ${port}${endPort === undefined || endPort === port ? '' : `-${endPort}`}`;
  const on = protocol === undefined ? '' : ` on ${protocol}${range}`;
  return `${src}${but} ${expect === 'allow' ? 'can' : 'cannot'} reach ${dst}${on}`;
}

/** Returns what has to hold of records as a sentence without a full stop. */
export function recordText({ records, revision }: RecordExpectation): string {
  return `${counted(records.length, 'record')} as at revision ${revision}`;
}
