import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderRules } from '../../client/firewall/render.ts';
import { newId } from '../../core/base/ids.ts';
import { sourceFiles } from '../../test/kits/source-files.ts';
import { ownLines } from './own-lines.ts';
import { redactedJson, redactor } from './redact.ts';
import { REMOVED } from './removed.ts';
import { PLAIN_NAMES } from './secret-names.ts';

const KEY = 'A0+/bcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN=';
const unknown = redactor([], new Set());

describe('what reads as a secret goes, whoever wrote it:', () => {
  test.each([
    [
      'a join token',
      'token mesh-join-abcdefghijklmnop_qrstuvwxyzABCDEFGHIJKLMNOPQ-0123456789abcdef here',
      'abcdefghij',
    ],
    [
      'a token with the address of its control plane',
      'token mesh-dlg-abcdefghijklmnop_qrstuvwxyzABCDEFGHIJKLMNOPQ-0123456789abcdef.aHR0cHM6Ly9tZXNoLmV4YW1wbGUuY29tLw here',
      'aHR0cHM6',
    ],
    ['a join link', 'open mesh://join?server=https%3A%2F%2Fx&token=whatever', 'whatever'],
    ['a password in an address', 'nats://ada:hunter2hunter@bus:4222', 'hunter2'],
    ['the credential of a relay', 'lrps://c3VwZXJzZWNyZXQ@relay:6266', 'c3VwZX'],
    ['an authorization', 'Authorization: Bearer abc.def.ghi', 'abc.def'],
    ['a field of JSON', '{"deviceToken": "short-one"}', 'short-one'],
    ['a setting', 'MESH_PASSWORD=correct-horse', 'correct-horse'],
    ['a query', 'GET /x?token=abcdef&a=1', 'abcdef'],
    ['a key in base64', `key ${KEY}`, 'bcdefghijk'],
    ['a key in hex', `private ${'ab12'.repeat(16)}`, 'ab12ab12'],
    ['a key file', '-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----', 'MIIabc'],
    ['a key file that was cut off', '-----BEGIN EC PRIVATE KEY-----\nMIIabc', 'MIIabc'],
  ])('%s', (_what, text, secret) => {
    expect(unknown(text)).not.toContain(secret);
    expect(unknown(text)).toContain(REMOVED);
  });
});

test('a known secret goes in every form that programs write it in', () => {
  const safe = redactor([KEY, 'p@ss"word/1'], new Set());
  const hex = Buffer.from(KEY, 'base64').toString('hex');
  const base64url = Buffer.from(KEY, 'base64').toString('base64url');
  const forms = [
    KEY,
    hex,
    base64url,
    'p@ss"word/1',
    'p@ss\\"word/1',
    'p%40ss%22word%2F1',
    Buffer.from('p@ss"word/1').toString('base64'),
  ];
  for (const form of forms) expect([form, safe(`x${form}y`)]).toEqual([form, `x${REMOVED}y`]);
});

