import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEvidence } from '../../cli/evidence-file.ts';
import { readCheckpoint } from '../../core/audit/checkpoint.ts';
import { isPayloadSigned, keyFingerprint, publicKeyPem } from '../../core/audit/dsse.ts';
import { rootOfLeaves } from '../../core/audit/findings.ts';
import { hashOfEntry } from '../../core/audit/leaf.ts';
import { attest } from '../../core/evidence/attestation.ts';
import { LAYOUT } from '../../core/evidence/layout.ts';
import type { StoredLog } from '../../core/evidence/verify/stored-log.ts';
import { verifyArchive } from '../../core/evidence/verify/verify-archive.ts';
import { buildLogKeys, newLogKey } from '../../storage/log-keys.ts';
import { startHarness } from '../kits/http/harness.ts';
import { entriesOf, storedZip, type ZipEntry, type ZipHeaders } from '../kits/records/stored-zip.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'mesh-tampering-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let genuine: readonly ZipEntry[] = [];
/** Of another workspace of the same installation, signed by the same key. */
let other: readonly ZipEntry[] = [];
let fingerprint = '';

beforeAll(async () => {
  await using harness = await startHarness();
  const started = new Date(Date.now() - 3_600_000).toISOString();
  const exported = async (slug: string) => {
    const { token, workspace } = await harness.workspace(slug);
    const policy = { name: 'base', spec: { action: 'DENY', peerSelector: {} } };
    await harness.api('POST', '/api/v1/policies', { token, workspace, body: policy });
    for (let n = 0; n < 3; n += 1) {
      await harness.api('POST', `/api/v1/workspaces/${workspace}/snapshots`, { token, workspace, body: {} });
    }
    const response = await fetch(`${harness.url}/api/v1/ai/compliance/evidence`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'x-workspace-id': workspace, 'content-type': 'application/json' },
      body: JSON.stringify({ framework: 'pci-dss', period_start: started }),
    });
    const file = path.join(folder, `${slug}.zip`);
    writeFileSync(file, Buffer.from(await response.arrayBuffer()));
    return entriesOf(file);
  };
  [genuine, other] = [await exported('one'), await exported('two')];
  fingerprint = JSON.parse(textOf(genuine, 'attestation.json')).publicKeyFingerprint;
});

function textOf(entries: readonly ZipEntry[], name: string): string {
  return entries.find((entry) => entry.name === name)?.bytes.toString() ?? '';
}

function without(name: string): ZipEntry[] {
  return genuine.filter((entry) => entry.name !== name);
}

function replaced(
  changes: Readonly<Record<string, string | Buffer>>,
  entries: readonly ZipEntry[] = genuine,
): ZipEntry[] {
  return entries.map((entry) => {
    const change = changes[entry.name];
    return change === undefined ? entry : { ...entry, bytes: Buffer.from(change) };
  });
}

function edited(name: string, edit: (text: string) => string): ZipEntry[] {
  const [before, after] = [textOf(genuine, name), edit(textOf(genuine, name))];
  expect([name, after === before]).toEqual([name, false]);
  return replaced({ [name]: after });
}

/** With one bit of the middle byte turned. */
function flipped(name: string): ZipEntry[] {
  const bytes = Buffer.from(genuine.find((entry) => entry.name === name)?.bytes ?? []);
  const at = Math.floor(bytes.length / 2);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return replaced({ [name]: bytes });
}

/** As whoever can compute digests would cover up a change: a manifest that fits. */
function withManifest(entries: readonly ZipEntry[]): ZipEntry[] {
  const listed = entries.filter(({ name }) => name !== 'attestation.json' && name !== 'MANIFEST.sha256');
  const text = listed
    .map(({ name, bytes }) => `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`)
    .join('');
  return replaced({ 'MANIFEST.sha256': text }, entries);
}

