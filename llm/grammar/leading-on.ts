/** A form with words to fill in, for questions that name no wording of their own. */
const FORMS =
  'Say it as "let <source> reach <target> on <port>" or "block <source> from <target>", with names of peers or labels such as role=web.';

/** A wording in quotes, a tool, names to choose from, or what it was read as. */
const LEADING = [
  /\b(?:say|write|add|with|such as|mean|put it|as|make it|leave|named?)\b[^"]{0,80}"[^"]/i,
  /[a-z]_[a-z]/i,
  /\b(?:Peers|Known|Which ones?|Which labels?)[^?]{0,80}: /i,
  /Read as "/i,
];

/** Questions that say how to go on, where no choice does. */
export function leadingOn(questions: readonly string[], choices: readonly string[]): readonly string[] {
  return choices.length > 0 || questions.some((one) => LEADING.some((form) => form.test(one)))
    ? questions
    : [...questions, FORMS];
}
