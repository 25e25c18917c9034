/** A word that completes a field, with a few words on its meaning. */
export interface Suggestion {
  readonly word: string;
  readonly about: string;
}
