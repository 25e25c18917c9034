import type { Likeness } from './likeness.ts';
import type { MomentReader } from './moments.ts';

/** What a sentence is read by beside its words: the instant, and what the names of the network say of a word. */
export interface Vocabulary extends MomentReader {
  /** Whether a word is the name of a peer or a value of a label. */
  readonly isName: (word: string) => boolean;
  /** Whether a word is the value of a label that says where a peer stands. */
  readonly isPlace: (word: string) => boolean;
  readonly likeness: Likeness;
}
