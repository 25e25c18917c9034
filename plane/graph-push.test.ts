import { expect, test, vi } from 'vitest';
import { Reachability } from '../core/reachability/reachability.ts';
import { buildWorkspaceKit } from '../test/kits/plane/workspace-kit.ts';
import { GraphPush } from './graph-push.ts';

test('a peer that joins while the first graphs are being made is pushed as well', async () => {
  await using kit = await buildWorkspaceKit();
  const { services, workspace } = kit;
  await kit.join('a');
  const [reads, mayRead] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const states: typeof services.states = {
    ...services.states,
    async asOf(...point) {
      reads.resolve();
      await mayRead.promise;
      return services.states.asOf(...point);
    },
  };
  const published: string[] = [];
  const push = new GraphPush({ ...services, states }, { publish: (subject) => void published.push(subject) });
  try {
    await kit.join('b');
    await reads.promise;
    const { id } = await kit.join('late');
    mayRead.resolve();
    await expect.poll(() => published).toContain(`mesh.${workspace}.${id}.graph`);
  } finally {
    await push.stop();
  }
});

test('who asks while changes gather is served along with them, so that a storm of joins is one push', async () => {
  await using kit = await buildWorkspaceKit();
  const { services, workspace } = kit;
  const told = new Map<string, number>();
  const push = new GraphPush(services, {
    publish: (subject) => void told.set(subject, (told.get(subject) ?? 0) + 1),
  });
  const built = vi.spyOn(Reachability.prototype, 'neighbours');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const joined: string[] = [];
    for (let count = 0; count < 12; count += 1) {
      const { id } = await kit.join(`n${count}`);
      joined.push(`mesh.${workspace}.${id}.graph`);
      push.request(workspace, id);
    }
    // The gathering ends when the test says so, however long the joins take.
    vi.runAllTimers();
    vi.useRealTimers();
    await expect.poll(() => [...told.keys()].sort()).toEqual(joined.sort());
    expect([[...told.values()].every((count) => count === 1), built.mock.calls.length]).toEqual([true, 1]);
  } finally {
    vi.useRealTimers();
    built.mockRestore();
    await push.stop();
  }
});

test('what changes in the pause after a push goes out when it ends', async () => {
  await using kit = await buildWorkspaceKit();
  const { services, workspace } = kit;
  // Each look at the clock takes a while, so that each push took long.
  let time = services.clock.now();
  const clock = { now: () => (time += 5) };
  const [told, first] = [new Set<string>(), Promise.withResolvers<void>()];
  const push = new GraphPush(
    { ...services, clock },
    {
      publish(subject) {
        told.add(subject);
        first.resolve();
      },
    },
  );
  try {
    await kit.join('a');
    await first.promise;
    const { id } = await kit.join('b');
    await expect.poll(() => [...told]).toContain(`mesh.${workspace}.${id}.graph`);
  } finally {
    await push.stop();
  }
});

test('serving nodes gives way to other work after a while, however few they were', async () => {
  await using kit = await buildWorkspaceKit();
  const { services, workspace } = kit;
  const joined = [(await kit.join('a')).id, (await kit.join('b')).id, (await kit.join('c')).id];
  const servedIn = async (eachLookMs: number) => {
    let time = services.clock.now();
    const clock = { now: () => (time += eachLookMs) };
    const happened: string[] = [];
    const told = Promise.withResolvers<void>();
    const nextTurn = async () => void happened.push('way');
    const publish = () => {
      happened.push('told');
      if (happened.filter((what) => what === 'told').length === joined.length) told.resolve();
    };
    const push = new GraphPush({ ...services, clock, nextTurn }, { publish });
    try {
      for (const id of joined) push.request(workspace, id);
      await told.promise;
      return happened;
    } finally {
      await push.stop();
    }
  };
  expect(await servedIn(0)).toEqual(['told', 'told', 'told']);
  expect(await servedIn(10)).toEqual(['told', 'way', 'told', 'way', 'told', 'way']);
});
