/** A form with words to fill in, for questions that name no wording of their own. */
const FORMS =
  'Say it as "let <source> reach <target> on <port>" or "block <source> from <target>", with names of peers or labels such as role=web.';

const BEFORE_WORDING = /\b(?:say|write|add|with|such as|mean|put it|as|make it|leave|named?)\b/i;
const BEFORE_NAMES = /\b(?:Peers|Known|Which ones?|Which labels?)\b/i;

/** Whether a question has a wording in quotes, a tool, names to choose from, or what it was read as. */
function leads(question: string): boolean {
  const outside = question.split('"').filter((_, at) => at % 2 === 0);
  const beforeLists = question.split(': ').slice(0, -1);
  return (
    outside.slice(0, -1).some((text) => BEFORE_WORDING.test(text)) ||
    beforeLists.some((text) => BEFORE_NAMES.test(text.split('?').at(-1) ?? '')) ||
    /[a-z]_[a-z]/i.test(question) ||
    question.includes('Read as "')
  );
}

/** Questions that say how to go on, where no choice does. */
export function leadingOn(questions: readonly string[], choices: readonly string[]): readonly string[] {
  return choices.length > 0 || questions.some(leads) ? questions : [...questions, FORMS];
}
