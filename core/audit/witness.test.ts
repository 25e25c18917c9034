import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newLogKey, rotated, type StoredLogKey } from '../../storage/log-keys.ts';
import { signCheckpoint } from './checkpoint.ts';
import type { LogKey } from './log-keys.ts';
import { consistencyProof, GrowingTree, leafHash } from './tree.ts';
import { type LogSource, type StoredNote, witness } from './witness.ts';

const ORIGIN = 'mesh.internal/log/0123456789abcdef/w_a';
const first = newLogKey(0);

/** A control plane with a log of one entry for each letter, and its keys. */
function planeOf(letters: string, keys: readonly StoredLogKey[] = [first], origin = ORIGIN) {
  const hashes = new Map<string, Uint8Array>();
  const tree = new GrowingTree();
  for (const letter of letters) {
    for (const [level, hash] of tree.append(leafHash(letter)).entries()) {
      hashes.set(`${level}/${Math.floor((tree.size - 1) / 2 ** level)}`, hash);
    }
  }
  const read = async (ids: readonly { level: number; index: number }[]) =>
    ids.map(({ level, index }) => hashes.get(`${level}/${index}`) ?? expect.fail());
  const signer = keys.at(-1) ?? first;
  const source: LogSource = {
    keys: async () =>
      keys.map(
        ({ publicKey, from, until, endorsement }): LogKey => ({
          publicKey: Buffer.from(publicKey, 'base64'),
          from: Date.parse(from),
          ...(until !== undefined && { until: Date.parse(until) }),
          ...(endorsement !== undefined && { endorsement }),
        }),
      ),
    async proof(from, to) {
      return to > letters.length ? `the log has ${letters.length} entries` : consistencyProof(from, to, read);
    },
  };
  const checkpoint = { origin, size: tree.size, root: tree.root() };
  const note = signCheckpoint(checkpoint, Buffer.from(signer.publicKey, 'base64'), signer.privateKey ?? '');
  return { note, source };
}

type Plane = ReturnType<typeof planeOf>;

/** A node that is sent the checkpoints of these planes, one after the other, and what became of the last. */
async function nodeThatSaw(...planes: readonly Plane[]) {
  let kept: StoredNote | undefined;
  let finding: { code: string; message: string } | undefined;
  for (const [at, { note, source }] of planes.entries()) {
    const result = await witness(note, { origin: ORIGIN, kept, source, by: 'This node', now: at });
    finding = 'finding' in result ? result.finding : undefined;
    if ('kept' in result) kept = result.kept;
  }
  return { kept, finding };
}

