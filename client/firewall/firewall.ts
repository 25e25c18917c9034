import type { FirewallRules } from '../../core/model/graph.ts';
import type { OwnAddress } from './own-address.ts';
import type { Watch } from './watch.ts';

/** The rules of one overlay interface, in force in the kernel. */
export interface Firewall {
  /** Replaces all rules in one step. Entries past their `expiresAt` at `now` (milliseconds) are left out. */
  apply(own: OwnAddress, rules: FirewallRules, now: number): Promise<void>;
  /**
   * Keeps the interface open, and puts the rules back where something else removed them. Where the kernel can keep time,
   * an interface that nobody maintains closes by itself.
   *
   * @returns whether it had to put them back
   */
  maintain(look?: 'closely'): Promise<boolean>;
  /** Tells whether nothing comes in while something has removed the rules. */
  isGuarded(): boolean;
  /** Tells of what others remove from the rules, and of what changes in those of the host, as it happens; of nothing where the kernel does not tell. */
  watch(onRemoved: () => void, onHostChanged: () => void): Watch;
  /** Takes the rules away. Idempotent. */
  close(): Promise<void>;
}
