import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { StoreError } from '../../core/base/ports.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { buildGate } from '../../core/call/gate.ts';
import { buildEvidence } from '../../rest/evidence.ts';
import { createMetrics } from '../../rest/metrics.ts';
import { operations } from '../../tools/index.ts';
import { sendForBytes } from '../kits/http/contract-request.ts';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { COMPILE_CACHE, launcher, mesh, run } from '../kits/process/run-command.ts';
import { unzip } from '../kits/process/unpack.ts';
import { verifies } from '../verifies.ts';

const harness = await startHarness();
afterAll(() => harness[Symbol.asyncDispose]());
const MESH = launcher('mesh');
const started = new Date(Date.now() - 3_600_000).toISOString();

function freshFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-evidence-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A workspace with a policy, a snapshot and a workflow. */
async function openWorkspace(slug: string, plane: Harness = harness) {
  const { token, workspace } = await plane.workspace(slug);
  const as = { token, workspace };
  const policy = { name: 'base', spec: { action: 'DENY', peerSelector: {} } };
  expect((await plane.api('POST', '/api/v1/policies', { ...as, body: policy })).status).toBe(201);
  expect((await plane.api('POST', `/api/v1/workspaces/${workspace}/snapshots`, { ...as, body: {} })).status).toBe(201);
  const evidence = async (body: object) => {
    const response = await fetch(`${plane.url}/api/v1/ai/compliance/evidence`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'x-workspace-id': workspace, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
  };
  const assess = async () => {
    const body = { framework: 'soc2', period_start: started };
    return (await plane.api('POST', '/api/v1/ai/compliance/assess', { ...as, body })).body;
  };
  return { ...as, evidence, assess };
}

test('the request of the contract answers an archive with its layout, under its name, and attested', async () => {
  verifies('compliance-evidence', 'compliance-archive', 'compliance-archive-name', 'compliance-attestation');
  const { token, workspace } = await openWorkspace('contract');
  const today = () => new Date().toISOString().slice(0, 10);
  const asked = today();
  const response = await sendForBytes(harness.url, 'compliance-evidence', {
    headers: { Authorization: `Bearer ${token}` },
    body: {
      workspace_id: workspace,
      framework: 'pci-dss',
      period_start: started,
      period_end: new Date().toISOString(),
    },
  });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/zip']);
  const name = response.headers.get('content-disposition');
  const named = [asked, today()].map((day) => `attachment; filename="mesh-compliance-evidence-${day}.zip"`);
  expect(named).toContain(name);
  const folder = freshFolder();
  writeFileSync(path.join(folder, 'e.zip'), Buffer.from(await response.arrayBuffer()));
  await unzip(path.join(folder, 'e.zip'), path.join(folder, 'e'));
  const at = (file: string) => path.join(folder, 'e', file);
  expect(readdirSync(at('.')).toSorted()).toEqual(
    expect.arrayContaining(['attestation.json', 'controls', 'executive-summary.md', 'raw-data']),
  );
  const raw = ['policies-current.yaml', 'snapshots-timeline.json', 'workflow-audit-log.csv'];
  expect(readdirSync(at('raw-data'))).toEqual(expect.arrayContaining(raw));
  for (const id of ['1.2', '1.3', '6.4', '10.2'])
    expect(readdirSync(at('controls'))).toContain(`PCI-DSS-${id}-result.md`);
  expect(JSON.parse(readFileSync(at('raw-data/snapshots-timeline.json'), 'utf8'))).toHaveLength(1);
  expect(readFileSync(at('raw-data/workflow-audit-log.csv'), 'utf8')).toContain('"reviewedBy"');
  const attestation = JSON.parse(readFileSync(at('attestation.json'), 'utf8'));
  expect(attestation).toMatchObject({ payloadType: 'application/vnd.in-toto+json', digestAlgorithm: 'SHA256' });
  for (const { path: file, sha256 } of attestation.files) {
    expect([
      file,
      createHash('sha256')
        .update(readFileSync(at(file)))
        .digest('hex'),
    ]).toEqual([file, sha256]);
  }
});

test('in Community the same request answers 402, whatever else is sent', async () => {
  await using community = await startHarness({ env: { MESH_EDITION: 'community' } });
  const { token, workspace } = await community.workspace();
  for (const body of [
    { workspace_id: workspace, framework: 'pci-dss', period_start: started, period_end: started },
    { evidence_id: 1 },
  ]) {
    const { status } = await community.api('POST', '/api/v1/ai/compliance/evidence', { token, body });
    expect(status).toBe(402);
  }
});

test('an assessment that is exported again has the same bytes, and each export is in the audit log', async () => {
  const { evidence, assess, token, workspace } = await openWorkspace('again');
  const { evidence_id: id } = await assess();
  const first = await evidence({ evidence_id: id });
  await harness.api('POST', '/api/v1/policies', {
    token,
    workspace,
    body: { name: 'later', spec: { action: 'ALLOW', peerSelector: {}, ingress: [{ from: ['*'] }] } },
  });
  await harness.api('POST', `/api/v1/workspaces/${workspace}/snapshots`, { token, workspace, body: {} });
  const second = await evidence({ evidence_id: id });
  expect([first.status, first.bytes.equals(second.bytes)]).toEqual([200, true]);
  const { body } = await harness.api('GET', '/api/v1/audit?type=event', { token, workspace });
  const events = body.items
    .map(({ event }: { event: string }) => event)
    .filter((event: string) => event.startsWith('evidence.'));
  expect(events).toEqual(['evidence.exported', 'evidence.export_begun', 'evidence.exported', 'evidence.export_begun']);
  const told = body.items.find(({ event }: { event: string }) => event === 'evidence.exported');
  expect(told).toMatchObject({
    actor: 'user:admin',
    detail: { evidence_id: id, bundle_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
  });
});

describe('what is refused', () => {
  test('each bad request says what to do', async () => {
    const { evidence } = await openWorkspace('refused');
    const bad = [
      [{}, 400, /framework.*or send evidence_id/],
      [{ framework: 'pci-dss' }, 400, /period_start/],
      [{ framework: 'iso27001', period_start: started }, 400, /pci-dss, soc2, hipaa/],
      [{ framework: 'pci-dss', period_start: '2999-01-01T00:00:00Z' }, 400, /future/],
      [{ evidence_id: 'ev_none' }, 404, /list_assessments/],
      [{ evidence_id: 'ev_none', framework: 'pci-dss' }, 400, /alone/],
      [{ evidence_id: 'ev_none', more: 1 }, 400, /more/],
    ] as const;
    for (const [body, status, text] of bad) {
      const answer = await evidence(body);
      expect([answer.status, answer.bytes.toString()]).toEqual([status, expect.stringMatching(text)]);
    }
  });

  test('a token that lacks a scope of what the archive shows is told which', async () => {
    const { token, workspace } = await openWorkspace('scopes');
    const scopes = ['network:read', 'snapshots:read', 'audit:read', 'compliance:assess'];
    for (const lacking of scopes) {
      const body = {
        name: `without-${lacking.replace(':', '-')}`,
        scopes: scopes.filter((scope) => scope !== lacking),
      };
      const made = await harness.api('POST', '/api/v1/users/me/api-tokens', { token, workspace, body });
      expect(made.status).toBe(201);
      const answer = await harness.api('POST', '/api/v1/ai/compliance/evidence', {
        token: made.body.token,
        workspace,
        body: { framework: 'pci-dss', period_start: started },
      });
      expect([answer.status, answer.body.scope]).toEqual([403, lacking]);
    }
  });
});

describe('mesh evidence', () => {
  /** Signed in on a machine of its own. */
  async function openMachine(slug: string, plane: Harness = harness) {
    const { token, workspace, evidence } = await openWorkspace(slug, plane);
    const home = freshFolder();
    const target = ['--server', plane.url, '--token', token, '--workspace', workspace];
    return { home, target, evidence, workspace, token, command: (...args: string[]) => mesh(args, { home }) };
  }

  test('exports an archive, never over a file that is there, and verifies it without a server', async () => {
    const { home, target, command } = await openMachine('commands');
    const exported = await command('evidence', 'export', 'pci-dss', '--from', started, '--output', home, ...target);
    expect([exported.code, exported.stderr]).toEqual([0, '']);
    const [, file = '', id = ''] = /^(\S+): (ev_\w+), \d+ files\n/.exec(exported.stdout) ?? [];
    const [, key = ''] = /Signed by ([0-9a-f]{64})/.exec(exported.stdout) ?? [];
    expect(path.basename(file)).toMatch(/^mesh-compliance-evidence-\d{4}-\d\d-\d\d\.zip$/);
    const again = await command('evidence', 'export', '--id', id, '--output', file, ...target);
    expect([again.code, again.stderr]).toEqual([2, expect.stringMatching(/is there already.*--force/)]);
    // Refused before anything is assessed: by the name given, by the one of today, and by a folder that there is not.
    for (const output of [file, home, path.join(home, 'none', 'x.zip')]) {
      const refused = await command('evidence', 'export', 'pci-dss', '--from', started, '--output', output, ...target);
      expect([output, refused.code, refused.stdout]).toEqual([output, 2, '']);
    }
    const kept = JSON.parse((await command('compliance', 'list', '--json', ...target)).stdout);
    expect(kept.items.map((one: { evidence_id: string }) => one.evidence_id)).toEqual([id]);
    const forced = await command('evidence', 'export', '--id', id, '--output', file, '--force', ...target, '--json');
    expect(JSON.parse(forced.stdout)).toMatchObject({ evidence_id: id, key_fingerprint: key });
    expect(readdirSync(home).filter((name) => name.endsWith('.part'))).toEqual([]);

    const unsure = await command('evidence', 'verify', file);
    expect([unsure.code, unsure.stderr]).toEqual([2, expect.stringMatching(/--key.*--trust-bundled/)]);
    await unzip(file, path.join(home, 'e'));
    copyFileSync(path.join(home, 'e', 'public-key.pem'), path.join(home, 'key.pem'));
    for (const by of [
      ['--key', key],
      ['--key', path.join(home, 'key.pem')],
      ['--trust-bundled'],
      ['--server', harness.url],
    ]) {
      const { code, stdout } = await command('evidence', 'verify', file, ...by, '--json');
      expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ verified: true, evidence_id: id })]);
    }
    const other = await command('evidence', 'verify', file, '--key', 'ab'.repeat(32));
    expect([other.code, other.stdout]).toEqual([1, expect.stringMatching(/NOT VERIFIED\n.*not a key that is trusted/)]);
    const none = await command('evidence', 'verify', path.join(home, 'key.pem'), '--key', key);
    expect([none.code, none.stdout]).toEqual([1, expect.stringContaining('no whole ZIP archive')]);
  });

  test('keeps nothing where the disk is full', async () => {
    const { home, target, command } = await openMachine('full');
    const args = ['evidence', 'export', 'pci-dss', '--from', started, ...target];
    const limited = await run(
      'sh',
      ['-c', `ulimit -f 8 && exec "$0" "$@"`, MESH, ...args, '--output', path.join(home, 'e.zip')],
      {
        env: { HOME: home, MESH_CONFIG_DIR: home, ...COMPILE_CACHE },
      },
    );
    expect([limited.code, limited.stderr]).toEqual([2, expect.stringMatching(/Cannot write .*e\.zip/)]);
    expect(readdirSync(home).filter((name) => name.startsWith('e.zip'))).toEqual([]);
    expect((await command('evidence', 'export', ...target)).code).toBe(2);
  });

  test('an archive whose log is not the one that this machine keeps does not verify, also with the key in it', async () => {
    const { home, target, command } = await openMachine('kept');
    const file = path.join(home, 'e.zip');
    await command('evidence', 'export', 'pci-dss', '--from', started, '--output', file, ...target);
    const verify = () => command('evidence', 'verify', file, '--trust-bundled', '--json');
    expect(JSON.parse((await verify()).stdout).notes).toContainEqual(expect.stringMatching(/keeps nothing of its log/));
    const audited = await command('audit', 'verify', ...target);
    const [, kept = ''] = /Kept for the next time in (\S+)\.$/m.exec(audited.stdout) ?? [];
    expect(JSON.parse((await verify()).stdout)).toMatchObject({
      verified: true,
      notes: expect.arrayContaining([expect.stringMatching(/^This machine saw \d+ entries.*their beginning\.$/)]),
    });
    const log = JSON.parse(readFileSync(kept, 'utf8'));
    const leaves = Buffer.from(log.leaves, 'base64').fill(0, 0, 32).toString('base64');
    writeFileSync(kept, JSON.stringify({ ...log, leaves }));
    const other = await verify();
    expect([other.code, JSON.parse(other.stdout).findings.map(({ code }: { code: string }) => code)]).toEqual([
      1,
      ['forked'],
    ]);
  });

  test('evidence signed before the key was changed verifies after it, and its log goes on from there', async () => {
    const directory = freshFolder();
    let plane = await startHarness({ directory });
    onTestFinished(() => plane[Symbol.asyncDispose]());
    const { home, target, command, workspace, token } = await openMachine('rotated', plane);
    const file = path.join(home, 'old.zip');
    const args = ['evidence', 'export', 'pci-dss', '--from', started, '--output', file, '--json', ...target];
    const { key_fingerprint: oldKey, evidence_id: id } = JSON.parse((await command(...args)).stdout);
    await plane.stop();
    expect((await command('audit', 'rotate-key', '--config-dir', directory)).code).toBe(0);
    plane = await startHarness({ directory });
    const now = ['--server', plane.url, '--token', token, '--workspace', workspace];
    const after = await command(
      'evidence',
      'export',
      '--id',
      id,
      '--output',
      path.join(home, 'new.zip'),
      '--json',
      ...now,
    );
    expect(JSON.parse(after.stdout).key_fingerprint).not.toBe(oldKey);
    for (const by of [
      ['--key', oldKey],
      ['--server', plane.url],
    ]) {
      expect((await command('evidence', 'verify', file, ...by)).code).toBe(0);
    }
    const held = await command('audit', 'verify', '--evidence', file, ...now);
    expect([held.code, held.stdout]).toEqual([0, expect.stringContaining(': verified')]);
    expect(held.stdout).toContain(`is signed by ${oldKey}, as the control plane itself says`);
    // A key that is given counts alone, whatever others the control plane names.
    const newKey = JSON.parse(after.stdout).key_fingerprint;
    const pinned = await command('audit', 'verify', '--evidence', file, '--key', newKey, ...now);
    expect([pinned.code, pinned.stderr]).toEqual([
      1,
      expect.stringContaining(`is signed by ${oldKey}, which is not a key that is trusted`),
    ]);
    const elsewhere = await openMachine('elsewhere', plane);
    const wrong = await command('audit', 'verify', '--evidence', file, ...elsewhere.target);
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringMatching(/is of the log .*rotated|not the one that/)]);
  });
});

