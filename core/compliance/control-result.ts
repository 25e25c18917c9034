import type { NetworkChange } from '../changes/changes.ts';
import type { Control } from './frameworks.ts';
import type { RemedyEffect } from './remedies.ts';

export const CONTROL_STATES = ['pass', 'fail', 'insufficient_evidence'] as const;
export type ControlStatus = (typeof CONTROL_STATES)[number];

/** The change that made a control fail, or that mended it. */
export interface FlipCause {
  readonly at: string;
  readonly revision: number | null;
  readonly actor: string | null;
  readonly reason: string | null;
  readonly workflow_id: string | null;
  /** Null where nobody did. */
  readonly reviewed_by: string | null;
  readonly direct: boolean;
  /** As `updated MeshPolicy/web-to-db`; of an end that came, what ended. */
  readonly resources: readonly string[];
}

/** A time in which a control failed, or a change by which it did. */
export interface FailingInterval {
  readonly from: string;
  readonly to: string;
  readonly facts: string;
  /** Null where it failed already when the period, or what is known of it, began. */
  readonly begun_by: FlipCause | null;
  /** Null where it failed still at the end, or is a change by itself. */
  readonly ended_by: FlipCause | null;
}

/** The result of one control: the fields of the contract first. */
export type ControlResult = {
  readonly id: string;
  readonly title: string;
  readonly status: ControlStatus;
  readonly evidence: string;
  readonly remediation: string;
  readonly check: string;
  readonly strength: Control['strength'];
  readonly caveat: string;
  readonly references: readonly string[];
  /** 0 to 1; null where nothing was judged. */
  readonly passing_share: number | null;
  /** The whole that `passing_share` is a share of: the known time, the changes, the days, or the present state. */
  readonly passing_of: 'time' | 'changes' | 'days' | 'now';
  readonly failing: readonly FailingInterval[];
  readonly omitted_failing: number;
  /** Policies as plan_network_change takes them, where these mend it. */
  readonly changes: readonly NetworkChange[];
  readonly effect: RemedyEffect | null;
};

/** The result of a control before it is put into words; `holds` as in a reading. */
export interface ControlJudgment {
  readonly holds: boolean | undefined;
  readonly evidence: string;
  readonly share: number | undefined;
  readonly of: ControlResult['passing_of'];
  readonly failing: readonly FailingInterval[];
  readonly remedy: Pick<ControlResult, 'changes' | 'effect'> & { readonly text: string };
}

/** Failing intervals told of one control. */
const MAX_FAILING = 10;
const MAX_EVIDENCE = 2_000;

/** @param lost whether a part of the period is no longer kept: what holds in the rest of it is no proof then */
export function controlResult(control: Control, judged: ControlJudgment, lost: boolean): ControlResult {
  const { id, title, check, strength, caveat, references } = control;
  const status = statusOf(control, judged.holds, lost);
  const isPassing = status === 'pass';
  return {
    id,
    title,
    status,
    evidence: bounded(judged.evidence),
    remediation: isPassing ? '' : judged.remedy.text,
    check,
    strength,
    caveat,
    references,
    passing_share: judged.share === undefined ? null : Math.round(judged.share * 10_000) / 10_000,
    passing_of: judged.of,
    failing: judged.failing.slice(0, MAX_FAILING),
    omitted_failing: Math.max(0, judged.failing.length - MAX_FAILING),
    changes: isPassing ? [] : judged.remedy.changes,
    effect: isPassing ? null : judged.remedy.effect,
  };
}

/** The four of the contract pass or fail: where nothing was there to be judged they pass, and say so. */
export function statusOf({ isOfContract }: Control, holds: boolean | undefined, lost: boolean): ControlStatus {
  if (holds === false) return 'fail';
  if (isOfContract) return 'pass';
  return holds === undefined || lost ? 'insufficient_evidence' : 'pass';
}

function bounded(text: string): string {
  return text.length <= MAX_EVIDENCE
    ? text
    : `${text.slice(0, MAX_EVIDENCE)}… (${text.length - MAX_EVIDENCE} more characters)`;
}
