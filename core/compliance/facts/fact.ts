import type { Settings } from '../../model/services.ts';
import type { NetworkServices } from '../../state/services.ts';

/** Something that holds or does not, and of which no history of the network tells. */
export interface Fact {
  /** Undefined where nothing that could show it is on record. */
  readonly holds: boolean | undefined;
  readonly evidence: string;
  /** The action to take, with its actor; empty where the fact holds. */
  readonly remedy: string;
  /** Told of the end of the period, from records that have dates. Anything else is told of now. */
  readonly isOfPeriod?: true;
}

export interface FactContext {
  readonly services: Pick<NetworkServices, 'store' | 'states' | 'clock' | 'logs'> & { readonly settings: Settings };
  readonly workspace: string;
  /** The beginning of the period, ms; undefined where it is asked of an instant. */
  readonly from?: number;
  /** The end of the period, ms. */
  readonly at: number;
}

export type FactReader = (context: FactContext) => Promise<Fact>;

export function holds(evidence: string): Fact {
  return { holds: true, evidence, remedy: '' };
}

export function fails(evidence: string, remedy: string): Fact {
  return { holds: false, evidence, remedy };
}

export function unknown(evidence: string, remedy: string): Fact {
  return { holds: undefined, evidence, remedy };
}
