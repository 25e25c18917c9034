import { parseDuration } from '../../duration.ts';
import type { PortEntry } from '../../network/policy.ts';
import { parseInstant } from '../../time.ts';
import { parsePorts } from './ports.ts';
import { quoted, Refusal } from './refusal.ts';

/** An intent with what may stand anywhere in it taken out: ports, a time, "and nobody else". */
export interface Clauses {
  /** What is left: who, what, whom. Lower case, single spaces. */
  readonly text: string;
  readonly ports: readonly PortEntry[];
  readonly forMs: number | undefined;
  readonly exclusive: boolean;
}

const POLITE =
  /^(?:please,? |kindly |(?:can|could|would) you (?:please )?|(?:i|we) (?:want|need|would like) (?:you )?to |make sure (?:that )?|ensure (?:that )?)+/;
const NOBODY_ELSE =
  /,? (?:and|but) (?:nobody|no ?one|no-one|none|no other (?:peer|node|device|host|machine)s?)(?: else)?(?= |$)/;
const UNCLEAR_ONLY = /(?:,? (?:and|but) nothing else| only)$| only (?:on|over|via|at|through) /;

/**
 * Takes the clauses out of an intent.
 *
 * @throws Refusal for a clause that is wrong or means two things.
 */
export function parseClauses(intent: string, now: number): Clauses {
  let text = normalized(intent);
  const exclusive = NOBODY_ELSE.test(text);
  text = text.replace(NOBODY_ELSE, '');
  const time = takeTime(text, now);
  text = time.text;
  if (UNCLEAR_ONLY.test(text)) {
    throw new Refusal('It is not clear what "only" or "nothing else" holds for.', [
      'Should nobody else reach the target? Then end with "and nobody else".',
      'Should the target be closed on other ports? Then say "limit <target> to port <port>".',
    ]);
  }
  const { rest, ports } = takePorts(text);
  return { text: rest, ports, forMs: time.forMs, exclusive };
}

function normalized(intent: string): string {
  const text = intent
    .normalize('NFKC')
    .replaceAll(/[‘’`]/g, "'")
    .replaceAll(/[“”]/g, '"')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .toLowerCase()
    .replace(/[.!?]+$/, '')
    .replace(/,? please$/, '');
  return text.replace(POLITE, '').trim();
}

const UNIT: Readonly<Record<string, string>> = { second: 's', minute: 'm', min: 'm', hour: 'h', day: 'd', week: 'd' };
const FOR =
  /,? for (?:the next )?(?:(\d{1,6}|an?|one) (second|minute|min|hour|day|week)s?|((?:\d+(?:ms|s|m|h|d))+))(?= |$)/;
const UNTIL = /,? until (\d{4}-\d\d-\d\dt\S+)(?= |$)/;

function takeTime(text: string, now: number): { text: string; forMs: number | undefined } {
  const until = UNTIL.exec(text);
  if (until) {
    const at = parseInstant((until[1] ?? '').toUpperCase());
    if (!(at > now))
      throw new Refusal(`${quoted(until[1] ?? '')} is no time to come: write it as 2030-01-31T12:00:00Z.`);
    return { text: text.replace(UNTIL, ''), forMs: at - now };
  }
  const found = FOR.exec(text);
  if (!found) return { text, forMs: undefined };
  const [whole, count, unit, short] = found;
  const amount = count === undefined || /\d/.test(count) ? Number(count) : 1;
  const size = unit === 'week' ? 7 : 1;
  const ms = parseDuration(short ?? `${amount * size}${UNIT[unit ?? ''] ?? ''}`);
  if (ms === undefined) throw new Refusal(`${quoted(whole.trim())} is no time: write "for 2 hours" or "for 1h30m".`);
  return { text: text.replace(FOR, ''), forMs: ms };
}

const PORTS_AFTER = / (?:on|over|at|via|through|using|with) (?:the )?/g;

/** The ports at the end: `… on port 443`, `… over ssh`, `… on ports 80 and 443`. */
function takePorts(text: string): { rest: string; ports: readonly PortEntry[] } {
  for (const { 0: lead, index } of text.matchAll(PORTS_AFTER)) {
    const ports = parsePorts(text.slice(index + lead.length));
    if (ports) return { rest: text.slice(0, index), ports };
  }
  return { rest: text, ports: [] };
}
