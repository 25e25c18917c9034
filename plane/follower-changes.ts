import type { PeerRecord } from '../core/model/resources.ts';

/** Longer than it takes until another control plane leads: what is older, its leader has sent. */
const RETENTION_MS = 60_000;

/** A commit that concerns nodes, of a workspace that another control plane led. */
interface FollowerChange {
  readonly revision: number;
  readonly heardAt: number;
  /** Peers that it shut out. */
  readonly gone: readonly PeerRecord[];
}

/**
 * Recent changes of workspaces that another control plane leads. Nobody knows how far that plane got before it ended, so the
 * next leader sends all of them again, which does no harm to a node that has them already.
 */
export class FollowerChanges {
  readonly #changes = new Map<string, FollowerChange[]>();

  add(workspace: string, change: FollowerChange): void {
    const known = this.#changes.get(workspace) ?? [];
    const oldest = change.heardAt - RETENTION_MS;
    const kept = known.findIndex(({ heardAt }) => heardAt > oldest);
    this.#changes.set(workspace, [...(kept < 0 ? [] : known.slice(kept)), change]);
  }

  workspaces(): readonly string[] {
    return [...this.#changes.keys()];
  }

  /** Takes out what there is of a workspace: who was shut out, and the revision that graphs may have to show first. */
  take(workspace: string, now: number): { readonly gone: readonly PeerRecord[]; readonly from: number | undefined } {
    const recent = (this.#changes.get(workspace) ?? []).filter(({ heardAt }) => now - heardAt < RETENTION_MS);
    this.#changes.delete(workspace);
    return { gone: recent.flatMap(({ gone }) => gone), from: recent.at(0)?.revision };
  }
}
