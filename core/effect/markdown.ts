/** Text of users appears in Markdown without markup, second lines, links or invisible letters. */

const UNSEEN = /[\p{Cc}\p{Cf}\s]+/gu;
const MARKUP = /[\\`*_~[\]<>|#&!]/g;
const LINK = /:(?=\/\/)|(?<=\bwww)\./gi;

/** Text from users as text: one line, no markup, no link, bounded. */
export function plain(text: string, limit = 500): string {
  const line = text.replaceAll(UNSEEN, ' ').trim();
  const short = line.length > limit ? `${line.slice(0, limit)}…` : line;
  return short.replaceAll(MARKUP, '\\$&').replaceAll(LINK, '\\$&');
}

/** A name inside backticks. */
export function code(text: string): string {
  return `\`${text.replaceAll(UNSEEN, ' ').replaceAll('`', "'")}\``;
}

/** Lines as a block that nothing in them can end. */
export function fenced(language: string, lines: readonly string[]): string[] {
  const longest = lines.reduce(
    (most, line) => Math.max(most, ...[...line.matchAll(/`+/g)].map(([run]) => run.length)),
    2,
  );
  const fence = '`'.repeat(longest + 1);
  return [`${fence}${language}`, ...lines, fence];
}

/** Text that someone else wrote, marked as theirs on each line. */
export function quote(text: string, limit: number): string[] {
  const lines = text.slice(0, limit).split(/\r?\n/);
  return lines.map((line) => plain(line, limit)).flatMap((line) => (line === '' ? [] : [`> ${line}`]));
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
