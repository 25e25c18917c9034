import { type Newcomer, nameOf } from './facts.ts';
import { CONDITIONAL, type Matches, mapped, meets, type SetOf } from './matches.ts';
import { type Chain, isRecord, type Rule, type Ruleset, type Statement } from './ruleset.ts';

/** What of the host's own rules drops a packet. */
export interface Dropper {
  /** "inet filter". */
  readonly table: string;
  readonly chain: string;
  /** Of the rule; null where the policy of the chain does it. */
  readonly handle: number | null;
  /** The chain of the table where packets meet it. */
  readonly base: string;
}

/** What becomes of a packet on its way in; `unknown` says which rule is not understood. */
export type Fate = { readonly is: 'let in' } | ({ readonly is: 'dropped' } & Dropper) | Unknown;

interface Unknown {
  readonly is: 'unknown';
  readonly why: string;
}

/** Chains that jump to each other in a circle nftables refuses itself. */
const MAX_DEPTH = 16;
/** Rules that one packet is held to, as often as chains are jumped to: some 20 ms. */
const MOST_RULES = 20_000;
/** Where packets from an interface pass, in this order. */
const HOOKS = ['ingress', 'prerouting', 'input'];

/**
 * What becomes of a packet on its way in: each base chain has its say, as in the kernel, and one that drops is enough. What is
 * not understood may do anything. Pure.
 */
export function fateOf({ chains, sets, unread }: Ruleset, packet: Newcomer): Fate {
  const byName = new Map(chains.map((chain) => [`${chain.table} ${chain.name}`, chain]));
  const walk: Walk = {
    packet,
    chainOf: (table, name) => byName.get(`${table} ${name}`),
    setOf: (table, name) => sets.get(`${table} ${name}`) ?? `the set ${name}`,
    rules: 0,
  };
  let doubt = unread[0];
  for (const chain of metBy(chains, packet)) {
    const { drop, accepts, why } = closed(chain, outcomeOf(chain, walk, 0));
    if (drop && !accepts) return { is: 'dropped', ...drop, base: chain.name };
    if (drop) doubt ??= why;
    // What may be translated there is another packet from here on.
    if (chain.base?.type === 'nat' && drop && why !== undefined) break;
  }
  return doubt === undefined ? { is: 'let in' } : { is: 'unknown', why: doubt };
}

/** One packet on its way. */
interface Walk {
  packet: Newcomer;
  chainOf(table: string, name: string): Chain | undefined;
  setOf(table: string, name: string): ReturnType<SetOf>;
  rules: number;
}

/** Whatever may become of a packet in a chain or by a rule. */
interface Outcome {
  accepts: boolean;
  drop: Omit<Dropper, 'base'> | undefined;
  /** Back to the chain that jumped here; of a base chain, its policy decides. */
  leaves: boolean;
  /** Of a rule: the next one decides. */
  goesOn: boolean;
  /** What is not understood of it. */
  why: string | undefined;
}

const NOTHING: Outcome = { accepts: false, drop: undefined, leaves: false, goesOn: false, why: undefined };

function metBy(chains: readonly Chain[], packet: Newcomer): readonly Chain[] {
  const place = ({ base }: Chain) => HOOKS.indexOf(base?.hook ?? '');
  return chains
    .filter((chain) => chain.base && place(chain) >= 0 && isOfPacket(chain, packet))
    .toSorted((a, b) => place(a) - place(b) || (a.base?.priority ?? 0) - (b.base?.priority ?? 0));
}

function isOfPacket({ table, base }: Chain, { interfaceName, to }: Newcomer): boolean {
  const [family = ''] = table.split(' ');
  if (base?.hook === 'ingress') return base.devices.includes(interfaceName);
  return family === 'inet' || family === (to.includes(':') ? 'ip6' : 'ip');
}

/** At the end of a base chain its policy decides. */
function closed({ table, name, base }: Chain, outcome: Outcome): Outcome {
  if (!outcome.leaves) return outcome;
  if (base?.policy !== 'drop') return { ...outcome, accepts: true };
  return { ...outcome, drop: { table, chain: name, handle: null } };
}

function outcomeOf(chain: Chain, walk: Walk, depth: number): Outcome {
  const all = { ...NOTHING };
  for (const rule of chain.rules) {
    walk.rules += 1;
    if (depth > MAX_DEPTH || walk.rules > MOST_RULES)
      return anything({ table: chain.table, chain: chain.name, handle: null }, `more than ${MOST_RULES} rules`);
    const { matches, by } = judged(rule, chain, walk, depth);
    if (matches === 'no') continue;
    all.accepts ||= by.accepts;
    all.leaves ||= by.leaves;
    // A rule that drops at times, as one with a limit, is meant to let in what it is about.
    if (matches === 'at times') continue;
    all.drop = by.drop ?? all.drop;
    if (typeof matches === 'object') all.why ??= whereOf(rule, chain, matches.unknown);
    all.why ??= by.why;
    if (matches === 'yes' && !by.goesOn) return all;
  }
  return { ...all, leaves: true };
}

