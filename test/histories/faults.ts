import { setTimeout as after } from 'node:timers/promises';
import type { Random } from '../faults/random.ts';
import type { Cluster, ClusterPlane } from '../kits/cluster.ts';
import type { Api } from '../kits/http/harness.ts';
import type { Place } from '../kits/http/joining.ts';
import { giveUp } from '../kits/http/unread-request.ts';
import { freeze } from '../kits/process/freezer.ts';
import type { NatsCluster } from '../kits/servers/nats-cluster.ts';
import type { ReplicaSet } from '../kits/servers/replica-set.ts';
import { KEYS, specOf } from './clients.ts';

/** Where clients of several control planes are at work. */
export interface Scene {
  readonly random: Random;
  /** Their workspace. */
  readonly place: Place;
  /** Those that clients may pick, by how they are called. */
  readonly asked: Map<unknown, Api>;
  /** Resolves once so many operations more have ended. */
  progress(operations: number): Promise<void>;
}

/** Does something bad, and mends it. */
export type Fault = (scene: Scene) => Promise<void>;

/** Enough that others have gone on without what failed. */
export const MEANWHILE = 24;
const MOMENT_MS = 500;
/** Longer than a lease, and than what a control plane takes for a standstill. */
const PAUSED_MS = [5_500, 8_000] as const;
/** Where every client waits for what stands still, none goes on before it does. */
const MOST_STOPPED_MS = 10_000;
/** The first value of writes whose clients give up; other clients write lower values. */
const GIVEN_UP = 65_000;

export function faultsOf(cluster: Cluster, servers: ReplicaSet, bus?: NatsCluster) {
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
        await standing(scene, MOMENT_MS);
      } finally {
        plane.meshd.signal('SIGCONT');
        comeBack(plane, scene);
      }
    },

    /** Others lead meanwhile, and it is asked for writes that their callers give up: none of them may ever be done. */
    async planePaused(scene) {
      const plane = scene.random.pick(cluster.planes);
      plane.meshd.signal('SIGSTOP');
      leave(plane, scene);
      try {
        await giveUpWrites(plane.url, scene.place);
        await standing(scene, scene.random.pick(PAUSED_MS));
      } finally {
        plane.meshd.signal('SIGCONT');
        comeBack(plane, scene);
      }
    },

    /** It goes on as the primary that it was, until it hears of the next one. */
    async primaryFrozen(scene) {
      const { pid } = await servers.primary();
      await frozen(scene, pid);
    },

    async busServerFrozen(scene) {
      if (bus) await frozen(scene, scene.random.pick(bus.members).pid);
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

async function frozen(scene: Scene, pid: number): Promise<void> {
  const thaw = await freeze([pid]);
  try {
    await standing(scene, scene.random.pick([MOMENT_MS, ...PAUSED_MS]));
  } finally {
    thaw();
  }
}

/** Waits for so long, and until others have gone on. */
async function standing({ progress }: Scene, ms: number): Promise<void> {
  await after(ms);
  await Promise.race([progress(MEANWHILE), after(MOST_STOPPED_MS - ms)]);
}

/** For each key one that would be done whether it is there or not. */
async function giveUpWrites(url: string, place: Place): Promise<void> {
  const writes = KEYS.flatMap((key, nth) => [
    { method: 'POST', path: '/api/v1/policies', body: { name: key, spec: specOf(GIVEN_UP + nth) } },
    { method: 'PUT', path: `/api/v1/policies/${key}`, body: { spec: specOf(GIVEN_UP + nth) } },
  ]);
  await Promise.all(writes.map((write) => giveUp({ url, place, ...write })));
}
