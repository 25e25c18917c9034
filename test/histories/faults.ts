import { setTimeout as after } from 'node:timers/promises';
import type { Random } from '../faults/random.ts';
import type { Cluster, ClusterPlane } from '../kits/cluster.ts';
import type { Api } from '../kits/http/harness.ts';
import type { ReplicaSet } from '../kits/servers/replica-set.ts';

/** Where clients of several control planes are at work. */
export interface Scene {
  readonly random: Random;
  /** Those that clients may pick, by how they are called. */
  readonly asked: Map<unknown, Api>;
  /** Resolves once so many operations more have ended. */
  progress(operations: number): Promise<void>;
}

/** Does something bad, and mends it. */
export type Fault = (scene: Scene) => Promise<void>;

/** Enough that others have gone on without what failed. */
export const MEANWHILE = 24;
/** A lease lasts four seconds: what is stopped for longer than that has lost it. */
const STOPPED_MS = [500, 5_500] as const;
const MOST_STOPPED_MS = 10_000;

export function faultsOf(cluster: Cluster, servers: ReplicaSet) {
  const leave = (plane: ClusterPlane, { asked }: Scene) => asked.delete(plane);
  const comeBack = (plane: ClusterPlane, { asked }: Scene) => asked.set(plane, plane.api);

  return {
    async planeKilled(scene) {
      const plane = scene.random.pick(cluster.planes);
      // Some requests meet it as it dies, some of them in the middle.
      await after(scene.random.below(20));
      await plane.kill();
      leave(plane, scene);
      await scene.progress(MEANWHILE);
      await plane.start();
      comeBack(plane, scene);
    },

    /** Who asks it then waits, and it goes on with what it knew when it was stopped. */
    async planeStopped(scene) {
      const plane = scene.random.pick(cluster.planes);
      plane.meshd.signal('SIGSTOP');
      leave(plane, scene);
      try {
        await after(scene.random.pick(STOPPED_MS));
        // Where every client waits for this one, none goes on before it does.
        await Promise.race([scene.progress(MEANWHILE), after(MOST_STOPPED_MS)]);
      } finally {
        plane.meshd.signal('SIGCONT');
        comeBack(plane, scene);
      }
    },

    async primaryKilled({ progress }) {
      const primary = await servers.primary();
      await primary.kill();
      try {
        await progress(MEANWHILE);
      } finally {
        await primary.start();
      }
    },

    primaryStepsDown: () => servers.stepDown(),
  } as const satisfies Record<string, Fault>;
}