/** Attested anew, by a key that is no key of the installation. */
function attestedByAnother(entries: readonly ZipEntry[], isKeyBundled = true): ZipEntry[] {
  const stored = newLogKey(0);
  const keys = buildLogKeys([stored], new Uint8Array(32));
  const own = isKeyBundled
    ? replaced({ 'public-key.pem': publicKeyPem(Buffer.from(stored.publicKey, 'base64')) }, entries)
    : entries;
  const manifested = withManifest(own);
  const files = manifested
    .filter(({ name }) => name !== 'attestation.json')
    .map(({ name, bytes }) => ({ path: name, sha256: createHash('sha256').update(bytes).digest('hex') }));
  const { text } = attest(keys, JSON.parse(textOf(entries, 'assessment.json')), files);
  return replaced({ 'attestation.json': text }, manifested);
}

/** The installation itself as one who cheats: what it changes it signs, the checkpoint too, with the same root. */
const signer = (() => {
  const stored = newLogKey(0);
  const publicKey = Buffer.from(stored.publicKey, 'base64');
  return { keys: buildLogKeys([stored], new Uint8Array(32)), publicKey, fingerprint: keyFingerprint(publicKey) };
})();

function signedByItself(entries: readonly ZipEntry[]): ZipEntry[] {
  const said = readCheckpoint(textOf(genuine, 'audit-checkpoint.txt'));
  if (!said) throw new Error('the archive has no checkpoint');
  const { keys, publicKey } = signer;
  const own = { 'public-key.pem': publicKeyPem(publicKey), 'audit-checkpoint.txt': keys.sign(said) };
  const manifested = withManifest(replaced(own, entries));
  const files = manifested
    .filter(({ name }) => name !== 'attestation.json')
    .map(({ name, bytes }) => ({ path: name, sha256: createHash('sha256').update(bytes).digest('hex') }));
  const assessment = JSON.parse(textOf(entries, 'assessment.json') || textOf(genuine, 'assessment.json'));
  return replaced({ 'attestation.json': attest(keys, assessment, files).text }, manifested);
}

/** With a row less of a file of raw data, and all that tells how many there are. */
function rowLess(file: string, edit: (text: string) => string, rows: number): ZipEntry[] {
  const text = edit(textOf(genuine, file));
  const meta = JSON.parse(textOf(genuine, file.replace(/\.[a-z]+$/, '.meta.json')));
  const sha256 = createHash('sha256').update(text).digest('hex');
  return replaced({
    [file]: text,
    [file.replace(/\.[a-z]+$/, '.meta.json')]: JSON.stringify({ ...meta, row_count: rows, sha256 }, null, 2),
  });
}

/** The assessment with other controls or fields. */
function assessedAs(change: (assessment: { controls: { id: string; status: string }[] }) => void): ZipEntry[] {
  const assessment = JSON.parse(textOf(genuine, 'assessment.json'));
  change(assessment);
  return replaced({ 'assessment.json': `${JSON.stringify(assessment, null, 2)}\n` });
}

function envelope(change: (envelope: Record<string, unknown>) => void): ZipEntry[] {
  const value = JSON.parse(textOf(genuine, 'attestation.json'));
  change(value);
  return replaced({ 'attestation.json': JSON.stringify(value, null, 2) });
}

async function findingsOf(bytes: Buffer): Promise<{ codes: string[]; text: string }> {
  const file = path.join(folder, 'tampered.zip');
  writeFileSync(file, bytes);
  try {
    const archive = await openEvidence(file);
    const { findings } = await verifyArchive(archive, (key) => key === fingerprint).finally(() => archive.close());
    return { codes: findings.map(({ code }) => code), text: findings.map(({ message }) => message).join('\n') };
  } catch (error) {
    return { codes: ['damaged'], text: (error as Error).message };
  }
}

