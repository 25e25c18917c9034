import { MeshError } from '../base/errors.ts';

/** Which versions of the wire a node or a control plane speaks (docs/wire.md#versions). */
export interface WireVersions {
  readonly oldest: number;
  readonly newest: number;
}

/**
 * Wire versions that this software speaks. The first change to messages or their reading after a release raises `newest`;
 * `oldest` is raised at most to the version that the release before that one speaks.
 *
 * 1  0.1.0, which sends no version
 * 2  sends its versions; registrations and heartbeats may have `version`, heartbeats `witnessed`, those over HTTP `leaving`,
 *    replies `checkpoint`, graphs `relays`; replies to heartbeats may have `mark`, which the next heartbeat repeats
 * 3  rotations may have `oldKeyProof`; a heartbeat every 15 s instead of 30, and offline after 45 s instead of 90
 */
export const WIRE: WireVersions = { oldest: 1, newest: 3 };
const UNSPECIFIED: WireVersions = { oldest: 1, newest: 1 };

/** Says them over HTTP, in both directions; `wire` in what is sealed. */
export const WIRE_HEADER = 'Mesh-Wire';
export const WIRE_TEXT = `${WIRE.oldest}-${WIRE.newest}`;
export const MAX_WIRE_TEXT = 9;
/** Stands for what is no text of versions at all. */
export const UNREADABLE_WIRE = '?';
const FORM = /^(\d{1,4})-(\d{1,4})$/;

/**
 * Undefined for what is not `<oldest>-<newest>`. Who says none is of 0.1.0: an empty header says none, and one that a proxy
 * repeats says it once (RFC 9110, 5.6.1).
 */
export function readWire(said: string | undefined): WireVersions | undefined {
  const [first, ...others] = new Set((said ?? '').split(',').flatMap((each) => each.trim() || []));
  if (first === undefined) return UNSPECIFIED;
  const [, oldest, newest] = others.length === 0 ? (FORM.exec(first) ?? []) : [];
  const versions = { oldest: Number(oldest), newest: Number(newest) };
  return versions.oldest <= versions.newest ? versions : undefined;
}

/** The newest version that both speak; undefined where there is none. */
export function commonWire(said: string | undefined, ours = WIRE): number | undefined {
  const theirs = readWire(said);
  if (theirs === undefined) return undefined;
  const newest = Math.min(theirs.newest, ours.newest);
  return newest >= Math.max(theirs.oldest, ours.oldest) ? newest : undefined;
}

type Side = 'node' | 'control plane';

/** Why two have no version in common, and which to upgrade; undefined where they have. `other` is the one that said it. */
export function wireMismatch(other: Side, said: string | undefined, ours = WIRE): string | undefined {
  if (commonWire(said, ours) !== undefined) return undefined;
  const theirs = readWire(said);
  if (theirs === undefined) return `What the ${other} says of its versions of the wire is not like ${WIRE_TEXT}.`;
  const we: Side = other === 'node' ? 'control plane' : 'node';
  const older = theirs.newest < ours.oldest ? other : we;
  return `The ${other} speaks ${versionsText(theirs)} of the wire and the ${we} ${versionsText(ours)}: upgrade the ${older}.`;
}

function versionsText({ oldest, newest }: WireVersions): string {
  return oldest === newest ? `version ${newest}` : `versions ${oldest} to ${newest}`;
}

/** @throws MeshError `unsupported_version` for a node that has no version in common with this control plane */
export function requireWire(said: string | undefined): void {
  const mismatch = wireMismatch('node', said);
  if (mismatch !== undefined) throw new MeshError('unsupported_version', mismatch);
}
