import { formatInstant } from '../../core/base/time.ts';

/** That a database is not the one in use any more, as it says itself. */
export interface Moved {
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
export function movedRefusal(what: string, { to, at, done }: Moved): string {
  const when = formatInstant(at);
  return done
    ? `${what} was moved to ${to} on ${when}, so nothing was started or changed: set MESH_STORE_URL to that. To have this one back, as it was then: meshd copy --cancel`
    : `${what} is being moved to ${to}, since ${when}, so nothing was started or changed: run the same meshd copy again, which begins anew, or give it up: meshd copy --cancel`;
}

/** The same of a copy that is not whole. */
export function unfinishedRefusal(what: string, { from, at }: CopyMark): string {
  return `${what} is a copy of ${from} that was begun on ${formatInstant(at)} and did not end, so nothing was started or changed: run the same meshd copy again, or start on ${from}`;
}