/** Whether the packet meets a rule, and what the rule does with it then. */
function judged(
  rule: Rule,
  chain: Chain,
  walk: Walk,
  depth: number,
): { readonly matches: Matches; readonly by: Outcome } {
  const here = { table: chain.table, chain: chain.name, handle: rule.handle };
  const setOf = (name: string) => walk.setOf(chain.table, name);
  const isAny = (what: string) => anything(here, whereOf(rule, chain, what));
  let matches: Matches = 'yes';
  const jump = (target: unknown, isGoto: boolean): Outcome => {
    const next = walk.chainOf(chain.table, String(isRecord(target) ? target['target'] : target));
    if (!next) return isAny('a chain that is not there');
    const { leaves, ...outcome } = outcomeOf(next, walk, depth + 1);
    return { ...outcome, leaves: isGoto && leaves, goesOn: !isGoto && leaves };
  };
  const verdictOf = (statement: Statement): Outcome | undefined => {
    const [kind = ''] = Object.keys(statement);
    if (kind === 'accept') return { ...NOTHING, accepts: true };
    if (kind === 'drop' || kind === 'reject') return { ...NOTHING, drop: here };
    if (kind === 'return') return { ...NOTHING, leaves: true };
    if (kind === 'jump' || kind === 'goto') return jump(statement[kind], kind === 'goto');
    return kind === 'continue' ? { ...NOTHING, goesOn: true } : undefined;
  };
  for (const statement of rule.statements) {
    const verdict = verdictOf(statement);
    if (verdict) return { matches, by: verdict };
    const { match, vmap } = statement;
    const kind = isRecord(match) || isRecord(vmap) ? 'known' : kindOf(statement);
    if (isRecord(match)) matches = both(matches, meets(match, walk.packet, setOf));
    else if (isRecord(vmap)) {
      const found = mapped(vmap, walk.packet, setOf);
      if (!found) return { matches: 'no', by: NOTHING };
      if ('unknown' in found) return { matches, by: isAny(found.unknown) };
      const by = isRecord(found.verdict) ? verdictOf(found.verdict) : undefined;
      return { matches, by: by ?? isAny('a map') };
    } else if (kind === 'at times') matches = both(matches, 'at times');
    else if (typeof kind === 'object') matches = both(matches, kind);
    else if (kind === 'marks') walk.packet = markedOf(walk.packet);
    else if (kind === 'drops') return { matches, by: { ...NOTHING, drop: here } };
    else if (kind !== 'aside') return { matches, by: isAny(Object.keys(statement).join()) };
    if (matches === 'no') return { matches, by: NOTHING };
  }
  return { matches, by: { ...NOTHING, goesOn: true } };
}

/** Nothing of it is looked at by this. */
function markedOf(packet: Newcomer): Newcomer {
  return Object.create(packet, { isMarked: { value: true } });
}

/** "inet filter input, rule handle 7: meta mark". */
function whereOf({ handle }: Rule, { table, name }: Chain, what: string): string {
  return `${table} ${name}, rule handle ${handle}: ${what}`;
}

function anything(drop: Omit<Dropper, 'base'>, why: string): Outcome {
  return { accepts: true, drop, leaves: true, goesOn: true, why };
}

function both(one: Matches, other: Matches): Matches {
  if (one === 'no' || other === 'no') return 'no';
  if (typeof one === 'object') return one;
  return other === 'yes' ? one : other;
}

/** Statements that decide nothing. */
const ASIDE: ReadonlySet<string> = new Set([
  'counter',
  'log',
  'last',
  'comment',
  'dup',
  'ct helper',
  'ct timeout',
  'ct expectation',
  'secmark',
]);
/** Of the old iptables, by their names. */
const ASIDE_TARGETS: ReadonlySet<string> = new Set(['LOG', 'NFLOG', 'TRACE', 'CLASSIFY', 'TCPMSS']);
const MARK_TARGETS: ReadonlySet<string> = new Set(['MARK', 'CONNMARK']);
/** What a rule may write on a packet that no rule is judged by. */
const ASIDE_WRITES: ReadonlySet<string> = new Set([
  'meta priority',
  'meta nftrace',
  'ct event',
  'ct label',
  'ct zone',
  'ct helper',
]);

type Kind = 'aside' | 'marks' | 'at times' | 'drops' | 'anything' | { readonly unknown: string };

function kindOf(statement: Statement): Kind {
  const [kind = ''] = Object.keys(statement);
  const given = statement[kind];
  if (ASIDE.has(kind)) return 'aside';
  if (CONDITIONAL.has(kind)) return 'at times';
  if (!isRecord(given)) return 'anything';
  if (kind === 'mangle') {
    const written = nameOf(given['key']);
    if (written === 'meta mark' || written === 'ct mark') return 'marks';
    return ASIDE_WRITES.has(written) ? 'aside' : 'anything';
  }
  if (kind === 'set' || kind === 'map') {
    const limits = [given['stmt']].flat().filter(isRecord);
    return limits.some((one) => Object.keys(one).some((name) => CONDITIONAL.has(name))) ? 'at times' : 'aside';
  }
  if (kind !== 'xt') return 'anything';
  const { type, name } = given;
  if (type === 'match') return name === 'comment' ? 'aside' : { unknown: `xt ${name}` };
  if (name === 'REJECT') return 'drops';
  if (MARK_TARGETS.has(String(name))) return 'marks';
  return ASIDE_TARGETS.has(String(name)) ? 'aside' : 'anything';
}
