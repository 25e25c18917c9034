import type { Sym } from './phrases.ts';
import type { Word } from './tokens.ts';

/** The end of an order. */
export interface Until {
  /** Milliseconds. */
  readonly at: number;
  /** Milliseconds, where a duration was said. */
  readonly span?: number;
}

/** A word or phrase of a sentence. Without `sym` it is a part of a name. */
export interface Token extends Word {
  /** PORTS are ports behind a preposition or a name, TIME is an end; ports as a noun are ACCESS. */
  readonly sym?: Sym | 'PORTS' | 'TIME';
  /** As an order writes them; none are all ports. */
  readonly ports?: readonly string[];
  readonly until?: Until;
  /** "Push to": what is reached only with ports named. */
  readonly isClient?: true;
}
