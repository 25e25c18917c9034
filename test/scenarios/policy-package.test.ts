import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'oxc-parser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startFilesExample } from '../kits/http/files-example.ts';
import { type InstalledPackage, installPackage } from '../kits/process/installed-package.ts';
import { blocksOf, commandBlock } from '../kits/process/page-blocks.ts';
import { mesh } from '../kits/process/run-command.ts';

const PACKING_MS = 180_000;
const MOST_BYTES = 300_000;
const OFFICE = 'examples/policy-test/office.yaml';
const [EXAMPLE] = blocksOf('packages/policy/README.md').filter(({ language }) => language === 'js');

let installed: InstalledPackage;
let example: Awaited<ReturnType<typeof startFilesExample>>;

beforeAll(async () => {
  installed = installPackage('policy');
  example = await startFilesExample();
  installed.write('network.yaml', example.network);
  installed.write('change.yaml', example.change);
}, PACKING_MS);
afterAll(async () => {
  installed[Symbol.dispose]();
  await example.harness[Symbol.asyncDispose]();
});

/** Runs a program in the project, with the files of docs/files.md as `before` and `after`, and reads what it answers. */
async function answered(expression: string): Promise<unknown> {
  const { stdout, stderr } = await installed.run(`
    import { readFileSync } from 'node:fs';
    import * as policy from '@scope/mesh-policy';
    const before = policy.parseDocuments(readFileSync('network.yaml', 'utf8'));
    const after = [...before, ...policy.parseDocuments(readFileSync('change.yaml', 'utf8'))];
    console.log(JSON.stringify(${expression}));
  `);
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

describe('the package of the policy engine', () => {
  test('is one small module that imports nothing, with its license and those of what is built in', () => {
    const folder = path.join(installed.modules, '@scope/mesh-policy');
    const code = readFileSync(path.join(folder, 'dist/index.js'), 'utf8');
    expect(statSync(path.join(folder, 'dist/index.js')).size).toBeLessThan(MOST_BYTES);
    const { staticImports, dynamicImports } = parseSync('index.js', code).module;
    expect([staticImports, dynamicImports, code.match(/["'`]node:\w+|\brequire\(/g)]).toEqual([[], [], null]);
    expect(installed.dependencies()).toEqual(['mesh-policy']);
    expect(readFileSync(path.join(folder, 'LICENSE'), 'utf8')).toContain('Apache License');
    const terms = readFileSync(path.join(folder, 'dist/licenses.md'), 'utf8');
    expect([...terms.matchAll(/^## (\S+) - /gm)].map(([, name]) => name)).toEqual(['js-yaml', 'zod']);
  });

  test('type-checks a program by its declarations alone, and refuses one that uses it wrongly', async () => {
    const head = `import { type Comparison, networkOf, parseDocuments, testPolicies } from '@scope/mesh-policy';
      const network = networkOf(parseDocuments(''));`;
    const right = `${head}
      const ports: string[] = [...network.connections()].map(({ allowed }) => (allowed === 'ALL' ? allowed : allowed.map(({ protocol }) => protocol).join()));
      export const failed: boolean = testPolicies('').some(({ pass }) => !pass);
      export const opened = (found: Comparison) => [ports, found.connections.filter(({ change }) => change === 'opened')];`;
    const wrong = `// @ts-expect-error\nnetwork.explain({ src: 'a', dest: 'b' });`;
    expect(await installed.checkTypes(`${right}\n${wrong}`)).toMatchObject({ code: 0, stdout: '' });
  });

  test('runs the program of its README, which says what the page on files says', async () => {
    const { stdout, stderr, code } = await installed.run(EXAMPLE?.text ?? '');
    expect({ stdout, stderr, code }).toEqual({ stdout: EXAMPLE?.shows, stderr: '', code: 0 });
    expect(commandBlock('docs/files.md: A repository owns the policies 1').shows).toContain(stdout.split('\n')[0]);
  });

  test('compares files as the preview of the control plane does', async () => {
    const { harness, admin } = example;
    const body = { manifest: example.change };
    const preview = await harness.api('POST', '/api/v1/apply/preview', { ...admin, body });
    const expected = { connections: preview.body.connections, omitted: 0, comparesOutside: true };
    expect(preview.body.connections).not.toEqual([]);
    expect(await answered('policy.compare(before, after)')).toEqual(expected);
  });

  test('gives every pair the verdict, ports and reasons of the control plane', async () => {
    const { harness, admin } = example;
    await harness.api('POST', '/api/v1/apply', { ...admin, body: { manifest: example.change } });
    const names = ['web-1', 'db-1', 'laptop'];
    const pairs = names.flatMap((src) => names.flatMap((dst) => (src === dst ? [] : [{ src, dst }])));
    const queries = pairs.flatMap((pair) => [
      pair,
      { ...pair, protocol: 'TCP', port: 5432 },
      { ...pair, protocol: 'UDP' },
    ]);
    const judged = queries.map(async (query) => {
      const route = `/api/v1/connectivity/check?${new URLSearchParams(Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]))}`;
      const { verdict, allowed, steps, blocked_by } = (await harness.api('GET', route, admin)).body;
      return { verdict, allowed, steps, blocked_by };
    });
    const network = `${JSON.stringify(queries)}.map((query) => policy.networkOf(after).explain(query))`;
    expect(await answered(network)).toEqual(await Promise.all(judged));
  });

  test('judges the assertions of a file as mesh policy test does', async () => {
    const text = `${readFileSync(OFFICE, 'utf8')}  - { src: laptop, dst: db-1, expect: allow }\n`;
    installed.write('office.yaml', text);
    const file = path.join(installed.project, 'office.yaml');
    const byCommand = await mesh(['policy', 'test', file, '--json'], { home: installed.project });
    expect(byCommand.code).toBe(1);
    const results = await answered(`policy.testPolicies(readFileSync('office.yaml', 'utf8'))`);
    expect(results).toEqual(JSON.parse(byCommand.stdout));
  });

  test('takes a listed id for the peer of the document that has it, and for nobody where none has', async () => {
    const id = 'p_aaaaaaaaaaaaaaaaaaaaaaaaaa';
    const judged =
      await answered(`[[undefined, '${id}'], ['${id}', '${id}'], ['${id}', 'WEB-1']].map(([uid, listed]) => {
      const peers = before.map((one) => (one.metadata.name === 'web-1' ? { ...one, metadata: { ...one.metadata, uid } } : one));
      const ingress = [{ from: [{ peerSelector: { peers: [listed] } }] }];
      const allow = { ...after.at(-1), spec: { action: 'ALLOW', peerSelector: { peers: ['db-1'] }, ingress } };
      return policy.networkOf([...peers, allow]).explain({ src: 'web-1', dst: 'db-1' }).verdict;
    })`);
    expect(judged).toEqual(['unreachable', 'reachable', 'reachable']);
  });

  test('refuses a query that does not fit', async () => {
    const refusal = await answered(`(() => {
      try {
        policy.networkOf(after).explain({ src: 'web-1', dst: 'db-1', protocol: 'tcp' });
      } catch ({ code, errors }) {
        return { code, errors };
      }
    })()`);
    const errors = [{ pointer: '/protocol', detail: 'protocol is TCP, UDP, SCTP or ICMP' }];
    expect(refusal).toEqual({ code: 'invalid_input', errors });
  });

  test('refuses documents that do not fit, naming each field and its document', async () => {
    const refusal = await answered(`(() => {
      try {
        policy.networkOf([...after, { ...after.at(-1), metadata: { name: 'other' }, spec: { action: 'ALLOW', network: 'lab', peerSelector: { peers: ['web1'] } } }]);
      } catch (error) {
        return { ...error, isOwn: error instanceof policy.PolicyError };
      }
    })()`);
    const document = { kind: 'MeshPolicy', name: 'other' };
    expect(refusal).toMatchObject({
      isOwn: true,
      code: 'invalid_input',
      errors: [
        { pointer: '/spec/network', detail: 'No document is of the MeshNetwork "lab": add it.', document },
        { pointer: '/spec/peerSelector/peers/0', detail: 'There is no peer "web1". Did you mean "web-1"?', document },
      ],
    });
  });
});
