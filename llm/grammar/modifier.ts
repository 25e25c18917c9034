import type { PortEntry } from '../../core/model/policy.ts';
import type { Token } from './lexicon.ts';

/**
 * "And nobody else": nobody else reaches it, and of two who reach each other both ways. "And to nobody else": who reaches
 * it reaches nobody else. "Nobody else may reach them": into them alone, whatever is said before.
 */
export type Exclusive = 'in' | 'out' | 'both' | 'inward';

/** What may stand anywhere in a statement, taken out of it: `rest` says who, what and whom. */
export interface Modifiers {
  readonly rest: readonly Token[];
  /** None: all ports. */
  readonly ports: readonly PortEntry[];
  /** Ports that are left out by name: "all ports except 22". */
  readonly spared: readonly PortEntry[];
  /** Milliseconds. */
  readonly until: number | undefined;
  /** The zone whose clocks the time was said by, or is told by. */
  readonly zone: string;
  readonly exclusive: Exclusive | undefined;
  /** "In both directions". */
  readonly mutual: boolean;
  /** "Also": it adds to what was said before. */
  readonly also: boolean;
  /** "Everything else stays closed". */
  readonly elseClosed: boolean;
  /** Where the ports stand: before those who reach and are reached, or after a word such as "only". */
  readonly portsPlace: 'first' | 'after only' | undefined;
}