test('an archive is cut before its end where the control plane cannot record that it was handed out', async () => {
  const { workspace, assess, evidence } = await openWorkspace('full-disk');
  const { evidence_id: id } = await assess();
  const { store } = harness.plane.services;
  const record = store.record.bind(store);
  const full = vi.spyOn(store, 'record').mockImplementation(async (of, events) => {
    if (events.some(({ type }) => type === 'evidence.exported')) throw new StoreError('unavailable', 'disk full');
    return record(of, events);
  });
  onTestFinished(() => full.mockRestore());
  await expect(evidence({ evidence_id: id })).rejects.toThrow();
  full.mockRestore();
  const { status, bytes } = await evidence({ evidence_id: id });
  expect([status, bytes.subarray(-22, -18).toString('hex')]).toEqual([200, '504b0506']);
  const types = (await store.audit(workspace, { limit: 10 })).map(({ event }) => event?.type);
  expect(types.filter((type) => type?.startsWith('evidence.'))).toEqual([
    'evidence.exported',
    'evidence.export_begun',
    'evidence.export_begun',
  ]);
});

describe('a client that takes nothing', () => {
  test('is let go, and one of many exports at once is told to come back later', async () => {
    const { token, workspace, assess } = await openWorkspace('slow');
    const { evidence_id: id } = await assess();
    const { services } = harness.plane;
    const event = { type: 'login', actor: 'user:ada', result: 'ok' } as const;
    // Far more than the buffers of a connection hold, and nothing that can be compressed.
    for (let page = 0; page < 40; page += 1) {
      const events = Array.from({ length: 250 }, () => ({
        ...event,
        detail: { text: randomBytes(1_000).toString('hex') },
      }));
      await services.store.record(workspace, events);
    }
    const { evidence_id: later } = await assess();
    expect(later).not.toBe(id);
    const gate = buildGate(services);
    const limits = { stalledMs: 300, wholeMs: 60_000 };
    const metrics = createMetrics();
    const handler = buildEvidence({ operations, gate, log: silentLog, metrics, headers: [], limits });
    const server = createServer((incoming, outgoing) => void handler?.(incoming as never, outgoing as never, () => {}));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const ask = () => {
      const asked = request({
        port,
        method: 'POST',
        path: '/api/v1/ai/compliance/evidence',
        headers: { authorization: `Bearer ${token}`, 'x-workspace-id': workspace, 'content-type': 'application/json' },
      });
      asked.end(JSON.stringify({ evidence_id: later }));
      return once(asked, 'response') as Promise<[IncomingMessage]>;
    };
    const [[first], [second]] = await Promise.all([ask(), ask()]);
    expect([first.statusCode, second.statusCode]).toEqual([200, 200]);
    const [third] = await ask();
    expect([third.statusCode, (await third.toArray()).toString()]).toEqual([
      429,
      expect.stringContaining('evidence exports'),
    ]);
    await vi.waitFor(async () => expect(await metrics.render()).toMatch(/^mesh_evidence_exports 0$/m), 10_000);
    for (const stalled of [first, second]) {
      // Nothing was read of it; what was sent by then is no whole archive.
      await expect(stalled.toArray()).rejects.toThrow('aborted');
    }
    const [next] = await ask();
    expect(next.statusCode).toBe(200);
    const whole = Buffer.concat(await next.toArray());
    expect(whole.subarray(-22, -18)).toEqual(Buffer.from('504b0506', 'hex'));
  });
});
