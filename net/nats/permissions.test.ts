import { describe, expect, it } from 'vitest';
import {
  mayNameReply,
  mayPublish,
  mayReceive,
  maySubscribe,
  nodePermissions,
  OPEN_PERMISSIONS,
} from './permissions.ts';

const node = nodePermissions('w1', 'p1');

describe('rights on the open bus', () => {
  it.each([
    ['mesh.control.>', 'no'],
    ['mesh.control.heartbeat', 'no'],
    ['mesh.control.*', 'no'],
    ['mesh.control.*.>', 'no'],
    ['mesh.control', 'yes'],
    ['mesh.>', 'filtered'],
    ['>', 'filtered'],
    ['*.*.x', 'filtered'],
    ['mesh.*.p1.signal', 'filtered'],
    ['mesh.w1.p1.graph', 'yes'],
    ['anything.else', 'yes'],
  ])('subscribing to %s: %s', (subject, verdict) => {
    expect(maySubscribe(OPEN_PERMISSIONS, subject)).toBe(verdict);
  });

  it.each([
    ['mesh.w1.p1.graph', false],
    ['mesh.*.*.graph', false],
    ['mesh.w1.p1.signal', true],
    ['mesh.w1.p1.graph.x', true],
    ['mesh.control.heartbeat', true],
    ['graph', true],
  ])('publishing to %s: %s', (subject, verdict) => {
    expect(mayPublish(OPEN_PERMISSIONS, subject)).toBe(verdict);
  });

  it('withholds control messages from wide subscriptions', () => {
    expect(['mesh.control.x', 'mesh.a.b.signal'].map((subject) => mayReceive(OPEN_PERMISSIONS, subject))).toEqual([
      false,
      true,
    ]);
  });

  it('refuses to have the control plane answer on a guarded subject', () => {
    const replies = ['mesh.w1.p1.graph', 'mesh.control.x', '_INBOX.a', 'mesh.w1.p1.signal'];
    expect(replies.map((reply) => mayNameReply(OPEN_PERMISSIONS, reply))).toEqual([false, false, true, true]);
  });
});

describe('rights of a node with a credential', () => {
  it.each([
    ['mesh.w1.p1.signal', 'yes'],
    ['mesh.w1.p1.graph', 'yes'],
    ['_INBOX.p1.>', 'yes'],
    ['_INBOX.p1.x.*', 'yes'],
    ['_INBOX.p1', 'no'],
    ['_INBOX.p2.>', 'no'],
    ['_INBOX.p1x.>', 'no'],
    ['_INBOX.>', 'no'],
    ['_INBOX.*', 'no'],
    ['_INBOX.*.x', 'no'],
    ['mesh.w1.p2.signal', 'no'],
    ['mesh.w2.p1.signal', 'no'],
    ['mesh.w1.*.signal', 'no'],
    ['mesh.w1.p1.*', 'no'],
    ['mesh.control.>', 'no'],
    ['>', 'no'],
    ['free', 'no'],
  ])('subscribing to %s: %s', (subject, verdict) => {
    expect(maySubscribe(node, subject)).toBe(verdict);
  });

  it.each([
    ['mesh.w1.p2.signal', true],
    ['mesh.control.w1.p1.heartbeat', true],
    ['mesh.control.w1.p2.heartbeat', false],
    ['mesh.control.w2.p1.heartbeat', false],
    ['mesh.control.heartbeat', false],
    ['mesh.w2.p2.signal', false],
    ['mesh.w1.p2.graph', false],
    ['_INBOX.someone', false],
    ['_INBOX.p1.x', false],
    ['free', false],
  ])('publishing to %s: %s', (subject, verdict) => {
    expect(mayPublish(node, subject)).toBe(verdict);
  });

  it('may have itself answered in its own inbox alone', () => {
    const replies = ['_INBOX.p1.x.1', '_INBOX.p2.x.1', 'mesh.w1.p1.signal', 'mesh.w1.p2.signal'];
    expect(replies.map((reply) => mayNameReply(node, reply))).toEqual([true, false, true, false]);
  });
});
