import type { PortEntry } from '../../core/model/policy.ts';
import type { Token } from './lexicon.ts';
import { LIKE_A_NAME, type Polarity } from './suggest-words.ts';

export type Side = 'source' | 'target';

/** Who is named together, as it can be said again. */
export interface Group {
  readonly says: string;
  readonly ports: PortEntry[];
}

/** What stays open of what is closed. */
export interface Spared {
  who?: string;
  side?: Side | undefined;
  ports: readonly PortEntry[];
}

/** One order as far as it is understood, and the words that are not. */
export interface Frame {
  polarity?: Polarity | undefined;
  sources: Group[];
  targets: Group[];
  ports: PortEntry[];
  isolated?: string;
  spared: Spared[];
  only?: Side | 'ports';
  old?: { readonly side: Side; readonly says: string } | { readonly ports: readonly PortEntry[] };
  time?: string;
  mutual?: boolean;
  /** "No other inbound", "everything else closed". */
  elseClosed?: boolean;
  /** "Other ports stay as they are". */
  elseStays?: boolean;
  incoming?: boolean;
  outgoing?: boolean;
  imperative?: boolean;
  report?: boolean;
  /** Words that restrict, and that this reading has no place for. */
  readonly lost: Token[];
  /** Other words that it has no place for. */
  readonly unknown: Token[];
  /** All of its words. */
  readonly text: string;
  /** "It", "they". */
  pronoun?: boolean;
}

export function isLikeName({ text, quoted }: Token): boolean {
  return quoted || LIKE_A_NAME.test(text);
}

export function isEmpty({ sources, targets, isolated }: Frame): boolean {
  return sources.length + targets.length === 0 && isolated === undefined;
}
