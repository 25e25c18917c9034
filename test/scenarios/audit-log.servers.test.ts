import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { formatVerifierKey } from '../../core/audit/note.ts';
import { startHarness } from '../kits/http/harness.ts';
import { isInstalled } from '../kits/process/needs.ts';

const SOURCE = path.resolve(import.meta.dirname, '../log-judge');
/** More than a tile. */
const ENTRIES = 260;
const LONG_MS = 180_000;

let judge: string | undefined;

/** Built from the module proxy. Where that cannot be reached the judge is left out and said so; on CI it has to be there. */
function buildJudge(): string | undefined {
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-log-judge-'));
  const file = path.join(folder, 'log-judge');
  try {
    execFileSync('go', ['build', '-buildvcs=false', '-o', file, '.'], {
      cwd: SOURCE,
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: LONG_MS,
    });
    return file;
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    if (process.env['CI'] === 'true') throw error;
    process.stderr.write(
      `golang.org/x/mod cannot be had: its judgement of the audit log is left out (${String(error)}).\n`,
    );
    return undefined;
  }
}

function judged(file: string, input: object): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(file, { timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr });
    });
    child.stdin?.end(JSON.stringify(input));
  });
}

async function openLog() {
  const harness = await startHarness();
  const { token, workspace } = await harness.workspace();
  const event = { type: 'login', actor: 'user:ada', result: 'ok' } as const;
  await harness.plane.services.store.record(
    workspace,
    Array.from({ length: ENTRIES }, () => event),
  );
  const ask = async (query: string) => {
    const { status, body } = await harness.api('GET', `/api/v1/audit/${query}`, { token, workspace });
    expect(status).toBe(200);
    return body;
  };
  const { originPrefix, items } = await ask('keys');
  const publicKey = new Uint8Array(Buffer.from(items[0].publicKey, 'base64'));
  const prefix = `${harness.url}/api/v1/audit/logs/${workspace}/`;
  const key = formatVerifierKey({ name: `${originPrefix}${workspace}`, publicKey });
  return { ask, input: { prefix, token, key }, [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose]() };
}

describe.skipIf(!isInstalled('go'))("Go's checksum database", () => {
  beforeAll(() => {
    judge = buildJudge();
    const built = judge;
    return () => built && rmSync(path.dirname(built), { recursive: true, force: true });
  }, LONG_MS);

  test('verifies checkpoint, tiles, entries and proofs of a log, and refuses others', {
    timeout: LONG_MS,
  }, async (context) => {
    if (judge === undefined) return context.skip('golang.org/x/mod cannot be had');
    const log = await openLog();
    onTestFinished(() => log[Symbol.asyncDispose]());
    const indexes = [0, 1, 2, 127, 128, 255, 256, ENTRIES - 1];
    const inclusion = await Promise.all(indexes.map((index) => log.ask(`proof?index=${index}`)));
    const spans = [1, 2, 3, 64, 255, 256, 257].map((from) => [from, ENTRIES] as const);
    const consistency = await Promise.all(
      [...spans, [1, 1], [100, 200]].map(([from, to]) => log.ask(`proof?from=${from}&to=${to}`)),
    );
    const whole = await judged(judge, { ...log.input, inclusion, consistency });
    expect([whole.stderr, whole.code]).toEqual(['', 0]);
    const { size, ...counts } = JSON.parse(whole.stdout);
    expect(size).toBeGreaterThanOrEqual(ENTRIES);
    expect(counts).toEqual({ entries: size, inclusion: indexes.length, consistency: consistency.length });

    const [first] = consistency.slice(3);
    const otherRoot = { ...first, from: { ...first.from, root: first.to.root } };
    const otherLeaf = { ...inclusion[3], leaf: inclusion[0].leaf };
    const otherKey = {
      key: formatVerifierKey({ name: log.input.key.split('+')[0] ?? '', publicKey: new Uint8Array(32) }),
    };
    for (const wrong of [{ consistency: [otherRoot] }, { inclusion: [otherLeaf] }, otherKey]) {
      expect((await judged(judge, { ...log.input, ...wrong })).code).toBe(1);
    }
  });
});
