import { expect, test } from 'vitest';
import { readCheckpoint } from '../../core/audit/checkpoint.ts';
import { hashOfEntry } from '../../core/audit/leaf.ts';
import { provesConsistency, provesInclusion } from '../../core/audit/tree.ts';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64'));
const headOf = ({ size, root }: { size: number; root: string }) => ({ size, root: bytes(root) });

async function grownKit() {
  const kit = await buildWorkspaceKit();
  for (let n = 0; n < 9; n += 1) {
    await kit.ask('create_policy', { name: `base-${n}`, spec: { action: 'DENY', peerSelector: {} } });
  }
  return kit;
}

test('each entry is proven to be in the log of the newest checkpoint', async () => {
  await using kit = await grownKit();
  const entries = await kit.services.store.auditTree(kit.workspace).entries(0, 99);
  for (const [index, entry] of entries.entries()) {
    const { leaf, to, hashes, checkpoint } = await kit.as('viewer')('get_audit_proof', { index });
    expect(bytes(leaf)).toEqual(new Uint8Array(hashOfEntry(entry)));
    expect(provesInclusion(hashes.map(bytes), { index, hash: bytes(leaf) }, headOf(to))).toBe(true);
    expect(readCheckpoint(checkpoint)).toMatchObject({ size: to.size, root: Buffer.from(to.root, 'base64') });
  }
});

test('any size is proven to be the beginning of any later one', async () => {
  await using kit = await grownKit();
  const size = await kit.services.store.auditTree(kit.workspace).size();
  for (let from = 1; from <= size; from += 1) {
    for (let to = from; to <= size; to += 1) {
      const proof = await kit.ask('get_audit_proof', { from, to });
      expect(provesConsistency(proof.hashes.map(bytes), headOf(proof.from), headOf(proof.to))).toBe(true);
      expect(proof).not.toHaveProperty('checkpoint');
    }
  }
});

test.each([
  ['neither an entry nor a size', {}, 'invalid_input /index'],
  ['both', { index: 0, from: 1 }, 'invalid_input /index'],
  ['an entry that is not there', { index: 99_999 }, 'not_found'],
  ['an entry beyond the size', { index: 2, to: 2 }, 'not_found'],
  ['a size that the log has not reached', { from: 1, to: 99_999 }, 'not_found'],
  ['a later size first', { from: 3, to: 2 }, 'invalid_input /from'],
  ['a negative entry', { index: -1 }, 'invalid_input /index'],
])('a proof that names %s is refused', async (_what, query, refusal) => {
  await using kit = await grownKit();
  expect(await refusalOf(kit.ask('get_audit_proof', query))).toBe(refusal);
});
