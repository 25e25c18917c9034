/** How far this process was told the commits of each workspace, and which of them concerned nodes last. */
export class ReceivedCommits {
  readonly #workspaces = new Map<string, { readonly first: number; last: number; shown?: number }>();

  add(workspace: string, revision: number, isShown: boolean): void {
    const known = this.#workspaces.get(workspace) ?? { first: revision, last: revision };
    known.last = revision;
    if (isShown) known.shown = revision;
    this.#workspaces.set(workspace, known);
  }

  /** The newest; undefined where none was told. */
  last(workspace: string): number | undefined {
    return this.#workspaces.get(workspace)?.last;
  }

  /** The revision since which nothing told concerned nodes; undefined where none was told. */
  quietSince(workspace: string): number | undefined {
    const known = this.#workspaces.get(workspace);
    return known && (known.shown ?? known.first - 1);
  }
}
