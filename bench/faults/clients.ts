import { setTimeout as after } from 'node:timers/promises';
import type { ClusterPlane } from '../../test/kits/cluster.ts';
import { policyNames } from '../../test/kits/cluster-load.ts';
import type { Place } from '../../test/kits/http/joining.ts';

const READERS = 4;
const WRITERS = 4;
const PACE_MS = 50;
/** As the `check` of deploy/haproxy.cfg. */
const LOOK_MS = 2_000;
const FALLS = 2;

/** The results of all clients during a fault. */
export interface Met {
  readonly requests: number;
  /** Cut off, or answered 500 and above. */
  readonly errors: number;
  /** The longest time in which nobody was acknowledged a write, ms. */
  readonly longestMs: number;
  /** Acknowledged, and not there in the end. */
  readonly lost: number;
}

/**
 * Clients of a workspace behind a balancer that looks at /readyz: each writer makes one policy after the other, each reader lists.
 *
 * @param work done meanwhile
 */
export async function meet(planes: readonly ClusterPlane[], place: Place, work: () => Promise<void>): Promise<Met> {
  const balancer = balance(planes);
  const acknowledged: string[] = [];
  let [requests, errors, longestMs, wroteAt, isOver] = [0, 0, 0, performance.now(), false];
  const note = () => {
    const now = performance.now();
    [longestMs, wroteAt] = [Math.max(longestMs, now - wroteAt), now];
  };
  const repeat = async (once: (nth: number) => Promise<boolean>) => {
    for (let nth = 0; !isOver; nth += 1) {
      requests += 1;
      if (!(await once(nth).catch(() => false))) errors += 1;
      await after(PACE_MS);
    }
  };
  const writers = Array.from({ length: WRITERS }, (_, writer) =>
    repeat(async (nth) => {
      const name = `w-${writer}-${nth}`;
      const status = await balancer.ask(place, 'POST', '', { name, spec: { action: 'DENY', peerSelector: {} } });
      if (status !== 201) return status < 500;
      acknowledged.push(name);
      note();
      return true;
    }),
  );
  const readers = Array.from({ length: READERS }, () =>
    repeat(async () => (await balancer.ask(place, 'GET', '?limit=10')) < 500),
  );
  await work();
  isOver = true;
  await Promise.all([...writers, ...readers]);
  note();
  balancer.stop();
  const [plane] = planes;
  const there = plane ? await policyNames(plane.api, place) : new Set<string>();
  return { requests, errors, longestMs, lost: acknowledged.filter((name) => !there.has(name)).length };
}

/** Asks the planes that are ready one after the other; what waits at one that is no longer is cut off. */
function balance(planes: readonly ClusterPlane[]) {
  const targets = planes.map((plane) => ({ plane, falls: 0, cut: new AbortController() }));
  let turn = 0;
  const timer = setInterval(() => {
    for (const target of targets) {
      void fetch(`${target.plane.url}/readyz`, { signal: AbortSignal.timeout(LOOK_MS) })
        .then(({ ok }) => ok)
        .catch(() => false)
        .then((isReady) => {
          target.falls = isReady ? 0 : target.falls + 1;
          if (target.falls !== FALLS) return;
          target.cut.abort();
          target.cut = new AbortController();
        });
    }
  }, LOOK_MS);
  return {
    /** @returns the status. @throws Error where the answer was cut off */
    async ask({ token, workspace }: Place, method: string, query: string, body?: object): Promise<number> {
      const ready = targets.filter(({ falls }) => falls < FALLS);
      turn += 1;
      // A request that one control plane refuses to accept is sent to the next.
      for (let tries = 0; ; tries += 1) {
        const target = (ready.length > 0 ? ready : targets)[(turn + tries) % (ready.length || targets.length)];
        if (!target) throw new Error('there is no control plane');
        try {
          const response = await fetch(`${target.plane.url}/api/v1/policies${query}`, {
            method,
            headers: {
              authorization: `Bearer ${token}`,
              'x-workspace-id': workspace,
              'content-type': 'application/json',
              connection: 'close',
            },
            ...(body && { body: JSON.stringify(body) }),
            signal: target.cut.signal,
          });
          await response.arrayBuffer();
          return response.status;
        } catch (error) {
          const { code } = ((error as Error).cause ?? {}) as { readonly code?: string };
          if (code !== 'ECONNREFUSED' || tries === 2) throw error;
        }
      }
    },
    stop: () => clearInterval(timer),
  };
}
