import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { dump } from 'js-yaml';
import { expect, test } from 'vitest';
import { testCertificate } from '../../net/nats/test-certificate.ts';
import { clusterSettings } from './cluster-config.ts';
import { loadConfig } from './config.ts';

const PROD = { name: 'prod', server: 'https://10.0.0.1:6443', caFile: 'DIRECTORY/ca', tokenFile: 'DIRECTORY/token' };

function load(kubernetes: unknown, { ca = testCertificate.cert, token = 'secret\n' } = {}) {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-clusters-'));
  try {
    writeFileSync(path.join(directory, 'ca'), ca);
    writeFileSync(path.join(directory, 'token'), token);
    const text = dump({ app: { kubernetes } }).replaceAll('DIRECTORY', directory);
    writeFileSync(path.join(directory, 'config.yaml'), text);
    const { app } = loadConfig({}, directory);
    const [cluster] = clusterSettings(app.kubernetes);
    const first = cluster?.readToken();
    writeFileSync(path.join(directory, 'token'), 'renewed');
    return { app, cluster, tokens: [first, cluster?.readToken()] };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('the token of a reviewer is in a file of its own, read at each review, and never part of the configuration', () => {
  const { app, cluster, tokens } = load([PROD]);
  expect(tokens).toEqual(['secret', 'renewed']);
  expect(cluster).toMatchObject({ name: 'prod', server: PROD.server, ca: testCertificate.cert });
  expect(JSON.stringify([app, cluster])).not.toMatch(/secret|renewed/);
});

test.each<[what: string, kubernetes: unknown, told: string, files?: { ca?: string; token?: string }]>([
  ['a server without TLS', [{ ...PROD, server: 'http://10.0.0.1' }], 'app.kubernetes.0.server: must be an https'],
  ['a server with a path', [{ ...PROD, server: 'https://a.example/b' }], 'app.kubernetes.0.server: must be an https'],
  ['a name that no rule takes', [{ ...PROD, name: 'Prod/1' }], 'app.kubernetes.0.name: must be up to 32 small letters'],
  ['two of one name', [PROD, PROD], 'app.kubernetes: must have a name each'],
  ['no token', [{ ...PROD, tokenFile: undefined }], 'app.kubernetes.0.tokenFile'],
  ['a file that is not there', [{ ...PROD, tokenFile: '/nonexistent' }], 'app.kubernetes.0.tokenFile: /nonexistent'],
  ['an empty file', [PROD], 'holds no token', { token: '\n' }],
  ['authorities that are no PEM', [PROD], 'app.kubernetes.0.caFile: write certificates in PEM', { ca: 'MIIB' }],
])('%s is refused with its key', (_what, kubernetes, told, files) => {
  expect(() => load(kubernetes, files)).toThrow(told);
});
