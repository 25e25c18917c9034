import { setTimeout as after } from 'node:timers/promises';
import type { Random } from '../faults/random.ts';
import type { Cluster, ClusterPlane } from '../kits/cluster.ts';
import type { ReplicaSet } from '../kits/servers/replica-set.ts';

/** Where clients of several control planes are at work while something of it fails. */
export interface Scene {
  readonly cluster: Cluster;
  readonly servers: ReplicaSet;
  readonly random: Random;
  /** Those that clients may pick. */
  readonly asked: Set<ClusterPlane>;
  /** Resolves once so many operations more have ended. */
  progress(operations: number): Promise<void>;
}

type Fault = (scene: Scene) => Promise<void>;

/** Enough that others have gone on without what failed. */
const MEANWHILE = 24;
/** A lease lasts four seconds: what is stopped for longer than that has lost it. */
const STOPPED_MS = [500, 5_500] as const;

export const FAULTS = {
  async 'a plane is killed'({ cluster, random, asked, progress }) {
    const plane = random.pick(cluster.planes);
    // Some requests meet it as it dies, some of them in the middle.
    await after(random.below(20));
    await plane.kill();
    asked.delete(plane);
    await progress(MEANWHILE);
    await plane.start();
    asked.add(plane);
  },

  /** Who asks it then waits, and it goes on with what it knew when it was stopped. */
  async 'a plane is stopped for a while'({ cluster, random, asked, progress }) {
    const plane = random.pick(cluster.planes);
    plane.meshd.signal('SIGSTOP');
    asked.delete(plane);
    try {
      await after(random.pick(STOPPED_MS));
      await progress(MEANWHILE);
    } finally {
      plane.meshd.signal('SIGCONT');
      asked.add(plane);
    }
  },

  async 'the primary of the store is killed'({ servers, progress }) {
    const primary = await servers.primary();
    await primary.kill();
    try {
      await progress(MEANWHILE);
    } finally {
      await primary.start();
    }
  },

  async 'the primary of the store steps down'({ servers }) {
    await servers.stepDown();
  },
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof FAULTS;
