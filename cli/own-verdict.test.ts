import { describe, expect, test } from 'vitest';
import { graphOf } from '../client/agent/overlay.testkit.ts';
import type { FirewallRules } from '../core/model/graph.ts';
import { ownVerdict } from './own-verdict.ts';

const NOW = Date.UTC(2026, 0, 5);
const rules: FirewallRules = {
  in: [{ cidr: '10.96.0.2/32', protocol: 'ALL' }],
  out: [
    { cidr: '10.96.0.0/30', protocol: 'TCP', from: 5_432, to: 5_433 },
    { cidr: '10.96.0.0/30', protocol: 'TCP', from: 22, to: 22, expiresAt: '2026-01-04T00:00:00.000Z' },
    { cidr: '10.96.0.3/32', protocol: 'ICMP' },
  ],
};
const graph = graphOf(['db', 'web', 'far'], { version: 7 }, rules);
const asked = (from: string, to: string, more: { protocol?: string; port?: number } = {}) =>
  ownVerdict(graph, { from, to, now: NOW, ...more });

describe('a node judges by its own graph', () => {
  test('what it may open to a peer, as the rules of now say', () => {
    expect(asked('self', 'DB')).toEqual({
      denied: false,
      explanation: 'Policy: self may open to DB: TCP 5432-5433 (the graph of this node, version 7).',
      allowed: [{ protocol: 'TCP', from: 5_432, to: 5_433 }],
    });
    expect(asked('p_self', 'web')?.allowed).toEqual([
      { protocol: 'TCP', from: 5_432, to: 5_433 },
      { protocol: 'ICMP' },
    ]);
  });

  test('what a peer may open to it', () => {
    expect(asked('db', 'self')).toMatchObject({ denied: false, allowed: 'ALL' });
    expect(asked('web', 'self')).toMatchObject({ denied: true, allowed: [] });
  });

  test.each([
    [{ protocol: 'TCP', port: 5_433 }, false],
    [{ protocol: 'TCP', port: 22 }, true],
    [{ protocol: 'TCP' }, false],
    [{ protocol: 'UDP', port: 5_432 }, true],
    [{ protocol: 'ICMP' }, true],
  ])('%o', (more, denied) => {
    expect(asked('self', 'db', more)?.denied).toBe(denied);
  });

  test('says what is permitted in place of what was asked', () => {
    expect(asked('self', 'db', { protocol: 'TCP', port: 22 })?.explanation).toBe(
      'Policy: self may not open connections to db by TCP 22, only: TCP 5432-5433 (the graph of this node, version 7).',
    );
    expect(asked('self', 'far')?.explanation).toBe(
      'Policy: self may not open connections to far (the graph of this node, version 7).',
    );
  });

  test('until when a port is open', () => {
    const at = Date.UTC(2026, 0, 3);
    expect(ownVerdict(graph, { from: 'self', to: 'db', now: at })?.explanation).toBe(
      'Policy: self may open to db: TCP 22 until 2026-01-04T00:00:00.000Z, TCP 5432-5433 (the graph of this node, version 7).',
    );
  });

  test('nothing of a peer that its graph does not have', () => {
    expect([asked('self', 'nobody'), asked('nobody', 'self')]).toEqual([undefined, undefined]);
  });
});
