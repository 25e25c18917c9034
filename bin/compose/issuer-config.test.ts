import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { dump } from 'js-yaml';
import { expect, test } from 'vitest';
import { loadConfig } from './config.ts';

const GRANT = { claim: 'groups', value: 'ops', workspace: 'prod', role: 'operator' };
const CORP = { name: 'corp', issuer: 'https://id.example.com', clientId: 'mesh', grants: [GRANT] };

const SCIM = { tokenVariable: 'MESH_OIDC_SCIM' };

function load(oidc: unknown, { variables = {}, secret = '', signIn = {} } = {}) {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-issuers-'));
  try {
    writeFileSync(path.join(directory, 'secret'), secret);
    const text = dump({ app: { oidc, signIn } }).replaceAll('DIRECTORY', directory);
    writeFileSync(path.join(directory, 'config.yaml'), text, { mode: 0o644 });
    const { app, unknownVariables } = loadConfig(variables, directory);
    const mode = statSync(path.join(directory, 'config.yaml')).mode & 0o777;
    return { issuers: app.oidc, unknownVariables, mode };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('the secret of a client is in the file itself, which others then cannot read, in another file, or in a variable', () => {
  const inline = load([{ ...CORP, clientSecret: 'one' }]);
  expect([inline.issuers[0]?.clientSecret?.reveal(), inline.mode]).toEqual(['one', 0o600]);
  const filed = load([{ ...CORP, clientSecretFile: 'DIRECTORY/secret' }], { secret: 'two\n' });
  expect([filed.issuers[0]?.clientSecret?.reveal(), filed.mode]).toEqual(['two', 0o644]);
  const set = load([{ ...CORP, clientSecretVariable: 'MESH_OIDC_CORP' }], { variables: { MESH_OIDC_CORP: 'three' } });
  expect([set.issuers[0]?.clientSecret?.reveal(), set.unknownVariables]).toEqual(['three', []]);
  expect(load([CORP]).issuers[0]?.clientSecret).toBeUndefined();
});

test('the token of a directory is in another file or in a variable', () => {
  const secret = 'a'.repeat(32);
  const tokens = [
    load([{ ...CORP, scim: { tokenFile: 'DIRECTORY/secret' } }], { secret }),
    load([{ ...CORP, scim: SCIM }], { variables: { MESH_OIDC_SCIM: secret } }),
  ];
  for (const { issuers, unknownVariables } of tokens) {
    expect(issuers[0]?.scim).toMatchObject({ claim: 'sub' });
    expect([issuers[0]?.scim?.token?.reveal(), unknownVariables]).toEqual([secret, []]);
  }
});

test.each<[what: string, oidc: unknown, told: string]>([
  [
    'an issuer without TLS',
    [{ ...CORP, issuer: 'http://id.example.com' }],
    'app.oidc.0.issuer: must be an https address',
  ],
  [
    'an issuer with a query',
    [{ ...CORP, issuer: 'https://id.example.com/?a=b' }],
    'app.oidc.0.issuer: must be an https',
  ],
  ['a name that no address takes', [{ ...CORP, name: 'Corp/..' }], 'app.oidc.0.name: must be up to 32 small letters'],
  ['nobody who is let in', [{ ...CORP, grants: [] }], 'app.oidc.0: lets nobody in: write grants, or admits: everyone'],
  ['two secrets', [{ ...CORP, clientSecret: 'a', clientSecretFile: 'b' }], 'app.oidc.0: must have one of clientSecret'],
  [
    'a file that is not there',
    [{ ...CORP, clientSecretFile: '/nonexistent' }],
    'app.oidc.0.clientSecretFile: /nonexistent',
  ],
  ['an empty file', [{ ...CORP, clientSecretFile: 'DIRECTORY/secret' }], 'holds no secret'],
  ['a variable that is not set', [{ ...CORP, clientSecretVariable: 'MESH_OIDC_A' }], 'MESH_OIDC_A is not set'],
  ['a variable of another name', [{ ...CORP, clientSecretVariable: 'HOME' }], 'must begin with MESH_OIDC_'],
  ['two of one name', [CORP, { ...CORP, issuer: 'https://b.example.com' }], 'app.oidc: must have a name each'],
  ['one issuer twice', [CORP, { ...CORP, name: 'other' }], 'app.oidc: must have an issuer each'],
  [
    'a role of the installation',
    [{ ...CORP, grants: [{ ...GRANT, role: 'platform_admin' }] }],
    'grants.0.role: must be viewer',
  ],
  ['scopes without openid', [{ ...CORP, scopes: ['email'] }], 'app.oidc.0.scopes: must contain openid'],
  ['a directory without a token', [{ ...CORP, scim: {} }], 'app.oidc.0.scim: must have one of tokenFile and tokenVar'],
  [
    'the token of another directory',
    ['corp', 'other'].map((name) => ({
      ...CORP,
      ...{ name, issuer: `https://${name}.example.com`, scim: { tokenVariable: 'MESH_OIDC_BOTH' } },
    })),
    'app.oidc.1.scim: the token is that of another issuer too',
  ],
  ['a short token', [{ ...CORP, scim: SCIM }], 'app.oidc.0.scim: the token needs 32 characters'],
  [
    'a directory beside other claims',
    [{ ...CORP, scim: SCIM, grants: [{ ...GRANT, claim: 'team' }] }],
    'app.oidc.0: has scim, so that the directory decides: its grants have the claim groups',
  ],
])('%s is refused with its key', (_what, oidc, told) => {
  expect(() => load(oidc, { variables: { MESH_OIDC_SCIM: 'short', MESH_OIDC_BOTH: 'x'.repeat(32) } })).toThrow(told);
});

test('passwords are not turned off where no issuer signs people in', () => {
  const signIn = { onlyLocalAccount: 'admin' };
  expect(() => load([], { signIn })).toThrow('app.signIn.onlyLocalAccount: needs an issuer in app.oidc');
  expect(load([CORP], { signIn }).issuers).toHaveLength(1);
});
