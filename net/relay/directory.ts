/** A peer by the halves of its id. */
interface Identified {
  readonly idHigh: number;
  readonly idLow: number;
}

/** Ready sessions by workspace and peer id. Ids are looked up as two 32-bit halves: numbers cost less than bigints. */
export class Directory<S extends Identified & { workspace: Workspace<S> | undefined }> {
  readonly #workspaces = new Map<string, Workspace<S>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  find(tag: Uint8Array, { idHigh, idLow }: Identified): S | undefined {
    return this.#workspaces.get(nameOf(tag))?.find(idHigh, idLow);
  }

  add(tag: Uint8Array, session: S): void {
    const name = nameOf(tag);
    const workspace = this.#workspaces.get(name) ?? new Workspace<S>(name);
    this.#workspaces.set(name, workspace);
    workspace.add(session);
    session.workspace = workspace;
    this.#size++;
  }

  remove(session: S): void {
    const { workspace } = session;
    if (workspace === undefined) return;
    session.workspace = undefined;
    workspace.remove(session);
    this.#size--;
    if (workspace.size === 0) this.#workspaces.delete(workspace.name);
  }
}

/** The peers of one workspace. */
export class Workspace<S extends Identified> {
  readonly name: string;
  readonly #byLow = new Map<number, S[]>();
  size = 0;

  constructor(name: string) {
    this.name = name;
  }

  find(high: number, low: number): S | undefined {
    const sessions = this.#byLow.get(low);
    if (sessions === undefined) return undefined;
    for (const session of sessions) if (session.idHigh === high) return session;
    return undefined;
  }

  add(session: S): void {
    const sessions = this.#byLow.get(session.idLow);
    if (sessions === undefined) this.#byLow.set(session.idLow, [session]);
    else sessions.push(session);
    this.size++;
  }

  remove(session: S): void {
    const sessions = this.#byLow.get(session.idLow);
    const at = sessions?.indexOf(session) ?? -1;
    if (sessions === undefined || at < 0) return;
    sessions.splice(at, 1);
    if (sessions.length === 0) this.#byLow.delete(session.idLow);
    this.size--;
  }
}

function nameOf(tag: Uint8Array): string {
  return Buffer.from(tag).toString('hex');
}
