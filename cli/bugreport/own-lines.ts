/** What the node itself writes to its log (client/agent/node-log.ts). */
const OWN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (?:debug|info |warn |error) /;
/** Where Node says that a process crashed, and the frames below it. */
const OF_A_CRASH = /^(?:[A-Z][A-Za-z]{0,40}Error(?: \[\w{1,64}\])?: |\s{1,8}at \S)/;

/** The lines of a log that are the node's own: who else writes to the same journal says nothing here. */
export function ownLines(lines: readonly string[]): string {
  const own = lines.filter((line) => OWN.test(line) || OF_A_CRASH.test(line));
  const others = lines.length - own.length;
  return [...own, ...(others === 0 ? [] : [`(${others} lines that the node did not log are left out)`])].join('\n');
}
