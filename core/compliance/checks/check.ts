import type { NetworkChange } from '../../changes/changes.ts';
import type { NetworkChangeRecord } from '../changes.ts';
import type { CheckResult } from '../check-result.ts';
import type { FactName } from '../facts.ts';
import type { View } from '../view.ts';

/** The action that mends a control, with its actor, and the policy changes that carry it out where there are any. */
export interface Remedy {
  readonly text: string;
  readonly changes: readonly NetworkChange[];
}

/** Judges the network at one instant; over a period it is asked at each moment that can change its answer. */
export interface StateCheck {
  readonly on: 'state';
  readonly judge: (view: View) => CheckResult;
  /** Returns details of the last state, reported beside the facts. */
  readonly detail?: (view: View) => string;
  readonly remedy: (view: View) => Remedy;
  /** Asked at every moment, because it looks at more than what records say: at their age, or at who wrote them. */
  readonly atEachMoment?: true;
}

/** Judges each change of the period by itself. */
export interface ChangeCheck {
  readonly on: 'changes';
  /** The noun for the counted changes, such as `policy change`. */
  readonly noun: string;
  readonly isMeant: (change: NetworkChangeRecord) => boolean;
  /** Returns the fault of a change; undefined if it passes. */
  readonly fault: (change: NetworkChangeRecord) => string | undefined;
  readonly remedy: string;
  /** Returns a sentence about the changes that the check does not judge. */
  readonly aside?: (all: readonly NetworkChangeRecord[]) => string;
}

/** Reads something that is known as it is now, and of which no history is kept. */
export interface FactCheck {
  readonly on: 'fact';
  readonly fact: FactName;
}

/** Judges the snapshots of the period. */
export interface SnapshotCheck {
  readonly on: 'snapshots';
  readonly remedy: string;
}

export type Check = StateCheck | ChangeCheck | FactCheck | SnapshotCheck;
