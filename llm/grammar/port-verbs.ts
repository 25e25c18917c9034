import type { PortEntry } from '../../core/model/policy.ts';
import type { Sym, Token } from './lexicon.ts';
import { portsAt } from './ports.ts';

/** Services that are verbs too: "let ops ssh into web-1", "web may ping db". */
const PORT_VERBS: ReadonlySet<string> = new Set(['ssh', 'sftp', 'rdp', 'telnet', 'vnc', 'ping', 'rsync']);

/** A verb that says on which ports, up to the token before `end`. */
export interface PortVerb {
  readonly ports: readonly PortEntry[];
  readonly end: number;
  /** "Ssh in": who is reached was named before. */
  readonly here?: true;
}

/** `ssh into web-1`, `ping db`, `send syslog to the gateways`, behind the word `last`. */
export function portVerbAt(tokens: readonly Token[], at: number, last: Token | undefined): PortVerb | undefined {
  const [verb, next] = [tokens[at], tokens[at + 1]];
  if (!verb || verb.sym !== undefined || !next || !isVerbPlace(last)) return undefined;
  if (verb.text === 'send') {
    const sent = portsAt(tokens, at + 1);
    return sent && tokens[sent.end]?.sym === 'TO' ? { ports: sent.ports, end: sent.end + 1 } : undefined;
  }
  if (!PORT_VERBS.has(verb.text)) return undefined;
  const ports = portsAt([{ text: verb.text, quoted: false }], 0)?.ports ?? [];
  if (next.text === 'in' && at + 2 === tokens.length) return { ports, end: at + 2, here: true };
  if (next.sym === 'TO') return { ports, end: at + 2 };
  if (ANYWHERE.has(next.text)) return { ports, end: at + 1 };
  const pings = verb.text === 'ping' && (next.sym === undefined || next.sym === 'MUTUAL');
  return pings ? { ports, end: at + 1 } : undefined;
}

const ANYWHERE: ReadonlySet<string> = new Set(['anywhere', 'everywhere']);
const BEFORE_VERBS: ReadonlySet<Sym> = new Set(['MAY', 'MAY_NOT', 'TO']);

function isVerbPlace(last: Token | undefined): boolean {
  return last !== undefined && (last.sym === undefined || BEFORE_VERBS.has(last.sym));
}
