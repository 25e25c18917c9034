import { watch } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import { type Api, apiOf } from '../kits/http/harness.ts';
import { type Meshd, startMeshd } from '../kits/process/meshd.ts';
import type { Random } from './random.ts';

/** What a start takes on a quiet machine of two cores. */
const QUIET_START_MS = 1_000;

export interface VictimOptions {
  readonly directory: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Between the rig and the control plane, to plant a lie. */
  readonly between?: (api: Api) => Api;
}

/** A test that is given up leaves none behind. */
const running = new Set<Meshd>();
process.on('exit', () => {
  for (const { child } of running) child.kill('SIGKILL');
});

/** A `meshd --standalone` that is killed and started again on one directory. */
export class Victim {
  readonly directory: string;
  /** How long a start takes here, ms: what is cut off in a start is cut off within that. */
  startMs = 2_000;
  private readonly options: VictimOptions;
  private meshd: Meshd | undefined;
  private current: { readonly api: Api; readonly url: string } | undefined;

  constructor(options: VictimOptions) {
    this.options = options;
    this.directory = options.directory;
  }

  /** How much longer than on a quiet machine things take here. */
  get slowness(): number {
    return Math.max(1, this.startMs / QUIET_START_MS);
  }

  get isUp(): boolean {
    return this.current !== undefined;
  }

  get api(): Api {
    return this.up().api;
  }

  get url(): string {
    return this.up().url;
  }

  /** Begins a start, and does not wait for its end. */
  begin(): Meshd {
    const { directory, env } = this.options;
    const meshd = startMeshd({ directory, ...(env && { env }) });
    running.add(meshd);
    void meshd.ended.then(() => running.delete(meshd));
    this.meshd = meshd;
    return meshd;
  }

  /** @throws Error with what it said where it does not come up */
  async start(): Promise<void> {
    const began = performance.now();
    const url = await this.begin().ready();
    this.startMs = performance.now() - began;
    const { between = (api: Api) => api } = this.options;
    this.current = { api: between(apiOf(url)), url };
  }

  async kill(): Promise<void> {
    this.current = undefined;
    this.meshd?.child.kill('SIGKILL');
    await this.meshd?.ended;
    this.meshd = undefined;
  }

  /** Ends it in order, and answers its exit code. */
  async stop(): Promise<number | null | undefined> {
    this.current = undefined;
    return this.meshd?.stop();
  }

  private up() {
    if (this.current === undefined) throw new Error('meshd is not up.');
    return this.current;
  }
}

/** Writes that a kill waits for, at most. */
const MOST_WRITES = 12;

/**
 * The moment of a kill: some time within the span, or right after one of the next writes to a file whose name begins so,
 * which a span without so many ends too.
 */
export async function momentWithin(spanMs: number, directory: string, file: string, random: Random): Promise<void> {
  if (random.chance(0.5)) return after(random.next() * spanMs);
  let left = 1 + random.below(MOST_WRITES);
  const over = new AbortController();
  const watcher = watch(directory, (_event, name) => {
    if (!name?.startsWith(file)) return;
    left -= 1;
    if (left === 0) over.abort();
  });
  try {
    await after(spanMs, undefined, { signal: over.signal });
  } catch {
    // It was written to.
  } finally {
    watcher.close();
  }
}
