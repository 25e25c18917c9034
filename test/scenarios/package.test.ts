import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startJoinablePlane } from '../kits/http/joinable-plane.ts';
import { joinTokenFor } from '../kits/http/joining.ts';
import { startMeshd } from '../kits/process/meshd.ts';
import { commandsOf } from '../kits/process/page-blocks.ts';
import { run } from '../kits/process/run-command.ts';
import { untar } from '../kits/process/unpack.ts';
import { sourceFiles } from '../kits/source-files.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const { name } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { name: string };

/** Packing compiles everything. */
const PACKING_MS = 180_000;

let home: string;
let bin: string;

/** What `npm pack` makes, unpacked as `npm install -g` does it: below a node_modules, where Node runs no TypeScript. */
beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'mesh-package-'));
  const [pack = ''] = commandsOf('README.md: Two commands 2')[0]?.split(' && ') ?? [];
  const packed = execFileSync(`${pack} --json --pack-destination ${home}`, {
    cwd: ROOT,
    encoding: 'utf8',
    shell: true,
  });
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  const place = path.join(home, 'lib/node_modules', name);
  await untar(path.join(home, filename), place);
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(place, 'node_modules'));
  bin = path.join(place, 'bin');
}, PACKING_MS);
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('the package that npm pack makes', () => {
  test('has a mesh that knows its commands, and loads those of the node and of the plane', async () => {
    const env = { HOME: home, MESH_CONFIG_DIR: home };
    for (const args of [
      ['--version'],
      ['--help'],
      ['up', '--help'],
      ['admin', '--help'],
      ['mcp', 'config', '--help'],
    ]) {
      const { code, stderr } = await run(path.join(bin, 'mesh'), args, { env });
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
    }
  });

  test('has a meshd that serves API, page, documentation and bus, and says the next command as it is installed', async () => {
    const meshd = startMeshd({
      command: [path.join(bin, 'meshd'), '--standalone'],
      env: { PATH: `${bin}:${process.env['PATH']}` },
    });
    try {
      const url = await meshd.ready();
      const asked = ['/healthz', '/', '/docs', '/docs/policy', '/docs/screens/review-light.webp'];
      const answers = await Promise.all(asked.map((route) => fetch(new URL(route, url))));
      expect(answers.map(({ status }) => status)).toEqual(asked.map(() => 200));
      expect(meshd.stdout()).toMatch(/^Next: mesh login /m);
      expect(meshd.stderr()).not.toContain('Cannot find module');
    } finally {
      await meshd.stop();
    }
  });

  test('has the library, whose nodes reach each other, with its types', async () => {
    await using plane = await startJoinablePlane();
    const token = await joinTokenFor(plane.harness, plane.admin, { usageLimit: 2 });
    const program = path.join(home, 'lib/program.mts');
    writeFileSync(program, programOf(plane.harness.url, token));
    const types = [
      '--module',
      'nodenext',
      '--target',
      'esnext',
      '--types',
      'node',
      '--typeRoots',
      'node_modules/@types',
    ];
    const tsc = path.join(ROOT, 'node_modules/.bin/tsc');
    const checked = await run(tsc, ['--ignoreConfig', '--noEmit', '--strict', ...types, program]);
    expect(checked).toMatchObject({ code: 0, stdout: '' });
    expect(await run(process.execPath, [program])).toMatchObject({ code: 0, stdout: 'hello\n' });
  });

  test('has each thread that the product starts', () => {
    const product = sourceFiles().filter(
      (file) => /^(?:bin|client|core|net|plane|storage)\/.*\.ts$/.test(file) && !/\.test\b/.test(file),
    );
    const threads = product.flatMap((file) =>
      [...readFileSync(path.join(ROOT, file), 'utf8').matchAll(/new URL\(`\.\/([\w-]+)\$\{path\.extname/g)].map(
        ([, name]) => path.join(path.dirname(file), `${name}.js`),
      ),
    );
    expect(threads.length).toBeGreaterThan(3);
    expect(threads.filter((file) => !existsSync(path.join(bin, '../dist', file)))).toEqual([]);
  });

  test('names the Node that it needs where an older one is on PATH', async () => {
    const PATH = withNode('old', 'echo v20.20.2');
    const { code, stderr } = await run(path.join(bin, 'mesh'), ['--version'], { env: { HOME: home, PATH } });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^mesh: needs Node 24 .* found v20\.20\.2: https:/)]);
  });

  test('runs on the Node whose npm installed it, also where PATH does not lead to it', async () => {
    const PATH = withNode('other', 'echo v20.20.2');
    symlinkSync(process.execPath, path.join(home, 'bin/node'));
    const { code, stderr } = await run(path.join(bin, 'mesh'), ['--version'], { env: { HOME: home, PATH } });
    rmSync(path.join(home, 'bin/node'));
    expect([code, stderr]).toEqual([0, '']);
  });

  const programOf = (server: string, token: string) => `
    import { join, type MeshNode } from '${name}/node';
    const options = { server: '${server}', token: '${token}' };
    const web: MeshNode = await join({ ...options, name: 'web' });
    const job = await join({ ...options, name: 'job' });
    (await web.listen(7)).on('connection', (connection) => connection.end('hello'));
    for await (const bytes of job.connect('web', 7)) console.log(String(bytes));
    await Promise.all([web.close(), job.close()]);
    // @ts-expect-error A join needs a token.
    () => join({ server: '' });
  `;

  function withNode(folder: string, script: string): string {
    const programs = path.join(home, folder);
    mkdirSync(programs);
    mkdirSync(path.join(home, 'bin'), { recursive: true });
    writeFileSync(path.join(programs, 'node'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return `${programs}:${process.env['PATH']}`;
  }
});
