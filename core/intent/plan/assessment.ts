import type { BrokenAssertion } from '../../assertions/guard.ts';
import type { Beyond } from '../../authority/judge.ts';
import type { Op } from '../../base/ports.ts';
import type { ChangePlan, NetworkChange } from '../../changes/changes.ts';
import type { ControlFlip } from '../../compliance/flips.ts';
import type { Effect } from '../../effect/effect.ts';
import type { RequesterKind } from '../../model/workspaces.ts';
import type { NetworkState } from '../../state/state.ts';
import type { Unmet } from '../verify/expectations.ts';
import type { Finding } from '../verify/findings.ts';
import type { Risk } from '../verify/risk.ts';
import type { Check, ReadBy, Stated } from './check.ts';
import type { PlanView, ShownChange } from './diff-markdown.ts';

/** Changes that are to be judged, and what they are meant to achieve. */
export interface Proposal extends Stated {
  readonly changes: readonly NetworkChange[];
  readonly readBy: ReadBy;
  /** The planner's own description; always shown as such, never as a computed result. */
  readonly sentence: string;
  /** The sentence of the requester, in their words. */
  readonly intent?: string;
  /** The kind of the requester; absent in records of earlier versions. */
  readonly askedBy?: RequesterKind;
  /** Additional notes for people, beside the computed results. */
  readonly notes?: readonly string[];
  /** Questions of the planner; until they are answered, nothing is checked. */
  readonly questions?: readonly string[];
}

/** The result of a proposal on one state at one instant. */
export interface Assessment {
  readonly state: NetworkState;
  readonly ops: readonly Op[];
  /** The changes as they are kept: with the ids of the peers that they list. */
  readonly changes: readonly NetworkChange[];
  readonly outcomes: ChangePlan['outcomes'];
  readonly shown: readonly ShownChange[];
  readonly effect: Effect;
  /** The orders and their effect in one line. */
  readonly title: string;
  readonly risk: Risk;
  readonly warnings: readonly string[];
  readonly check: Check;
  /** True where the caller's own expectations hold; absent where there are none. */
  readonly expectationsHold?: boolean;
  /** Connections that orders name and that stay as they are, with the stage that holds them; absent for none. */
  readonly notChanged?: readonly string[];
  readonly unmet: readonly Unmet[];
  readonly unmetRecords: readonly string[];
  /** Standing assertions of the workspace that the change would break. */
  readonly broken: readonly BrokenAssertion[];
  readonly findings: readonly Finding[];
  /** The excess over the authority of the requesting agent; undefined for people. */
  readonly beyond: Beyond | undefined;
  /** The controls of frameworks that the change flips, now and later. */
  readonly controls: readonly ControlFlip[];
  /** The controls among them that fail after the change and did not before. */
  readonly failsControls: readonly string[];
  /** The first begin among the policies that it writes or deletes, ms; absent where none of them waits. */
  readonly begins?: number;
  /** True where the workspace carries it out without a person. */
  readonly isAuto: boolean;
  /** Everything that speaks against it, as sentences: with any, only someone with `intents:override` puts it forward. */
  readonly objections: readonly string[];
  /** The data from which the Markdown is rendered. */
  readonly view: PlanView;
  readonly diffMarkdown: string;
  /** Binds what was shown: the same changes of the same resources with the same effect, now, later and for newcomers. */
  readonly digest: string;
}
