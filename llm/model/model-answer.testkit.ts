import type { ModelAnswer } from './answer-form.ts';

/** Whoever has all of the labels, in the form in which a model says it. */
export const by = (...labels: string[]) => ({ peer: null, labels, expressions: [] });

/** What a model may answer to "let web reach db on 5432"; `from` is who it lets in. */
export function webToDb(more: Partial<ModelAnswer> = {}, from = 'role=web'): ModelAnswer {
  return {
    understood: true,
    refusal: '',
    questions: [],
    summary: 'Let web reach db.',
    reasoning: 'It was asked for.',
    risk: 'low',
    changes: [
      {
        do: 'create_policy',
        name: 'web-to-db',
        spec: {
          action: 'ALLOW',
          subject: by('role=db'),
          network: null,
          ingress: [
            { peers: [{ selector: by(from), ipBlock: null }], ports: [{ protocol: 'TCP', port: 5432, endPort: null }] },
          ],
          egress: null,
          expiresAt: null,
        },
      },
    ],
    expectations: [
      { src: 'role=web', dst: 'role=db', except: [], protocol: 'TCP', port: 5432, endPort: null, expect: 'allow' },
    ],
    ...more,
  };
}