/** Ways to write a secret down that nothing here knows. Each is found by what stands before it, however short and plain it is. */
const NAMED: Readonly<Record<string, (secret: string) => string>> = {
  json: (secret) => `{"password":"${secret}","a":1}`,
  'JSON in a string of JSON': (secret) => JSON.stringify({ body: JSON.stringify({ db: { userPassword: secret } }) }),
  'JSON in JSON in JSON': (secret) => JSON.stringify([JSON.stringify([JSON.stringify({ client_secret: secret })])]),
  'an option': (secret) => `ran psql --password ${secret} -h db`,
  'an option with a sign': (secret) => `ran tool --api-key=${secret}`,
  'an option with one dash': (secret) => `java -storepass ${secret}`,
  'a pre-shared key': (secret) => `wpa psk=${secret}`,
  'a setting of a cloud': (secret) => `AWS_SECRET_ACCESS_KEY=${secret}`,
  'a setting in quotes': (secret) => `export PGPASSWORD='${secret}'`,
  'a short name': (secret) => `pass=${secret}`,
  'a shorter name': (secret) => `host=db;pwd=${secret};user=sa`,
  'any name': (secret) => `frobnicator=${secret}`,
  'the name and password of an address': (secret) => `dial amqp://ada:${secret}@bus:5672`,
  'an address without a scheme': (secret) => `proxy ada:${secret}@bus:5672 is down`,
  'the first cookie': (secret) => `Cookie: sid=${secret}; theme=dark`,
  'a later cookie': (secret) => `> cookie: theme=dark; lang=en; sid=${secret}`,
  'a cookie that is set': (secret) => `Set-Cookie: a=b, x=${secret}`,
  'an authorization without a scheme': (secret) => `Authorization: ${secret}`,
  'a header of its own': (secret) => `X-Auth-Token : ${secret}`,
  yaml: (secret) => `password: ${secret}`,
  'YAML on the next line': (secret) => `password:\n  ${secret}`,
  'a block of YAML': (secret) => `secret: |\n  ${secret}`,
  'a query': (secret) => `GET /callback?code=${secret}&state=1`,
  'a query in a query': (secret) => `next=%2Fx%3Ftoken%3D${secret}`,
  'a wide colon': (secret) => `password：${secret}`,
  'an arrow': (secret) => `password -> ${secret}`,
  'a row of a table': (secret) => `user,password,${secret}`,
  'a call': (secret) => `setSecret(${secret})`,
  'a colour before the colon': (secret) => `\u001b[31mpassword\u001b[0m: ${secret}`,
  'a colour in a string': (secret) => JSON.stringify(`\u001b[1;31mpassword\u001b[0m=${secret}`),
  'a sentence that says it': (secret) => `the password is ${secret}`,
  'a header without a colon': (secret) => `> X-Auth ${secret}`,
  'a login of curl': (secret) => `curl -u ada:${secret} https://x`,
  'a short option': (secret) => `mysql -h db -p ${secret}`,
  'a sentence': (secret) => `logged in with password ${secret}`,
};

/** Ways in which the secret itself is written, if it was drawn at random, wherever it stands. */
const CODED: Readonly<Record<string, (secret: Buffer) => string>> = {
  base64: (secret) => secret.toString('base64'),
  'base64 without padding': (secret) => secret.toString('base64').replaceAll('=', ''),
  base64url: (secret) => secret.toString('base64url'),
  hex: (secret) => secret.toString('hex'),
  'hex with colons': (secret) => secret.toString('hex').replaceAll(/..(?!$)/g, '$&:'),
  'hex with spaces': (secret) =>
    secret
      .toString('hex')
      .toUpperCase()
      .replaceAll(/..(?!$)/g, '$& '),
  'percent codes': (secret) => secret.toString('hex').replaceAll(/../g, '%$&'),
  'base64 in percent codes': (secret) => encodeURIComponent(secret.toString('base64')),
  'three parts with points': (secret) => [0, 1, 2].map(() => secret.toString('base64url')).join('.'),
};
/** Ways in which programs print the bytes of a key that is known here. */
const SCATTERED: Readonly<Record<string, (key: Buffer) => string>> = {
  'a row of numbers': (key) => JSON.stringify([...key]),
  'JSON of a Buffer': (key) => JSON.stringify(key),
  'JSON of a Buffer in JSON, indented': (key) => JSON.stringify({ body: JSON.stringify({ it: key }, null, 2) }),
  'numbers with spaces': (key) => [...key].join(' '),
  'numbers with points': (key) => [...key].join('.'),
  'a number a line': (key) => [...key].join('\n'),
  'marked bytes': (key) => [...key].map((byte) => `0x${byte.toString(16)}`).join(' '),
  'a string of C': (key) => key.toString('hex').replaceAll(/../g, '\\x$&'),
  'hex in groups of 4': (key) => key.toString('hex').replaceAll(/.{4}/g, '$& '),
  'hex in groups of 8': (key) => key.toString('hex').toUpperCase().replaceAll(/.{8}/g, '$&-'),
  'a byte a line': (key) => key.toString('hex').replaceAll(/../g, '$&\n'),
  'a byte a line in a string': (key) => JSON.stringify(key.toString('hex').replaceAll(/../g, '$&\n')),
  'base64 with spaces': (key) => key.toString('base64').replaceAll(/.{4}/g, '$& '),
  'base64 over lines': (key) => key.toString('base64').replaceAll(/.{11}/g, '$&\n'),
  'base64 over lines in a string': (key) => JSON.stringify(key.toString('base64url').replaceAll(/.{5}/g, '$&\r\n')),
};

