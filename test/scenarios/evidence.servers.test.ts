import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startHarness } from '../kits/http/harness.ts';
import { isInstalled } from '../kits/process/needs.ts';
import { type PythonJudges, pythonJudges } from '../kits/process/python-judges.ts';
import { run } from '../kits/process/run-command.ts';

const INSTALL_MS = 400_000;

/** An archive as a control plane answers it, unpacked. */
async function unpacked(): Promise<string> {
  await using harness = await startHarness();
  const { token, workspace } = await harness.workspace();
  const response = await fetch(`${harness.url}/api/v1/ai/compliance/evidence`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'x-workspace-id': workspace, 'content-type': 'application/json' },
    body: JSON.stringify({ framework: 'hipaa', period_start: new Date(Date.now() - 3_600_000).toISOString() }),
  });
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-evidence-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(path.join(folder, 'e.zip'), Buffer.from(await response.arrayBuffer()));
  expect((await run('unzip', ['-t', path.join(folder, 'e.zip')])).code).toBe(0);
  expect((await run('unzip', ['-q', path.join(folder, 'e.zip'), '-d', path.join(folder, 'e')])).code).toBe(0);
  return path.join(folder, 'e');
}

test.skipIf(!isInstalled('unzip') || !isInstalled('openssl'))(
  'the commands of the page in an archive verify it with programs that are not ours, and refuse a changed one',
  async () => {
    const folder = await unpacked();
    const page = readFileSync(path.join(folder, 'VERIFY.md'), 'utf8');
    const blocks = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block);
    expect(blocks).toHaveLength(4);
    const commands = `set -e\ncd ${folder}\n${blocks.join('\n')}`;
    // A file of their own in the folder is none of the archive.
    const env = { TMPDIR: path.dirname(folder) };
    const { code, stdout, stderr } = await run('sh', ['-c', commands], { env });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.match(/Signature Verified Successfully/g)).toHaveLength(2);
    writeFileSync(path.join(folder, 'report.html'), ' ', { flag: 'a' });
    expect((await run('sh', ['-c', commands], { env })).code).not.toBe(0);
  },
);

describe.skipIf(!isInstalled('python3'))('programs that are not ours', () => {
  let judges: PythonJudges | undefined;
  beforeAll(() => {
    judges = pythonJudges();
  }, INSTALL_MS);

  test('securesystemslib and compliance-trestle take an archive that was exported, and refuse a changed one', {
    timeout: 180_000,
  }, async (context) => {
    if (!judges) return context.skip('the judges in Python cannot be had');
    const folder = await unpacked();
    const accepted = await judges('envelope.py', [folder]);
    expect([accepted.code, accepted.stderr]).toEqual([0, '']);
    expect(JSON.parse(accepted.stdout)).toMatchObject({ payloadType: 'application/vnd.in-toto+json', keys: 1 });
    const oscal = await judges('oscal_results.py', [path.join(folder, 'oscal/assessment-results.json')]);
    expect([oscal.code, oscal.stderr]).toEqual([0, '']);
    const attestation = path.join(folder, 'attestation.json');
    const envelope = JSON.parse(readFileSync(attestation, 'utf8'));
    const payload = Buffer.from(envelope.payload, 'base64')
      .toString()

      .replace('passedTests', 'failedTests');
    writeFileSync(attestation, JSON.stringify({ ...envelope, payload: Buffer.from(payload).toString('base64') }));
    expect((await judges('envelope.py', [folder])).code).toBe(1);
  });
});
