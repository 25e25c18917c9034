import { describe, expect, it } from 'vitest';
import { inputOf, intentNotUnderstood } from './not-understood.ts';

const REFUSED = {
  reason: '"ssh" is not clear.',
  questions: ['From whom?'],
  choices: ['isolate web-1 except ssh from ops'],
  partial: {
    changes: [{ action: 'update', resource: 'MeshPeer', name: 'web-1', labels: { role: 'web' } }],
    expectations: [{ src: 'role=web', dst: 'role=db', expect: 'allow' }],
  },
} as const;

describe('an intent that is not understood', () => {
  it('says why, asks, and offers what can be sent instead, in its text and as fields', () => {
    const { code, message, details } = intentNotUnderstood(REFUSED);
    expect(code).toBe('intent_not_understood');
    expect(message).toBe('"ssh" is not clear. From whom? You can send: "isolate web-1 except ssh from ops".');
    expect(details).toEqual({
      reason: REFUSED.reason,
      questions: REFUSED.questions,
      choices: REFUSED.choices,
      changes: [{ action: 'update', resource: 'MeshPeer', name: 'web-1', spec: { labels: { role: 'web' } } }],
      expectations: REFUSED.partial.expectations,
    });
  });

  it('says what kept a model from answering, after what the grammar says', () => {
    const { message, details } = intentNotUnderstood({ ...REFUSED, warnings: ['No model could be asked.'] });
    expect(message).toMatch(/ops"\. No model could be asked\.$/);
    expect(details['warnings']).toEqual(['No model could be asked.']);
  });

  it('stays small, and leaves out a choice that is too long instead of cutting it', () => {
    const many = (text: string) => Array.from({ length: 100 }, (_, index) => `${text}${index}`);
    const long = 'x'.repeat(5_000);
    const error = intentNotUnderstood({
      reason: long,
      questions: many(long),
      choices: [long, ...many('isolate web-')],
      warnings: many(long),
      partial: {
        changes: many('p').map((name) => ({ action: 'delete', resource: 'MeshPolicy', name })),
        expectations: many('p').map((src) => ({ src, dst: long, expect: 'allow' })),
      },
    });
    expect(error.details['choices']).toEqual(many('isolate web-').slice(0, 4));
    expect(JSON.stringify(error.details).length + error.message.length).toBeLessThan(16_000);
  });

  it('gives changes back as callers send them', () => {
    const spec = { action: 'DENY', peerSelector: {} } as const;
    expect(inputOf({ action: 'create', resource: 'MeshPolicy', name: 'base', spec })).toEqual({
      action: 'create',
      resource: 'MeshPolicy',
      name: 'base',
      spec,
    });
    expect(inputOf({ action: 'delete', resource: 'MeshPolicy', name: 'base' })).toEqual({
      action: 'delete',
      resource: 'MeshPolicy',
      name: 'base',
    });
  });
});
