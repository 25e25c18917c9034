import { rmSync } from 'node:fs';
import { configure, login } from '../kits/http/harness.ts';
import { freshDirectory } from '../kits/process/meshd.ts';
import { examine } from './examine.ts';
import { Ledger } from './ledger.ts';
import { openLoad } from './load.ts';
import { ROLES } from './oracle.ts';
import type { Random } from './random.ts';
import { momentWithin, Victim, type VictimOptions } from './victim.ts';
import { call, join, nextWrite, type Place, read, removePeer } from './writes.ts';

const WRITERS = 4;
/** The first requests after a start are slow: a kill comes after some of them. */
const WRITES_BEFORE = 12;
const STORM = 8;
const STORM_KEPT = 12;
const MOST_PEERS = 500;

/** What one more look at a control plane has to find, a line for each lie. */
export type Look = (world: World) => Promise<readonly string[]>;

/** A control plane that is killed again and again, with the list of what it acknowledged. */
export class World {
  readonly victim: Victim;
  readonly random: Random;
  readonly findings: string[] = [];
  /** Kills by crash point. */
  readonly kills = new Map<string, number>();
  /** What crash points want to see after the next start. */
  readonly looks: Look[] = [];
  main = new Ledger();
  /** In which a person has to approve each change. */
  guarded = new Ledger();
  /** Starts that came up and were looked at. */
  starts = 0;
  private token = '';
  private places: { readonly main: Place; readonly guarded: Place } | undefined;
  private told = 0;
  private storms = 0;

  constructor(random: Random, options: Omit<VictimOptions, 'directory'> & { readonly directory?: string } = {}) {
    this.random = random;
    this.victim = new Victim({ ...options, directory: options.directory ?? freshDirectory() });
    configure(this.victim.directory);
  }

  get place(): Place {
    return this.placesOf().main;
  }

  get guardedPlace(): Place {
    return this.placesOf().guarded;
  }

  /** Makes what is written to. The control plane is up. */
  async settle(): Promise<void> {
    const api: Place['api'] = async (...asked) => this.victim.api(...asked);
    this.token = await login(api);
    const place = async (slug: string): Promise<Place> => {
      const body = { slug, namespace: slug, displayName: slug, maxNodeCount: MOST_PEERS };
      const made = await api('POST', '/api/v1/workspaces/add', { token: this.token, body });
      return { api, token: this.token, workspace: made.body.data.id, joinTokens: new Map() };
    };
    const [main, guarded] = [await place('main'), await place('guarded')];
    const joinTokens = new Map<string, string>();
    for (const role of ROLES) {
      const token = { name: role, expiry: '', labels: { role }, usageLimit: 10_000 };
      const made = await call(main, 'POST', '/token/generate', token);
      if (made.status > 299) throw new Error(`No join token was made: ${made.text}`);
      joinTokens.set(role, made.body.token);
    }
    await call(guarded, 'PATCH', `/workspaces/${guarded.workspace}`, {
      settings: { requireApproval: true, selfApproval: true },
    });
    this.places = { main: { ...main, joinTokens }, guarded };
    await this.look();
  }

  /**
   * Kills the control plane at some moment of work that is done beside other work.
   *
   * @param spanMs what that takes on a quiet machine
   */
  async killDuring(point: string, work: () => Promise<unknown>, spanMs: number): Promise<void> {
    const load = openLoad(this.victim, this.place);
    const underWay = this.main.more(1 + this.random.below(WRITES_BEFORE));
    const busy = [...this.writers(), this.storm()];
    // On a full disk none is acknowledged, and each writer ends with the first that is refused.
    await Promise.race([underWay, Promise.allSettled(busy)]);
    busy.push(work().then(() => undefined));
    await momentWithin(spanMs * this.victim.slowness, this.victim.directory, 'mesh.db-wal', this.random);
    await this.victim.kill();
    this.count(point);
    for (const { reason } of (await Promise.allSettled(busy)).filter((each) => each.status === 'rejected'))
      throw reason;
    await load.close();
    this.told = Math.max(this.told, load.told());
  }

  count(point: string): void {
    this.kills.set(point, (this.kills.get(point) ?? 0) + 1);
  }

  /** Starts it again, and holds all that it says against the list. */
  async comeBack(): Promise<void> {
    await this.victim.start();
    this.starts += 1;
    await this.look();
  }

  async look(): Promise<void> {
    for (const look of this.looks.splice(0)) this.findings.push(...(await look(this)));
    this.findings.push(...(await examine(this.place, this.main, this.random)));
    this.findings.push(...(await examine(this.guardedPlace, this.guarded, this.random)));
    this.findings.push(...this.main.refused.splice(0), ...this.guarded.refused.splice(0));
    const { body } = await read(this.place, '/connectivity/matrix');
    if (body.revision < this.told)
      this.findings.push(`revision ${this.told} was told to a reader, and ${body.revision} is the last`);
  }

  async close(): Promise<void> {
    await this.victim.kill();
    // What went wrong is kept to be looked at.
    if (this.findings.length === 0) rmSync(this.victim.directory, { recursive: true, force: true });
  }

  /** What to go back to, once the control plane was set back to now. */
  bookmark(): () => void {
    const { told, main, guarded } = { told: this.told, main: this.main.copy(), guarded: this.guarded.copy() };
    return () => Object.assign(this, { told, main: main.copy(), guarded: guarded.copy() });
  }

  /** Each with names of its own, until the control plane is gone. */
  private writers(): Promise<void>[] {
    return Array.from({ length: WRITERS }, async (_, index) => {
      const random = this.random.fork();
      const name = `w${index}`;
      while (await this.main.write(this.place, nextWrite(random, name, this.main.network)));
    });
  }

  /** Devices that all come at once; those of before leave. */
  private async storm(): Promise<void> {
    const before = [...this.main.network.peers.keys()].filter((name) => name.startsWith('storm-'));
    for (const name of before.slice(0, before.length - STORM_KEPT)) {
      if (!(await this.main.write(this.place, removePeer(name)))) return;
    }
    this.storms += 1;
    const names = Array.from({ length: STORM }, (_, index) => `storm-${this.storms}-${index}`);
    const role = this.random.pick(ROLES);
    await Promise.all(names.map((name) => this.main.write(this.place, join(name, role))));
  }

  private placesOf() {
    if (this.places === undefined) throw new Error('Nothing was made to be written to yet.');
    return this.places;
  }
}
