/** What is changed in a measurement of the control plane. */
export const CHANGES = ['label', 'leave and join', 'policy'] as const;
export type ChangeKind = (typeof CHANGES)[number];

export interface Cost {
  /** Of one change: from the commit to the last message, without the wait that gathers changes. */
  readonly wallMs: number;
  /** Of the whole process, snapshots and garbage collection included. */
  readonly cpuMs: number;
  readonly messages: number;
}
