import { expect, test } from 'vitest';
import { buildKit } from '../../test/kits/plane/kit.ts';
import { rootAt } from './keep-checkpoints.ts';
import { lossesIn } from './losses.ts';

const UNTIL = 1_000;

test('a store lacks what a head says beyond its log, another history, and a log that it does not know', async () => {
  await using kit = await buildKit();
  const { store, keys } = kit.services;
  const workspace = await kit.workspace();
  const tree = store.auditTree(workspace);
  const size = await tree.size();
  const headOf = (had: number, root: Uint8Array, name = workspace) => {
    const note = keys.logs.sign({ origin: keys.logs.originOf(name), size: had, root });
    return { workspace: name, note, at: UNTIL };
  };
  const [root, other] = [await rootAt(tree, size), new Uint8Array(32)];
  const [newest] = await store.audit(workspace, { limit: 1 });
  expect(await lossesIn(store, [headOf(size, root), headOf(1, await rootAt(tree, 1))])).toEqual([]);
  expect(await lossesIn(store, [headOf(size + 2, other)])).toEqual([
    { workspace, had: size + 2, has: size, until: UNTIL, since: newest?.at },
  ]);
  expect(await lossesIn(store, [headOf(size, other)])).toEqual([{ workspace, had: size, has: size, until: UNTIL }]);
  expect(await lossesIn(store, [headOf(3, other, 'w_gone')])).toEqual([
    { workspace: 'w_gone', had: 3, has: 0, until: UNTIL },
  ]);
  expect(await lossesIn(store, [{ workspace, note: 'no checkpoint', at: UNTIL }])).toEqual([]);
});
