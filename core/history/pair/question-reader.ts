import { MeshError } from '../../base/errors.ts';
import type { Protocol } from '../../model/policy.ts';
import type { PeerRecord } from '../../model/resources.ts';
import type { Identity } from './identity.ts';

/** A peer over a range: as it was last seen, and all that it was called and labelled. */
export interface PeerOverRange {
  readonly peer: PeerRecord;
  /** True where it exists at the end of the range. */
  readonly isThere: boolean;
  /** Names that mean it: what another is called at the end means that other one. */
  readonly names: readonly string[];
  /** Its records that differ in names, labels, address or host name, the newest last. */
  readonly versions: readonly PeerRecord[];
}

/** A side of a connection that a question is about. */
export interface QuestionEnd {
  /** As answers call it: a name, `role=web`, `web-1 and web-2`. */
  readonly text: string;
  readonly peers: readonly Identity[];
  /** Addresses outside of all networks, as they were named, in place of peers. */
  readonly outside?: string;
  /** The term for it in calls of tools: a name, `label=value`, `*`; none for several peers without a common label. */
  readonly term?: string;
}

/** The moment or time that a question names. */
export interface QuestionTime {
  /** The part of the question, and what it was read as: `"yesterday" is Sunday 2026-01-04, 00:00 to 24:00 (UTC)`. */
  readonly said: string;
  /** Milliseconds; none: from the beginning, or up to the end, of what is asked about. */
  readonly from?: number;
  readonly to?: number;
}

interface QuestionScope {
  readonly protocol?: Protocol;
  readonly port?: number;
  /** Words that were not understood and do not say who or when. */
  readonly unused: readonly string[];
}

/** Which change of a connection is asked for; none: what led to how it is. */
export interface SoughtChange {
  /** "Who let ci in?", "who blocked ci?", "until when can ci reach db-1?" */
  readonly change: 'opened' | 'closed' | 'end';
  /** "When did ci first reach db-1?"; else the last. */
  readonly isFirst?: boolean;
  /** "Who approved ci's access?" */
  readonly isApproved?: boolean;
  /** "Who gave ci access?" asks for what allows it before what no longer forbids it. */
  readonly isGiven?: boolean;
}

/** The part of a resource's own history that a question asks for. */
export type Aspect = 'created' | 'deleted' | 'renamed' | 'labels' | 'approved' | 'online' | 'changed';

/** A resource over a range, whatever it is called at the end. */
export interface ResourceOverRange {
  readonly kind: 'MeshPeer' | 'MeshPolicy' | 'MeshNetwork' | 'AgentIdentity';
  readonly name: string;
  readonly uid: string;
}

export type Question =
  /** "Since when can't web-1 reach db-1?" */
  | ({
      readonly about: 'connection';
      readonly src: QuestionEnd;
      readonly dst: QuestionEnd;
      readonly sought?: SoughtChange;
    } & QuestionScope)
  /** "Who deleted web-1?" */
  | ({ readonly about: 'resource'; readonly resource: ResourceOverRange; readonly aspect: Aspect } & QuestionScope)
  /** "What did planner-bot change today?" */
  | ({ readonly about: 'deeds'; readonly actor: string } & QuestionScope)
  /** "What could reach db-1?": the other side is open. */
  | ({ readonly about: 'reach'; readonly src?: QuestionEnd; readonly dst?: QuestionEnd } & QuestionScope)
  /** "What changed since yesterday?" */
  | ({ readonly about: 'changes' } & QuestionScope);

/** The parts of a question, before it is resolved who existed at the time. */
export interface ParsedQuestion {
  readonly time?: QuestionTime;
  /**
   * @param peers everyone who was there in the range
   * @param others what else there was
   * @throws MeshError as {@link notUnderstood} makes it
   */
  about(peers: readonly PeerOverRange[], others?: readonly ResourceOverRange[]): Question;
}

export interface QuestionReader {
  /**
   * @param now the instant of the question, ms; moments in words count from it, by the clocks of the time zone
   * @throws MeshError as {@link notUnderstood} makes it
   */
  read(question: string, now: number, timeZone: string): ParsedQuestion | Promise<ParsedQuestion>;
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
