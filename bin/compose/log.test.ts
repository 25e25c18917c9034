import { expect, test } from 'vitest';
import { newToken, withAddress } from '../../core/model/token.ts';
import { buildLog } from './log.ts';

function linesOf(write: (log: ReturnType<typeof buildLog>) => void): string {
  const lines: string[] = [];
  write(buildLog('info', { write: (line) => void lines.push(line), lost: () => 0, isLosing: () => false }));
  return lines.join('');
}

test.each([
  ['a join token', withAddress(newToken('join', 'f'.repeat(16)), { publicUrls: ['https://mesh.example.com'] })],
  ['a device token', newToken('dev')],
  ['a token that was cut', newToken('agt').slice(0, -8)],
  [
    'a session',
    `${['{"alg":"EdDSA"}', '{"sub":"u"}'].map((part) => Buffer.from(part).toString('base64url')).join('.')}.c2ln`,
  ],
])('%s is in no line of the log, wherever it stands', (_what, token) => {
  const text = linesOf((log) => {
    log.info({ method: 'GET', path: `/api/v1/nothing/${token}/more` }, 'request refused');
    log.error({ err: new Error(`no ${token}`) }, `failed at ${token}`);
  });
  for (const part of token.split('.')) expect(text).not.toContain(part);
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toMatchObject([{ path: '/api/v1/nothing/[secret]/more' }, { msg: 'failed at [secret]' }]);
});

test('the name of a peer that begins as a token does stays in the log', () => {
  expect(linesOf((log) => log.info({ peer: 'mesh-dev-frankfurt-1' }, 'online'))).toContain('mesh-dev-frankfurt-1');
});
