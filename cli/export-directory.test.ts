import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { FileResource } from '../core/history/export.ts';
import { NAME_PATTERN } from '../core/model/resources.ts';
import { requireOwn, writeExport } from './export-directory.ts';
import { fileOf, filesOf, readDocuments } from './resource-files.ts';

let place: string;
beforeEach(() => {
  place = mkdtempSync(path.join(tmpdir(), 'mesh-export-'));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

const policy = (name: string, spec = {}): FileResource => ({
  apiVersion: 'mesh.internal/v1alpha1',
  kind: 'MeshPolicy',
  metadata: { name },
  spec: { action: 'ALLOW', ...spec },
});
const write = (...names: string[]) => writeExport(place, filesOf(names.map((name) => policy(name))));
const there = () => readdirSync(place, { recursive: true, encoding: 'utf8' }).sort();

const anyName = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9._-]{1,63}$/).filter((name) => NAME_PATTERN.test(name)),
  fc.constantFrom('...', '.git', '-rf', 'CON', 'con.txt', 'nul', 'NUL.', 'lpt1', '_con', 'a'.repeat(63)),
);

test('the file of a resource is in the folder of its kind, plainly visible, and no other name has it on any file system', () => {
  const names = fc.uniqueArray(anyName, { minLength: 1, maxLength: 8, selector: (name) => name.toLowerCase() });
  fc.assert(
    fc.property(names, (drawn) => {
      const files = drawn.map((name) => fileOf(policy(name)));
      for (const file of files) {
        expect(file).toMatch(/^policies\/[a-z0-9_%][a-z0-9._%-]*\.yaml$/);
        expect(path.dirname(path.normalize(path.join('export', file)))).toBe('export/policies');
        expect(path.basename(file)).not.toMatch(/^(?:con|prn|aux|nul|com\d|lpt\d)\./);
        expect(path.basename(file).length).toBeLessThan(100);
      }
      expect(new Set(files).size).toBe(drawn.length);
    }),
  );
});

test.each(['.', '..', '../evil', 'a/b', '', 'a\\b', 'a\0', 'é', 'x'.repeat(64)])(
  'a control plane that answers the name %j is believed nothing',
  (name) => {
    expect(() => fileOf(policy(name))).toThrow(/is no name/);
  },
);

test('what was exported is read back as it was, in the same order, and a second export writes nothing', async () => {
  const resources = ['.git', '-rf', 'Web', 'con', 'a'].map((name) =>
    policy(name, { action: 'DENY', why: 'a: "b"\n- c' }),
  );
  const first = await writeExport(place, filesOf(resources));
  expect([first.written.length, first.removed, first.unchanged]).toEqual([5, [], 0]);
  const { documents, isExport } = await readDocuments(place);
  expect(isExport).toBe(true);
  expect(documents).toEqual(expect.arrayContaining(resources));
  expect(documents).toHaveLength(5);
  expect(await writeExport(place, filesOf(resources))).toEqual({ written: [], removed: [], unchanged: 5 });
});

test('a later export removes the files of what is gone, and nothing else', async () => {
  await write('a', 'b');
  writeFileSync(path.join(place, 'README.md'), 'mine');
  writeFileSync(path.join(place, 'policies', 'notes.yaml'), 'mine: true\n');
  writeFileSync(path.join(place, 'policies', 'b.txt'), 'mine');
  mkdirSync(path.join(place, 'policies', 'team'));
  expect(await write('b', 'c')).toEqual({ written: ['policies/c.yaml'], removed: ['policies/a.yaml'], unchanged: 1 });
  expect(there().filter((name) => /\.|team/.test(name))).toEqual([
    '.mesh-export',
    'README.md',
    'policies/b.txt',
    'policies/b.yaml',
    'policies/c.yaml',
    'policies/notes.yaml',
    'policies/team',
  ]);
});

test('a directory that holds something else is refused unless it is forced, and then nothing of it is removed', async () => {
  await expect(requireOwn(path.join(place, 'new'), false)).resolves.toBeUndefined();
  mkdirSync(path.join(place, '.git'));
  await expect(requireOwn(place, false)).resolves.toBeUndefined();
  mkdirSync(path.join(place, 'policies'));
  const text = 'apiVersion: mesh.internal/v1alpha1\nkind: MeshPolicy\n';
  writeFileSync(path.join(place, 'policies', 'old.yaml'), text);
  await expect(requireOwn(place, false)).rejects.toMatchObject({ exitCode: 5, message: /not empty/ });
  await expect(requireOwn(place, true)).resolves.toBeUndefined();
  expect((await write('a')).removed).toEqual([]);
  expect(readFileSync(path.join(place, 'policies', 'old.yaml'), 'utf8')).toBe(text);
});

