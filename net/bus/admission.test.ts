import { expect, test } from 'vitest';
import { Admission } from './admission.ts';

const HEARTBEAT = 'mesh.control.w.p.heartbeat';

test('where servers let each node say its own alone, its subject proves who sent something', () => {
  const admission = new Admission('token');
  expect(admission.admit(HEARTBEAT, '_INBOX.p.1', 100, 0)).toEqual({ from: 'p', reply: '_INBOX.p.1' });
});

test.each(['_INBOX.q.1', 'mesh.w.q.graph', 'mesh.w.p.other', '>', undefined])(
  'the control plane does not answer for a node at %s, which this node may not hear',
  (reply) => expect(new Admission('token').admit(HEARTBEAT, reply, 100, 0)).toEqual({ from: 'p', reply: undefined }),
);

test('on an open bus nothing is proven, and answers go anywhere but to where the sender may not', () => {
  const admission = new Admission('open');
  const replies = ['_INBOX.1', 'mesh.w.q.graph', 'mesh.control.w.q.heartbeat'];
  expect(replies.map((reply) => admission.admit(HEARTBEAT, reply, 100, 0))).toEqual([
    { from: undefined, reply: '_INBOX.1' },
    { from: undefined, reply: undefined },
    { from: undefined, reply: undefined },
  ]);
});

test('a node that asks too often does not keep the others from being heard', () => {
  const admission = new Admission('token');
  const admitted = Array.from({ length: 100 }, () => admission.admit(HEARTBEAT, undefined, 100, 0)).filter(Boolean);
  expect(admitted).toHaveLength(50);
  expect(admission.admit('mesh.control.w.q.heartbeat', undefined, 100, 0)).toBeDefined();
  expect(admission.admit(HEARTBEAT, undefined, 100, 1_000)).toBeDefined();
});
