import { MeshError } from '../../base/errors.ts';
import type { Protocol } from '../../model/policy.ts';
import type { PeerRecord } from '../../model/resources.ts';

/** A peer over a range: as it was last seen, and all that it was called and labelled. */
export interface KnownPeer {
  readonly peer: PeerRecord;
  /** Whether it is there at the end of the range. */
  readonly isThere: boolean;
  /** Names that mean it: what another is called at the end means that other one. */
  readonly names: readonly string[];
  /** Its records that differ in names, labels, address or host name, the newest last. */
  readonly versions: readonly PeerRecord[];
}

/** One side of a connection that is asked about. */
export interface AskedEnd {
  /** As answers call it: a name, `role=web`, `web-1 and web-2`. */
  readonly text: string;
  readonly peers: readonly PeerRecord[];
  /** What a tool takes for it: a name, `label=value`, `*`; none for several that have no label in common. */
  readonly term?: string;
}

/** The moment or time that a question names. */
export interface AskedTime {
  /** The part of the question, and what it was read as: `"yesterday" is Sunday 2026-01-04, 00:00 to 24:00 (UTC)`. */
  readonly said: string;
  /** Milliseconds; none: from the beginning, or up to the end, of what is asked about. */
  readonly from?: number;
  readonly to?: number;
}

interface AskedScope {
  readonly protocol?: Protocol;
  readonly port?: number;
  /** Words that were not understood and do not say who or when. */
  readonly unused: readonly string[];
}

export type Asked =
  /** "Since when can't web-1 reach db-1?" */
  | ({ readonly about: 'connection'; readonly src: AskedEnd; readonly dst: AskedEnd } & AskedScope)
  /** "What could reach db-1?": the other side is open. */
  | ({ readonly about: 'reach'; readonly src?: AskedEnd; readonly dst?: AskedEnd } & AskedScope)
  /** "What changed since yesterday?" */
  | ({ readonly about: 'changes' } & AskedScope);

/** What a question says, before it is known who was there at the time. */
export interface ReadQuestion {
  readonly time?: AskedTime;
  /**
   * @param peers everyone who was there in the range
   * @throws MeshError as {@link notUnderstood} makes it
   */
  about(peers: readonly KnownPeer[]): Asked;
}

export interface QuestionReader {
  /**
   * @param now the instant of the question, ms; moments in words count from it, by the clocks of the time zone
   * @throws MeshError as {@link notUnderstood} makes it
   */
  read(question: string, now: number, timeZone: string): ReadQuestion;
}

const MAX_NEAREST = 5;

/** The error that asks a question back. Its names are told only to who may list them. */
export function notUnderstood(reason: string, nearest: readonly string[] = []): MeshError {
  const more = nearest.length - MAX_NEAREST;
  return new MeshError('intent_not_understood', reason, {
    reason,
    questions: [],
    choices: [],
    ...(nearest.length > 0 && { nearest: nearest.slice(0, MAX_NEAREST), ...(more > 0 && { more }) }),
  });
}
