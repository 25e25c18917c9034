import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** Matches the lines that the node itself writes to its log (client/agent/node-log.ts). */
const OWN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (?:debug|info |warn |error) /;
/** Where Node says that a process crashed, and the frames below it. */
const CRASH = /^[A-Z][A-Za-z]{0,40}Error(?: \[\w{1,64}\])?: /;
const FRAME = /^\s{1,8}at \S/;
const SOFTWARE = pathToFileURL(path.join(import.meta.dirname, '..', '..', path.sep)).href;

/**
 * The lines of a log that are the node's own: who else writes to the same journal says nothing here. A crash is the node's where
 * one of its frames is in this software.
 */
export function ownLines(lines: readonly string[], software = SOFTWARE): string {
  const own: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (OWN.test(line)) own.push(line);
    if (!CRASH.test(line)) continue;
    const end = lines.findIndex((frame, below) => below > at && !FRAME.test(frame));
    const crash = lines.slice(at, end < 0 ? lines.length : end);
    if (crash.slice(1).some((frame) => frame.includes(software))) own.push(...crash);
    at += crash.length - 1;
  }
  const others = lines.length - own.length;
  return [...own, ...(others === 0 ? [] : [`(${others} lines that the node did not log are left out)`])].join('\n');
}
