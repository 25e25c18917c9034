import { formatInstant } from '../../core/base/time.ts';

/** The note in a database that it is no longer the one in use. */
export interface MoveNote {
  /** Where to, without secrets. */
  readonly to: string;
  readonly at: number;
  /** False while it is being copied. */
  readonly done: boolean;
}

/** Says in a target whose copy it is, and keeps control planes from it until it is whole. */
export interface CopyMark {
  readonly installation: string;
  /** Without secrets. */
  readonly from: string;
  readonly at: number;
}

/** Why no control plane starts on it. */
export function movedRefusal(what: string, { to, at, done }: MoveNote): string {
  const when = formatInstant(at);
  return done
    ? `${what} was moved to ${to} on ${when}, so nothing was started or changed: set MESH_STORE_URL to that. To have this one back, as it was then and without what was written since: meshd copy --cancel`
    : `${what} is being moved to ${to}, since ${when}, so nothing was started or changed: run the same meshd copy again, which begins anew, or give it up: meshd copy --cancel`;
}

/** Why it is copied nowhere else: whoever forgot to name the store in use is not led to give up what was written there. */
export function copiedElsewhere(place: string, { to, at, done }: MoveNote): string {
  const when = formatInstant(at);
  return done
    ? `${place} was moved to ${to} on ${when}, so nothing was copied. What is copied is the store that MESH_STORE_URL names, or mesh.db in the configuration directory where it is not set: set it to that of ${to} to copy what is there now. To have this one back without what was written since: meshd copy --cancel`
    : `${place} is being moved to ${to}, since ${when}, so nothing was copied: run that copy again, or give it up first: meshd copy --cancel`;
}

/** The same of a copy that is not whole. */
export function unfinishedRefusal(what: string, { from, at }: CopyMark): string {
  return `${what} is a copy of ${from} that was begun on ${formatInstant(at)} and did not end, so nothing was started or changed: run the same meshd copy again, or start on ${from}`;
}
