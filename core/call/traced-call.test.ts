import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Caller } from '../base/caller.ts';
import { CallTrace } from '../model/call-trace.ts';
import { newToken, withAddress } from '../model/token.ts';
import { beginTrace } from './traced-call.ts';

const operation = { name: 'apply_resources', output: z.strictObject({}) };
const caller: Caller = {
  kind: 'agent',
  subject: 'agent:scout',
  id: 'ag_1',
  name: 'scout',
  tokenId: 'tok_1',
  interactive: false,
  workspaces: ['w_1'],
  scopesIn: () => new Set(),
};

test('of a call with megabytes of arguments the beginning is kept and nothing else of it', async () => {
  setFlagsFromString('--expose-gc');
  const heapUsed = (): number => {
    runInNewContext('gc')();
    return process.memoryUsage().heapUsed;
  };
  const trace = new CallTrace();
  const documents = Array.from({ length: 1_000_000 }, () => 1);
  const call = { operation, caller, workspace: 'w_1', face: 'rest', requestId: 'r_1', raw: { documents } } as const;
  const clock = { now: () => 1 };
  const before = heapUsed();
  for (let at = 0; at < 40; at += 1) beginTrace({ calls: trace, clock }, call)({ answer: {} });
  expect(await trace.of({ workspace: 'w_1', caller: 'ag_1', family: 'ag_1' })).toHaveLength(40);
  expect(heapUsed() - before).toBeLessThan(20_000_000);
});

test('a token is not recorded, nor the address of its control plane that stands behind it', async () => {
  const token = withAddress(newToken('dlg', 'A'.repeat(16)), { publicUrls: ['https://mesh.example.com'] });
  const trace = new CallTrace();
  const raw = { reason: `for ${token}.` };
  const call = { operation, caller, workspace: 'w_1', face: 'rest', requestId: 'r_1', raw } as const;
  beginTrace({ calls: trace, clock: { now: () => 1 } }, call)({ answer: {} });
  const [recorded] = await trace.of({ workspace: 'w_1', caller: 'ag_1', family: 'ag_1' });
  for (const part of token.split('.')) expect(JSON.stringify(recorded)).not.toContain(part);
});

test('a call whose arguments cannot be recorded is refused before it runs', () => {
  const raw: Record<string, unknown> = {};
  raw['itself'] = raw;
  const call = { operation, caller, workspace: 'w_1', face: 'rest', requestId: 'r_1', raw } as const;
  const begin = () => beginTrace({ calls: new CallTrace(), clock: { now: () => 1 } }, call);
  expect(begin).toThrow(expect.objectContaining({ code: 'invalid_input' }));
});

test('a call whose answer has no text is recorded all the same', async () => {
  const answer: Record<string, unknown> = {};
  answer['itself'] = answer;
  const trace = new CallTrace();
  const call = { operation, caller, workspace: 'w_1', face: 'rest', requestId: 'r_1', raw: {} } as const;
  beginTrace({ calls: trace, clock: { now: () => 1 } }, call)({ answer });
  const by = { workspace: 'w_1', caller: 'ag_1', family: 'ag_1' };
  expect(await trace.of(by)).toMatchObject([{ operation: 'apply_resources', outcome: 'ok', result: '(not shown)' }]);
});