describe('a key that is known never appears, written as', () => {
  test.each(Object.entries(SCATTERED))('%s', (_what, write) => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const key = Buffer.from(bytes);
        const text = write(key);
        const safe = redactor([key.toString('base64')], new Set())(`it was ${text} there`);
        expect(safe).toMatch(/^it was /);
        expect(safe).toMatch(/ there$/);
        // Nothing but what stands around the bytes is left, with the names of their fields.
        const left = safe
          .slice(7, -6)
          .replaceAll(REMOVED, '')
          .replaceAll(/type|Buffer|data|body|it|\\+[nrx]/g, '');
        expect(left.replaceAll(/[^A-Za-z0-9+/]/g, '')).toBe('');
      }),
      { numRuns: 50 },
    );
  });
});

test('of a line that is too long to be read the beginning stays, and what is cut off is said', () => {
  for (const word of ['a', 'key=', ' x', '1,', '0x1e ', '\\', '@:']) {
    const safe = unknown(`begins ${word.repeat(100_000 / word.length)}`);
    expect(safe.length).toBeLessThan(20_000);
  }
  expect(unknown(`begins ${'word '.repeat(10_000)}`)).toMatch(/^begins word .* \(\d+ characters are left out\)$/);
});

const PLACES: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `it said ${text}.`,
  (text) => `{"a":"${text}"}`,
  (text) => `(${text}), done`,
  (text) => `https://host/${text}/x`,
  (text) => `/var/lib/${text}`,
  (text) => `a=1 ${text}\nb`,
];

describe('a secret that nothing here knows never appears, written as', () => {
  const short = fc.stringMatching(/^[a-z]{2}[A-Za-z0-9/+!.-]{4,18}[a-z]{2}$/);
  test.each(Object.entries(NAMED))('%s', (_what, write) => {
    fc.assert(fc.property(short, (secret) => !unknown(`it is so\n${write(secret)}`).includes(secret)));
  });

  const drawn = fc.nat().map((seed) =>
    createHash('sha512')
      .update(`${seed}`)
      .digest()
      .subarray(0, 16 + (seed % 48)),
  );
  test.each(Object.entries(CODED))('%s', (_what, write) => {
    fc.assert(
      fc.property(drawn, fc.constantFrom(...PLACES), (secret, place) => {
        const text = write(secret);
        const safe = unknown(place(text));
        for (let at = 0; at + 12 <= text.length; at += 4) expect(safe).not.toContain(text.slice(at, at + 12));
      }),
    );
  });

  test('a key file, whole, cut off, in a string, and each line of it alone', () => {
    const body = randomBytes(200).toString('base64').replaceAll(/.{64}/g, '$&\n');
    for (const kind of ['PRIVATE KEY', 'OPENSSH PRIVATE KEY', 'PGP PRIVATE KEY BLOCK']) {
      const whole = `-----BEGIN ${kind}-----\n${body}\n-----END ${kind}-----\n`;
      const forms = [whole, whole.slice(0, 90), JSON.stringify({ pem: whole }), ...whole.split('\n'), body];
      for (const form of forms)
        for (const line of body.split('\n')) expect(unknown(`one ${form}`)).not.toContain(line.slice(0, 8));
    }
  });
});

test('a value of known fields is made safe in each of its texts, names among them', () => {
  const secret = randomBytes(24).toString('base64');
  const value = { a: [1, true, null, `at ${secret}`], [secret]: { trouble: 'password: horse' } };
  const text = redactedJson(unknown, value);
  expect(JSON.parse(text)).toEqual({
    a: [1, true, null, `at ${REMOVED}`],
    [REMOVED]: { trouble: `password: ${REMOVED}` },
  });
});

