import { setImmediate as pause } from 'node:timers/promises';
import type { FirewallEntry, FirewallRules } from '../../../core/model/graph.ts';
import type { OwnAddress } from '../own-address.ts';
import type { Newcomer } from './facts.ts';
import type { Blockage, Judgement, NotJudged } from './judgement.ts';
import type { Ruleset } from './ruleset.ts';
import { type Fate, fateOf } from './verdict.ts';

/** Kinds of connections that are looked at: more would tell no more. */
const MOST_KINDS = 32;
/** First packets that are looked at, of all kinds and peers: the most that a busy host takes some seconds for. */
const MOST_LOOKS = 256;
/** Of a connection that may be any: no service is usually found there. */
const ANY_PORT = 49_321;
/** What a permission of everything is looked at as. */
const EACH = ['TCP', 'UDP', 'ICMP'] as const;

/** What of the permitted is dropped by chains other than those of nodes, by whom. Others have their turn between two packets of it. */
export async function judgementOf(
  ruleset: Ruleset,
  interfaceName: string,
  own: OwnAddress,
  { in: permitted }: FirewallRules,
): Promise<Judgement> {
  const kinds = kindsOf(permitted);
  const found = new Findings();
  let looks = 0;
  for (const [what, { entry, peers }] of [...kinds].slice(0, MOST_KINDS)) {
    const fates = new Map<string, Fate>();
    for (const peer of peers) {
      // Each kind is looked at once, whatever was spent on those before.
      if (fates.size > 0 && looks >= MOST_LOOKS) break;
      const { packet, isLookedAt } = watched(newcomerOf(entry, interfaceName, own), peer);
      fates.set(peer, fateOf(ruleset, packet));
      looks += 1;
      await pause();
      // Nothing went by who sends it: it is the same for all.
      if (!isLookedAt()) {
        for (const other of peers) fates.set(other, fates.get(peer) as Fate);
        break;
      }
    }
    found.add(what, fates);
    const more = peers.size - fates.size;
    if (more > 0) found.unknown(`${MOST_LOOKS} peers are looked at`, `${what} from ${more} more`);
  }
  if (kinds.size > MOST_KINDS)
    found.unknown(`${MOST_KINDS} kinds of connections are looked at`, `${kinds.size - MOST_KINDS} more`);
  return found.judgement(permitted.some(({ protocol }) => protocol === 'ALL'));
}

/** By what drops, or why that is not known. */
class Findings {
  readonly #blockages = new Map<string, Blockage>();
  readonly #notJudged = new Map<string, NotJudged>();

  /** What becomes of one kind, from each peer. */
  add(what: string, fates: ReadonlyMap<string, Fate>): void {
    const isOne = new Set([...fates.values()].map(keyOf)).size === 1;
    for (const [peer, fate] of isOne ? [...fates].slice(0, 1) : fates) {
      const name = isOne ? what : `${what} from ${peer.replace(/\/(?:32|128)$/, '')}`;
      if (fate.is === 'unknown') this.unknown(fate.why, name);
      if (fate.is !== 'dropped') continue;
      const { is: _, ...by } = fate;
      const key = keyOf(fate);
      this.#blockages.set(key, { ...by, what: [...(this.#blockages.get(key)?.what ?? []), name] });
    }
  }

  unknown(why: string, what: string): void {
    this.#notJudged.set(why, { why, what: [...(this.#notJudged.get(why)?.what ?? []), what] });
  }

  judgement(hasAll: boolean): Judgement {
    const named = <T extends { readonly what: readonly string[] }>(one: T): T =>
      hasAll ? { ...one, what: together(one.what) } : one;
    return {
      blockages: [...this.#blockages.values()].map(named),
      notJudged: [...this.#notJudged.values()].map(named),
    };
  }
}

function keyOf(fate: Fate): string {
  if (fate.is === 'let in') return fate.is;
  return fate.is === 'unknown' ? fate.why : `${fate.table} ${fate.chain} ${fate.handle}`;
}

/** A packet of a peer, and whether a rule looked at who that is. */
function watched(packet: Omit<Newcomer, 'from'>, peer: string) {
  let isLookedAt = false;
  return {
    packet: {
      ...packet,
      get from() {
        isLookedAt = true;
        return peer;
      },
    },
    isLookedAt: () => isLookedAt,
  };
}

/** By what they are called, with all who are permitted that. */
function kindsOf(permitted: readonly FirewallEntry[]) {
  const kinds = new Map<string, { readonly entry: FirewallEntry; readonly peers: Set<string> }>();
  for (const entry of permitted) {
    for (const protocol of entry.protocol === 'ALL' ? EACH : [entry.protocol]) {
      const { from, to, cidr } = entry;
      const isAny = entry.protocol === 'ALL' || from === undefined;
      const what = isAny ? protocol : `${protocol} ${from}${to === undefined || to === from ? '' : `-${to}`}`;
      const kind = kinds.get(what) ?? { entry: { ...entry, protocol }, peers: new Set<string>() };
      kinds.set(what, kind);
      kind.peers.add(cidr);
    }
  }
  return kinds;
}

/** "all" in place of each of its parts. */
function together(what: readonly string[]): readonly string[] {
  if (!EACH.every((one) => what.includes(one))) return what;
  return ['all', ...what.filter((one) => !EACH.some((part) => part === one))];
}

function newcomerOf({ protocol, from }: FirewallEntry, interfaceName: string, own: OwnAddress): Omit<Newcomer, 'from'> {
  const port = protocol === 'ICMP' ? 0 : (from ?? ANY_PORT);
  return { interfaceName, to: own.address, protocol: protocol === 'ALL' ? 'TCP' : protocol, port };
}