describe('a node that keeps the checkpoint it saw', () => {
  test('takes each that holds the one before, and passes over an older one that it holds', async () => {
    const [short, long] = [planeOf('abc'), planeOf('abcdefgh')];
    expect(await nodeThatSaw(short, long)).toMatchObject({ kept: { note: long.note }, finding: undefined });
    const late = { note: short.note, source: long.source };
    expect(await nodeThatSaw(short, long, late)).toMatchObject({ kept: { note: long.note }, finding: undefined });
    expect(await nodeThatSaw(long, long)).toMatchObject({ kept: { note: long.note }, finding: undefined });
  });

  test.each([
    ['the end of the log was cut', 'abcdef', 'abc', 'shortened', /saw 6 entries.*signed 3.*the log has 3 entries/],
    ['the log is empty', 'abcdef', '', 'shortened', /a log without entries is sent/],
    ['an entry was changed', 'abcdef', 'abXdef', 'forked', /saw 6 entries .* another root .* two histories/],
    ['an entry was changed and the log grew', 'abcdef', 'abXdefgh', 'forked', /two histories/],
    ['it was restored and used since', 'abcdef', 'abcXYZ12', 'forked', /an older database was restored and used/],
  ])('refuses another one where %s, and keeps its own', async (_what, seen, sent, code, message) => {
    const before = planeOf(seen);
    const { kept, finding } = await nodeThatSaw(before, planeOf(sent));
    expect([kept?.note, finding?.code]).toEqual([before.note, code]);
    expect(finding?.message).toMatch(message);
  });

  test('each of two that were shown different logs keeps its own, and either names the other', async () => {
    const [one, other] = [planeOf('abcdef'), planeOf('abcXYZ1')];
    const [a, b] = [await nodeThatSaw(one), await nodeThatSaw(other)];
    for (const [kept, shown] of [
      [a.kept, { note: b.kept?.note ?? '', source: one.source }],
      [b.kept, { note: a.kept?.note ?? '', source: one.source }],
      [a.kept, { note: b.kept?.note ?? '', source: other.source }],
      [b.kept, { note: a.kept?.note ?? '', source: other.source }],
    ] as const) {
      const result = await witness(shown.note, { origin: ORIGIN, kept, source: shown.source, by: 'Node a', now: 9 });
      expect(result).toMatchObject({ finding: { code: expect.stringMatching(/^(forked|shortened)$/) } });
    }
  });

  test('follows a key that the one before named, over several changes, and no other', async () => {
    const keys = rotated(rotated([first], 10), 20);
    const after = planeOf('abcd', keys);
    expect(await nodeThatSaw(planeOf('abc'), after)).toMatchObject({
      kept: { note: after.note, key: Buffer.from(keys.at(-1)?.publicKey ?? '', 'base64') },
    });
    const { kept, finding } = await nodeThatSaw(planeOf('abc'), planeOf('abcd', [newLogKey(5)]));
    expect([finding?.code, kept?.note]).toEqual(['key_changed', planeOf('abc').note]);
    expect(finding?.message).toContain(`not by ${first.publicKey} as before`);
  });

  test('takes at first only a key that is in use, and the log of its workspace alone', async () => {
    const ended = [{ ...first, until: new Date(5).toISOString() }];
    expect((await nodeThatSaw(planeOf('abc', ended))).finding).toMatchObject({
      code: 'signature',
      message: expect.stringContaining('whose time was over on 1970-01-01'),
    });
    const elsewhere = planeOf('abc', [first], 'mesh.internal/log/0123456789abcdef/w_b');
    expect((await nodeThatSaw(elsewhere)).finding?.code).toBe('other_log');
    const stranger = { note: planeOf('abc', [newLogKey(0)]).note, source: planeOf('abc').source };
    expect((await nodeThatSaw(stranger)).finding?.code).toBe('signature');
  });

  test('neither throws nor is led astray, whatever a control plane answers', async () => {
    const own = planeOf('abcdef');
    const { kept } = await nodeThatSaw(own);
    const sizes = fc.oneof(fc.nat(), fc.constantFrom('9007199254740993', '-1', 'NaN', '1e9', '999999999999', '00', ''));
    const bytes = fc.uint8Array({ maxLength: 40 });
    const noise = fc.oneof(
      fc.string(),
      fc.record({ size: sizes, root: bytes, tail: fc.string({ maxLength: 20 }) }).map(({ size, root, tail }) => {
        const text = `${ORIGIN}\n${size}\n${Buffer.from(root).toString('base64')}\n${tail}`;
        return `${text}\n— ${ORIGIN} ${Buffer.from(root).toString('base64')}\n`;
      }),
    );
    const lies = fc.record({ note: noise, hashes: fc.array(bytes, { maxLength: 70 }), why: fc.string() });
    await fc.assert(
      fc.asyncProperty(lies, fc.boolean(), fc.nat(12), async ({ note, hashes, why }, isSigned, size) => {
        const signed = planeOf('x'.repeat(size)).note;
        const source = { keys: own.source.keys, proof: async () => (hashes.length > 0 ? hashes : why) };
        const sent = isSigned ? signed : note;
        const result = await witness(sent, { origin: ORIGIN, kept, source, by: 'This node', now: 1 });
        expect('finding' in result && result.finding.message.length < 1_000).toBe(true);
      }),
    );
  });
});