test('a link in the directory leads no file out of it, and none is read through one', async () => {
  const outside = mkdtempSync(path.join(tmpdir(), 'mesh-outside-'));
  try {
    writeFileSync(path.join(outside, 'secret.yaml'), 'kind: Secret\n');
    symlinkSync(outside, path.join(place, 'policies'));
    await expect(write('a')).rejects.toMatchObject({ message: expect.stringContaining('policies is no directory') });
    rmSync(path.join(place, 'policies'));
    await write('a');
    symlinkSync(path.join(outside, 'secret.yaml'), path.join(place, 'policies', 'secret.yaml'));
    rmSync(path.join(place, 'policies', 'a.yaml'));
    symlinkSync(path.join(outside, 'secret.yaml'), path.join(place, 'policies', 'a.yaml'));
    await write('a');
    expect((await readDocuments(place)).documents).toEqual([policy('a')]);
    expect([readdirSync(outside), readFileSync(path.join(outside, 'secret.yaml'), 'utf8')]).toEqual([
      ['secret.yaml'],
      'kind: Secret\n',
    ]);
  } finally {
    rmSync(outside, { recursive: true, force: true });
  }
});

test.each<[what: string, target: string, link: string]>([
  ['a file', 'hidden/a.yaml', 'b.yaml'],
  ['a directory', 'hidden', 'team'],
  ['nothing', 'hidden/gone.yaml', 'b.yml'],
])(
  'a directory with a link to %s, as a volume of Kubernetes has, never says all there is',
  async (_what, target, link) => {
    mkdirSync(path.join(place, '.data', 'hidden'), { recursive: true });
    writeFileSync(path.join(place, '.data', 'hidden', 'a.yaml'), 'kind: A\n');
    symlinkSync(path.join(place, '.data', target), path.join(place, link));
    await expect(readDocuments(place, { saysAll: true, mayBeEmpty: true })).rejects.toMatchObject({
      exitCode: 2,
      message: `${link} is a link, which is not followed: --prune would delete what it leads to.`,
    });
    expect((await readDocuments(place, { mayBeEmpty: true })).documents).toEqual([]);
  },
);

test('a link to what is no file of resources keeps nothing from being pruned', async () => {
  writeFileSync(path.join(place, '.notes'), 'text');
  symlinkSync(path.join(place, '.notes'), path.join(place, 'README.md'));
  expect((await readDocuments(place, { saysAll: true, mayBeEmpty: true })).documents).toEqual([]);
});

test('a file of several documents names each, and what is no YAML names its file', async () => {
  mkdirSync(path.join(place, 'team'));
  writeFileSync(path.join(place, 'team', 'a.yml'), 'kind: A\n---\nkind: List\nitems: [{ kind: B }, { kind: C }]\n');
  writeFileSync(path.join(place, '.hidden.yaml'), 'kind: H\n');
  const { documents, places, isExport } = await readDocuments(place);
  expect([documents, places, isExport]).toEqual([
    [{ kind: 'A' }, { kind: 'B' }, { kind: 'C' }],
    ['team/a.yml, document 1', 'team/a.yml, document 2', 'team/a.yml, document 3'],
    false,
  ]);
  writeFileSync(path.join(place, 'wrong.json'), '{"a": [');
  await expect(readDocuments(place)).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/^wrong\.json: /),
  });
});

test.each(['', '\n', '# later\n', '---\n# nothing yet\n---\n', '~\n', 'kind: List\nitems: []\n'])(
  'a file %j of a directory is refused by its name, as pruning would delete what it held',
  async (text) => {
    await write('a', 'b');
    writeFileSync(path.join(place, 'policies', 'a.yaml'), text);
    await expect(readDocuments(place)).rejects.toMatchObject({
      exitCode: 2,
      message: 'policies/a.yaml holds no document: delete the file, or give it one.',
    });
  },
);

test('all files without a document are named at once', async () => {
  await write('a', 'b');
  for (const name of ['a', 'b']) writeFileSync(path.join(place, 'policies', `${name}.yaml`), '');
  await expect(readDocuments(place)).rejects.toMatchObject({
    message: 'These files hold no document: policies/a.yaml, policies/b.yaml. Delete them, or give each one.',
  });
});
