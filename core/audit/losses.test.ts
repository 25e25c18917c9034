import { expect, test } from 'vitest';
import { buildKit } from '../../test/kits/plane/kit.ts';
import { keepHead, rootAt } from './keep-checkpoints.ts';
import { lossesIn, missingIn } from './losses.ts';

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
});

test('a head that is empty, damaged or of another key is missing, and so is that of a log which was signed', async () => {
  await using kit = await buildKit();
  await using other = await buildKit();
  const { store, keys } = kit.services;
  const workspace = await kit.workspace();
  await keepHead(kit.services, workspace);
  const note = (await keys.logs.heads.newest(workspace)) ?? '';
  const missing = (notes: readonly string[], wereKept = true) =>
    missingIn(
      store,
      { all: () => notes.map((each) => ({ workspace, note: each, at: UNTIL })), wereKept: () => wereKept },
      keys.logs,
    );
  const { logs } = other.services.keys;
  const foreign = logs.sign({ origin: keys.logs.originOf(workspace), size: 1, root: new Uint8Array(32) });
  expect(await missing([note])).toEqual([]);
  expect(await missing([''])).toEqual([{ workspace, head: 'no checkpoint' }]);
  expect(await missing([note.slice(0, 40)])).toEqual([{ workspace, head: 'no checkpoint' }]);
  expect(await missing([foreign])).toEqual([{ workspace, head: 'of another key' }]);
  expect(await missing([])).toEqual([{ workspace, head: 'not there' }]);
  expect(await missing([], false)).toEqual([]);
});

test('a log that was begun and not yet signed, as by a start that was killed, has no head to miss', async () => {
  await using kit = await buildKit();
  await kit.workspace();
  const heads = { all: () => [], wereKept: () => true };
  expect(await missingIn(kit.services.store, heads, kit.services.keys.logs)).toEqual([]);
});

test('a log that is signed for the first time while it is looked at is not missing its head', async () => {
  await using kit = await buildKit();
  const { store, keys } = kit.services;
  const workspace = await kit.workspace();
  await keepHead(kit.services, workspace);
  const note = (await keys.logs.heads.newest(workspace)) ?? '';
  let looks = 0;
  const heads = { all: () => (looks++ === 0 ? [] : [{ workspace, note, at: UNTIL }]), wereKept: () => true };
  expect(await missingIn(store, heads, keys.logs)).toEqual([]);
});
