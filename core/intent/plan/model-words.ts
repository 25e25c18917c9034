import type { Effect } from '../../effect/effect.ts';
import type { PortSpan } from '../../effect/port-spans.ts';
import type { NetworkState } from '../../state/state.ts';

/** Words of a model, as its own: nothing in them can look like the end of the quotation. */
export function modelSays(words: string): string {
  return `The model says: ${JSON.stringify(words)}`;
}

export function modelAsks(question: string): string {
  return `The model asks: ${JSON.stringify(question)}`;
}

/** The computed result against which a model's words are checked. */
export interface Computed {
  readonly effect: Effect;
  /** The network after the change. */
  readonly after: NetworkState;
}

/** A sentence of a model. */
export interface Claim {
  readonly text: string;
  /**
   * The part of the sentence that contradicts the computed effect; undefined where no contradiction was found, which proves
   * nothing.
   */
  readonly contradiction?: string;
}

type Side = 'opened' | 'closed';

const VERBS: Readonly<Record<Side, ReadonlySet<string>>> = {
  opened: new Set(
    'open opens opened allow allows allowed permit permits grant grants let lets reach reaches'.split(' '),
  ),
  closed: new Set(
    'close closes closed deny denies block blocks blocked forbid forbids revoke revokes isolate'.split(' '),
  ),
};
/** A sentence with one of these may speak of what does not change. */
const HEDGES = new Set(
  'not no never nothing none unless except without already still stay stays remain remains'.split(' '),
);
const PORT = /\b(?:ports?|tcp|udp|sctp)[ /:]*(\d{1,5})\b|\b(\d{1,5})\/(?:tcp|udp|sctp)\b/gi;

/**
 * The sentences of a text, each held against the effect: the ports that it names, the peers that it names, and whether
 * anything opens or closes where it says so. What says "not" or "still" is not judged.
 */
export function claimsOf(text: string, computed: Computed): Claim[] {
  return text
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '')
    .map((sentence) => {
      const contradiction = contradictionOf(sentence, computed);
      return contradiction === undefined ? { text: sentence } : { text: sentence, contradiction };
    });
}

function contradictionOf(sentence: string, { effect, after }: Computed): string | undefined {
  const words = sentence.split(/[^\p{L}\p{N}._-]+/u).map((word) => word.replace(/\.$/, ''));
  if (words.some((word) => HEDGES.has(word.toLowerCase()) || /n.t$/i.test(word))) return undefined;
  const ports = [...sentence.matchAll(PORT)].map(([, after, before]) => Number(after ?? before));
  const strange = ports.find((port) => !changes(effect, port));
  if (strange !== undefined) return `nothing opens or closes on port ${strange}`;
  const said = (['opened', 'closed'] as const).filter((side) =>
    words.some((word) => VERBS[side].has(word.toLowerCase())),
  );
  const [side] = said;
  if (side === undefined || said.length > 1) return undefined;
  const names = new Set(words.filter((word) => after.peers.has(word)));
  if (touches(effect, side, names)) return undefined;
  const what = `it ${side === 'opened' ? 'opens' : 'closes'} nothing`;
  return names.size === 0 ? what : `${what} ${names.size > 1 ? 'between' : 'of'} ${[...names].join(' and ')}`;
}

function changes({ groups }: Effect, port: number): boolean {
  const holds = ({ from, to }: PortSpan) => from !== undefined && to !== undefined && from <= port && port <= to;
  return groups.some(({ opened, closed }) => [...opened, ...closed].some(holds));
}

/**
 * Returns true if the effect has a connection on that side between the named peers; with one name, one that starts or ends
 * there; with none, any at all.
 */
function touches({ groups }: Effect, side: Side, names: ReadonlySet<string>): boolean {
  const named = (peers: readonly string[]) => peers.some((peer) => names.has(peer));
  return groups
    .filter((group) => group[side].length > 0)
    .some(({ src, dst }) => {
      if (names.size === 0) return true;
      return names.size === 1 ? named(src) || named(dst) : named(src) && named(dst);
    });
}
