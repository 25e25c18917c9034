/** What begins a colour or another command to a terminal, as it is and as programs write it in a string. */
const COMMANDS = ['\u001b[', '\u009b', '\\u001b[', '\\x1b[', '\\x1B[', '\\033[', '\\e['];
/** What is longer is no line that a person reads, and is looked at for too long. */
const LONGEST_LINE = 8_192;

/** A text as a person sees it: without the commands to a terminal, which else stand between a name and what follows it. */
export function withoutColours(text: string): string {
  return COMMANDS.reduce(
    (left, command) =>
      left
        .split(command)
        .map((part, at) => (at === 0 ? part : part.replace(/^[\d;?]{0,32}[A-Za-z]/, '')))
        .join(''),
    text,
  );
}

/** A line that is no longer than lines are, cut between two words. */
export function bounded(line: string): string {
  if (line.length <= LONGEST_LINE) return line;
  const end = line.lastIndexOf(' ', LONGEST_LINE) + 1;
  return `${line.slice(0, end)}(${line.length - end} characters are left out)`;
}
