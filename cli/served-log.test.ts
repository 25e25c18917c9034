import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CliError } from './exit.ts';
import { checkSignature } from './log-signature.ts';
import { readServedLog, servedKeys } from './served-log.ts';

/** What a control plane answers below each path. */
let answers: Readonly<Record<string, string | Uint8Array>> = {};
const server = createServer((request, response) => {
  const path = Object.keys(answers).find((part) => request.url?.includes(part)) ?? '';
  response.end(answers[path] ?? '');
});
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());

const target = () => ({
  server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  token: 'mesh-api-x',
  workspace: 'w_a',
});

const ORIGIN = 'mesh.internal/log/0123456789abcdef/w_a';
const noteOf = (size: string, origin = ORIGIN) => {
  const root = Buffer.alloc(32).toString('base64');
  return `${origin}\n${size}\n${root}\n\n— ${origin} ${Buffer.alloc(68).toString('base64')}\n`;
};

test.each([
  ['2^53', '9007199254740992', /a checkpoint that is none/],
  ['a negative one', '-1', /a checkpoint that is none/],
  ['NaN', 'NaN', /a checkpoint that is none/],
  ['more than is read', '999999999999', /at most 10000000 are read/],
])('a log that is said to have %s entries is refused before anything of it is read', async (_what, size, message) => {
  answers = { '/checkpoint': JSON.stringify({ note: noteOf(size) }) };
  await expect(readServedLog(target(), false)).rejects.toThrow(message);
});

test('the log of another workspace than the one that was named is not taken for it', async () => {
  answers = { '/checkpoint': JSON.stringify({ note: noteOf('0', ORIGIN.replace('w_a', 'w_b')) }) };
  await expect(readServedLog(target(), false)).rejects.toThrow(/w_b, which is not the log of w_a/);
  await expect(readServedLog(target(), true)).rejects.toThrow(/w_b, which is not the log of w_system/);
});

test('a name of a log that leads elsewhere is none', async () => {
  answers = { '/checkpoint': JSON.stringify({ note: noteOf('1', 'mesh.internal/log/0/../../users') }) };
  await expect(readServedLog(target(), false)).rejects.toThrow(/a checkpoint that is none/);
});

test('whatever a server answers, the verifier ends with findings or with a message for people', async () => {
  const entry = fc.oneof(
    fc.string(),
    fc.json(),
    fc.constantFrom('{"at":1e300}', '{"at":-1}', '{"at":1,"entry":{"sha256":"x"}}'),
  );
  const bundle = fc.array(entry, { maxLength: 4 }).map((entries) =>
    Buffer.concat(
      entries.map((text) => {
        const length = Buffer.alloc(2);
        length.writeUInt16BE(Buffer.byteLength(text));
        return Buffer.concat([length, Buffer.from(text)]);
      }),
    ),
  );
  const size = fc.oneof(fc.nat(600).map(String), fc.string({ maxLength: 6 }));
  const note = fc.oneof(
    size.map((text) => JSON.stringify({ note: noteOf(text) })),
    fc.json(),
    fc.string(),
  );
  const bytes = fc.oneof(bundle, fc.uint8Array({ maxLength: 100 }));
  const key = fc.record({ publicKey: fc.string(), from: fc.string(), until: fc.constantFrom(null, 'x', 1) });
  const keys = fc.oneof(
    fc.array(key, { maxLength: 3 }).map((items) => JSON.stringify({ items })),
    fc.json(),
  );
  await fc.assert(
    fc.asyncProperty(note, bytes, fc.string(), keys, async (checkpoint, tile, long, named) => {
      answers = { '/checkpoint': checkpoint, '/tile/': tile, '/entry/': long, '/keys': named };
      const read = async () => {
        const served = await servedKeys(target()).catch(requireTold);
        const log = await readServedLog(target(), false);
        const { findings } = checkSignature(log.note, undefined, undefined, served ?? []);
        return [...log.findings, ...findings].length;
      };
      // None of it is signed by anybody.
      expect(await read().catch(requireTold)).not.toBe(0);
    }),
    { numRuns: 60 },
  );
});

function requireTold(error: unknown): undefined {
  if (!(error instanceof CliError)) throw error;
}
