import {
  digestOfLines,
  type FirewallEntry,
  type FirewallRules,
  type GraphPeer,
  placeOf,
  ruleKey,
  ruleLine,
  sortedPeers,
  sortedRules,
} from '../model/graph.ts';

/** The entry of one peer in the graphs of others: the peer, and the rules of their traffic with it. */
export interface Block extends FirewallRules {
  readonly peer: GraphPeer;
}

/** The part of a graph that follows from the network. */
export interface Surroundings {
  readonly peers: readonly GraphPeer[];
  readonly firewall: { readonly digest: string; readonly full: FirewallRules };
}

/**
 * The shared graph of all nodes that policies do not distinguish, each of them as the others see it. Made once for all; a node
 * gets it without itself.
 *
 * Example: a, b and c may talk to each other, and to d. The view holds a, b, c and d; the graph of a is that without a, cut out
 * of lists that are in order already, and its digest is one of the lines before and behind those of a.
 */
export class GraphView {
  /** By id of the peer. */
  readonly blocks: ReadonlyMap<string, Block>;
  readonly #peers: readonly GraphPeer[];
  readonly #in: Lines;
  readonly #out: Lines;
  #digest: string | undefined;

  constructor(blocks: readonly Block[]) {
    this.blocks = new Map(blocks.map((block) => [block.peer.id, block]));
    this.#peers = sortedPeers(blocks.map(({ peer }) => peer));
    const rules = sortedRules({ in: blocks.flatMap((one) => one.in), out: blocks.flatMap((one) => one.out) });
    this.#in = new Lines('in', rules.in);
    this.#out = new Lines('out', rules.out);
  }

  /** Returns what the node of that id receives. */
  without(id: string): Surroundings {
    const own = this.blocks.get(id);
    const peers = own === undefined ? this.#peers : this.#peers.filter((peer) => peer !== own.peer);
    const full = { in: this.#in.without(own?.in), out: this.#out.without(own?.out) };
    return { peers, firewall: { digest: this.digestWithout(id), full } };
  }

  /** The digest of the rules that the node of that id is told. */
  digestWithout(id: string): string {
    const own = this.blocks.get(id);
    if (own !== undefined) return digestOfLines([...this.#in.textWithout(own.in), ...this.#out.textWithout(own.out)]);
    this.#digest ??= digestOfLines([...this.#in.textWithout(), ...this.#out.textWithout()]);
    return this.#digest;
  }
}

/** Rules of one direction in their order, with the text that their digest is of. */
class Lines {
  readonly #entries: readonly FirewallEntry[];
  readonly #text: Uint8Array;
  /** Where the line of each entry begins, and where the last one ends. */
  readonly #starts: Uint32Array;

  constructor(way: 'in' | 'out', entries: readonly FirewallEntry[]) {
    const lines = entries.map((entry) => ruleLine(way, entry));
    this.#entries = entries;
    this.#text = Buffer.from(lines.join(''));
    this.#starts = new Uint32Array(lines.length + 1);
    for (const [nth, line] of lines.entries()) this.#starts[nth + 1] = (this.#starts[nth] ?? 0) + line.length;
  }

  without(own: readonly FirewallEntry[] = []): readonly FirewallEntry[] {
    return this.#runsOf(own).reduce((left, { start, length }) => left.toSpliced(start, length), this.#entries);
  }

  textWithout(own: readonly FirewallEntry[] = []): Uint8Array[] {
    const pieces: Uint8Array[] = [];
    let end = this.#text.length;
    for (const { start, length } of this.#runsOf(own)) {
      pieces.unshift(this.#text.subarray(this.#starts[start + length], end));
      end = this.#starts[start] ?? 0;
    }
    return [this.#text.subarray(0, end), ...pieces];
  }

  /** Rules of one address stand behind each other: a peer's all name its one or two, and none else does. The last run comes first. */
  #runsOf(own: readonly FirewallEntry[]): { readonly start: number; readonly length: number }[] {
    return [...Map.groupBy(own, ({ cidr }) => cidr).values()]
      .map((run) => ({
        start: Math.min(...run.map((entry) => placeOf(this.#entries, ruleKey, ruleKey(entry)))),
        length: run.length,
      }))
      .sort((a, b) => b.start - a.start);
  }
}
