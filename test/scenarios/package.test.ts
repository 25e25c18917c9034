import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startMeshd } from '../kits/process/meshd.ts';
import { commandsOf } from '../kits/process/page-blocks.ts';
import { run } from '../kits/process/run-command.ts';
import { untar } from '../kits/process/unpack.ts';
import { sourceFiles } from '../kits/source-files.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

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
  const place = path.join(home, 'lib/node_modules/mesh');
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

  test('has a meshd that serves API, page and bus, and says the next command as it is installed', async () => {
    const meshd = startMeshd({
      command: [path.join(bin, 'meshd'), '--standalone'],
      env: { PATH: `${bin}:${process.env['PATH']}` },
    });
    try {
      const url = await meshd.ready();
      const [health, page] = await Promise.all([fetch(`${url}/healthz`), fetch(url)]);
      expect([health.status, page.status]).toEqual([200, 200]);
      expect(meshd.stdout()).toMatch(/^Next: mesh login /m);
      expect(meshd.stderr()).not.toContain('Cannot find module');
    } finally {
      await meshd.stop();
    }
  });

  test('has each thread that the product starts', () => {
    const product = sourceFiles().filter(
      (file) => /^(?:bin|core|net|plane|storage)\/.*\.ts$/.test(file) && !/\.test\b/.test(file),
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

  function withNode(folder: string, script: string): string {
    const programs = path.join(home, folder);
    mkdirSync(programs);
    mkdirSync(path.join(home, 'bin'), { recursive: true });
    writeFileSync(path.join(programs, 'node'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return `${programs}:${process.env['PATH']}`;
  }
});
