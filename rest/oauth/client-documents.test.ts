import { expect, test } from 'vitest';
import { buildClientDocuments, isDocumentUrl } from './client-documents.ts';

const URL = 'https://planner.example/client.json';
const DOCUMENT = { client_id: URL, client_name: 'Planner', redirect_uris: ['http://127.0.0.1:7/callback'] };
const SIGNS = { token_endpoint_auth_method: 'private_key_jwt' };
const KEYS = { keys: [{ kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }] };
const KEYS_URL = 'https://planner.example/keys.json';
const RSA = { kty: 'RSA', n: 'A'.repeat(342), e: 'AQAB' };
const always = () => true;

/** Answers documents in their order, the last of them again and again. */
function documents(...answers: readonly unknown[]) {
  const asked: string[] = [];
  const clients = buildClientDocuments(async (url) => {
    const answer = answers[Math.min(asked.push(url), answers.length) - 1];
    return typeof answer === 'string' ? answer : { json: answer };
  }, 'anyone');
  return { asked, find: (url = URL, mayFetch = always) => clients.find(url, mayFetch) };
}

test('a document is fetched once and describes its client as a registration does', async () => {
  const { asked, find } = documents(DOCUMENT);
  const client = { name: 'Planner', redirectUris: ['http://127.0.0.1/callback'], document: URL };
  expect(await Promise.all([find(), find()])).toEqual([client, client]);
  expect(asked).toEqual([URL]);
});

test.each([
  ['that names another client', { ...DOCUMENT, client_id: 'https://planner.example/other.json' }],
  ['without an id', { ...DOCUMENT, client_id: undefined }],
  ['with a secret', { ...DOCUMENT, client_secret: 'x' }],
  ['of a client that has to show a secret', { ...DOCUMENT, token_endpoint_auth_method: 'client_secret_basic' }],
  ['with a redirect that runs a script', { ...DOCUMENT, redirect_uris: ['javascript:alert(1)'] }],
  ['with a name of two lines', { ...DOCUMENT, client_name: 'Mesh\nPlanner' }],
  ['that signs with nothing', { ...DOCUMENT, ...SIGNS }],
  ['that names its keys twice', { ...DOCUMENT, ...SIGNS, jwks: KEYS, jwks_uri: KEYS_URL }],
  ['that shows a private key', { ...DOCUMENT, ...SIGNS, jwks: { keys: [{ ...KEYS.keys[0], d: 'AA' }] } }],
  ['that signs with a secret', { ...DOCUMENT, ...SIGNS, jwks: { keys: [{ kty: 'oct', k: 'AA' }] } }],
  ['with a key that takes long', { ...DOCUMENT, ...SIGNS, jwks: { keys: [{ ...RSA, e: 'A'.repeat(500) }] } }],
  ['with a key that is too long', { ...DOCUMENT, ...SIGNS, jwks: { keys: [{ ...RSA, n: 'A'.repeat(2_731) }] } }],
  ['with a key that is too short', { ...DOCUMENT, ...SIGNS, jwks: { keys: [{ ...RSA, n: 'A'.repeat(171) }] } }],
  ['with more keys than are tried', { ...DOCUMENT, ...SIGNS, jwks: { keys: Array(9).fill(RSA) } }],
  ['whose keys are on no https address', { ...DOCUMENT, ...SIGNS, jwks_uri: 'http://10.0.0.1/keys' }],
  ['that is a list', [DOCUMENT]],
  ['that is nothing', null],
])('a document %s is refused and not fetched again at once', async (_what, document) => {
  const { asked, find } = documents(document);
  await expect(find()).rejects.toMatchObject({ name: 'DocumentError', isTemporary: false });
  await expect(find()).rejects.toMatchObject({ name: 'DocumentError' });
  expect(asked).toEqual([URL]);
});

test('a third document of one host waits for the others', async () => {
  const waits = Promise.withResolvers<string>();
  const clients = buildClientDocuments(() => waits.promise, 'anyone');
  const first = [1, 2].map((at) => clients.find(`https://a.example/${at}`, always));
  await expect(clients.find('https://a.example/3', always)).rejects.toThrow('Too many clients');
  waits.resolve('gone');
  expect((await Promise.allSettled(first)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('the keys of a client that signs are those of its document, or of the address in it', async () => {
  const own = documents({ ...DOCUMENT, ...SIGNS, jwks: KEYS });
  expect(await own.find()).toMatchObject({ keys: KEYS.keys });
  const elsewhere = documents({ ...DOCUMENT, ...SIGNS, jwks_uri: KEYS_URL }, KEYS);
  expect(await elsewhere.find()).toMatchObject({ keys: KEYS.keys });
  expect(elsewhere.asked).toEqual([URL, KEYS_URL]);
});

test('a caller who may fetch nothing gets the clients that are known and no others', async () => {
  const { find } = documents(DOCUMENT);
  await expect(find(URL, () => false)).rejects.toMatchObject({ isTemporary: true });
  await find();
  expect(await find(URL, () => false)).toMatchObject({ name: 'Planner' });
});

test('no more than eight documents are fetched at once, and two of one host', async () => {
  const waits = Promise.withResolvers<string>();
  const clients = buildClientDocuments(() => waits.promise, 'anyone');
  const first = Array.from({ length: 8 }, (_, at) => clients.find(`https://${at % 4}.example/${at}`, always));
  await expect(clients.find('https://9.example/9', always)).rejects.toThrow('Too many clients');
  waits.resolve('gone');
  expect((await Promise.allSettled(first)).map(({ status }) => status)).toEqual(Array(8).fill('rejected'));
});

test.each([
  ['https://planner.example/client.json', true],
  ['https://planner.example/', false],
  ['http://planner.example/client.json', false],
  ['https://ada@planner.example/client.json', false],
  ['https://planner.example/a/../client.json', false],
  ['https://planner.example/%2e%2e/client.json', false],
  ['https://PLANNER.example/client.json', false],
  ['https://planner.example/client.json#x', false],
  ['https://planner.example/client.json#', false],
  ['https://planner.example:443/client.json', false],
  ['https://planner.example\\@evil.example/client.json', false],
  [`https://planner.example/${'x'.repeat(600)}`, false],
  ['mesh-client.x.y', false],
])('%s as the address of a document: %s', (id, isOne) => {
  expect(isDocumentUrl(id)).toBe(isOne);
});
