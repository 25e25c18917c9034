import { expect, test } from 'vitest';
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