test('what helps stays: public keys that are known, addresses, names, paths and times', () => {
  const safe = redactor([], new Set([KEY, 'auth-1', 'mesh.internal/log/0123/w']));
  const lines = [
    `peer: ${KEY}`,
    '  preshared key: (hidden)',
    '  endpoint: 203.0.113.7:51820 [fd6c:7270::1]:5 fe80::5054:ff:fe12:3456%eth0/64 52:54:00:12:34:56 db-1',
    `${newId('p')} ${newId('wf')} /var/log/mesh/mesh0.log /opt/mesh/client/agent/agent.ts:12:34 2026-01-01T00:00:00.000Z token`,
    '2026-01-01T00:00:00.000Z info  mesh0 is up on UDP port 51820 (wireguard-go)',
    '2026-01-01T00:00:00.000Z info  the network changed version=12 peers=3 reason="a policy changed"',
    '2026-01-01T00:00:00.000Z info  auth-1: ice-ready at 203.0.113.7 port 51820: The peer answers. reason=direct',
    '2026-01-01T00:00:00.000Z warn  the bus at nats://mesh.example.net:4222 asks for a credential, which this node sends over TLS alone: give the control plane a certificate (MESH_TLS_CERT), or start this node with --bus-in-clear; trying again',
    '2026-01-01T00:00:00.000Z warn  the bus at tls://203.0.113.9:4222 cannot be reached (ECONNREFUSED); trying again',
    '2026-01-01T00:00:00.000Z warn  the key was not changed error="PlaneAway: https://mesh.example.net:18090 does not answer (ETIMEDOUT)"',
    '2026-01-01T00:00:00.000Z error the node failed error="TypeError: x is not a function\\n    at processTicksAndRejections (node:internal/process/task_queues:95:5)"',
    'Linux db-1 6.1.0-25-cloud-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.106-3 (2024-08-26) x86_64 GNU/Linux',
    'default via 192.0.2.1 dev eth0 proto dhcp src 192.0.2.7 metric 100',
    'local 10.96.0.1 dev mesh0 table local proto kernel scope host src 10.96.0.1',
    '2001:db8::/64 dev eth0 proto kernel metric 256 expires 86312sec pref medium',
    '       Protocols: -DefaultRoute -LLMNR -mDNS +DNSOverTLS DNSSEC=no/unsupported',
    'interface: mesh0\n  latest handshake: 1 minute, 5 seconds ago\n  transfer: 1.22 GiB received, 87.21 MiB sent',
  ];
  for (const line of lines) expect(safe(line)).toBe(line);
});

test('the rules of the firewall stay as they are', () => {
  const rules = renderRules('mesh0', {
    own: { address: '10.96.0.1', cidr: '10.96.0.0/24' },
    rules: {
      in: [
        { cidr: '10.96.0.2/32', protocol: 'TCP', from: 80, to: 8_080 },
        { cidr: 'fd00::/64', protocol: 'ALL' },
        { cidr: '10.96.0.64/26', protocol: 'UDP', from: 53, to: 53 },
      ],
      out: [{ cidr: '10.96.0.0/24', protocol: 'ICMP' }],
    },
    now: Date.UTC(2026, 0, 5),
    leaseMs: 60_000,
  });
  expect(unknown(rules)).toBe(rules);
});

test('of a log the lines of the node alone stay, with what Node says of a crash', () => {
  const own = [
    '2026-01-01T00:00:00.000Z warn  it failed',
    'TypeError: x is not a function',
    '    at task (node:internal/process/task_queues:95:5)',
    '    at run (file:///opt/mesh/client/x.ts:1:2)',
  ];
  const others = [
    'Started mesh.service - Mesh node (mesh0).',
    'sudo: ada : COMMAND=/bin/login hunter2',
    '',
    'LoginError: ada said hunter2',
    'LoginError: ada said hunter2',
    '    at login (file:///opt/other/x.ts:1:2)',
    ' at the door: hunter2',
  ];
  expect(ownLines([...others, ...own], 'file:///opt/mesh/')).toBe(
    [...own, '(7 lines that the node did not log are left out)'].join('\n'),
  );
});

test('each field that the node logs is known as plain', () => {
  const files = sourceFiles().filter((file) => /^client\/.*\.ts$|^bin\/compose\/node[^/]*\.ts$/.test(file));
  const fields = files
    .filter((file) => !file.includes('.test'))
    .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/\blog\.(?:debug|info|warn|error)\(\s*\{([^}]*)\}/g)])
    .flatMap(([, inside = '']) => inside.split(',').map((field) => field.trim().replace(/:.*/s, '')))
    .filter((name) => /^\w+$/.test(name));
  expect(fields.length).toBeGreaterThan(20);
  expect([...new Set(fields)].filter((name) => !PLAIN_NAMES.has(name))).toEqual([]);
});
