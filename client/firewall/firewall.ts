import type { FirewallRules } from '../../core/network/graph.ts';

/** The rules of one overlay interface, in force in the kernel. */
export interface Firewall {
  /** Replaces all rules in one step. Entries past their `expiresAt` at `now` (milliseconds) are left out. */
  apply(rules: FirewallRules, now: number): Promise<void>;
  /** Puts the rules back where something else removed them. @returns whether it had to */
  restore(): Promise<boolean>;
  /** Takes the rules away. Idempotent. */
  close(): Promise<void>;
}
