import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { attribute, attributeFirst, changesBetween, TIME_PASSED } from './attribute.ts';
import { compile, createEngine } from './engine.ts';
import type { NetworkModel } from './model.ts';
import { NOW, networkModel, policySpec } from './models.testkit.ts';
import { diff } from './reach-diff.ts';
import { base, db, dbPolicy, denyAll, web, webOut } from './two-peers.testkit.ts';

describe('attribute', { timeout: 30_000 }, () => {
  const causesOf = (before: NetworkModel, after: NetworkModel) =>
    Object.fromEntries(
      attribute(before, changesBetween(before, after), after).map(({ type, src, dst, causes }) => [
        `${type} ${src}>${dst}`,
        causes,
      ]),
    );

  test('names the one change that makes each row', () => {
    const after = { ...base, peers: [web, { ...db, labels: { role: 'cache' } }], policies: [dbPolicy(80), webOut] };
    expect(causesOf({ ...base, policies: [dbPolicy(80)] }, after)).toEqual({ 'changed web>db': ['peers/db'] });
  });

  test('names both changes where it takes both', () => {
    const before = { ...base, policies: [denyAll] };
    expect(causesOf(before, { ...base, policies: [denyAll, dbPolicy(80), webOut] })).toEqual({
      'added web>db': ['policies/db', 'policies/out'],
    });
  });

  test('names every change that would have done alone', () => {
    const pending = { ...db, phase: 'pending' };
    expect(causesOf(base, { ...base, peers: [web, pending], policies: [denyAll] })).toEqual({
      'removed web>db': ['policies/base', 'peers/db'],
      'removed db>web': ['policies/base', 'peers/db'],
    });
  });

  test('names the passing of time where a policy ended by itself', () => {
    const policies = [dbPolicy(80, { expiresAt: '2026-01-01T00:00:01Z' })];
    expect(causesOf({ ...base, policies }, { ...base, policies, now: NOW + 1_000 })).toEqual({
      'changed web>db': [TIME_PASSED],
    });
  });

  test('of many rows gives the first ones as they are among all, and how many there are besides', () => {
    const peers = Array.from({ length: 9 }, (_, index) => ({ ...web, name: `web-${index}` }));
    const [before, after] = [
      { ...base, peers: [...peers, db] },
      { ...base, peers: [...peers, db], policies: [denyAll, dbPolicy(80)] },
    ];
    const changes = changesBetween(before, after);
    const all = attribute(before, changes, after);
    const some = attributeFirst(before, changes, after, createEngine(), 7);
    expect(some).toEqual({ rows: all.slice(0, 7), omitted: all.length - 7 });
  });

  test('gives the rows of the difference, each with a cause, whatever changed', () => {
    fc.assert(
      fc.property(networkModel, fc.array(policySpec, { maxLength: 3 }), fc.nat(3), (before, specs, dropped) => {
        const added = specs.map((spec, i) => ({ name: `new${i}`, spec }));
        const policies = [...before.policies.slice(dropped), ...added];
        const after = { ...before, policies, peers: before.peers.slice(1) };
        const rows = attribute(before, changesBetween(before, after), after);
        expect(rows.map(({ causes: _causes, ...row }) => row)).toEqual(diff(compile(before), compile(after)));
        expect(rows.every(({ causes }) => causes.length > 0)).toBe(true);
      }),
      { numRuns: 80 },
    );
  });
});
