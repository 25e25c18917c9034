import { formatInstant } from '../../core/base/time.ts';
import type { PathReport } from '../../core/model/reported-paths.ts';
import type { PathStatus } from '../paths/status.ts';

/** Most paths in one heartbeat; the control plane takes no more. */
const MAX_REPORTS = 256;

/** Which paths to peers the control plane has not been told of. */
export class PathReports {
  /** Last report, by peer. */
  #lastReports = new Map<string, string>();

  /** Returns the changes since the last report that arrived, or everything; more than fit come with the next one. */
  next(statuses: readonly PathStatus[], all: boolean): { readonly paths: readonly PathReport[]; taken(): void } {
    if (all) this.#lastReports.clear();
    const known = new Set(statuses.map(({ peerId }) => peerId));
    for (const peerId of this.#lastReports.keys()) if (!known.has(peerId)) this.#lastReports.delete(peerId);
    const changed = statuses
      .filter((status) => this.#lastReports.get(status.peerId) !== keyOf(status))
      .slice(0, MAX_REPORTS);
    return {
      paths: changed.map(({ peerId, transport, path, reason, since }) => ({
        peer: peerId,
        transport,
        path,
        reason: reason.code,
        since: formatInstant(since),
      })),
      taken: () => {
        for (const status of changed) this.#lastReports.set(status.peerId, keyOf(status));
      },
    };
  }
}

function keyOf({ transport, path, reason, since }: PathStatus): string {
  return `${transport} ${path} ${reason.code} ${since}`;
}
