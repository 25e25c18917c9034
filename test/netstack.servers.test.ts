import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { OPEN, type TestNode, testNodes } from '../client/netstack/nodes.testkit.ts';
import { isInstalled } from './kits/process/needs.ts';
import { run } from './kits/process/run-command.ts';

const SOURCE = path.resolve(import.meta.dirname, '../native/netstack');
/** Where Go keeps modules and what it has built. */
const HOME = process.env['HOME'] ?? '';

it.skipIf(!isInstalled('go'))(
  'the network stack in the repository is what its source builds',
  { timeout: 900_000 },
  async () => {
    const out = mkdtempSync(path.join(tmpdir(), 'mesh-netstack-'));
    try {
      const options = { env: { HOME, MESH_NETSTACK_OUT: out }, timeoutMs: 900_000 };
      expect(await run(path.join(SOURCE, 'build.sh'), [], options)).toMatchObject({ code: 0 });
      for (const name of ['netstack.wasm.sha256', 'wasm_exec.js']) {
        expect(readFileSync(path.join(out, name), 'utf8')).toBe(readFileSync(path.join(SOURCE, name), 'utf8'));
      }
    } finally {
      rmSync(out, { recursive: true });
    }
  },
);

it.skipIf(!isInstalled('go'))(
  'the network stack as a program carries bytes, ends connections with an error when it is killed, and leaves no process',
  { timeout: 900_000 },
  async () => {
    const out = mkdtempSync(path.join(tmpdir(), 'mesh-netstack-'));
    try {
      const options = { env: { HOME, MESH_NETSTACK_OUT: out }, timeoutMs: 900_000 };
      expect(await run(path.join(SOURCE, 'build.sh'), ['--native'], options)).toMatchObject({ code: 0 });
      const program = path.join(out, `netstack-${process.platform}-${process.arch}`);
      const processes = async () => (await run('pgrep', ['-f', program])).stdout.split('\n').filter(Boolean);
      await using net = await testNodes(2, Date.now(), program);
      const [a, b] = net.nodes as [TestNode, TestNode];
      await Promise.all([a.apply(OPEN), b.apply(OPEN)]);
      await b.stack.listen(80, (connection) => connection.on('error', () => {}).pipe(connection));
      const connection = a.stack.connect({ address: b.address, port: 80 });
      const sent = Buffer.alloc(1_000_000, 'bytes of the sender ');
      connection.write(sent);
      const received: Buffer[] = [];
      for await (const chunk of connection.iterator({ destroyOnReturn: false })) {
        received.push(chunk);
        if (received.reduce((sum, { length }) => sum + length, 0) === sent.length) break;
      }
      expect(Buffer.concat(received).equals(sent)).toBe(true);
      const failure = new Promise((resolve) => connection.once('error', resolve));
      const [pid] = await processes();
      process.kill(Number(pid), 'SIGKILL');
      expect(await failure).toMatchObject({ code: 'ECONNRESET' });
      expect(await a.tunnel.ended).toContain('ended');
      const again = await testNodes(1, Date.now(), program);
      expect(await again.nodes[0]?.stack.ping(a.address, 20_000)).toEqual(expect.any(Number));
      await again[Symbol.asyncDispose]();
      expect(await processes()).toEqual([]);
    } finally {
      rmSync(out, { recursive: true });
    }
  },
);

it.skipIf(!isInstalled('go'))('the rules of the network stack judge as its own tests say', async () => {
  const args = ['test', '-C', SOURCE, 'filter.go', 'filter_test.go', 'frame.go', 'refusal.go', 'refusal_test.go'];
  const tested = await run('go', args, { env: { HOME, CGO_ENABLED: '0' }, timeoutMs: 900_000 });
  expect(tested).toMatchObject({ code: 0, stdout: expect.stringContaining('ok') });
});

it('the compressed network stack has the digest that stands beside it', () => {
  const wasm = brotliDecompressSync(readFileSync(path.join(SOURCE, 'netstack.wasm.br')));
  const [digest] = readFileSync(path.join(SOURCE, 'netstack.wasm.sha256'), 'utf8').split(' ');
  expect(createHash('sha256').update(wasm).digest('hex')).toBe(digest);
});