/** Name, what is done, the code that has to be among the findings, and what they have to name. */
const TAMPERINGS: readonly (readonly [string, () => readonly ZipEntry[], string, RegExp])[] = [
  ['a bit of the summary', () => flipped('executive-summary.md'), 'changed', /executive-summary\.md/],
  [
    'a bit of the result of a control',
    () => flipped('controls/PCI-DSS-1.2-result.md'),
    'changed',
    /PCI-DSS-1\.2-result/,
  ],
  ['a bit of the policies', () => flipped('raw-data/policies-current.yaml'), 'changed', /policies-current\.yaml/],
  ['a bit of the timeline', () => flipped('raw-data/snapshots-timeline.json'), 'changed', /snapshots-timeline\.json/],
  [
    'a bit of the log',
    () => flipped('raw-data/audit-log.jsonl'),
    'log',
    /audit-log\.jsonl: its entries do not make up the root/,
  ],
  ['a bit of the workflows', () => flipped('raw-data/workflow-audit-log.csv'), 'changed', /workflow-audit-log\.csv/],
  ['a bit of the OSCAL results', () => flipped('oscal/assessment-results.json'), 'changed', /oscal/],
  ['a bit of the report', () => flipped('report.html'), 'changed', /report\.html/],
  [
    'a bit of the checkpoint',
    () => flipped('audit-checkpoint.txt'),
    'checkpoint',
    /audit-checkpoint\.txt is not signed/,
  ],
  ['a bit of the key', () => flipped('public-key.pem'), 'signature', /public-key\.pem/],
  ['a bit of VERIFY.md', () => flipped('VERIFY.md'), 'changed', /VERIFY\.md/],
  ['a bit of the manifest', () => flipped('MANIFEST.sha256'), 'manifest', /MANIFEST\.sha256/],
  [
    'a removed entry',
    () => without('controls/PCI-DSS-6.4-result.md'),
    'missing',
    /PCI-DSS-6\.4-result\.md was signed and is missing/,
  ],
  ['a removed attestation', () => without('attestation.json'), 'missing', /attestation\.json is missing/],
  [
    'an added entry',
    () => [...genuine, { name: 'notes.md', bytes: Buffer.from('x') }],
    'extra',
    /"notes\.md" was not signed/,
  ],
  [
    'two files in the place of each other',
    () =>
      replaced({
        'controls/PCI-DSS-1.2-result.md': textOf(genuine, 'controls/PCI-DSS-1.3-result.md'),
        'controls/PCI-DSS-1.3-result.md': textOf(genuine, 'controls/PCI-DSS-1.2-result.md'),
      }),
    'changed',
    /PCI-DSS-1\.2-result\.md is not the file.*\n.*PCI-DSS-1\.3-result\.md is not the file/,
  ],
  [
    'a renamed entry',
    () => genuine.map((entry) => (entry.name === 'report.html' ? { ...entry, name: 'report.htm' } : entry)),
    'extra',
    /report\.html was signed and is missing.*\n.*"report\.htm" was not signed/,
  ],
  [
    'an entry twice',
    () => [...genuine, { name: 'report.html', bytes: Buffer.from('x') }],
    'duplicate',
    /"report\.html" is there twice/,
  ],
  [
    'an entry twice but for case',
    () => [...genuine, { name: 'Report.html', bytes: Buffer.from('x') }],
    'duplicate',
    /"Report\.html"/,
  ],
  [
    'an entry that leads out',
    () => [...genuine, { name: '../evil.sh', bytes: Buffer.from('x') }],
    'path',
    /\.\.\/evil\.sh/,
  ],
  ['an absolute entry', () => [...genuine, { name: '/etc/evil', bytes: Buffer.from('x') }], 'path', /\/etc\/evil/],
  ['a directory', () => [...genuine, { name: 'more/', bytes: Buffer.alloc(0) }], 'path', /more\//],
  [
    'a changed file with a manifest that fits',
    () => withManifest(edited('executive-summary.md', (text) => text.replace('fail', 'pass'))),
    'changed',
    /executive-summary\.md is not the file[\s\S]*MANIFEST\.sha256 is not the file/,
  ],
  ['all of it signed by another key', () => attestedByAnother(genuine), 'untrusted_key', /not a key that is trusted/],
  [
    'an attestation by another key beside the key of ours',
    () => attestedByAnother(genuine, false),
    'signature',
    /not what the key in public-key\.pem signed/,
  ],
  [
    'the checkpoint of another log',
    () => replaced({ 'audit-checkpoint.txt': textOf(other, 'audit-checkpoint.txt') }),
    'log',
    /do not make up the root of audit-checkpoint\.txt/,
  ],
  [
    'the attestation of another archive',
    () => replaced({ 'attestation.json': textOf(other, 'attestation.json') }),
    'changed',
    /executive-summary\.md/,
  ],
  [
    'a count of rows',
    () => edited('raw-data/snapshots-timeline.meta.json', (text) => text.replace(/"row_count": 3/, '"row_count": 2')),
    'meta',
    /says 2 rows, raw-data\/snapshots-timeline\.json has 3/,
  ],
  [
    'a snapshot less, with its count',
    () =>
      replaced({
        'raw-data/snapshots-timeline.json': textOf(genuine, 'raw-data/snapshots-timeline.json').replace(
          /\{.*\},\n/,
          '',
        ),
        'raw-data/snapshots-timeline.meta.json': textOf(genuine, 'raw-data/snapshots-timeline.meta.json').replace(
          '"row_count": 3',
          '"row_count": 2',
        ),
      }),
    'meta',
    /another digest than raw-data\/snapshots-timeline\.json/,
  ],
  [
    'an entry of the log less',
    () => edited('raw-data/audit-log.jsonl', (text) => text.replace(/^.*\n/, '')),
    'log',
    /do not make up the root/,
  ],
  [
    'a payload that was edited',
    () =>
      envelope((value) => {
        const payload = Buffer.from(String(value['payload']), 'base64')
          .toString()
          .replace('WARNED', 'PASSED')
          .replace('FAILED', 'PASSED');
        value['payload'] = Buffer.from(payload).toString('base64');
      }),
    'signature',
    /its payload is not what the key/,
  ],
  [
    'a list beside the payload that was edited',
    () =>
      envelope((value) => {
        value['files'] = [];
      }),
    'attestation',
    /files is not what was signed/,
  ],
  [
    'two signatures',
    () =>
      envelope((value) => {
        value['signatures'] = [...(value['signatures'] as unknown[]), { keyid: 'x', sig: 'eA==' }];
      }),
    'attestation',
    /signatures/,
  ],
  [
    'another time beside what was signed',
    () =>
      envelope((value) => {
        value['generatedAt'] = '2020-01-01T00:00:00.000Z';
      }),
    'assessment',
    /generated_at is not what was signed/,
  ],
  [
    'another evidence_id',
    () =>
      envelope((value) => {
        value['evidenceId'] = 'ev_other';
      }),
    'attestation',
    /evidenceId is not what was signed/,
  ],
];

test('the archive as it was made, and the same entries in another ZIP, verify', async () => {
  expect(await findingsOf(storedZip(genuine))).toEqual({ codes: [], text: '' });
  const payload = JSON.parse(textOf(genuine, 'attestation.json'));
  expect(payload.signatures[0].keyid).toBe(fingerprint);
  expect(keyFingerprint(new Uint8Array(32))).not.toBe(fingerprint);
  expect(isPayloadSigned('t', new Uint8Array(1), new Uint8Array(1), new Uint8Array(32))).toBe(false);
});

describe('a tampering is found and named', () => {
  test.each(TAMPERINGS)('%s', async (_what, tamper, code, text) => {
    const found = await findingsOf(storedZip(tamper()));
    expect(found.codes).toContain(code);
    expect(found.text).toMatch(text);
  });

  test.each([
    ['its end is cut', (bytes: Buffer) => bytes.subarray(0, bytes.length - 30)],
    ['half of it is missing', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ['it is empty', () => Buffer.alloc(0)],
  ])('%s', async (_what, cut) => {
    expect((await findingsOf(cut(storedZip(genuine)))).codes).toEqual(['damaged']);
  });
});

/** An entry that only who unpacks from the beginning comes upon: another report than the one that was signed. */
const hidden = () => {
  const zip = storedZip([{ name: 'report.html', bytes: Buffer.from('<p>All controls pass.</p>') }]);
  return zip.subarray(0, zip.length - 22 - 46 - 'report.html'.length);
};

function withEntry(name: string, change: (entry: ZipEntry) => Partial<ZipEntry>): ZipEntry[] {
  return genuine.map((entry) => (entry.name === name ? { ...entry, ...change(entry) } : entry));
}

describe('what the directory of a ZIP does not tell of is found and named', () => {
  const first = () => genuine[0]?.name ?? '';
  test.each<[string, () => Buffer, RegExp]>([
    [
      'an entry before the first',
      () => storedZip(withEntry(first(), () => ({ before: hidden() }))),
      /headers than a control plane writes, around its entry executive-summary\.md/,
    ],
    [
      'an entry between two',
      () => storedZip(withEntry('report.html', () => ({ before: hidden() }))),
      /around its entry report\.html/,
    ],
    [
      'an entry after the last',
      () => {
        const zip = storedZip([...genuine, { name: 'last', bytes: Buffer.alloc(0), before: hidden() }]);
        // The last one is taken out of the directory again.
        const end = Buffer.from(zip.subarray(-22));
        end.writeUInt16LE(genuine.length, 8);
        end.writeUInt16LE(genuine.length, 10);
        end.writeUInt32LE(end.readUInt32LE(12) - 46 - 'last'.length, 12);
        return Buffer.concat([zip.subarray(0, -22 - 46 - 'last'.length), end]);
      },
      /in its directory/,
    ],
    [
      'an entry after the compressed data of another',
      () => {
        const bytes = (entry: ZipEntry) => Buffer.concat([deflateRawSync(entry.bytes), hidden()]);
        return storedZip(withEntry('VERIFY.md', (entry) => ({ deflated: bytes(entry) })));
      },
      /VERIFY\.md cannot be read: it does not end where its header says/,
    ],
    [
      'a comment',
      () => {
        const zip = storedZip(genuine);
        zip.writeUInt16LE(5, zip.length - 2);
        return Buffer.concat([zip, Buffer.from('hello')]);
      },
      /in its directory/,
    ],
  ])('%s', async (_what, tampered, text) => {
    const found = await findingsOf(tampered());
    expect(found.codes).toEqual(['damaged']);
    expect(found.text).toMatch(text);
  });
});

/** Extra field of Info-ZIP, Unicode Path: unzip takes the name in it for that of the entry. */
function unicodePath(name: string, other: string): Buffer {
  const field = Buffer.alloc(9);
  field.writeUInt16LE(0x7075, 0);
  field.writeUInt16LE(5 + other.length, 2);
  field.writeUInt8(1, 4);
  field.writeUInt32LE(crc32(name), 5);
  return Buffer.concat([field, Buffer.from(other)]);
}

/** Of the header of the directory. */
const [CENTRAL_BYTES, EXTRA_LENGTH, COMMENT_LENGTH, ATTRIBUTES] = [46, 30, 32, 38];

/** The header of an entry in the directory, with something behind its name that one of its lengths tells of. */
const longer = (length: number, more: Buffer) => (entry: ZipEntry) => ({
  forge: ({ central }: ZipHeaders) => {
    central.writeUInt16LE(more.length, length);
    return { central: Buffer.concat([central.subarray(0, CENTRAL_BYTES + entry.name.length), more]) };
  },
});

const ofMode = (mode: number) => () => ({
  forge: ({ central }: ZipHeaders) => {
    central.writeUInt32LE(mode * 0x1_0000, ATTRIBUTES);
    return {};
  },
});

describe('an entry that unpacks as something else than was signed is found and named', () => {
  const verify = 'VERIFY.md';
  const called = (other: string) => (entry: ZipEntry) => longer(EXTRA_LENGTH, unicodePath(entry.name, other))(entry);
  test.each<[string, (entry: ZipEntry) => Partial<ZipEntry>]>([
    ['another name by an extra field', called('README.md')],
    ['a name that leads out of the directory by an extra field', called('../../.profile')],
    [
      'another name by an extra field of its own header alone',
      ({ name }) => ({
        forge: ({ local }) => {
          const extra = unicodePath(name, 'README.md');
          local.writeUInt16LE(extra.length, 28);
          return { local: Buffer.concat([local, extra]) };
        },
      }),
    ],
    [
      'another name in its own header',
      () => ({ forge: ({ local }) => ({ local: Buffer.concat([local.subarray(0, 30), Buffer.from('README.md')]) }) }),
    ],
    ['an extra field that says nothing', longer(EXTRA_LENGTH, Buffer.from([0x99, 0x99, 0, 0]))],
    ['a comment', longer(COMMENT_LENGTH, Buffer.from('x'))],
    ['a symbolic link', ofMode(0o120777)],
    ['a program that all may write and run as its owner', ofMode(0o104777)],
    ['a directory', ofMode(0o040755)],
  ])('%s', async (_what, forge) => {
    const found = await findingsOf(storedZip(withEntry(verify, forge)));
    expect([found.codes, found.text]).toEqual([['damaged'], expect.stringContaining('other headers than')]);
  });
});

test('another time of all files, as the headers have it, is found and named', async () => {
  const { time = 0 } = genuine[0] ?? {};
  // A step of two seconds, the same day of another year, and the same instant spelled in another way.
  for (const other of [time + 1, time + 2 ** 25, (time & 0xffff_f800) + 0x7ff]) {
    const found = await findingsOf(storedZip(genuine.map((entry) => ({ ...entry, time: other >>> 0 }))));
    expect([found.codes, found.text]).toEqual([['changed'], expect.stringContaining('have another time than')]);
  }
});

test.each(['VERIFY.md', 'report.html', 'raw-data/audit-log.jsonl', 'attestation.json'])(
  'another checksum of %s in all its headers is found and named',
  async (name) => {
    const forge = ({ descriptor, central }: ZipHeaders) => {
      descriptor.writeUInt32LE((descriptor.readUInt32LE(4) ^ 1) >>> 0, 4);
      central.writeUInt32LE((central.readUInt32LE(16) ^ 1) >>> 0, 16);
      return {};
    };
    const found = await findingsOf(storedZip(withEntry(name, () => ({ forge }))));
    expect([found.codes, found.text]).toEqual([
      expect.arrayContaining(['damaged']),
      expect.stringContaining(`${name} cannot be read: it has another checksum`),
    ]);
  },
);

describe('what the signer itself left out or changed is found and named', () => {
  async function foundBySigner(entries: readonly ZipEntry[], seen: readonly StoredLog[] = []) {
    const file = path.join(folder, 'signed.zip');
    writeFileSync(file, storedZip(entries));
    const archive = await openEvidence(file);
    const report = await verifyArchive(archive, (key) => key === signer.fingerprint, seen).finally(() =>
      archive.close(),
    );
    return { findings: report.findings.map(({ message }) => message), notes: report.notes };
  }

  test('signed again without a change, it verifies', async () => {
    expect((await foundBySigner(signedByItself(genuine))).findings).toEqual([]);
  });

  test.each(LAYOUT.filter((name) => !['attestation.json', 'public-key.pem', 'MANIFEST.sha256'].includes(name)))(
    'without %s and without its name',
    async (name) => {
      const { findings } = await foundBySigner(signedByItself(without(name)));
      expect(findings.join('\n')).toContain(`${name} is missing`);
    },
  );

  test('without a file of raw data and without its metadata', async () => {
    const left = genuine.filter(({ name }) => !name.startsWith('raw-data/workflow-audit-log.'));
    const { findings } = await foundBySigner(signedByItself(left));
    expect(findings).toEqual([
      'raw-data/workflow-audit-log.csv is missing: every such archive has it.',
      'raw-data/workflow-audit-log.meta.json is missing: every such archive has it.',
    ]);
  });

  test('without the result of a control', async () => {
    const { findings } = await foundBySigner(signedByItself(without('controls/PCI-DSS-6.4-result.md')));
    expect(findings).toEqual(['controls/PCI-DSS-6.4-result.md is missing: every such archive has it.']);
  });

  test.each(['PCI-DSS-6.4', 'PCI-DSS-8.4.2'])('without the control %s at all', async (id) => {
    const entries = assessedAs((assessment) => {
      assessment.controls = assessment.controls.filter((control) => control.id !== id);
    }).filter(({ name }) => name !== `controls/${id}-result.md`);
    const { findings } = await foundBySigner(signedByItself(entries));
    expect(findings).toEqual([`assessment.json: the control ${id} has no result, and pci-dss has it.`]);
  });

  test('a control whose status was changed in the assessment alone', async () => {
    const signed = signedByItself(genuine);
    const assessment = JSON.parse(textOf(genuine, 'assessment.json'));
    for (const control of assessment.controls) control.status = 'pass';
    const entries = replaced({ 'assessment.json': JSON.stringify(assessment) }, signed);
    const { findings } = await foundBySigner(entries);
    expect(findings).toContain('assessment.json: the status of a control is not what was signed.');
  });

  test('a snapshot that the log tells of', async () => {
    const file = 'raw-data/snapshots-timeline.json';
    const { findings } = await foundBySigner(signedByItself(rowLess(file, (text) => text.replace(/\{.*\},\n/, ''), 2)));
    expect(findings).toEqual([
      expect.stringMatching(/^raw-data\/snapshots-timeline\.json lacks 1 snapshots that the log/),
    ]);
  });
});

describe('the log of an archive is held against what is kept of it', () => {
  const checkpoint = () => readCheckpoint(textOf(genuine, 'audit-checkpoint.txt'));
  function logLeaves(): Uint8Array[] {
    const lines = textOf(genuine, 'raw-data/audit-log.jsonl').split('\n').slice(0, -1);
    return lines.map((line) => hashOfEntry(line));
  }
  async function held(seen: Partial<StoredLog> & { readonly leaves?: readonly Uint8Array[] }) {
    const { origin, size, root } = checkpoint() ?? { origin: '', size: 0, root: new Uint8Array() };
    const file = path.join(folder, 'kept.zip');
    writeFileSync(file, storedZip(genuine));
    const archive = await openEvidence(file);
    const kept: StoredLog = { origin, size, root, by: 'This machine', ...seen };
    const { findings, notes } = await verifyArchive(archive, (key) => key === fingerprint, [kept]).finally(() =>
      archive.close(),
    );
    return { codes: findings.map(({ code }) => code), notes: notes.join('\n') };
  }

  test('one that it begins with agrees, and so does one that begins with it', async () => {
    const leaves = logLeaves();
    for (const size of [0, 1, 2, leaves.length - 1, leaves.length]) {
      const { codes, notes } = await held({ size, root: rootOfLeaves(leaves, size) });
      expect([size, codes, notes.includes(`saw ${size} entries: the log of the archive begins`)]).toEqual([
        size,
        [],
        true,
      ]);
    }
    const more = [...leaves, new Uint8Array(32)];
    const { codes, notes } = await held({ size: more.length, root: rootOfLeaves(more), leaves: more });
    expect([codes, notes.includes('the log of the archive is their beginning')]).toEqual([[], true]);
  });

  test('another one contradicts it, shorter, as long or longer', async () => {
    const leaves = logLeaves().with(0, new Uint8Array(32));
    for (const size of [1, 2, leaves.length])
      expect((await held({ size, root: rootOfLeaves(leaves, size) })).codes).toEqual(['forked']);
    const more = [...leaves, new Uint8Array(32)];
    expect((await held({ size: more.length, root: rootOfLeaves(more), leaves: more })).codes).toEqual(['forked']);
  });

  test('one of the same workspace under another name contradicts it', async () => {
    expect((await held({ origin: `${checkpoint()?.origin}`.replace('log/', 'log/x') })).codes).toEqual(['other_log']);
  });

  test('a longer one of which the root alone is kept shows neither, which is said', async () => {
    const { codes, notes } = await held({ size: 10_000, root: new Uint8Array(32) });
    expect(codes).toEqual([]);
    expect(notes).toMatch(/cannot be shown from it: mesh audit verify --evidence/);
  });
});
